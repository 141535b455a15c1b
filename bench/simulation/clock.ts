// Simulated time: what is due next happens next, and of things that are due at the same moment the one that was planned first.

type Planned = { at: number; order: number; happen: () => void };

export class Clock {
  /** Milliseconds since the beginning. */
  now = 0;
  #planned: Planned[] = [];
  #made = 0;

  after(ms: number, happen: () => void): void {
    const one = { at: this.now + ms, order: this.#made++, happen };
    const heap = this.#planned;
    let at = heap.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as Planned;
      if (isBefore(parent, one)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = one;
  }

  /** Lets time pass until `ms`, or until nothing is planned. */
  runUntil(ms: number): void {
    for (let next = this.#planned[0]; next && next.at <= ms; next = this.#planned[0]) {
      this.#removeFirst();
      this.now = next.at;
      next.happen();
    }
    this.now = Math.max(this.now, Math.min(ms, Number.MAX_VALUE));
  }

  #removeFirst(): void {
    const heap = this.#planned;
    const last = heap.pop() as Planned;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Planned, heap[child] as Planned)) child += 1;
      if (isBefore(last, heap[child] as Planned)) break;
      heap[at] = heap[child] as Planned;
      at = child;
    }
    heap[at] = last;
  }
}

const isBefore = (a: Planned, b: Planned) => a.at < b.at || (a.at === b.at && a.order < b.order);

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
