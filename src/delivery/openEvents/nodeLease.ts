// The lease of this node. While it lasts, no other node attempts the events that this one accepted, so they need no leases of
// their own. It is written together with the low-water mark.
//
// Invariant: the lease ends here no later than in the store. It is counted from before the write, by the clock that has gone further.

import type { Store } from "../../store/store.ts";

type Options = {
  store: Pick<Store, "engine" | "nodes">;
  owner: string;
  leaseMs: number;
  now: () => number;
  elapsed: () => number;
};

export function createNodeLease({ store, owner, leaseMs, now, elapsed }: Options) {
  const isShared = store.engine !== "sqlite";
  let writtenMark = "";
  /** When the lease was last renewed, by both clocks. */
  let renewed = { at: -Infinity, elapsed: -Infinity };
  let lapses = 0;

  /**
   * The wall clock may have been set back, and the monotonic one stops while the machine is suspended. The embedded store has no
   * other node, so its lease does not end. It begins with the row of the node, though: without that, a later process would not
   * find what this one leaves.
   */
  function leftMs(): number {
    if (!isShared && writtenMark !== "") return Infinity;
    return leaseMs - Math.max(now() - renewed.at, elapsed() - renewed.elapsed);
  }

  return {
    leftMs,
    /** How often the lease was renewed after it had ended. What was open by then may have been taken over. */
    lapses: () => lapses,
    /** Writes lease and mark where one of them is due. The mark was determined when there had been `promotions`. */
    async renew(mark: string, promotions: number): Promise<void> {
      if (leftMs() > leaseMs * 0.75 && mark === writtenMark) return;
      const started = { at: now(), elapsed: elapsed() };
      await store.nodes.renew(owner, mark, leaseMs, promotions);
      writtenMark = mark;
      if (leftMs() <= 0) lapses += 1;
      renewed = started;
    },
  };
}
