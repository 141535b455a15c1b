// Lanes limit the concurrent requests of each connection. A conversion that finds a free lane is sent at once, together with
// those that became durable in the same commit. Those that arrive while all lanes are busy, or while the platform's quota is
// used up, wait and are sent as one batch. So the cost per conversion falls as the load rises, and a connection that hangs
// blocks only its own lanes.
//
// First attempts of a backfill stand behind all live events of their connection, and use at most half of its lanes.

import type { Result } from "../../kernel/event.ts";
import { append, link, nodesOf, remove, type RingNode } from "../../kernel/ring.ts";
import { platformOf } from "../../platforms/index.ts";
import type { Connection } from "../../sites/directory.ts";
import type { ConnectionKey } from "../../store/deliveries/delivery.ts";
import { isBackfill, takeBatch } from "./batch.ts";
import { connectionKey, createDeliverer, type DelivererOptions, type QueuedJob } from "./deliver.ts";
import type { Job } from "../job.ts";
import { nextAttemptAt } from "../decide.ts";
import { takeQuota, type Quota } from "./quota.ts";

export type Lanes = {
  /** Resolves when the job is settled or given back. A settlement that could not be written is reported as a defect. */
  send(job: Job): Promise<Result>;
  /** Takes back a job that was not sent yet. False when it is being sent or is done. */
  withdraw(job: Job): boolean;
  /** The events of a connection whose jobs wait or are being sent, first attempts included. */
  inHand(connection: ConnectionKey): ReadonlySet<string>;
  /** The number of jobs that a connection can take without a long wait. */
  capacity(connection: Connection): number;
  /** Requests in flight and jobs waiting, by connection. */
  depths(): { key: string; busy: number; waiting: number }[];
  /** Resolves when nothing is waiting or in flight. */
  idle(): Promise<void>;
  /** Returns jobs that wait for quota to the store at once; resolves when everything else is done. */
  close(): Promise<void>;
};

export type LanesOptions = DelivererOptions & { quota: Quota };

/**
 * Jobs of backfills are the last ones that wait: `backfills` of them. `busyBackfills` of the busy lanes send such jobs.
 * `quotaUntil` is a time on the monotonic clock; `inHand` is a ring of the deliveries that are waiting or being sent.
 */
type Queue = {
  key: string;
  busy: number;
  busyBackfills: number;
  waiting: QueuedJob[];
  backfills: number;
  quotaUntil: number;
  inHand: InHand;
};

interface InHand extends RingNode<InHand> {
  eventId: string;
}

export function createLanes(options: LanesOptions): Lanes {
  const deliverer = createDeliverer(options);
  /** Never removed: their number is bounded by that of the connections, and a Map that changes all the time costs (kernel/ring.ts). */
  const queues = new Map<string, Queue>();
  const onIdle: (() => void)[] = [];
  const pauses = new Set<() => void>();
  let withdrawing = 0;
  let isClosing = false;

  function queueOf(job: Job): Queue {
    const key = connectionKey(job);
    let queue = queues.get(key);
    if (!queue) {
      const inHand = link<InHand>({ eventId: "" });
      const empty = { busy: 0, busyBackfills: 0, waiting: [], backfills: 0, quotaUntil: -Infinity };
      queues.set(key, (queue = { key, ...empty, inHand }));
    }
    return queue;
  }

  function lanesOf({ job }: QueuedJob): number {
    const connection = options.directory.connection(job.siteId, job.connectionId);
    return platformOf(connection?.platform ?? "")?.lanes ?? 1;
  }

  /** True when the next job that waits may take another lane. */
  function hasFreeLane(queue: Queue): boolean {
    const [next] = queue.waiting;
    return next !== undefined && queue.busy < lanesOf(next) && mayStart(queue, next);
  }

  const mayStart = (queue: Queue, next: QueuedJob) =>
    !isBackfill(next) || queue.busyBackfills < Math.max(1, Math.floor(lanesOf(next) / 2));

  function fillFreeLanes(queue: Queue): void {
    while (hasFreeLane(queue)) void runLane(queue);
    resolveIfIdle();
  }

  async function runLane(queue: Queue): Promise<void> {
    queue.busy += 1;
    for (let batch = nextBatch(queue); batch.length; batch = nextBatch(queue)) {
      const backfills = isBackfill(batch[0] as QueuedJob) ? 1 : 0;
      queue.busyBackfills += backfills;
      await runBatch(queue, batch);
      queue.busyBackfills -= backfills;
    }
    queue.busy -= 1;
    resolveIfIdle();
  }

  async function runBatch(queue: Queue, batch: QueuedJob[]): Promise<void> {
    const { job } = batch[0] as QueuedJob;
    const connection = options.directory.connection(job.siteId, job.connectionId);
    const waitMs = connection ? takeQuota(options, connection) : 0;
    if (waitMs > 0) {
      // Back to the head of their part of the queue: later jobs can join the batch, and each can still be withdrawn.
      putBack(queue, batch);
      queue.quotaUntil = options.elapsed() + waitMs;
      return pause(waitMs);
    }
    await deliverer.deliver(batch).catch((error: unknown) => {
      // The store is down, for example.
      options.onDefect(error, { lane: queue.key });
      const dueAt = nextAttemptAt({ failures: 1 }, options.retry, options.now());
      for (const one of batch) deliverer.giveBack(one, "internal error of the relay; will retry", dueAt);
    });
  }

  function putBack(queue: Queue, batch: readonly QueuedJob[]): void {
    const isLast = isBackfill(batch[0] as QueuedJob);
    queue.waiting.splice(isLast ? queue.waiting.length - queue.backfills : 0, 0, ...batch);
    if (isLast) queue.backfills += batch.length;
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

  const listUsed = () => Array.from(queues.values()).filter(({ busy, waiting }) => busy > 0 || waiting.length > 0);
  const isIdle = () => withdrawing === 0 && listUsed().length === 0;

  function resolveIfIdle(): void {
    if (onIdle.length > 0 && isIdle()) for (const resolve of onIdle.splice(0)) resolve();
  }

  const idle = () => (isIdle() ? Promise.resolve() : new Promise<void>((resolve) => onIdle.push(resolve)));

  /** The jobs of the next request; none while the oldest may not start. */
  function nextBatch(queue: Queue): QueuedJob[] {
    if (isClosing && queue.quotaUntil > options.elapsed()) for (const { job } of queue.waiting.slice()) withdraw(job);
    const oldest = queue.waiting[0];
    if (!oldest || !mayStart(queue, oldest)) return [];
    const connection = options.directory.connection(oldest.job.siteId, oldest.job.connectionId);
    const batch = takeBatch(queue.waiting, connection, options.now());
    if (isBackfill(oldest)) queue.backfills -= batch.length;
    return batch;
  }

  function withdraw(job: Job): boolean {
    const queue = queues.get(connectionKey(job));
    const at = queue?.waiting.findIndex((one) => one.job === job) ?? -1;
    const [one] = queue && at >= 0 ? queue.waiting.splice(at, 1) : [];
    if (!queue || !one) return false;
    if (isBackfill(one)) queue.backfills -= 1;
    withdrawing += 1;
    const decision = { state: "queued", reason: "waiting for capacity", dueAt: options.now() } as const;
    void deliverer.settleUntried([one], decision).finally(() => {
      withdrawing -= 1;
      resolveIfIdle();
    });
    return true;
  }

  return {
    send(job) {
      const queue = queueOf(job);
      const inHand = link<InHand>({ eventId: job.eventId });
      append(queue.inHand, inHand);
      return new Promise((end) => {
        const resolve = (result: Result) => {
          remove(inHand);
          end(result);
        };
        const live = queue.waiting.length - queue.backfills;
        // An event may have been accepted slowly.
        const since = { at: Math.min(options.now(), job.lookedAt), elapsed: options.elapsed() };
        const one = { job, since, resolve };
        if (queue.backfills === 0 || job.isBackfill) queue.waiting.push(one);
        else queue.waiting.splice(live, 0, one);
        if (job.isBackfill) queue.backfills += 1;
        // A microtask later, so that jobs that arrive at the same moment share a batch. Lanes may be free while only jobs of
        // a backfill wait.
        if (queue.waiting.length === 1 || (live === 0 && !job.isBackfill)) queueMicrotask(() => fillFreeLanes(queue));
      });
    },
    withdraw,
    inHand(connection) {
      const queue = queues.get(connectionKey(connection));
      return new Set(queue ? Array.from(nodesOf(queue.inHand), ({ eventId }) => eventId) : []);
    },
    capacity(connection) {
      const platform = platformOf(connection.platform);
      const key = connectionKey({ siteId: connection.siteId, connectionId: connection.id });
      const queue = queues.get(key);
      const at = options.elapsed();
      // Jobs that cannot be sent now stay in the store, where every node can claim them.
      if (options.breaker.blockedMs(key, at) > 0 || (queue && queue.quotaUntil > at)) return 0;
      if (!platform) return 1;
      // While half open one call probes the platform: other jobs would be claimed only to be returned.
      const lanes = options.breaker.isHalfOpen(key, at) ? 1 : platform.lanes;
      return Math.max(0, lanes * platform.batch - (queue?.waiting.length ?? 0) - (queue?.busy ?? 0));
    },
    depths: () => listUsed().map(({ key, busy, waiting }) => ({ key, busy, waiting: waiting.length })),
    idle,
    close() {
      isClosing = true;
      for (const end of Array.from(pauses)) end();
      return idle();
    },
  };
}
