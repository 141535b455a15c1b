// Delivers what was accepted and not sent yet: retries that fall due, jobs of a node that died, released events. It polls once
// a second, claims no more than the lanes have capacity for, and several nodes can do so at the same time.
//
// A poll visits every connection once and does a small step for each, so that a large backlog of one connection delays the
// others by one step only. The rest follows with the next poll, which then starts at once.

import { defaultPollMs, poll } from "../../background/poll.ts";
import { localClock, type SharedClock } from "../../background/sharedClock.ts";
import { isWorking } from "../../sites/directory.ts";
import type { ConnectionKey } from "../../store/deliveries/delivery.ts";
import { maxChanged, sendDue, type ClaimOptions } from "./claim.ts";
import { createDueWork, type DueWork } from "./dueWork.ts";

type WorkerOptions = Omit<ClaimOptions, "clock"> & {
  /** The clock of leases and due times; by default the node's own, which is enough for a single node. */
  clock?: SharedClock;
  /** Finds what is due; by default by asking the store. */
  dueWork?: DueWork;
  /** The pause between two polls. Parked deliveries are swept half as often. */
  pollMs?: number;
  /** Called after every poll. */
  onPoll?: () => void;
};

/** Waits this long, so that lanes that free up together are filled together. */
const wakeDelayMs = 5;

export function startWorker(given: WorkerOptions): { stop(): Promise<void> } {
  const { clock = localClock(given.now), dueWork = createDueWork(given.store) } = given;
  const options = { ...given, clock, dueWork };
  const { elapsed, onDefect, pollMs = defaultPollMs } = options;
  /** Deliveries may be left that a lane could take: poll again as soon as one is free. */
  let more = false;
  let freedSincePoll = false;
  let sweptAt = -Infinity;

  async function sendAllDue(signal: AbortSignal): Promise<void> {
    more = false;
    freedSincePoll = false;
    try {
      const time = await clock.read();
      if (time.isOff) return;
      if (elapsed() - sweptAt >= 2 * pollMs) {
        sweptAt = elapsed();
        const isLeft = await sweepParked(options).catch((error: unknown) => onDefect(error, { worker: "parked" }));
        if (isLeft) pollAgain();
      }
      // Also those of removed connections, which another node may have held until now.
      for (const due of await dueWork.dueConnections(time.now)) {
        if (signal.aborted) return;
        const isMore = await sendDueOf(due);
        if (isMore) dueWork.note(due, time.now);
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
      dueWork.note(due, options.now() + pollMs);
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
async function sweepParked({
  store,
  directory,
  clock,
  dueWork,
  onDefect,
}: ClaimOptions & { dueWork: DueWork }): Promise<boolean> {
  let isLeft = false;
  for (const { siteId, connectionId } of await dueWork.parkedConnections()) {
    const site = directory.site(siteId);
    if (!site || !isWorking(site)) continue;
    if (directory.connection(siteId, connectionId)?.state !== "active") continue;
    const { now } = await clock.read();
    // One that fails is found again, and keeps no other from being released.
    const released = await store.deliveries.releaseParked(siteId, connectionId, now, maxChanged).catch((error: unknown) => {
      onDefect(error, { worker: "parked", connection: connectionId });
      return 0;
    });
    if (released > 0) dueWork.note({ siteId, connectionId }, now);
    isLeft ||= released >= maxChanged;
  }
  return isLeft;
}
