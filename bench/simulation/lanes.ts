// Lanes as in src/delivery/lanes/lanes.ts: a connection has a limit of concurrent requests; deliveries that wait for a lane or
// for the quota share a request.

import { createQuota, type Quota } from "../../src/delivery/lanes/quota.ts";
import { platformOf } from "../../src/platforms/index.ts";
import type { Clock } from "./clock.ts";
import { Fifo } from "./machine.ts";

export type Limits = {
  id: string;
  lanes: number;
  batch: number;
  quota?: { requests: number; seconds: number; sharedBy?: "app" };
};

/** Reads the limits that the platform declares. */
export function limitsOf(id: string): Limits {
  const platform = platformOf(id);
  if (!platform) throw new Error(`there is no platform ${id}`);
  const { lanes, batch, quota } = platform;
  return { id, lanes, batch, ...(quota && { quota }) };
}

type Queue<Job> = { busy: number; waiting: Fifo<Job>; quotaUntil: number };

/** The lanes of one node. */
export class Lanes<Job> {
  requests = 0;
  #queues = new Map<string, Queue<Job>>();
  #quota: Quota = createQuota();
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

  capacity(limits: Limits, site: number): number {
    const queue = this.#queueOf(limits, site);
    if (queue.quotaUntil > this.clock.now) return 0;
    return Math.max(0, limits.lanes * limits.batch - queue.waiting.length - queue.busy);
  }

  #queueOf({ id }: Limits, site: number): Queue<Job> {
    const key = `${id} ${site}`;
    let queue = this.#queues.get(key);
    if (!queue) this.#queues.set(key, (queue = { busy: 0, waiting: new Fifo(), quotaUntil: 0 }));
    return queue;
  }

  #begin(limits: Limits, site: number, queue: Queue<Job>): void {
    while (queue.waiting.length > 0 && queue.busy < limits.lanes) {
      queue.busy += 1;
      if (!this.#sendBatch(limits, site, queue)) break;
    }
  }

  /** Returns false when the quota is used up; then this lane waits for it. */
  #sendBatch(limits: Limits, site: number, queue: Queue<Job>): boolean {
    const key = limits.quota?.sharedBy === "app" ? limits.id : `${limits.id} ${site}`;
    const waitMs = limits.quota ? this.#quota.take(key, limits.quota, this.clock.now) : 0;
    if (waitMs > 0) {
      queue.quotaUntil = this.clock.now + waitMs;
      this.clock.after(waitMs, () => this.#next(limits, site, queue));
      return false;
    }
    const batch = queue.waiting.take(limits.batch);
    this.requests += 1;
    this.deliver(limits, site, batch, () => this.#next(limits, site, queue));
    return true;
  }

  #next(limits: Limits, site: number, queue: Queue<Job>): void {
    if (queue.waiting.length > 0) this.#sendBatch(limits, site, queue);
    else queue.busy -= 1;
  }
}
