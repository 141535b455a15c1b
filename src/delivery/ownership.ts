// What entitles this node to attempt a delivery: its own lease, which covers every event that it accepted, or a lease on the
// delivery's row. Each attempt must end, and be settled, while that lasts.

import { localClock, type SharedClock } from "../background/sharedClock.ts";
import type { Connection } from "../sites/directory.ts";
import type { NewDelivery, Settlement } from "../store/deliveries/delivery.ts";
import { ownedByAny, type NodeOwnership, type RowOwnership } from "../store/deliveries/ownership.ts";

/** An event that this node accepts or has accepted, with first attempts that are not all settled. */
export type OpenEvent = {
  /**
   * Resolves when the settlement is committed, or has failed and is kept for the next try, with others of the event that arrived at the same moment. The request was made
   * with the settings of `connection`.
   */
  settle(settlement: Settlement, connection?: Connection): Promise<void>;
  /** The event was not accepted, so there is nothing to settle. */
  close(): void;
  /** It is not known whether the event was accepted. Its deliveries are queued later if it was. */
  abandon(): void;
  /** The time for which no other node takes the event over. */
  leaseLeftMs(): number;
};

/**
 * `node`: a first attempt of an open event. `row`: the delivery has a row with a lease, whose end is known by three clocks: `dueAt`
 * by the one that all nodes share, `until` by this node's wall clock, `endsAt` by its monotonic clock.
 */
export type Ownership = (NodeOwnership & { event: OpenEvent }) | (RowOwnership & { until: number; endsAt: number });

/**
 * How long no other node attempts the delivery. Of the two clocks of a lease the shorter time counts: a wall clock that was set
 * back would prolong the lease, and the monotonic clock stops while the machine is suspended.
 */
export function ownedMs(ownership: Ownership, now: number, elapsed: number): number {
  if (ownership.by === "node") return ownership.event.leaseLeftMs();
  return Math.min(ownership.until - now, ownership.endsAt - elapsed);
}

type LeaseOptions = {
  /** This node. */
  owner: string;
  leaseMs: number;
  now: () => number;
  elapsed: () => number;
  clock?: Pick<SharedClock, "fromLocal" | "lagMs">;
};

/** Makes the ownership of an event's rows, from its receipt on, for a node whose own lease does not cover the event. */
export function createRowOwnership({ owner, leaseMs, now, elapsed, clock }: LeaseOptions) {
  const { fromLocal, lagMs } = clock ?? localClock(now);
  return (receivedAt: number): Ownership => {
    // The wall clock may be set back while the event is accepted: a lease from the old time on would last as much longer.
    const at = Math.min(receivedAt, now());
    const dueAt = fromLocal(at + leaseMs);
    const until = at + leaseMs - lagMs();
    const endsAt = elapsed() + until - now();
    return { by: "row", owner, at: fromLocal(at), dueAt, until, endsAt };
  };
}

/** The id of an event that may be accepted here. */
export type ReservedId = {
  id: string;
  /** Decides who attempts the planned deliveries of the event, which was received at `at` and is about to be accepted. */
  own(siteId: string, planned: readonly NewDelivery[], at: number): Ownership;
  /** Nothing is done with this id any more, unless an open event has it. */
  release(): void;
};

/** The id of an event whose deliveries are left to the workers of all nodes. */
export const reserveForWorkers = (id: string): ReservedId => ({
  id,
  own: (_siteId, _planned, at) => ({ ...ownedByAny(at), until: at, endsAt: -Infinity }),
  release() {},
});
