// Checks reconciliations for alerts: a connection that accepts fewer of the orders, and a list of orders that cannot be fetched.

import { say } from "../kernel/messages/message.ts";
import { shownPercent, timeText } from "../kernel/text.ts";
import { dayMs } from "../kernel/time.ts";
import type { Connection } from "../sites/directory.ts";
import type { Feed } from "../store/reconciliation/feeds.ts";
import type { Run } from "../store/reconciliation/runs.ts";
import { acceptedShareOf, deliverableOf, newConnectionTally, type Tally } from "../store/reconciliation/tally.ts";
import type { Finding } from "../store/statistics/alerts.ts";
import { nameOf } from "./message.ts";

/** Fewer orders say nothing. */
const minOrders = 20;
/** A fall by this share of the deliverable orders, against the middle of the runs before. */
const minFall = 0.05;
/** An older run says nothing about today. */
const maxAgeMs = 7 * dayMs;

/** `runs` are those of a site, the newest first. */
export function checkAcceptedOrders(
  runs: readonly Run[],
  connections: readonly Connection[],
  timeZone: string,
  now: number,
): Finding[] {
  const usable = runs.filter((run) => run.state === "done" && run.isReadable && ordersOf(run) >= minOrders);
  const [latest, ...others] = usable;
  if (!latest || latest.updatedAt < now - maxAgeMs) return [];
  const before = others.filter(({ event }) => event === latest.event);
  return connections.flatMap((connection): Finding[] => {
    const share = shareAt(latest, connection.id);
    const usual = median(before.flatMap((run) => shareAt(run, connection.id) ?? []));
    const { orders = 0, received = 0, connections: tallies } = latest.tally as Partial<Tally>;
    const deliverable = deliverableOf({ orders, received }, tallies?.[connection.id] ?? newConnectionTally(connection.platform));
    if (connection.state !== "active" || share === null || usual === null || usual - share < minFall) return [];
    const text = say("alert_accepted_orders", {
      connection: nameOf(connection),
      percent: percent(share),
      reached: Math.round(share * deliverable),
      orders: deliverable,
      from: timeText(latest.from, timeZone),
      to: timeText(latest.to, timeZone),
      before: percent(usual),
    });
    return [{ kind: "accepted orders", subject: connection.id, text }];
  });
}

const ordersOf = ({ tally }: Run) => (tally as Partial<Tally>).orders ?? 0;
const percent = (share: number) => shownPercent(share, 1);

/** null where the connection had no deliveries: it did not exist yet. */
function shareAt({ tally }: Run, connectionId: string): number | null {
  const { orders = 0, received = 0, connections } = tally as Partial<Tally>;
  const connection = connections?.[connectionId];
  return connection ? acceptedShareOf({ orders, received }, connection) : null;
}

function median(values: readonly number[]): number | null {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? null;
}

/** One failed fetch may be a short outage; a day without a list is not. */
export function checkFeed(feed: Feed | null, timeZone: string, now: number): Finding[] {
  if (!feed || feed.failingSince === null || feed.failingSince > now - dayMs) return [];
  const text = say("alert_order_feed", { since: timeText(feed.failingSince, timeZone) });
  return [{ kind: "order feed", subject: "", text }];
}
