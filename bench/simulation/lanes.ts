// Lanes as in src/delivery/lanes.ts: a connection has a few requests at once; what finds them busy, or the quota spent,
// leaves together.

import { openQuota, type Quota } from "../../src/delivery/quota.ts";
import { platformOf } from "../../src/platforms/index.ts";
import type { Clock } from "./clock.ts";
import { Line } from "./machine.ts";

export type Limits = {
  id: string;
  lanes: number;
  batch: number;
  quota?: { requests: number; seconds: number; sharedBy?: "app" };
};

/** What the platform's own file declares. */
export function limitsOf(id: string): Limits {
  const platform = platformOf(id);
  if (!platform) throw new Error(`there is no platform ${id}`);
  const { lanes, batch, quota } = platform;
  return { id, lanes, batch, ...(quota && { quota }) };
}

type Queue<Job> = { busy: number; waiting: Line<Job>; quotaUntil: number };

/** All lanes of one node. */
export class Lanes<Job> {
  requests = 0;
  waits = 0;
  busyMs = 0;
  #queues = new Map<string, Queue<Job>>();
  #quota: Quota = openQuota();
  readonly clock: Clock;
  readonly deliver: (limits: Limits, site: number, batch: Job[], done: () => void) => void;
  constructor(clock: Clock, deliver: (limits: Limits, site: number, batch: Job[], done: () => void) => void) {
    this.clock = clock;
    this.deliver = deliver;
  }

  send(limits: Limits, site: number, jobs: readonly Job[]): void {
    const queue = this.#queueOf(limits, site);
    for (const job of jobs) queue.waiting.push(job);
    this.#begin(limits, site, queue);
  }

  room(limits: Limits, site: number): number {
    const queue = this.#queueOf(limits, site);
    if (queue.quotaUntil > this.clock.now) return 0;
    return Math.max(0, limits.lanes * limits.batch - queue.waiting.length - queue.busy);
  }

  #queueOf({ id }: Limits, site: number): Queue<Job> {
    const key = `${id} ${site}`;
    let queue = this.#queues.get(key);
    if (!queue) this.#queues.set(key, (queue = { busy: 0, waiting: new Line(), quotaUntil: 0 }));
    return queue;
  }

  #begin(limits: Limits, site: number, queue: Queue<Job>): void {
    while (queue.waiting.length > 0 && queue.busy < limits.lanes) {
      queue.busy += 1;
      if (!this.#drive(limits, site, queue)) break;
    }
  }

  /** False where the quota is spent: then this lane waits for it. */
  #drive(limits: Limits, site: number, queue: Queue<Job>): boolean {
    const key = limits.quota?.sharedBy === "app" ? limits.id : `${limits.id} ${site}`;
    const waitMs = limits.quota ? this.#quota.take(key, limits.quota, this.clock.now) : 0;
    if (waitMs > 0) {
      this.waits += 1;
      queue.quotaUntil = this.clock.now + waitMs;
      this.clock.after(waitMs, () => this.#next(limits, site, queue));
      return false;
    }
    const batch = queue.waiting.take(limits.batch);
    const since = this.clock.now;
    this.requests += 1;
    this.deliver(limits, site, batch, () => {
      this.busyMs += this.clock.now - since;
      this.#next(limits, site, queue);
    });
    return true;
  }

  #next(limits: Limits, site: number, queue: Queue<Job>): void {
    if (queue.waiting.length > 0) this.#drive(limits, site, queue);
    else queue.busy -= 1;
  }
}
