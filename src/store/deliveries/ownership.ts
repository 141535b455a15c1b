// Who attempts the deliveries of an event, and what keeps every other node from doing so meanwhile. An ownership is made once,
// where the event is accepted or the delivery is claimed, and passed on whole.

/** The owner of a row that any node may claim once it is due. */
export const anyNode = "";

/** The lease of the node covers all first attempts of an event that it accepted, so they need no rows. */
export type NodeOwnership = { by: "node"; owner: string; at: number };

/**
 * Each delivery has a row with a lease of its own, from `at` to `dueAt`: the end of the lease is the row's due time. Both are
 * times of one clock, because a lease that seems to begin after its end would be taken for one to correct.
 */
export type RowOwnership = { by: "row"; owner: string; at: number; dueAt: number };

export type StoredOwnership = NodeOwnership | RowOwnership;

/** Of rows that any node may claim from `dueAt` on. */
export const ownedByAny = (dueAt: number, at = dueAt): RowOwnership => ({ by: "row", owner: anyNode, at, dueAt });
