// What people do to a set of deliveries of the sync log: send them again, or stop them from being sent. Both can be asked
// what they would do first.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { DeliveryState } from "../kernel/event.ts";
import type { Directory, Site } from "../sites/directory.ts";
import { Refusal, type By } from "../kernel/refusal.ts";
import type { Store } from "../store/store.ts";
import type { LogFilter, LogLine } from "../store/deliveries/syncLog.ts";
import { isSelected } from "./dispatch.ts";

type Desk = { store: Pick<Store, "syncLog" | "audit">; directory: Directory };

export type Tally = {
  /** How many match. */
  found: number;
  /** How many were changed; with `dryRun`, how many would be. */
  changed: number;
  /** Those that stay as they are, by reason. */
  leftAlone: Record<string, number>;
  /** Of the changed ones: these wait on, because of their connection. */
  waiting: Record<string, number>;
};

type Order = By & { dryRun: boolean };

const replayable: readonly DeliveryState[] = ["rejected", "expired", "skipped", "parked"];
const cancellable: readonly DeliveryState[] = ["queued", "parked"];
const step = 500;

/** Puts deliveries in line again, due now. Their attempts so far stay, and they still have to be young enough. */
export function replay(desk: Desk, site: Site, filter: LogFilter, order: Order): Promise<Tally> {
  if (filter.states?.includes("queued"))
    throw new Refusal(
      "state",
      "What is queued goes out by itself; replay is for what has ended or is parked.",
    );
  // Those that were sent are sent again only where somebody says so.
  const states = filter.states ?? replayable;
  return walk(desk, site, { ...filter, states }, order, {
    action: "deliveries replayed",
    whyNot: (line) => whyNotReplayed(site, line),
    change: (lines) => desk.store.syncLog.requeue(site.id, lines, states, order.now),
    overtaken: "changed meanwhile",
  });
}

/** Ends deliveries that still wait. */
export function cancel(desk: Desk, site: Site, filter: LogFilter, order: Order): Promise<Tally> {
  const states = filter.states ?? cancellable;
  if (!states.every((state) => cancellable.includes(state)))
    throw new Refusal("state", "Only what is queued or parked can be cancelled.");
  return walk(desk, site, { ...filter, states }, order, {
    action: "deliveries cancelled",
    whyNot: (line) => (isInHand(line, order.now) ? inHand : null),
    change: (lines) => desk.store.syncLog.cancel(site.id, lines, order.now),
    overtaken: inHand,
  });
}

const inHand = "being sent at this moment";
const isInHand = ({ state, owner, dueAt }: LogLine, now: number) =>
  state === "queued" && owner !== "" && dueAt > now;

function whyNotReplayed(site: Site, line: LogLine): string | null {
  const connection = site.connections.find(({ id }) => id === line.connectionId);
  if (!connection) return "their connection is gone";
  if (line.erased) return "their person was erased";
  return isSelected(connection, line.event) ? null : "their event is not selected for the connection";
}

type Work = {
  action: string;
  whyNot: (line: LogLine) => string | null;
  change: (lines: LogLine[]) => Promise<number>;
  /** Why one that seemed fit was not changed. */
  overtaken: string;
};

async function walk(
  { store }: Desk,
  site: Site,
  filter: LogFilter,
  { actor, now, dryRun }: Order,
  { action, whyNot, change, overtaken }: Work,
): Promise<Tally> {
  const tally: Tally = { found: 0, changed: 0, leftAlone: {}, waiting: {} };
  const leave = (reason: string, n = 1) => add(tally.leftAlone, reason, n);
  try {
    let before: { eventId: string; connectionId: string } | null = null;
    do {
      const page = await store.syncLog.listPage(site.id, filter, { before, limit: step });
      before = page.next;
      tally.found += page.lines.length;
      const fit = page.lines.filter((line) => {
        const reason = whyNot(line);
        if (reason !== null) leave(reason);
        return reason === null;
      });
      const changed = dryRun ? fit.length : await change(fit);
      tally.changed += changed;
      if (changed < fit.length) leave(overtaken, fit.length - changed);
      for (const { connectionId } of fit) {
        const state = site.connections.find(({ id }) => id === connectionId)?.state ?? "active";
        if (state !== "active") add(tally.waiting, state, 1);
      }
      // A set of any size must not be felt by those who send events.
      await yieldToEventLoop();
    } while (before);
  } finally {
    // Also when it was interrupted: what was changed was changed.
    if (tally.changed > 0 && !dryRun) {
      const detail = { ...audited(filter), changed: tally.changed, leftAlone: tally.leftAlone };
      await store.audit.add({ siteId: site.id, actor, action, detail, at: now });
    }
  }
  return tally;
}

const add = (counts: Record<string, number>, name: string, n: number) => {
  counts[name] = (counts[name] ?? 0) + n;
};

/** The filter without the person. */
function audited({ emailSha256, ...rest }: LogFilter): Record<string, unknown> {
  return { ...rest, ...(emailSha256 === undefined ? {} : { email: "(given)" }) };
}
