// A machine has cores; a thread runs one piece of work at a time on any of them.

import type { Clock } from "./clock.ts";

type Work = { us: number; done: () => void };

/** Serves work in the order of arrival. */
export class Cores {
  busyMs = 0;
  #free: number;
  #waiting = new Fifo<Work>();
  readonly clock: Clock;
  readonly count: number;
  /** Less than 1 when other processes use the same cores. */
  readonly speed: number;
  /** 0…1 */
  readonly random: () => number;
  constructor(clock: Clock, random: () => number, count: number, speed = 1) {
    this.clock = clock;
    this.random = random;
    this.count = count;
    this.speed = speed;
    this.#free = count;
  }
  use(us: number, done: () => void): void {
    if (this.#free > 0) this.#start({ us, done });
    else this.#waiting.push({ us, done });
  }
  #start({ us, done }: Work): void {
    // Durations vary around the cost; without that, senders would synchronise.
    const ms = (us * -Math.log(1 - this.random())) / 1000 / this.speed;
    this.#free -= 1;
    this.clock.after(ms, () => {
      this.busyMs += ms;
      this.#free += 1;
      const next = this.#waiting.shift();
      if (next) this.#start(next);
      done();
    });
  }
}

export class Thread {
  /** The cost of the work so far, and the time that it took. */
  usedUs = 0;
  busyMs = 0;
  #busy = false;
  #waiting = new Fifo<Work>();
  readonly cores: Cores;
  constructor(cores: Cores) {
    this.cores = cores;
  }
  run(us: number, done: () => void): void {
    this.#waiting.push({ us, done });
    if (!this.#busy) this.#next();
  }
  #next(): void {
    const work = this.#waiting.shift();
    if (!work) return;
    this.#busy = true;
    this.usedUs += work.us;
    const since = this.cores.clock.now;
    this.cores.use(work.us, () => {
      this.busyMs += this.cores.clock.now - since;
      this.#busy = false;
      work.done();
      if (!this.#busy) this.#next();
    });
  }
}

/** A queue that does not move its items when the first one leaves. */
export class Fifo<T> {
  #items: T[] = [];
  #first = 0;
  push(item: T): void {
    this.#items.push(item);
  }
  shift(): T | undefined {
    if (this.#first === this.#items.length) return undefined;
    const item = this.#items[this.#first];
    this.#items[this.#first++] = undefined as T;
    if (this.#first > 1024 && this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }
  take(max: number): T[] {
    const taken: T[] = [];
    while (taken.length < max && this.length > 0) taken.push(this.shift() as T);
    return taken;
  }
  get length(): number {
    return this.#items.length - this.#first;
  }
}
