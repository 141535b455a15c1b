// The events that this node owns: accepted here, with first attempts that are not all settled. No row says so. The node's own
// row holds its lease and its low-water mark, so that another node can take the open ones over when this one dies
// (docs/decisions/0015-rows-of-an-event.md). eventList.ts keeps ids and mark, nodeLease.ts the lease, firstAttempts.ts settles
// one event, takeover.ts takes over from dead nodes, and recovery.ts rewrites what a promoted server may lack.

import { defaultPollMs, poll } from "../../background/poll.ts";
import { localClock, type SharedClock } from "../../background/sharedClock.ts";
import type { NewDelivery } from "../../store/deliveries/delivery.ts";
import type { Store } from "../../store/store.ts";
import type { DueWork } from "../due/dueWork.ts";
import { createRowOwnership, type Ownership, type ReservedId } from "../ownership.ts";
import { settingsFingerprint } from "../settingsFingerprint.ts";
import { createMachineWork } from "../due/slices.ts";
import { createEventList, type ListedEvent } from "./eventList.ts";
import { createFirstAttempts } from "./firstAttempts.ts";
import { createNodeLease } from "./nodeLease.ts";
import { createRecovery } from "./recovery.ts";
import { createTakeover } from "./takeover.ts";

type OpenEvents = {
  /** The low-water mark does not pass the id before it is released and its event, if it is open, is settled. */
  reserveId(now: number): ReservedId;
  /** The number of ids that are reserved or belong to open events. */
  size(): number;
  /** Settles what is left and ends the lease. Nothing may be opened afterwards. */
  close(): Promise<void>;
};

type Options = {
  store: Pick<Store, "engine" | "nodes" | "deliveries" | "slices" | "health">;
  sites: () => Iterable<{ id: string }>;
  /** Finds dead nodes; by default by asking the store. */
  dueWork?: Pick<DueWork, "expiredNodes">;
  /** This node. */
  owner: string;
  version: string;
  leaseMs: number;
  /** The longest time from accepting an event to the end of its first attempts. */
  maxOpenMs: number;
  pollMs?: number;
  now: () => number;
  /** The clock of due times; by default the node's own, which is enough for a single node. */
  clock?: Pick<SharedClock, "fromLocal" | "lagMs">;
  /** Milliseconds on a monotonic clock. */
  elapsed: () => number;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

/** Takes over what earlier processes left, and begins the lease. */
export async function startOpenEvents(options: Options): Promise<OpenEvents> {
  const { store, owner, version, leaseMs, maxOpenMs, pollMs = defaultPollMs, now, elapsed, onDefect } = options;
  const { fromLocal } = options.clock ?? localClock(now);
  const sharedNow = () => fromLocal(now());
  const events = createEventList(now());
  const lease = createNodeLease(options);
  const ownRows = createRowOwnership(options);
  const takeover = await createTakeover({ ...options, sharedNow });
  const recovery = createRecovery({ store, owner, events, takeover });
  const onEachMachine = createMachineWork(store);
  const abandoned = new Map<ListedEvent, { siteId: string; since: number }>();

  async function renew(): Promise<void> {
    await recovery.begin();
    await lease.renew(recovery.from() ?? events.lowWater(), recovery.promotions());
  }

  async function writeFailed(): Promise<void> {
    const failed = events.attempts().filter((attempts) => attempts.hasFailed());
    await Promise.all(failed.map((attempts) => attempts.write()));
    await queueAbandoned();
  }

  /** Queues the deliveries of events whose commit was not confirmed, when no transaction can begin to commit them any more. */
  async function queueAbandoned(): Promise<void> {
    const due = [...abandoned].filter(([, { since }]) => elapsed() - since >= leaseMs);
    const errors = await onEachMachine(
      due,
      ([, { siteId }]) => siteId,
      async ([listed, { siteId }]) => {
        await store.nodes.queueEvent(siteId, listed.id, sharedNow());
        abandoned.delete(listed);
        events.remove(listed);
      },
    );
    if (errors.length) onDefect(errors[0], { worker: "open events", events: errors.length });
  }

  /**
   * The node owns an event that has first attempts, unless its lease may end before they do: then each delivery gets a row with
   * a lease of its own. So do the deliveries of an event without first attempts.
   */
  function own(listed: ListedEvent, siteId: string, deliveries: readonly NewDelivery[], at: number): Ownership {
    const isAttempted = deliveries.some(({ state }) => state === "queued");
    if (!isAttempted || lease.leftMs() < maxOpenMs) return ownRows(at);
    const lapses = lease.lapses();
    const onEnd = () => events.remove(listed);
    const settle = store.deliveries.settleFirst;
    const attempts = createFirstAttempts({ siteId, eventId: listed.id, deliveries, settle, onEnd, onDefect });
    listed.attempts = attempts;
    return {
      by: "node",
      owner,
      at: fromLocal(Math.min(at, now())),
      event: {
        settle: (settlement, connection) =>
          attempts.settle(settlement, connection ? settingsFingerprint(connection, version) : ""),
        close: onEnd,
        abandon: () => void abandoned.set(listed, { siteId, since: elapsed() }),
        leaseLeftMs: () => (lease.lapses() === lapses ? lease.leftMs() : 0),
      },
    };
  }

  if (store.engine === "sqlite") await takeover.takeOverDead();
  // A node starts without its lease where that part of a sharded database is down: until then its events get delivery rows.
  await renew().catch((error: unknown) => onDefect(error, { worker: "open events" }));
  // Each apart from the others: a site whose shard is down must not keep the lease from being renewed.
  const loops = [renew, writeFailed, takeover.takeOverDead, () => recovery.recover()].map((work) =>
    poll({
      everyMs: pollMs,
      firstMs: pollMs,
      jitter: 0.2,
      work,
      onError: (error) => onDefect(error, { worker: "open events" }),
    }),
  );

  return {
    reserveId(at) {
      const listed = events.add(at);
      return {
        id: listed.id,
        own: (siteId, deliveries, ownedAt) => own(listed, siteId, deliveries, ownedAt),
        release() {
          if (!listed.attempts) events.remove(listed);
        },
      };
    },
    size: () => events.ids().length,
    async close() {
      await Promise.all(loops.map((loop) => loop.stop()));
      await Promise.all(events.attempts().map((attempts) => attempts.write()));
      // Another node takes over what is left, when the lease has ended.
      if (events.isEmpty() && recovery.isDone()) await store.nodes.remove(owner, recovery.promotions());
    },
  };
}
