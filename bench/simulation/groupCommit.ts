// Group commit as in src/store/engine/groupCommit.ts: a key has at most one run at a time; items that arrive meanwhile share the
// next one.

import { maxGroupItems } from "../../src/store/engine/groupCommit.ts";

export class Groups<Item> {
  #waiting = new Map<number, Item[]>();
  #busy = new Set<number>();
  readonly nextTurn: (begin: () => void) => void;
  readonly run: (key: number, items: Item[], done: () => void) => void;
  constructor(nextTurn: (begin: () => void) => void, run: (key: number, items: Item[], done: () => void) => void) {
    this.nextTurn = nextTurn;
    this.run = run;
  }
  add(key: number, item: Item): void {
    const queue = this.#waiting.get(key);
    if (queue) queue.push(item);
    else this.#waiting.set(key, [item]);
    if (this.#busy.has(key)) return;
    this.#busy.add(key);
    this.nextTurn(() => this.#drain(key));
  }
  #drain(key: number): void {
    const queue = this.#waiting.get(key);
    if (!queue?.length) return void this.#busy.delete(key);
    if (queue.length <= maxGroupItems) this.#waiting.delete(key);
    const next = queue.length <= maxGroupItems ? queue : queue.splice(0, maxGroupItems);
    this.run(key, next, () => this.#drain(key));
  }
}
