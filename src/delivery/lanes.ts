// Lanes: each connection has a few concurrent requests. A conversion that finds a free lane goes at once, together with
// those that are ready at the same moment, because one commit made them all durable; those that come while all lanes are
// busy, or while the platform's quota is spent, wait and leave as one batch. The busier a connection, the cheaper each of
// its conversions; and a connection that hangs fills its own lanes only.

import { platformOf } from "../platforms/index.ts";
import type { Connection } from "../sites/directory.ts";
import { keyOf, openAttempts, type AttemptOptions, type Job, type Outcome, type Waiting } from "./attempt.ts";
import type { Quota } from "./quota.ts";

export type Lanes = {
  /** Resolves when the delivery was attempted and its outcome is durable. */
  send(job: Job): Promise<Outcome>;
  /** Takes a job back that has not left yet. False when it is under way or done. */
  withdraw(job: Job): boolean;
  /** How many more jobs a connection can take without a long wait. */
  room(connection: Connection): number;
  /** What each connection has in hand: requests under way, and jobs that wait for one. */
  depths(): { key: string; busy: number; waiting: number }[];
  /** Resolves when nothing is waiting or under way. */
  idle(): Promise<void>;
  /** What waits for quota is given back at once; resolves when everything else is done. */
  close(): Promise<void>;
};

export type LaneOptions = AttemptOptions & { quota: Quota };

type Queue = { key: string; lanes: number; busy: number; waiting: Waiting[]; quotaUntil: number };

export function openLanes(options: LaneOptions): Lanes {
  const attempts = openAttempts(options);
  const queues = new Map<string, Queue>();
  const onIdle: (() => void)[] = [];
  const pauses = new Set<() => void>();
  let givingBack = 0;
  let isClosing = false;

  function queueOf(job: Job): Queue {
    const key = keyOf(job);
    let queue = queues.get(key);
    if (!queue) {
      const platform = platformOf(options.directory.connection(job.siteId, job.connectionId)?.platform ?? "");
      queues.set(key, (queue = { key, lanes: platform?.lanes ?? 1, busy: 0, waiting: [], quotaUntil: 0 }));
    }
    return queue;
  }

  /** What waits takes the lanes that are free. */
  function begin(queue: Queue): void {
    while (queue.waiting.length > 0 && queue.busy < queue.lanes) void drive(queue);
    endIfEmpty(queue);
  }

  function endIfEmpty(queue: Queue): void {
    if (queue.busy > 0 || queue.waiting.length > 0) return;
    queues.delete(queue.key);
    tellIdle();
  }

  async function drive(queue: Queue): Promise<void> {
    queue.busy += 1;
    for (let batch = nextBatch(queue); batch.length; batch = nextBatch(queue)) {
      const waitMs = quotaWait(batch[0] as Waiting);
      if (waitMs > 0) {
        // Back in line, in front: what comes meanwhile joins, and whoever cannot wait can still be withdrawn.
        queue.waiting.unshift(...batch);
        queue.quotaUntil = options.now() + waitMs;
        await pause(waitMs);
        continue;
      }
      await attempts.deliver(batch).catch((error: unknown) => {
        // The store is down, say. Their leases run out, and they are tried again.
        options.onDefect(error, { lane: queue.key });
        for (const one of batch) one.resolve({ state: "queued", reason: "not yet" });
      });
    }
    queue.busy -= 1;
    endIfEmpty(queue);
  }

  /** Milliseconds until the platform allows another request; the one that it allows is taken. */
  function quotaWait({ job }: Waiting): number {
    const connection = options.directory.connection(job.siteId, job.connectionId);
    const quota = platformOf(connection?.platform ?? "")?.quota;
    if (!connection || !quota) return 0;
    const key = quota.sharedBy === "app" ? connection.platform : keyOf(job);
    return options.quota.take(key, quota, options.now());
  }

  function pause(ms: number): Promise<void> {
    if (isClosing) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        pauses.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      pauses.add(end);
    });
  }

  function tellIdle(): void {
    if (queues.size > 0 || givingBack > 0) return;
    for (const resolve of onIdle.splice(0)) resolve();
  }

  const idle = () =>
    queues.size === 0 && givingBack === 0
      ? Promise.resolve()
      : new Promise<void>((resolve) => onIdle.push(resolve));

  /** The oldest waiting job and those behind it that may share its request: test traffic travels apart. */
  function nextBatch(queue: Queue): Waiting[] {
    if (isClosing && queue.quotaUntil > options.now())
      for (const { job } of queue.waiting.slice()) withdraw(job);
    const oldest = queue.waiting[0];
    if (!oldest) return [];
    const connection = options.directory.connection(oldest.job.siteId, oldest.job.connectionId);
    const platform = platformOf(connection?.platform ?? "");
    const now = options.now();
    const groupOf = ({ job: { conversion } }: Waiting) =>
      `${conversion.mode} ${platform?.group?.(conversion, connection?.settings ?? {}, now) ?? ""}`;
    const group = groupOf(oldest);
    const batch: Waiting[] = [];
    const others: Waiting[] = [];
    for (let at = 0; at < queue.waiting.length && batch.length < (platform?.batch ?? 1); at++) {
      const one = queue.waiting[at] as Waiting;
      (groupOf(one) === group ? batch : others).push(one);
    }
    queue.waiting.splice(0, batch.length + others.length, ...others);
    return batch;
  }

  function withdraw(job: Job): boolean {
    const waiting = queues.get(keyOf(job))?.waiting ?? [];
    const at = waiting.findIndex((one) => one.job === job);
    const [one] = at >= 0 ? waiting.splice(at, 1) : [];
    if (!one) return false;
    givingBack += 1;
    const outcome = { state: "queued", reason: "waiting for its turn", dueAt: options.now() } as const;
    void attempts.giveBack([one], outcome).finally(() => {
      givingBack -= 1;
      tellIdle();
    });
    return true;
  }

  return {
    send(job) {
      const queue = queueOf(job);
      return new Promise((resolve) => {
        queue.waiting.push({ job, resolve });
        // The first of a moment begins for all that come with it.
        if (queue.waiting.length === 1) queueMicrotask(() => begin(queue));
      });
    },
    withdraw,
    room(connection) {
      const platform = platformOf(connection.platform);
      const key = keyOf({ siteId: connection.siteId, connectionId: connection.id });
      const queue = queues.get(key);
      const now = options.now();
      // What cannot be sent now stays in the store, where every node can find it.
      if (options.breaker.closedUntil(key, now) || (queue?.quotaUntil ?? 0) > now) return 0;
      if (!platform) return 1;
      // One call finds out whether a platform is back: more would be taken in hand only to be put back.
      const lanes = options.breaker.isHalfOpen(key, now) ? 1 : platform.lanes;
      return Math.max(0, lanes * platform.batch - (queue?.waiting.length ?? 0) - (queue?.busy ?? 0));
    },
    depths: () =>
      Array.from(queues.values(), ({ key, busy, waiting }) => ({ key, busy, waiting: waiting.length })),
    idle,
    close() {
      isClosing = true;
      for (const end of Array.from(pauses)) end();
      return idle();
    },
  };
}
