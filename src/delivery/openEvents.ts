// The events that this node owns: accepted here, with first attempts that are not all settled. No row says so. The node's own
// row holds its lease and its low-water mark, the id of the oldest open event, so that another node can take the open ones
// over when this one dies.
//
// An event is listed from the moment that it has an id, and the ids of a node never decrease: so every open event is at or
// above the last mark that was written.

import { poll } from "../background/poll.ts";
import { localClock, type SharedClock } from "../background/sharedClock.ts";
import { createUlids } from "../kernel/ids.ts";
import { append, isLinked, link, nodesOf, remove, type RingNode } from "../kernel/ring.ts";
import type { PlanEntry } from "../store/events/plan.ts";
import type { Settlement } from "../store/deliveries/deliveries.ts";
import { maxLeaseMs, type ExpiredNode } from "../store/deliveries/nodes.ts";
import type { FirstResult } from "../store/deliveries/outcomes.ts";
import type { Store } from "../store/store.ts";
import type { Connection } from "../sites/directory.ts";
import type { Looks } from "./looks.ts";
import { settingsMark } from "./settingsMark.ts";
import { createMachineWork, createSitePass, type SitePass } from "./slices.ts";

export type OpenEvent = {
  /**
   * Resolves when the outcome is committed, with others of the event that arrived at the same moment. The request was made
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

/** The id of an event that may be accepted here. The low-water mark does not pass it before `release`. */
export type ReservedId = {
  id: string;
  /** Opens the event, which is about to be accepted; null while the node's lease may end before its first attempts do. */
  open(siteId: string, plan: readonly PlanEntry[]): OpenEvent | null;
  /** Nothing is done with this id any more, unless it was opened. */
  release(): void;
};

export type OpenEvents = {
  reserveId(now: number): ReservedId;
  /** The number of open events. */
  size(): number;
  /** Settles what is left and ends the lease. Nothing may be opened afterwards. */
  close(): Promise<void>;
};

type Options = {
  store: Pick<Store, "engine" | "nodes" | "deliveries" | "slices" | "health">;
  sites: () => Iterable<{ id: string }>;
  /** Finds dead nodes; by default by asking the store. */
  looks?: Pick<Looks, "expiredNodes">;
  /** This node. */
  owner: string;
  version: string;
  leaseMs: number;
  /** The longest time from accepting an event to the end of its first attempts. */
  maxOpenMs: number;
  now: () => number;
  /** The clock of due times; by default the node's own, which is enough for a single node. */
  clock?: Pick<SharedClock, "fromLocal">;
  /** Milliseconds on a monotonic clock. */
  elapsed: () => number;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

/** Outcomes of one event wait this long for each other, so that one commit makes them all durable. */
const gatherMs = 2;
const pollMs = 1000;
/** The row of a dead node stays this long, for a transaction of it that was committed late. */
const keepRowMs = 600_000;

/** Takes over what earlier processes left, and begins the lease. */
export async function startOpenEvents(options: Options): Promise<OpenEvents> {
  const { store, owner, version, leaseMs, maxOpenMs, now, elapsed, onDefect } = options;
  const isShared = store.engine !== "sqlite";
  const { fromLocal } = options.clock ?? localClock(now);
  const newUlid = createUlids({ isMonotonic: true });
  /** In the order of their ids. */
  const open = link<Listed>({ id: "", owned: null });
  const abandoned = new Map<Listed, { siteId: string; since: number }>();
  const takenOver = new Set<string>();
  const onEachMachine = createMachineWork(store);
  /** Takeovers with sites that are left, by node. */
  const unfinished = new Map<string, SitePass>();
  /** Nodes whose leases end too far ahead, and since when each lease has not changed. */
  const ahead = new Map<string, { until: number; since: number }>();
  let lastId = newUlid(now());
  let writtenMark = "";
  const firstId = lastId;
  /** The count of promotions that the mark takes into account. */
  let promotions = store.nodes.promotions();
  /** The events whose outcomes a promoted server may lack. */
  let recovery: { from: string; upTo: string } | null = null;
  /** When the lease was last renewed, by both clocks. */
  let renewed = { at: -Infinity, elapsed: -Infinity };
  /** How often the lease was renewed after it had ended. What was open by then may have been taken over. */
  let lapses = 0;

  const lowWater = () => recovery?.from ?? (isLinked(open) ? open.next.id : lastId);
  const listOwned = () => Array.from(nodesOf(open)).flatMap(({ owned }) => owned ?? []);

  /**
   * Of the two clocks the one that has gone further counts: the wall clock may have been set back, and the monotonic one stops
   * while the machine is suspended. The embedded store has no other node, so its lease does not end. It begins with the row of
   * the node, though: without that, a later process would not find what this one leaves.
   */
  function leaseLeftMs(): number {
    if (!isShared && writtenMark !== "") return Infinity;
    return leaseMs - Math.max(now() - renewed.at, elapsed() - renewed.elapsed);
  }

  async function renew(): Promise<void> {
    if (store.nodes.promotions() !== promotions) await beginRecovery();
    const mark = lowWater();
    if (leaseLeftMs() > leaseMs * 0.75 && mark === writtenMark) return;
    const started = { at: now(), elapsed: elapsed() };
    await store.nodes.renew(owner, mark, leaseMs, promotions);
    writtenMark = mark;
    if (leaseLeftMs() <= 0) lapses += 1;
    renewed = started;
  }

  /**
   * A server was promoted that may lack the last commits. It has the outcomes of all events below the mark that it has itself:
   * the mark stays there until the others are recovered.
   */
  async function beginRecovery(): Promise<void> {
    const seen = store.nodes.promotions();
    const from = (await store.nodes.readMark(owner)) ?? firstId;
    recovery = { from: recovery && recovery.from < from ? recovery.from : from, upTo: lastId };
    promotions = seen;
    // The promoted server may lack what was queued of dead nodes.
    takenOver.clear();
    unfinished.clear();
  }

  /** Writes outcomes of open events again, and queues what is open of events that were closed here. */
  async function recover(): Promise<void> {
    const due = recovery;
    if (!due) return;
    await Promise.all(listOwned().map((owned) => owned.rewrite()));
    const isInHand = (id: string) => id > due.upTo || Array.from(nodesOf(open)).some((one) => one.id === id);
    if ((await takeOver({ owner, lowWater: due.from }, isInHand)) && recovery === due) recovery = null;
  }

  /** False while a site is left, because its shard is down for example: the next call tries it again. */
  async function takeOver(node: { owner: string; lowWater: string }, isInHand?: (eventId: string) => boolean): Promise<boolean> {
    const siteIds = Array.from(options.sites(), ({ id }) => id);
    const work = (id: string) => store.nodes.takeOver(id, node, fromLocal(now()), isInHand);
    const pass = unfinished.get(node.owner) ?? createSitePass(onEachMachine, work, elapsed);
    unfinished.set(node.owner, pass);
    const { isDone, errors } = await pass.run(siteIds);
    if (isDone) unfinished.delete(node.owner);
    if (errors.length) onDefect(errors[0], { node: node.owner, sites: errors.length });
    return isDone;
  }

  /** A lease that ends too far ahead says nothing, but a node that lives renews it within the length of any lease. */
  function isDead({ node, until, endedMs }: ExpiredNode): boolean {
    if (endedMs >= 0) return true;
    const known = ahead.get(node.owner);
    if (known?.until === until) return elapsed() - known.since > maxLeaseMs;
    ahead.set(node.owner, { until, since: elapsed() });
    return false;
  }

  /** For the embedded store: processes that ended, until everything is taken over that they left. */
  let ended = isShared ? [] : await store.nodes.listOthers(owner);
  async function takeOverEnded(): Promise<void> {
    for (const node of ended) {
      if (!(await takeOver(node))) continue;
      await store.nodes.remove(node.owner);
      ended = ended.filter((one) => one !== node);
    }
  }

  async function takeOverDead(): Promise<void> {
    if (!isShared) return takeOverEnded();
    const listed = await (options.looks?.expiredNodes() ?? store.nodes.listExpired());
    if (!listed) return;
    for (const known of ahead.keys()) if (!listed.some(({ node }) => node.owner === known)) ahead.delete(known);
    const expired = listed.filter(isDead);
    // A node that is not listed any more came back, and may die again.
    for (const known of [...takenOver, ...unfinished.keys()])
      if (known !== owner && !expired.some(({ node }) => node.owner === known))
        [takenOver, unfinished].forEach((nodes) => nodes.delete(known));
    for (const { node, endedMs } of expired) {
      const isKnown = node.owner === owner || (takenOver.has(node.owner) && endedMs < keepRowMs);
      if (isKnown) continue;
      const seen = store.nodes.promotions();
      if (!(await takeOver(node)) || store.nodes.promotions() !== seen) continue;
      takenOver.add(node.owner);
      if (endedMs >= keepRowMs) await store.nodes.removeExpired(node.owner, seen);
    }
  }

  /** Queues the deliveries of events whose commit was not confirmed, when no transaction can commit them any more. */
  async function settleAbandoned(): Promise<void> {
    const due = [...abandoned].filter(([, { since }]) => elapsed() - since >= leaseMs);
    const errors = await onEachMachine(
      due,
      ([, { siteId }]) => siteId,
      async ([listed, { siteId }]) => {
        await store.nodes.queueEvent(siteId, listed.id, fromLocal(now()));
        abandoned.delete(listed);
        remove(listed);
      },
    );
    if (errors.length) onDefect(errors[0], { worker: "open events", events: errors.length });
  }

  async function settleFailed(): Promise<void> {
    const failed = listOwned().filter((owned) => owned.hasFailed());
    await Promise.all(failed.map((owned) => owned.retry()));
    await settleAbandoned();
  }

  await takeOverEnded();
  // A node starts without its lease where that part of a sharded database is down: until then its events get delivery rows.
  await renew().catch((error: unknown) => onDefect(error, { worker: "open events" }));
  // Each apart from the others: a site whose shard is down must not keep the lease from being renewed.
  const loops = [renew, settleFailed, takeOverDead, recover].map((work) =>
    poll({
      everyMs: pollMs,
      firstMs: pollMs,
      jitter: 0.2,
      work,
      onError: (error) => onDefect(error, { worker: "open events" }),
    }),
  );

  function openListed(listed: Listed, siteId: string, plan: readonly PlanEntry[]): OpenEvent | null {
    if (leaseLeftMs() < maxOpenMs) return null;
    const openedAt = lapses;
    const owned = ownEvent({
      siteId,
      id: listed.id,
      plan,
      settle: store.deliveries.settleFirst,
      onEnd: () => remove(listed),
      onDefect,
    });
    listed.owned = owned;
    return {
      settle: (settlement, connection) => owned.settle(settlement, connection ? settingsMark(connection, version) : ""),
      close: () => remove(listed),
      abandon: () => void abandoned.set(listed, { siteId, since: elapsed() }),
      leaseLeftMs: () => (lapses === openedAt ? leaseLeftMs() : 0),
    };
  }

  return {
    reserveId(at) {
      lastId = newUlid(at);
      const listed = link<Listed>({ id: lastId, owned: null });
      append(open, listed);
      return {
        id: lastId,
        open: (siteId, plan) => openListed(listed, siteId, plan),
        release() {
          if (!listed.owned) remove(listed);
        },
      };
    },
    size: () => Array.from(nodesOf(open)).length,
    async close() {
      await Promise.all(loops.map((loop) => loop.stop()));
      await Promise.all(listOwned().map((owned) => owned.retry()));
      const isRecovered = recovery === null && store.nodes.promotions() === promotions;
      // Another node takes over what is left, when the lease has ended.
      if (!isLinked(open) && isRecovered) await store.nodes.remove(owner, promotions);
    },
  };
}

/** `owned` is null as long as it is not known whether the event is accepted. */
interface Listed extends RingNode<Listed> {
  id: string;
  owned: Owned | null;
}

type Owned = {
  settle(settlement: Settlement, settings: string): Promise<void>;
  hasFailed(): boolean;
  retry(): Promise<void>;
  /** Writes again what was written. */
  rewrite(): Promise<void>;
};

type OwnedOptions = {
  siteId: string;
  id: string;
  plan: readonly PlanEntry[];
  settle: Store["deliveries"]["settleFirst"];
  onEnd: () => void;
  onDefect: Options["onDefect"];
};

function ownEvent({ siteId, id, plan, settle, onEnd, onDefect }: OwnedOptions): Owned {
  const total = plan.reduce((sum, { by }) => (by === "owner" ? sum + 1 : sum), 0);
  const arrived = new Set<number>();
  let settled = 0;
  let waiting: FirstResult[] = [];
  /** Results whose commit failed or was not confirmed. They are written again as they were, because they may be there. */
  let failed: FirstResult[] | null = null;
  let isTakenOver = false;
  const written: { number: number; results: FirstResult[] }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let gathering: PromiseWithResolvers<void> | null = null;
  let writing: Promise<void> = Promise.resolve();

  /** One write at a time: its number depends on those before. */
  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const done = gathering;
    gathering = null;
    writing = writing.then(async () => {
      if (failed) await writeResults(failed);
      if (!failed && waiting.length) await writeResults(waiting.splice(0));
      done?.resolve();
    });
    return writing;
  }

  async function writeResults(results: FirstResult[]): Promise<void> {
    if (isTakenOver) return;
    try {
      isTakenOver = !(await settle({ siteId, eventId: id, number: settled, results }));
      failed = null;
      written.push({ number: settled, results });
      settled += results.length;
      if (isTakenOver || settled === total) onEnd();
    } catch (error) {
      // The results are written again soon. If the process ends before, they are attempted again.
      onDefect(error, { event: id });
      failed = results;
    }
  }

  return {
    settle(settlement, settings) {
      const result = toResult(settlement, settings, plan);
      // A job whose lease ran out was settled then; what follows of its batch does not count.
      if (arrived.has(result.position)) return writing;
      arrived.add(result.position);
      waiting.push(result);
      gathering ??= Promise.withResolvers<void>();
      const { promise } = gathering;
      if (arrived.size === total) void write();
      else timer ??= setTimeout(() => void write(), gatherMs);
      return promise;
    },
    hasFailed: () => failed !== null,
    retry: write,
    rewrite() {
      const rewriting = writing.then(async () => {
        for (const past of written) if (!isTakenOver) isTakenOver = !(await settle({ siteId, eventId: id, ...past }));
        if (isTakenOver) onEnd();
      });
      writing = rewriting.catch(() => {});
      return rewriting;
    },
  };
}

function toResult(settlement: Settlement, settings: string, plan: readonly PlanEntry[]): FirstResult {
  const { siteId, eventId, connectionId, state, reason, attempts, dueAt, at, attempt } = settlement;
  const position = plan.findIndex((entry) => entry.connectionId === connectionId);
  const platform = plan[position]?.platform ?? "";
  return {
    position,
    delivery: {
      siteId,
      eventId,
      connectionId,
      platform,
      state,
      reason,
      attempts,
      dueAt,
      owner: "",
      updatedAt: at,
    },
    attempt,
    settings,
  };
}
