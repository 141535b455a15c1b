// Claims due deliveries of one connection, looks again at what may have changed since they were planned, and sends them through
// the connection's lanes.

import type { SharedClock } from "../../background/sharedClock.ts";
import { withCurrentConsent } from "../../identity/attribution.ts";
import { refundedReason } from "../../kernel/correction.ts";
import { unselectedReason } from "../../kernel/event.ts";
import { platformOf } from "../../platforms/index.ts";
import { skipOf } from "../../platforms/shared/skips.ts";
import { isWorking, type Connection, type Directory } from "../../sites/directory.ts";
import { damageFindings } from "../../store/damagedRows.ts";
import { backfillReason } from "../../store/deliveries/backfills.ts";
import type { ConnectionKey, Delivery, Settlement } from "../../store/deliveries/delivery.ts";
import type { StoredEvent } from "../../store/events/eventRow.ts";
import type { Store } from "../../store/store.ts";
import type { Lanes } from "../lanes/lanes.ts";
import type { Ownership } from "../ownership.ts";
import { toConversion } from "../conversion.ts";
import type { Job } from "../job.ts";
import { findLeft, type Left } from "../corrections/find.ts";
import { isSelected, parkedReason } from "../plan.ts";
import { beginningOf, expiryOf, isQueuedAnew, maxAgeDaysOf } from "../expiry.ts";

export type ClaimOptions = {
  store: Store;
  directory: Directory;
  lanes: Lanes;
  /** This node. */
  owner: string;
  leaseMs: number;
  now: () => number;
  /** Milliseconds on a monotonic clock. */
  elapsed: () => number;
  /** The clock of leases and due times. */
  clock: SharedClock;
  /** Called with every settlement as it goes to the store. */
  onSettled?: (settlement: Settlement) => void;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

/** Deliveries that one statement releases or ends. In the embedded store the relay waits for it. */
export const maxChanged = 100;
const maxClaimed = 200;

type Signals = {
  /** A job has left its lane. */
  onCapacity: () => void;
  /** There is more to do that needs no lane. */
  pollAgain: () => void;
};

/** True when there may be more. */
export async function sendDue(options: ClaimOptions, due: ConnectionKey, { onCapacity, pollAgain }: Signals): Promise<boolean> {
  const { store, directory, lanes, owner, leaseMs, now, elapsed, clock } = options;
  const site = directory.site(due.siteId);
  // Without the settings of the site it is not known which identifiers may be sent. One that is moved is sent from there.
  if (site && !isWorking(site)) return false;
  const connection = await directory.connectionNow(due.siteId, due.connectionId);
  // The end of the lease by this node's own clocks is taken first, so that it is no later than the stored one.
  const [wallEnd, monotonicEnd] = [now() + leaseMs, elapsed() + leaseMs];
  const time = await clock.read();
  if (time.isOff) return false;
  const [until, endsAt] = [wallEnd - clock.lagMs(), monotonicEnd - clock.lagMs()];
  if (connection?.state !== "active") {
    if (await stopWaiting(store, due, connection, time.now)) pollAgain();
    return false;
  }
  const limit = Math.min(lanes.capacity(connection), maxClaimed);
  if (limit === 0) return true;
  const ownership = { by: "row", owner, at: time.now, dueAt: time.now + leaseMs, until, endsAt } as const;
  // If a lease ended during an attempt here, the delivery may be claimed while that attempt runs: it is left to that attempt, which
  // may end or begin during the claim.
  const before = lanes.inHand(due);
  const claimed = await store.deliveries.claimDue(due, ownership, limit);
  const inHand = before.union(lanes.inHand(due));
  const unsent = claimed.filter(({ eventId }) => !inHand.has(eventId));
  const events = await store.events.getMany(
    due.siteId,
    unsent.map(({ eventId }) => eventId),
  );
  const readable = [...events.values()].filter((event) => event !== "damaged");
  const left = site ? await findLeft({ store, site }, connection.id, readable) : new Map<string, Left>();
  const toJob = createToJob(options, connection, ownership, left);
  await Promise.all(
    unsent.map(async (delivery) => {
      const job = await toJob(delivery, events.get(delivery.eventId) ?? "damaged");
      if (job) void lanes.send(job).then(onCapacity);
    }),
  );
  return claimed.length === limit;
}

/** Parks or skips what waits for a connection that is not active. True when there is more. */
async function stopWaiting(store: Store, due: ConnectionKey, connection: Connection | undefined, now: number): Promise<boolean> {
  const end = connection
    ? ({ state: "parked", reason: parkedReason(connection) } as const)
    : ({ state: "skipped", reason: "disconnected" } as const);
  return (await store.deliveries.endPending(due, end, now, maxChanged)) >= maxChanged;
}

/** Makes the jobs of claimed deliveries. One that cannot be sent any more is settled, and has none. */
function createToJob(options: ClaimOptions, connection: Connection, ownership: Ownership, left: ReadonlyMap<string, Left>) {
  const { store, directory, now } = options;
  const { siteId, id: connectionId, settings } = connection;
  const platform = platformOf(connection.platform);
  const consentMode = directory.site(siteId)?.settings.consentMode ?? "opt-in";

  /** When the attempts of now began, of an event that is too old to be retried by the time of its receipt. */
  async function begunAt(event: StoredEvent, delivery: Delivery): Promise<number> {
    if (isQueuedAnew(delivery.reason)) return now();
    const attempts = await store.deliveries.listAttempts(siteId, event.id);
    const own = attempts.filter((one) => one.connectionId === connectionId);
    return beginningOf(own, event, now());
  }

  return async (delivery: Delivery, event: StoredEvent | "damaged"): Promise<Job | null> => {
    if (event === "damaged") return rejectDamaged(options, delivery);
    const lookedAt = now();
    const attribution = await withCurrentConsent(store.people, event, consentMode);
    const conversion = toConversion(event, event.platformEventId, attribution);
    // Consent, settings and age may have changed since the delivery was planned. The selection may not have been known.
    const unfit = isSelected(connection, event.name)
      ? platform && skipOf(platform, conversion, settings)?.reason
      : unselectedReason;
    if (unfit) return settleUnsent(options, delivery, { state: "skipped", reason: unfit });
    const rest = left.get(event.id);
    if (rest) {
      if (rest.value === 0) return settleUnsent(options, delivery, { state: "skipped", reason: refundedReason });
      conversion.whole = { value: conversion.value, items: conversion.items };
      conversion.value = rest.value;
      // Nobody said which of them are left.
      delete conversion.items;
      await store.corrections.apply(delivery, rest, now());
    }
    const maxAgeDays = maxAgeDaysOf(conversion, platform, settings);
    const isOver = maxAgeDays === undefined && expiryOf(event, undefined) <= now();
    const expiresAt = expiryOf(event, maxAgeDays, isOver ? await begunAt(event, delivery) : 0);
    const job: Job = {
      siteId,
      eventId: event.id,
      connectionId,
      conversion,
      lookedAt,
      attemptsMade: delivery.attempts,
      expiresAt,
      ownership,
    };
    if (delivery.reason === backfillReason) job.isBackfill = true;
    // What a cancelled backfill ends, and what begins anew, is told by the reason of the row: one without an attempt keeps it.
    if (job.isBackfill || (isOver && isQueuedAnew(delivery.reason))) job.queuedFor = delivery.reason;
    return job;
  };
}

/** An event that cannot be read can never be sent. */
async function rejectDamaged(options: ClaimOptions, delivery: Delivery): Promise<null> {
  options.onDefect(new Error("a stored event cannot be read"), { event: delivery.eventId });
  await settleUnsent(options, delivery, { state: "rejected", reason: "the stored event is damaged" });
  await options.store.alerts.begin(delivery.siteId, damageFindings.events, options.now());
  return null;
}

async function settleUnsent(
  { store, owner, now, clock, onSettled }: ClaimOptions,
  { siteId, eventId, connectionId, attempts }: Delivery,
  { state, reason }: Pick<Settlement, "state" | "reason">,
): Promise<null> {
  const settlement = {
    siteId,
    eventId,
    connectionId,
    owner,
    state,
    reason,
    dueAt: 0,
    attempts,
    at: clock.fromLocal(now()),
    attempt: null,
  };
  onSettled?.(settlement);
  await store.deliveries.settle(settlement);
  return null;
}
