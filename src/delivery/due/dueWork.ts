// Finds what waits to be done: due and parked deliveries, pushes, periods that have ended, running backfills and reconciliations, feeds
// of orders that are due, nodes that died.
//
// On one machine each worker asks the database once a second, which costs little. On a sharded database such a statement costs
// every shard. There, sites are divided into slices, each with a lease, so that every site is looked at by one node. A node looks
// at its slices every ten seconds, with one statement for each machine, and lists what falls due before the next look; the workers
// find it in that list when it is due. What a node queues itself it lists at once.

import { poll } from "../../background/poll.ts";
import type { SharedClock } from "../../background/sharedClock.ts";
import type { BackfillRow } from "../../store/deliveries/backfills.ts";
import type { ConnectionKey } from "../../store/deliveries/delivery.ts";
import type { ExpiredNode } from "../../store/deliveries/nodes.ts";
import type { DueBounds, Waiting } from "../../store/deliveries/waiting.ts";
import type { PeriodHead } from "../../store/outbound/periods.ts";
import type { WebhookKey } from "../../store/outbound/pushes.ts";
import type { Store } from "../../store/store.ts";
import { createSlices } from "./slices.ts";

export type DueWork = {
  /** True where one node looks at a site: its finder need not ask for a lease. */
  isShared: boolean;
  dueConnections(now: number): Promise<ConnectionKey[]>;
  parkedConnections(): Promise<ConnectionKey[]>;
  dueWebhooks(now: number): Promise<WebhookKey[]>;
  /** Heads of periods that ended before `before` or end after `after`. */
  periodHeads(before: number, after: number): Promise<PeriodHead[]>;
  runningBackfills(now: number): Promise<BackfillRow[]>;
  /** Running reconciliations, or feeds of orders that are due; null where the store is to be asked. */
  listed(kind: "reconciliation" | "feed", now: number): { siteId: string; id: string }[] | null;
  /** Nodes whose lease has ended, none where another node takes them over; null while there was no look since the last call. */
  expiredNodes(): Promise<ExpiredNode[] | null>;
  /** A connection has deliveries that fall due at `at`, or that could not be claimed before. */
  note(connection: ConnectionKey, at: number): void;
  /** Something was changed here that the next look should find. */
  refreshSoon(): void;
  stop(): Promise<void>;
};

/** Asks the database whenever it is asked. */
export const createDueWork = (store: Pick<Store, "deliveries" | "pushes" | "periods" | "backfills" | "nodes">): DueWork => ({
  isShared: false,
  dueConnections: (now) => store.deliveries.findDue(now),
  parkedConnections: () => store.deliveries.findParked(),
  dueWebhooks: (now) => store.pushes.findDue(now),
  periodHeads: (before, after) => store.periods.listHeads(before, after),
  runningBackfills: () => store.backfills.listRunning(),
  listed: () => null,
  expiredNodes: () => store.nodes.listExpired(),
  note() {},
  refreshSoon() {},
  stop: () => Promise.resolve(),
});

type SharedOptions = {
  store: Pick<Store, "waiting" | "slices" | "backfills" | "nodes">;
  sites: () => Iterable<{ id: string }>;
  /** This node. */
  owner: string;
  clock: SharedClock;
  /** Length of a period. */
  pushMs: number;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
  everyMs?: number;
};

const refreshMs = 10_000;
/** Changes that come together share a look. */
const soonMs = 500;
/** Backfills that are read at the same time. */
const maxReads = 16;
/** Further connections are found by the next look. */
const maxListed = 100_000;

export function startSharedDueWork(options: SharedOptions): DueWork {
  const { store, clock, pushMs, onDefect, everyMs = refreshMs } = options;
  const slices = createSlices({ ...options, leaseMs: 3 * everyMs });
  const lists = {
    delivery: createList(),
    parked: createList(),
    push: createList(),
    period: createList(),
    backfill: createList(),
    reconciliation: createList(),
    feed: createList(),
  } satisfies Record<Waiting["kind"], List>;

  let nextRefreshAt = 0;
  let expired: ExpiredNode[] | null = null;

  async function refresh(): Promise<void> {
    const { now, isOff } = await clock.read();
    if (isOff) return;
    lists.backfill.clear();
    nextRefreshAt = now + 1.5 * everyMs;
    // A little more than until the next look.
    const by = Math.round(now + 1.5 * everyMs);
    const bounds = { by, endedBefore: Math.floor(by / pushMs) * pushMs, endsAfter: now + pushMs };
    const { machines, isWatchingNodes } = await slices.hold(now);
    await Promise.all([...machines.map((siteIds) => refreshSites(siteIds, bounds)), refreshNodes(isWatchingNodes)]);
  }

  async function refreshNodes(isWatching: boolean): Promise<void> {
    try {
      expired = isWatching ? await store.nodes.listExpired() : [];
    } catch (error) {
      onDefect(error, { worker: "due work" });
    }
  }

  /** A machine that does not answer keeps no other from being looked at. */
  async function refreshSites(siteIds: readonly string[], bounds: DueBounds): Promise<void> {
    try {
      for (const one of await store.waiting.find(siteIds, bounds)) lists[one.kind].add(one);
    } catch (error) {
      onDefect(error, { worker: "due work", sites: siteIds.length });
    }
  }

  const loop = poll({
    everyMs,
    jitter: 0.1,
    work: refresh,
    onError: (error) => onDefect(error, { worker: "due work" }),
  });

  const toConnection = ({ siteId, id }: Listed): ConnectionKey => ({ siteId, connectionId: id });
  return {
    isShared: true,
    dueConnections: async (now) => lists.delivery.take(({ at }) => at <= now).map(toConnection),
    parkedConnections: async () => lists.parked.take(() => true).map(toConnection),
    dueWebhooks: async (now) => lists.push.take(({ at }) => at <= now).map(({ siteId, id }) => ({ siteId, webhookId: id })),
    periodHeads: async (before, after) =>
      lists.period
        .take(({ at }) => at < before || at > after)
        .map(({ siteId, id, at }) => ({ siteId, number: Number(id), endsAt: at })),
    async runningBackfills(now) {
      const rows: BackfillRow[] = [];
      // One that cannot be read keeps no other from going on.
      const due = lists.backfill.take(({ at }) => at <= now);
      const read = async ({ siteId, id }: Listed) => {
        const row = await store.backfills.find(siteId, id).catch((error: unknown) => {
          onDefect(error, { worker: "due work", site: siteId, backfill: id });
          return "unread" as const;
        });
        if (row !== "unread" && row?.state !== "running") return;
        if (row !== "unread") rows.push(row);
        // It stays listed until the next look, which another node may make: the next step may be due before.
        if (nextRefreshAt > now) lists.backfill.add({ siteId, id, at: now + 1000 });
      };
      for (let i = 0; i < due.length; i += maxReads) await Promise.all(due.slice(i, i + maxReads).map(read));
      return rows;
    },
    listed: (kind, now) => lists[kind].take(({ at }) => at <= now),
    async expiredNodes() {
      const found = expired;
      expired = null;
      return found;
    },
    note: ({ siteId, connectionId }, at) => lists.delivery.add({ siteId, id: connectionId, at }),
    refreshSoon: () => loop.wake(soonMs),
    async stop() {
      await loop.stop();
      await slices.release();
    },
  };
}

type Listed = { siteId: string; id: string; at: number };
type List = ReturnType<typeof createList>;

/** What waits, each once for every second in which it falls due. */
function createList() {
  const listed = new Map<string, Listed>();
  return {
    add({ siteId, id, at }: Listed): void {
      if (listed.size < maxListed) listed.set(`${siteId} ${id} ${Math.ceil(at / 1000)}`, { siteId, id, at });
    },
    clear: () => listed.clear(),
    /** Removes and returns what is due, each once. */
    take(isDue: (one: Listed) => boolean): Listed[] {
      const found = new Map<string, Listed>();
      for (const [key, one] of listed)
        if (isDue(one)) {
          listed.delete(key);
          found.set(`${one.siteId} ${one.id}`, one);
        }
      return [...found.values()];
    },
  };
}
