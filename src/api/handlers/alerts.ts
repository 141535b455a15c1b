// Serves alerts and the audit log.

import { say, toJson } from "../../kernel/messages/message.ts";
import { dayMs, type Period } from "../../kernel/time.ts";
import { countTest, testLimits } from "../../access/rateCounters.ts";
import { listFailedChannels, messageOf } from "../../alerts/message.ts";
import { sendTestAlert } from "../../alerts/channels.ts";
import type { Answer } from "../../contract/contract.ts";
import type { alertRoutes } from "../../contract/alerts.ts";
import type { AlertKind } from "../../kernel/event.ts";
import type { Site } from "../../sites/directory.ts";
import type { Alert } from "../../store/statistics/alerts.ts";
import type { AuditLine } from "../../store/sites/audit.ts";
import type { Handlers } from "../call.ts";
import { checkTimes, listOf, setFileName, pageOf, readCursor, toCsvById, type Column } from "../lists.ts";
import type { ApiContext } from "../context.ts";

const shownMs = 90 * dayMs;

/** Says what to do in the dashboard; the messages that alerts send name commands instead. */
const whatToDo: Record<AlertKind, string> = {
  "needs reconnection": say("do_reconnect"),
  "success rate": say("do_read_reasons"),
  silence: say("do_check_senders"),
  webhook: say("do_check_pushes"),
  "wrong keys": say("do_compare_keys"),
  queue: say("do_read_queue"),
  host: say("do_check_domains"),
  "accepted orders": say("do_read_report"),
  "order feed": say("do_check_feed"),
  "data export": say("do_check_export"),
  "damaged data": say("do_repair"),
  quality: say("do_read_quality"),
  "not counted": say("do_filter_log"),
  "source silence": say("do_check_source"),
  "wrong signatures": say("do_compare_secrets"),
  "source failing": say("do_repair_source"),
};

function describe(site: Site, alert: Alert): Answer<"GET /sites/:site/alerts">["open"][number] {
  const { kind, subject, text, beganAt, endedAt, notifiedAt } = alert;
  const { title, whatToDo: command } = messageOf(site, alert, "began");
  return {
    kind,
    subject,
    platform: site.connections.find(({ id }) => id === subject)?.platform ?? null,
    title,
    text,
    whatToDo: whatToDo[kind],
    command,
    beganAt,
    endedAt,
    notifiedAt,
    failed: listFailedChannels(alert),
  };
}

const columns: readonly Column<AuditLine & { id: string }>[] = [
  { title: "time", at: ({ at }) => at },
  { title: "who", cell: ({ actor }) => actor },
  { title: "what", cell: ({ action }) => action },
  { title: "details", cell: ({ detail }) => toJson(detail) },
  { title: "id", cell: ({ id }) => id },
];

type Paging = { cursor?: string | undefined; limit: number };

const toLine = ({ id, at, actor, action, detail }: AuditLine & { id: string }) => ({
  id,
  at,
  actor,
  action,
  detail,
});

export function alertHandlers(context: ApiContext): Handlers<keyof typeof alertRoutes> {
  const { store, mailer, sender, publicUrl, now } = context;

  async function audit(siteId: string, { cursor, limit, from, to }: Paging & Period) {
    checkTimes(from, to);
    const { items, next } = pageOf(await store.audit.list(siteId, limit + 1, readCursor(cursor)?.id, { from, to }), limit);
    return { items: items.map(toLine), next };
  }

  const auditCsv = (of: { siteId: string; timeZone: string }) =>
    toCsvById(columns, of, (limit, before) => store.audit.list(of.siteId, limit, before));

  return {
    async "GET /sites/:site/alerts"({ site }) {
      const alerts = await store.alerts.listSince(site.id, now() - shownMs);
      const all = alerts.map((alert) => describe(site, alert));
      return {
        open: all.filter(({ endedAt }) => endedAt === null),
        over: all.filter(({ endedAt }) => endedAt !== null),
        mail: mailer !== null,
      };
    },

    async "POST /sites/:site/alerts/test"({ site, actor, by }) {
      await countTest(store, actor, testLimits("alert", site.id), now());
      return { channels: await sendTestAlert(site, { store, mailer, sender, publicUrl, now: () => by.now }) };
    },

    "GET /sites/:site/audit": ({ site, query }) => audit(site.id, query),

    async "GET /sites/:site/audit.csv"({ site, reply }) {
      setFileName(reply, "audit", site.hosts[0], now());
      return auditCsv(listOf(site));
    },

    // Changes of the installation are logged under the empty site id.
    "GET /audit": ({ query }) => audit("", query),

    async "GET /audit.csv"({ reply }) {
      setFileName(reply, "audit", "installation", now());
      return auditCsv({ siteId: "", timeZone: "UTC" });
    },
  };
}
