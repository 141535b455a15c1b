// Group commit and batched reads: callers hand in one item each, the store sees one statement for many.
//
// At most one run per key is in progress. Items that arrive meanwhile wait and leave together when it ends, so the group
// grows with the load, and a lone caller waits only where the batch window says so. A run starts on the next turn of the event
// loop, so that requests that were read from the network together are committed together.

import { setTimeout as sleep } from "node:timers/promises";
import { Late } from "../../kernel/deadline.ts";
import type { BatchWindow } from "./adaptiveBatching.ts";

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

const maxGroupItems = 256;

export function inGroups<Item, Result>(
  run: (key: string, items: Item[]) => Promise<Result[]>,
  options: {
    isDataError: (error: unknown) => boolean;
    maxItems?: number;
    /** True for an item whose caller has given up. It is left out, so that a store that hung does not begin with stale work. */
    isLate?: (item: Item) => boolean;
    batchWindow?: BatchWindow;
    /** True if `item` must be in the same group as the item before it, whatever the number of items. */
    isBound?: (item: Item, before: Item) => boolean;
  },
): (key: string, item: Item) => Promise<Result> {
  const maxItems = options.maxItems ?? maxGroupItems;
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

  /** Returns where the next group ends. */
  function endOf(waiting: readonly Waiting<Item, Result>[]): number {
    let end = maxItems;
    while (end < waiting.length && options.isBound?.(itemAt(waiting, end), itemAt(waiting, end - 1))) end++;
    return end;
  }

  async function drain(group: Group<Item, Result>): Promise<void> {
    while (group.waiting.length > 0) {
      const windowMs = options.batchWindow?.(group.waiting.length, performance.now() - group.lastEndedAt) ?? 0;
      if (windowMs > 0) await sleep(windowMs);
      const next = group.waiting;
      group.waiting = next.length > maxItems ? next.splice(endOf(next)) : [];
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

const itemAt = <Item, Result>(waiting: readonly Waiting<Item, Result>[], index: number) =>
  (waiting[index] as Waiting<Item, Result>).item;

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
