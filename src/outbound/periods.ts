// When periods are closed. They end on the clock's own marks (every full quarter of an hour), so that everybody can tell
// which period a moment belongs to. The store makes sure that nothing is counted twice or not at all, whatever clocks do;
// here it is only decided when to close.

import type { PeriodHead } from "../store/outbound/periods.ts";
import type { Store } from "../store/store.ts";

export type CloserOptions = {
  store: Pick<Store, "periods">;
  /** Length of a period. */
  pushMs: number;
  now: () => number;
  /** Milliseconds that passed, whatever happens to the clock. */
  elapsed: () => number;
  /** 0…1 */
  random: () => number;
};

const maxJitterMs = 10_000;

/** The last mark of the clock. */
export const markBefore = (now: number, pushMs: number) => Math.round(Math.floor(now / pushMs) * pushMs);

/**
 * The period that is to be closed now; null while it lasts. A relay that was off closes one long period. `ahead` is a
 * head that ends more than a period from now: the clock was set back since. Waiting for it could take years, so new
 * marks are counted from where the clock is now.
 */
export function periodToClose(
  head: PeriodHead,
  now: number,
  pushMs: number,
): { startsAt: number; endsAt: number; ahead: boolean } | null {
  const mark = markBefore(now, pushMs);
  if (head.endsAt < mark) return { startsAt: head.endsAt, endsAt: mark, ahead: false };
  if (head.endsAt > now + pushMs) return { startsAt: Math.round(mark - pushMs), endsAt: mark, ahead: true };
  return null;
}

/** Returns a function that closes what is to be closed now. */
export function openCloser({ store, pushMs, now, elapsed, random }: CloserOptions): () => Promise<void> {
  /** Heads ahead of our clock, and since when each has not moved. */
  const watched = new Map<string, { number: number; since: number }>();

  /** If a node with a faster clock moves the head, ours is the odd one: it is left alone until it has stood for a period. */
  function isAbandoned({ siteId, number }: PeriodHead): boolean {
    const known = watched.get(siteId);
    if (known?.number === number) return elapsed() - known.since > pushMs;
    watched.set(siteId, { number, since: elapsed() });
    return false;
  }

  return async () => {
    const at = now();
    const heads = await store.periods.listHeads(markBefore(at, pushMs), at + pushMs);
    for (const head of heads) {
      const due = periodToClose(head, at, pushMs);
      if (!due || (due.ahead && !isAbandoned(head))) continue;
      watched.delete(head.siteId);
      const { startsAt, endsAt } = due;
      // Thousands of receivers need not hear from us in the same millisecond.
      const dueAt = Math.round(at + random() * Math.min(maxJitterMs, pushMs / 20));
      const { siteId, number } = head;
      await store.periods.close({ siteId, number, startsAt, endsAt, now: at, dueAt });
    }
  };
}
