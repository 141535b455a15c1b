// Group commit and batched reads: callers hand in one item each, the store sees one statement for many.
//
// Per key at most one run is under way. Items that arrive meanwhile wait and leave together when it ends, so
// the group grows with the load and a lone caller waits for nobody. A run starts on the next turn of the event
// loop, which lets the requests that were read from the network together be committed together.

import { setTimeout as sleep } from "node:timers/promises";
import { Late } from "../../kernel/deadline.ts";
import type { Gather } from "./adaptiveBatching.ts";

type Waiting<Item, Result> = {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
};

export function grouped<Item, Result>(
  run: (key: string, items: Item[]) => Promise<Result[]>,
  options: {
    blamesData: (error: unknown) => boolean;
    largest?: number;
    /** Nobody waits for it any more: it is left out, so that a store that hung does not do yesterday's work first. */
    isLate?: (item: Item) => boolean;
    /** How long so many should wait for more before they leave. */
    gather?: Gather;
  },
): (key: string, item: Item) => Promise<Result> {
  const largest = options.largest ?? 256;
  const waiting = new Map<string, Waiting<Item, Result>[]>();
  const busy = new Set<string>();

  async function settle(key: string, group: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(
        key,
        group.map((one) => one.item),
      );
      group.forEach((one, i) => one.resolve(results[i] as Result));
    } catch (error) {
      // One item that the database refuses must not take its neighbours with it.
      if (group.length > 1 && options.blamesData(error)) {
        for (const one of group) await settle(key, [one]);
      } else {
        for (const one of group) one.reject(error);
      }
    }
  }

  function turnAway(one: Waiting<Item, Result>): boolean {
    const isLate = options.isLate?.(one.item) ?? false;
    if (isLate) one.reject(new Late("its turn came too late"));
    return isLate;
  }

  async function drain(key: string): Promise<void> {
    for (let queue = waiting.get(key); queue?.length; queue = waiting.get(key)) {
      const pauseMs = options.gather?.(queue.length) ?? 0;
      if (pauseMs > 0) await sleep(pauseMs);
      if (queue.length <= largest) waiting.delete(key);
      const next = queue.length <= largest ? queue : queue.splice(0, largest);
      const wanted = options.isLate ? next.filter((one) => !turnAway(one)) : next;
      if (wanted.length > 0) await settle(key, wanted);
    }
    busy.delete(key);
  }

  return (key, item) =>
    new Promise((resolve, reject) => {
      const queue = waiting.get(key);
      if (queue) queue.push({ item, resolve, reject });
      else waiting.set(key, [{ item, resolve, reject }]);
      if (busy.has(key)) return;
      busy.add(key);
      onNextTurn(() => void drain(key));
    });
}

let pending: (() => void)[] = [];

/** All groups begin at once, so that the store can put what they write into one transaction. */
function onNextTurn(begin: () => void): void {
  if (pending.length === 0) {
    setImmediate(() => {
      const all = pending;
      pending = [];
      for (const one of all) one();
    });
  }
  pending.push(begin);
}
