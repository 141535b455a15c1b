// Serves alerts and the audit log.

import { dayMs } from "../../kernel/time.ts";
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
import { setFileName, pageOf, readCursor, timeCell, toCsvById, type Column } from "../lists.ts";
import type { ApiContext } from "../context.ts";

const shownMs = 90 * dayMs;

/** Says what to do in the dashboard; the messages that alerts send name commands instead. */
const whatToDo: Record<AlertKind, string> = {
  "needs reconnection": "Reconnect it: sign in again or enter new credentials. Parked deliveries are then sent.",
  "success rate": "Check its sync log for the reasons that the platform gives.",
  silence: "Check the systems that send events: the list of inbound keys shows when each was last used.",
  webhook: "Check the log of its pushes, and send a test push.",
  "wrong keys": "A sender may be using an old key: compare it with the list of inbound keys.",
  queue: "Check its sync log: each queued delivery shows what it is waiting for.",
  host: "The list of domains shows what to do. Check the domain again there afterwards.",
  accuracy: "Read the report of the last reconciliation: each loss leads to its orders.",
  "order feed": "Check the address of the order feed; its last error says what is wrong.",
  "damaged data": "Enter again what cannot be read, or restore it from a backup.",
  quality: "The page of its match quality shows which keys are missing, and what would raise the score most.",
  "not counted": "Filter the sync log by this confirmation: each delivery shows the reason of the platform.",
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
  { title: "time (UTC)", cell: ({ at }) => timeCell(at) },
  { title: "who", cell: ({ actor }) => actor },
  { title: "what", cell: ({ action }) => action },
  { title: "details", cell: ({ detail }) => JSON.stringify(detail) },
  { title: "id", cell: ({ id }) => id },
];

const toLine = ({ id, at, actor, action, detail }: AuditLine & { id: string }) => ({
  id,
  at,
  actor,
  action,
  detail,
});

export function alertHandlers(context: ApiContext): Handlers<keyof typeof alertRoutes> {
  const { store, mailer, sender, publicUrl, now } = context;

  async function audit(siteId: string, { cursor, limit }: { cursor?: string | undefined; limit: number }) {
    const { items, next } = pageOf(await store.audit.list(siteId, limit + 1, readCursor(cursor)?.id), limit);
    return { items: items.map(toLine), next };
  }

  const auditCsv = (siteId: string) => toCsvById(columns, (limit, before) => store.audit.list(siteId, limit, before));

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
      return { channels: await sendTestAlert(site, { mailer, sender, publicUrl }, by.now) };
    },

    "GET /sites/:site/audit": ({ site, query }) => audit(site.id, query),

    async "GET /sites/:site/audit.csv"({ site, reply }) {
      setFileName(reply, "audit", site.hosts[0], now());
      return auditCsv(site.id);
    },

    // Changes of the installation are logged under the empty site id.
    "GET /audit": ({ query }) => audit("", query),

    async "GET /audit.csv"({ reply }) {
      setFileName(reply, "audit", "installation", now());
      return auditCsv("");
    },
  };
}
