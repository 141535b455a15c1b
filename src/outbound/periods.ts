// Decides when periods are closed. They end at multiples of their length (every full quarter of an hour), so that it is
// clear to which period a moment belongs. The store makes sure that nothing is counted twice or left out, even if clocks
// change.

import { localClock, type SharedClock } from "../background/sharedClock.ts";
import type { DueWork } from "../delivery/due/dueWork.ts";
import type { Closing, PeriodHead } from "../store/outbound/periods.ts";
import type { Store } from "../store/store.ts";

type CloserOptions = {
  store: Pick<Store, "periods" | "engine">;
  /** Finds heads; by default by asking the store. */
  dueWork?: Pick<DueWork, "periodHeads" | "refreshSoon">;
  /** Length of a period. */
  pushMs: number;
  now: () => number;
  /** The clock of due times; by default the node's own, which is enough for a single node. */
  clock?: Pick<SharedClock, "fromLocal">;
  /** Milliseconds on a monotonic clock. */
  elapsed: () => number;
  /** 0…1 */
  random: () => number;
  /** A period could not be closed. The next look finds it again. */
  onDefect?: (error: unknown, about: Record<string, unknown>) => void;
};

const maxJitterMs = 10_000;

const rethrow = (error: unknown): never => {
  throw error;
};

/** Returns the last regular end of a period. */
export const lastPeriodEnd = (now: number, pushMs: number) => Math.round(Math.floor(now / pushMs) * pushMs);

/**
 * Returns the period to close now; null while it lasts. A relay that was off closes one long period. `isAhead`: the last
 * period ends more than one length from now, because the clock was set back since. Waiting for that time could take years,
 * so the next period starts at the present time instead.
 */
export function periodToClose(
  head: PeriodHead,
  now: number,
  pushMs: number,
): { startsAt: number; endsAt: number; isAhead: boolean } | null {
  const end = lastPeriodEnd(now, pushMs);
  if (head.endsAt < end) return { startsAt: head.endsAt, endsAt: end, isAhead: false };
  if (head.endsAt > now + pushMs) return { startsAt: Math.round(end - pushMs), endsAt: end, isAhead: true };
  return null;
}

/** Returns a function that closes the periods that are due. */
export function createCloser(options: CloserOptions): () => Promise<void> {
  const { store, dueWork, pushMs, now, elapsed, random, onDefect = rethrow } = options;
  const { fromLocal } = options.clock ?? localClock(now);
  /** Heads ahead of our clock, with the time since which each has not changed. */
  const unchanged = new Map<string, { number: number; since: number }>();

  /**
   * True after one length without a change. Before, a node with a faster clock may be closing periods: ours may be wrong. The
   * embedded store has no other node.
   */
  function isAbandoned({ siteId, number }: PeriodHead): boolean {
    if (store.engine === "sqlite") return true;
    const known = unchanged.get(siteId);
    if (known?.number === number) return elapsed() - known.since > pushMs;
    unchanged.set(siteId, { number, since: elapsed() });
    return false;
  }

  /** One site whose totals cannot be read must not stop the others. */
  async function close(closing: Closing): Promise<void> {
    try {
      await store.periods.close(closing);
      dueWork?.refreshSoon();
    } catch (error) {
      onDefect(error, { outbound: "closing", site: closing.siteId });
    }
  }

  return async () => {
    const at = now();
    const [before, after] = [lastPeriodEnd(at, pushMs), at + pushMs];
    const heads = await (dueWork?.periodHeads(before, after) ?? store.periods.listHeads(before, after));
    for (const head of heads) {
      const due = periodToClose(head, at, pushMs);
      if (!due || (due.isAhead && !isAbandoned(head))) continue;
      unchanged.delete(head.siteId);
      const { startsAt, endsAt } = due;
      // Spreads the pushes to thousands of receivers over several seconds.
      const closedAt = fromLocal(now());
      const dueAt = Math.round(closedAt + random() * Math.min(maxJitterMs, pushMs / 20));
      const { siteId, number } = head;
      await close({ siteId, number, startsAt, endsAt, now: closedAt, dueAt });
    }
  };
}
