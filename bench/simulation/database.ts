// The database: cores that run statements, and a write-ahead log that commits wait for. Commits that arrive during a write of
// the log share the next write.

import { chunkSizes, maxRowsPerStatement } from "../../src/store/engine/database.ts";
import type { Clock } from "./clock.ts";
import { Cores, type Thread } from "./machine.ts";

export type DatabaseOptions = { cores: Cores; fsyncMs: number; roundTripMs: number };

export class Database {
  usedUs = 0;
  statements = 0;
  commits = 0;
  readonly clock: Clock;
  readonly options: DatabaseOptions;
  #flushing = false;
  #waiting: (() => void)[] = [];
  constructor(clock: Clock, options: DatabaseOptions) {
    this.clock = clock;
    this.options = options;
  }

  /** Runs statements in one round trip: `nodeUs` on the calling thread, `us` on the database. */
  ask(from: Thread, count: number, nodeUs: number, us: number, done: () => void): void {
    const { cores, roundTripMs } = this.options;
    this.statements += count;
    this.usedUs += us;
    from.run(nodeUs, () => this.clock.after(roundTripMs / 2, () => cores.use(us, () => this.clock.after(roundTripMs / 2, done))));
  }

  commit(from: Thread, nodeUs: number, us: number, done: () => void): void {
    this.commits += 1;
    this.ask(from, 1, nodeUs, us, () => this.#flush(done));
  }

  #flush(done: () => void): void {
    this.#waiting.push(done);
    if (!this.#flushing) this.#write();
  }
  #write(): void {
    if (this.#waiting.length === 0) return;
    const together = this.#waiting;
    this.#waiting = [];
    this.#flushing = true;
    this.clock.after(this.options.fsyncMs, () => {
      this.#flushing = false;
      for (const done of together) done();
      if (!this.#flushing) this.#write();
    });
  }
}

/** A node's connection pool: work waits until a connection is free. */
export class Pool {
  heldMs = 0;
  #free: number;
  #waiting: (() => void)[] = [];
  readonly clock: Clock;
  readonly size: number;
  constructor(clock: Clock, size: number) {
    this.clock = clock;
    this.size = size;
    this.#free = size;
  }
  /** `work` holds a connection until it calls `release`. */
  use(work: (release: () => void) => void): void {
    if (this.#free === 0) return void this.#waiting.push(() => this.use(work));
    this.#free -= 1;
    const since = this.clock.now;
    work(() => {
      this.heldMs += this.clock.now - since;
      this.#free += 1;
      this.#waiting.shift()?.();
    });
  }
}

/** The number of statements that write so many rows: src/store/engine/database.ts. */
export function statementsFor(rows: number): number {
  let count = 0;
  let left = rows;
  for (const size of chunkSizes) {
    count += Math.floor(left / size);
    left %= size;
  }
  return count;
}

/** The number of statements that read so many keys. */
export const readsFor = (keys: number) => Math.ceil(keys / maxRowsPerStatement);
