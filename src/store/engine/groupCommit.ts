// Group commit and batched reads: callers hand in one item each, the store sees one statement for many.
//
// At most one run per key is in progress. Items that arrive meanwhile wait and leave together when it ends, so the group
// grows with the load and a lone caller never waits. A run starts on the next turn of the event loop, so that requests that
// were read from the network together are committed together.

import { setTimeout as sleep } from "node:timers/promises";
import { Late } from "../../kernel/deadline.ts";
import type { BatchWindow } from "./adaptiveBatching.ts";

type Waiting<Item, Result> = {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
};

export const maxGroupItems = 256;

export function inGroups<Item, Result>(
  run: (key: string, items: Item[]) => Promise<Result[]>,
  options: {
    isDataError: (error: unknown) => boolean;
    maxItems?: number;
    /** True for an item whose caller has given up. It is left out, so that a store that hung does not begin with stale work. */
    isLate?: (item: Item) => boolean;
    batchWindow?: BatchWindow;
  },
): (key: string, item: Item) => Promise<Result> {
  const maxItems = options.maxItems ?? maxGroupItems;
  const waiting = new Map<string, Waiting<Item, Result>[]>();
  const running = new Set<string>();

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

  async function drain(key: string): Promise<void> {
    for (let queue = waiting.get(key); queue?.length; queue = waiting.get(key)) {
      const windowMs = options.batchWindow?.(queue.length) ?? 0;
      if (windowMs > 0) await sleep(windowMs);
      if (queue.length <= maxItems) waiting.delete(key);
      const next = queue.length <= maxItems ? queue : queue.splice(0, maxItems);
      const wanted = options.isLate ? next.filter((one) => !rejectIfLate(one)) : next;
      if (wanted.length > 0) await settle(key, wanted);
    }
    running.delete(key);
  }

  return (key, item) =>
    new Promise((resolve, reject) => {
      const queue = waiting.get(key);
      if (queue) queue.push({ item, resolve, reject });
      else waiting.set(key, [{ item, resolve, reject }]);
      if (running.has(key)) return;
      running.add(key);
      onNextTurn(() => void drain(key));
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
