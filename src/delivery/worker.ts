// Delivers what was accepted and not sent yet: retries that fall due, jobs of a node that died, released events. It polls once
// a second, claims no more than the lanes have capacity for, and several nodes can do so at the same time.
//
// A poll visits every connection once and does a small step for each, so that a large backlog of one connection delays the
// others by one step only. The rest follows with the next poll, which then starts at once.

import { poll } from "../background/poll.ts";
import { localClock, type SharedClock } from "../background/sharedClock.ts";
import { withCurrentConsent } from "../identity/attribution.ts";
import { unselectedReason } from "../kernel/event.ts";
import { platformOf } from "../platforms/index.ts";
import { isWorking, type Directory } from "../sites/directory.ts";
import { damageFindings } from "../store/damagedRows.ts";
import type { ConnectionKey, Delivery } from "../store/deliveries/delivery.ts";
import { backfillReason } from "../store/deliveries/backfills.ts";
import type { Settlement } from "../store/deliveries/delivery.ts";
import type { StoredEvent } from "../store/events/eventRow.ts";
import type { Store } from "../store/store.ts";
import type { Lanes } from "./lanes/lanes.ts";
import { directLooks, type Looks } from "./looks.ts";
import { isSelected, parkedReason, toConversion, type Job } from "./plan.ts";
import { expiryOf, maxAgeDaysOf } from "./retry.ts";

type WorkerOptions = {
  store: Store;
  directory: Directory;
  lanes: Lanes;
  /** This node. */
  owner: string;
  leaseMs: number;
  now: () => number;
  /** The clock of leases and due times; by default the node's own, which is enough for a single node. */
  clock?: SharedClock;
  /** Finds what is due; by default by asking the store. */
  looks?: Looks;
  /** Milliseconds on a monotonic clock. */
  elapsed: () => number;
  /** Called after every poll. */
  onPoll?: () => void;
  /** Called with every settlement as it goes to the store. */
  onSettled?: (settlement: Settlement) => void;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

export const pollMs = 1000;
export const sweepMs = 2000;
/** Waits this long, so that lanes that free up together are filled together. */
export const wakeDelayMs = 5;
export const maxClaimed = 200;
/** Deliveries that one statement releases or ends. In the embedded store the relay waits for it. */
const maxChanged = 100;

export function startWorker(given: WorkerOptions): { stop(): Promise<void> } {
  const { clock = localClock(given.now), looks = directLooks(given.store) } = given;
  const options = { ...given, clock, looks };
  const { elapsed, onDefect } = options;
  /** Deliveries were due for which there was no capacity: poll again as soon as there is. */
  let more = false;
  let freedSincePoll = false;
  let sweptAt = -Infinity;

  async function sendAllDue(signal: AbortSignal): Promise<void> {
    more = false;
    freedSincePoll = false;
    try {
      const time = await clock.read();
      if (time.isOff) return;
      if (elapsed() - sweptAt >= sweepMs) {
        sweptAt = elapsed();
        const isLeft = await sweepParked(options).catch((error: unknown) => onDefect(error, { worker: "parked" }));
        if (isLeft) pollAgain();
      }
      // Also those of removed connections, which another node may have held until now.
      for (const due of await looks.dueConnections(time.now)) {
        if (signal.aborted) return;
        const isMore = await sendDueOf(due);
        if (isMore) looks.note(due, time.now);
        more ||= isMore;
      }
      if (more && freedSincePoll) loop.wake(wakeDelayMs);
    } finally {
      options.onPoll?.();
    }
  }

  /** A connection that fails must not keep the others from being polled. */
  async function sendDueOf(due: ConnectionKey): Promise<boolean> {
    try {
      return await sendDue(options, due, { onCapacity, pollAgain });
    } catch (error) {
      onDefect(error, { worker: "claim", connection: due.connectionId });
      looks.note(due, options.now() + pollMs);
      return false;
    }
  }

  /** The next poll follows at once, whether lanes have capacity or not, and sweeps again. */
  function pollAgain(): void {
    sweptAt = -Infinity;
    loop.wake(wakeDelayMs);
  }

  function onCapacity(): void {
    freedSincePoll = true;
    if (more) loop.wake(wakeDelayMs);
  }

  const loop = poll({
    everyMs: pollMs,
    jitter: 0.2,
    work: sendAllDue,
    onError: (error) => onDefect(error, { worker: "poll" }),
  });
  return loop;
}

/**
 * Queues the parked deliveries of active connections. Resuming and reconnecting do so too; this is for deliveries that a
 * node parked before it knew that the connection is active again. True when there are more.
 */
async function sweepParked({ store, directory, clock, looks, onDefect }: Claiming): Promise<boolean> {
  let isLeft = false;
  for (const { siteId, connectionId } of await looks.parkedConnections()) {
    const site = directory.site(siteId);
    if (!site || !isWorking(site)) continue;
    if (directory.connection(siteId, connectionId)?.state !== "active") continue;
    const { now } = await clock.read();
    // One that fails is found again, and keeps no other from being released.
    const released = await store.deliveries.releaseParked(siteId, connectionId, now, maxChanged).catch((error: unknown) => {
      onDefect(error, { worker: "parked", connection: connectionId });
      return 0;
    });
    if (released > 0) looks.note({ siteId, connectionId }, now);
    isLeft ||= released >= maxChanged;
  }
  return isLeft;
}

type Claiming = WorkerOptions & { clock: SharedClock; looks: Looks };

type Signals = {
  /** A job has left its lane. */
  onCapacity: () => void;
  /** There is more to do that needs no lane. */
  pollAgain: () => void;
};

/** Claims due deliveries of one connection and sends them through its lanes. True when there may be more. */
async function sendDue(options: Claiming, due: ConnectionKey, { onCapacity, pollAgain }: Signals): Promise<boolean> {
  const { store, directory, lanes, owner, leaseMs, now, elapsed, clock } = options;
  const site = directory.site(due.siteId);
  // Without the settings of the site it is not known which identifiers may be sent. One that is moved is sent from there.
  if (site && !isWorking(site)) return false;
  const connection = await directory.connectionNow(due.siteId, due.connectionId);
  // The end of the lease by this node's own clocks is taken first, so that it is no later than the stored one.
  const [until, endsAt] = [now() + leaseMs, elapsed() + leaseMs];
  const time = await clock.read();
  if (time.isOff) return false;
  if (connection?.state !== "active") {
    const outcome = connection
      ? ({ state: "parked", reason: parkedReason(connection) } as const)
      : ({ state: "skipped", reason: "disconnected" } as const);
    const ended = await store.deliveries.endPending(due, outcome, time.now, maxChanged);
    if (ended >= maxChanged) pollAgain();
    return false;
  }
  const limit = Math.min(lanes.capacity(connection), maxClaimed);
  if (limit === 0) return true;
  const { settings } = connection;
  const platform = platformOf(connection.platform);
  const ownership = { by: "row", owner, at: time.now, dueAt: time.now + leaseMs, until, endsAt } as const;
  // A lease can end during an attempt of this node, which then claims the delivery again. The attempt settles it. Looked at before
  // the claim, because the attempt may end before the claim is durable.
  const inHand = lanes.inHand(due);
  const claimed = await store.deliveries.claimDue(due, ownership, limit);
  const unsent = claimed.filter(({ eventId }) => !inHand.has(eventId));
  const ids = unsent.map((delivery) => delivery.eventId);
  const events = await store.events.getMany(due.siteId, ids);
  const consentMode = site?.settings.consentMode ?? "opt-in";
  const backfilledAt = createBackfillTimes(options, due);
  await Promise.all(
    unsent.map(async (delivery) => {
      const event = events.get(delivery.eventId) ?? "damaged";
      if (event === "damaged") return rejectDamaged(options, delivery);
      const attribution = await withCurrentConsent(store.people, event, consentMode);
      const conversion = toConversion(event, event.platformEventId, attribution);
      // Consent, settings and age may have changed since the delivery was planned. The selection may not have been known.
      const unfit = isSelected(connection, event.name) ? platform?.skipReason?.(conversion, settings, now()) : unselectedReason;
      if (unfit) return settleUnsent(options, delivery, "skipped", unfit);
      const maxAgeDays = maxAgeDaysOf(conversion, platform, settings);
      const queuedAt = maxAgeDays === undefined ? await backfilledAt(event) : 0;
      const expiresAt = expiryOf(event, maxAgeDays, queuedAt);
      const job: Job = { ...due, eventId: event.id, conversion, attemptsMade: delivery.attempts, expiresAt, ownership };
      if (delivery.reason === backfillReason) job.isBackfill = true;
      void lanes.send(job).then(onCapacity);
    }),
  );
  return claimed.length === limit;
}

/** Returns when a backfill queued an event that is too old to be retried by the time of its receipt; 0 for others. */
function createBackfillTimes({ store, now }: WorkerOptions, { siteId, connectionId }: ConnectionKey) {
  let found: ReturnType<typeof store.backfills.find> | null = null;
  return async (event: StoredEvent): Promise<number> => {
    if (expiryOf(event, undefined) > now()) return 0;
    const backfill = await (found ??= store.backfills.find(siteId, connectionId));
    return backfill && event.id < backfill.toId ? backfill.updatedAt : 0;
  };
}

/** An event that cannot be read can never be sent. */
async function rejectDamaged(options: WorkerOptions, delivery: Delivery): Promise<void> {
  options.onDefect(new Error("a stored event cannot be read"), { event: delivery.eventId });
  await settleUnsent(options, delivery, "rejected", "the stored event is damaged");
  await options.store.alerts.begin(delivery.siteId, damageFindings.events, options.now());
}

async function settleUnsent(
  { store, owner, now, onSettled }: WorkerOptions,
  { siteId, eventId, connectionId, attempts }: Delivery,
  state: "skipped" | "rejected",
  reason: string,
): Promise<void> {
  const outcome = { owner, state, reason, dueAt: 0, attempts, at: now(), attempt: null };
  const settlement = { siteId, eventId, connectionId, ...outcome };
  onSettled?.(settlement);
  await store.deliveries.settle(settlement);
}
