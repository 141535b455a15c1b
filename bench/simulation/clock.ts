// Simulated time: actions run in order of time; of two at the same time, the one that was scheduled first runs first.

type Scheduled = { at: number; order: number; action: () => void };

export class Clock {
  /** Milliseconds since the start. */
  now = 0;
  #heap: Scheduled[] = [];
  #count = 0;

  after(ms: number, action: () => void): void {
    const one = { at: this.now + ms, order: this.#count++, action };
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as Scheduled;
      if (isBefore(parent, one)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = one;
  }

  /** Runs the actions until `ms`. */
  runUntil(ms: number): void {
    for (let next = this.#heap[0]; next && next.at <= ms; next = this.#heap[0]) {
      this.#removeFirst();
      this.now = next.at;
      next.action();
    }
    this.now = Math.max(this.now, ms);
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop() as Scheduled;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Scheduled, heap[child] as Scheduled)) child += 1;
      if (isBefore(last, heap[child] as Scheduled)) break;
      heap[at] = heap[child] as Scheduled;
      at = child;
    }
    heap[at] = last;
  }
}

const isBefore = (a: Scheduled, b: Scheduled) => a.at < b.at || (a.at === b.at && a.order < b.order);
