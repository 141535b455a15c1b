// Divides the sites of a sharded database among the nodes. A slice has the sites of one shard, so however many nodes share the
// looking, together they read each shard once. A node holds its share of the slices: all of them divided by the nodes that live.
// One more slice has no sites: its holder watches the nodes.

import type { Store } from "../../store/store.ts";

type SliceOptions = {
  store: Pick<Store, "slices">;
  sites: () => Iterable<{ id: string }>;
  /** This node. */
  owner: string;
  leaseMs: number;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

const nodesSlice = "nodes";

type Share = {
  /** The sites to look at, by machine. */
  machines: string[][];
  isWatchingNodes: boolean;
};

export function createSlices({ store, sites, owner, leaseMs, onDefect }: SliceOptions) {
  /** Returns the slices that this node holds from now on. */
  async function share(names: readonly string[], now: number): Promise<Set<string>> {
    const until = now + leaseMs;
    const { holders, nodes } = await store.slices.readHolders(now, until);
    const maxHeld = Math.ceil(names.length / Math.max(1, nodes));
    const mine = names.filter((name) => holders.get(name) === owner);
    const free = names.filter((name) => !holders.has(name));
    const wanted = [...mine, ...startAnywhere(free)].slice(0, maxHeld);
    await store.slices.release(owner, mine.slice(maxHeld));
    return new Set(await store.slices.acquire(wanted, owner, now, until));
  }

  return {
    /** Returns what this node looks at. */
    async hold(now: number): Promise<Share> {
      const ids = Array.from(sites(), ({ id }) => id);
      if (ids.length === 0) return { machines: [], isWatchingNodes: false };
      const machines = await store.slices.divide(ids);
      const names = [nodesSlice, ...[...machines.values()].flatMap((slices) => [...slices.keys()])];
      // Without leases every node looks at all sites: that costs more, and claims decide who does the work.
      const held = await share(names, now).catch((error: unknown) => {
        onDefect(error, { worker: "slices" });
        return new Set(names);
      });
      const heldSites = [...machines.values()]
        .map((slices) => [...slices].flatMap(([name, siteIds]) => (held.has(name) ? siteIds : [])))
        .filter((siteIds) => siteIds.length > 0);
      return { machines: heldSites, isWatchingNodes: held.has(nodesSlice) };
    },
    /** Leaves all slices to other nodes. */
    release: () => store.slices.release(owner).catch((error: unknown) => onDefect(error, { worker: "slices" })),
  };
}

/** Does work on the sites of items, and returns the errors. */
type OnEachMachine = <T>(
  items: Iterable<T>,
  siteOf: (item: T) => string,
  work: (item: T) => Promise<unknown>,
) => Promise<unknown[]>;

/**
 * The machines of a sharded database do not wait for each other. Work that fails keeps no other from being done, except where its
 * machine is down: every other site there would take as long to fail. A site that failed comes last from then on, so that the
 * others are done by the next call if it fails again.
 */
export function createMachineWork({ slices, health }: Pick<Store, "slices" | "health">): OnEachMachine {
  /** The one that failed last comes last. */
  const failed = new Set<string>();
  return async (items, siteOf, work) => {
    const errors: unknown[] = [];
    const bySite = Map.groupBy(items, siteOf);
    if (bySite.size === 0) return errors;
    const machines = await slices.divide(bySite.keys());
    async function onMachine(name: string, siteIds: ReadonlySet<string>): Promise<void> {
      const failedHere = [...failed].filter((siteId) => siteIds.has(siteId));
      for (const siteId of [...siteIds.difference(failed), ...failedHere]) {
        failed.delete(siteId);
        for (const item of bySite.get(siteId) ?? [])
          try {
            await work(item);
          } catch (error) {
            errors.push(error);
            failed.add(siteId);
            // Sites whose machine is not known may be on several.
            if (name !== "" && health.isMachineError(error)) return;
          }
      }
    }
    await Promise.all([...machines].map(([name, slicesOf]) => onMachine(name, new Set([...slicesOf.values()].flat()))));
    return errors;
  };
}

type SitePass = {
  /** Works on those of the present sites that are left, unless it is too early to try them again. */
  run(siteIds: readonly string[]): Promise<{ isDone: boolean; errors: unknown[] }>;
};

const minPauseMs = 1000;
const maxPauseMs = 30_000;

/**
 * Does work once on each site. Those that fail are tried again, after a pause that grows as long as none of them succeeds. A site that
 * was deleted or moved away meanwhile may fail for ever, and is not waited for.
 */
export function createSitePass(
  onEachMachine: OnEachMachine,
  work: (siteId: string) => Promise<unknown>,
  /** Milliseconds on a monotonic clock. */
  elapsed: () => number,
): SitePass {
  const done = new Set<string>();
  let pauseMs = minPauseMs;
  let nextAt = -Infinity;
  return {
    async run(siteIds) {
      const left = siteIds.filter((siteId) => !done.has(siteId));
      if (left.length > 0 && elapsed() < nextAt) return { isDone: false, errors: [] };
      const before = done.size;
      const errors = await onEachMachine(
        left,
        (siteId) => siteId,
        async (siteId) => {
          await work(siteId);
          done.add(siteId);
        },
      );
      pauseMs = done.size > before ? minPauseMs : Math.min(2 * pauseMs, maxPauseMs);
      nextAt = elapsed() + pauseMs;
      return { isDone: left.every((siteId) => done.has(siteId)), errors };
    },
  };
}

/** Nodes that ask at the same time begin at different slices. */
function startAnywhere<T>(items: readonly T[]): T[] {
  const start = Math.floor(Math.random() * items.length);
  return [...items.slice(start), ...items.slice(0, start)];
}
