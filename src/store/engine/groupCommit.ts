// Group commit and batched reads: callers hand in one item each, the store sees one statement for many.
//
// At most one run per key is in progress. Items that arrive meanwhile wait and leave together when it ends, so the group
// grows with the load, and a lone caller waits only where the batch window says so. A run starts on the next turn of the event
// loop, so that requests that were read from the network together are committed together. When more wait than a run may take, sites
// take turns, so that those of one site do not stand before another's.

import { setTimeout as sleep } from "node:timers/promises";
import { Late } from "../../kernel/deadline.ts";
import type { BatchWindow } from "./adaptiveBatching.ts";
import type { Database } from "./database.ts";

type Waiting<Item, Result> = {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
};

type Group<Item, Result> = {
  key: string;
  waiting: Waiting<Item, Result>[];
  isRunning: boolean;
  /** Milliseconds on a monotonic clock. */
  lastEndedAt: number;
};

/**
 * The embedded engine writes on the thread that accepts events: 64 events take four milliseconds. On a server a run is a round trip,
 * whatever its size.
 */
const maxItemsOn = { server: 256, embedded: 64 };

export const groupsFor = ({ isServer, isDataError }: Pick<Database, "isServer" | "isDataError">) => ({
  isDataError,
  maxItems: isServer ? maxItemsOn.server : maxItemsOn.embedded,
});

export function inGroups<Item, Result>(
  run: (key: string, items: Item[]) => Promise<Result[]>,
  options: {
    isDataError: (error: unknown) => boolean;
    maxItems?: number;
    siteOf?: (item: Item) => string;
    /** True for an item whose caller has given up. It is left out, so that a store that hung does not begin with stale work. */
    isLate?: (item: Item) => boolean;
    batchWindow?: BatchWindow;
    /** True if `item` must be in the same group as its site's item before it, whatever the number of items. */
    isBound?: (item: Item, before: Item) => boolean;
  },
): (key: string, item: Item) => Promise<Result> {
  const { maxItems = maxItemsOn.server, siteOf = () => "" } = options;
  /** Never removed: their number is bounded by that of the sites, and a Map that changes all the time costs (kernel/ring.ts). */
  const groups = new Map<string, Group<Item, Result>>();

  async function settle(key: string, group: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(
        key,
        group.map((one) => one.item),
      );
      group.forEach((one, i) => one.resolve(results[i] as Result));
    } catch (error) {
      // One item that the database refuses must not fail the others of its group.
      if (group.length > 1 && options.isDataError(error)) {
        for (const one of group) await settle(key, [one]);
      } else {
        for (const one of group) one.reject(error);
      }
    }
  }

  function rejectIfLate(one: Waiting<Item, Result>): boolean {
    const isLate = options.isLate?.(one.item) ?? false;
    if (isLate) one.reject(new Late("its commit would come too late"));
    return isLate;
  }

  /** Takes what runs next: all that wait or, of too many, one of each site in turn. Those of a site keep their order. */
  function takeNext(group: Group<Item, Result>): Waiting<Item, Result>[] {
    const all = group.waiting;
    group.waiting = [];
    if (all.length <= maxItems) return all;
    const queues = new Set(Map.groupBy(all, ({ item }) => siteOf(item)).values());
    const taken = new Set<Waiting<Item, Result>>();
    for (let i = 0; taken.size < maxItems; i += 1)
      for (const ofSite of queues) {
        if (taken.size >= maxItems) break;
        const one = ofSite[i];
        if (one) taken.add(one);
      }
    // What is bound to the last one of a site comes along.
    for (const ofSite of queues)
      ofSite.forEach((one, i) => {
        const before = ofSite[i - 1];
        if (before && taken.has(before) && options.isBound?.(one.item, before.item)) taken.add(one);
      });
    group.waiting = all.filter((one) => !taken.has(one));
    return all.filter((one) => taken.has(one));
  }

  async function drain(group: Group<Item, Result>): Promise<void> {
    while (group.waiting.length > 0) {
      const windowMs = options.batchWindow?.(group.waiting.length, performance.now() - group.lastEndedAt) ?? 0;
      if (windowMs > 0) await sleep(windowMs);
      const next = takeNext(group);
      const wanted = options.isLate ? next.filter((one) => !rejectIfLate(one)) : next;
      if (wanted.length > 0) await settle(group.key, wanted);
      if (options.batchWindow) group.lastEndedAt = performance.now();
    }
    group.isRunning = false;
  }

  function groupOf(key: string): Group<Item, Result> {
    let group = groups.get(key);
    if (!group) groups.set(key, (group = { key, waiting: [], isRunning: false, lastEndedAt: -Infinity }));
    return group;
  }

  return (key, item) =>
    new Promise((resolve, reject) => {
      const group = groupOf(key);
      group.waiting.push({ item, resolve, reject });
      if (group.isRunning) return;
      group.isRunning = true;
      onNextTurn(() => void drain(group));
    });
}

let pending: (() => void)[] = [];

/** Starts all groups at once, so that the store can put what they write into one transaction. */
function onNextTurn(start: () => void): void {
  if (pending.length === 0) {
    setImmediate(() => {
      const all = pending;
      pending = [];
      for (const one of all) one();
    });
  }
  pending.push(start);
}
