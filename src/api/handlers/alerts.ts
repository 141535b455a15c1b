// What needs a person, and who changed what.

import { dayMs } from "../../kernel/time.ts";
import { messageOf } from "../../alerts/message.ts";
import { sendTestAlert } from "../../alerts/channels.ts";
import type { Answer } from "../../contract/contract.ts";
import type { watchRoutes } from "../../contract/watch.ts";
import type { AlertKind } from "../../kernel/event.ts";
import type { Site } from "../../sites/directory.ts";
import type { Alert } from "../../store/statistics/alerts.ts";
import type { AuditLine } from "../../store/sites/audit.ts";
import type { Handlers } from "../call.ts";
import { asFile, csvBelow, timeCell, type Column } from "../csv.ts";
import { countTest } from "../limits.ts";
import { pageOf } from "../page.ts";
import type { ApiParts } from "../context.ts";
import { readCursor } from "./search.ts";

const keptMs = 90 * dayMs;

/** Messages name commands; whoever reads this has the dashboard at hand. */
const whatToDo: Record<AlertKind, string> = {
  "needs reconnection":
    "Connect it again, by signing in or with fresh credentials. What is parked is sent then.",
  "success rate": "Look at its sync log: the platform says there what it refuses, and why.",
  silence: "Look at what sends the events: the list of inbound keys says when each was last used.",
  webhook: "Look at the log of its pushes, and send a test push.",
  "wrong keys": "Perhaps a sender holds an old key: compare it with the list of inbound keys.",
  queue: "Look at its sync log: queued deliveries say what they wait for.",
  host: "The list of domains says what to do; check it again there afterwards.",
};

function describe(site: Site, alert: Alert): Answer<"GET /sites/:site/alerts">["open"][number] {
  const { kind, subject, text, beganAt, endedAt, notifiedAt, told } = alert;
  return {
    kind,
    subject,
    platform: site.connections.find(({ id }) => id === subject)?.platform ?? null,
    title: messageOf(site, alert, "began").title,
    text,
    whatToDo: whatToDo[kind],
    beganAt,
    endedAt,
    notifiedAt,
    failed: Object.entries(told).flatMap(([channel, { error }]) =>
      error === null ? [] : [{ channel, error }],
    ),
  };
}

const columns: readonly Column<AuditLine & { id: string }>[] = [
  { title: "time (UTC)", cell: ({ at }) => timeCell(at) },
  { title: "who", cell: ({ actor }) => actor },
  { title: "what", cell: ({ action }) => action },
  { title: "details", cell: ({ detail }) => JSON.stringify(detail) },
  { title: "id", cell: ({ id }) => id },
];

const shown = ({ id, at, actor, action, detail }: AuditLine & { id: string }) => ({
  id,
  at,
  actor,
  action,
  detail,
});

export function watchHandlers(parts: ApiParts): Handlers<keyof typeof watchRoutes> {
  const { store, mailer, sender, now } = parts;

  async function audit(siteId: string, { cursor, limit }: { cursor?: string | undefined; limit: number }) {
    const { items, next } = pageOf(await store.audit.list(siteId, limit + 1, readCursor(cursor)?.id), limit);
    return { items: items.map(shown), next };
  }

  const auditTable = (siteId: string) =>
    csvBelow(columns, (limit, before) => store.audit.list(siteId, limit, before));

  return {
    async "GET /sites/:site/alerts"({ site }) {
      const alerts = await store.alerts.listSince(site.id, now() - keptMs);
      const all = alerts.map((alert) => describe(site, alert));
      return {
        open: all.filter(({ endedAt }) => endedAt === null),
        over: all.filter(({ endedAt }) => endedAt !== null),
        mail: mailer !== null,
      };
    },

    async "POST /sites/:site/alerts/test"({ site, by }) {
      await countTest(parts, site.id, "alert", 20);
      return { channels: await sendTestAlert(site, { mailer, sender }, by.now) };
    },

    "GET /sites/:site/audit": ({ site, query }) => audit(site.id, query),

    async "GET /sites/:site/audit.csv"({ site, reply }) {
      asFile(reply, "audit", site.hosts[0], now());
      return auditTable(site.id);
    },

    // What belongs to no site is kept under the empty one.
    "GET /audit": ({ query }) => audit("", query),

    async "GET /audit.csv"({ reply }) {
      asFile(reply, "audit", "installation", now());
      return auditTable("");
    },
  };
}
