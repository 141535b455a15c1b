// Lanes: each connection has a few concurrent requests. A conversion that finds a free lane goes at once, alone;
// those that come while all lanes are busy wait together and leave as one batch when a lane is free. The busier a
// connection, the cheaper each of its conversions; and a connection that hangs fills its own lanes only.

import type { Conversion, DeliveryState } from "../event.ts";
import { platformOf } from "../platforms/index.ts";
import type { Platform } from "../platforms/platform.ts";
import type { Connection, Directory } from "../sites/directory.ts";
import type { Attempt, Settlement } from "../store/deliveries.ts";
import { exchange, unsent, type Exchange } from "./exchange.ts";
import { decide, type RetryRules } from "./retry.ts";
import type { Sender } from "./send.ts";
import type { Tokens } from "./tokens.ts";

/** One delivery that this node holds the lease of. */
export type Job = {
  siteId: string;
  eventId: string;
  connectionId: string;
  conversion: Conversion;
  /** Attempts made before this one. */
  attempts: number;
  expiresAt: number;
  owner: string;
  leaseUntil: number;
};

export type Outcome = { state: DeliveryState; reason: string | null };

export type Lanes = {
  /** Resolves when the delivery was attempted and its outcome is durable. */
  send(job: Job): Promise<Outcome>;
  /** Takes a job back that has not left yet. False when it is under way or done. */
  withdraw(job: Job): boolean;
  /** How many more jobs a connection can take without a long wait. */
  room(connection: Connection): number;
  /** Resolves when nothing is waiting or under way. */
  idle(): Promise<void>;
};

export type LaneOptions = {
  directory: Directory;
  sender: Sender;
  settle: (settlement: Settlement) => Promise<void>;
  needsReconnection: (connection: Connection, reason: string) => Promise<void>;
  tokens: Tokens;
  retry: RetryRules;
  attemptMs: number;
  now: () => number;
  /** A defect in a platform's file, or a settlement that could not be written. */
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

type Waiting = { job: Job; resolve: (outcome: Outcome) => void };
type Queue = { key: string; busy: number; waiting: Waiting[] };

const keyOf = (job: { siteId: string; connectionId: string }) => `${job.siteId} ${job.connectionId}`;

export function openLanes(options: LaneOptions): Lanes {
  const queues = new Map<string, Queue>();
  const onIdle: (() => void)[] = [];
  let givingBack = 0;

  function queueOf(job: Job): Queue {
    const key = keyOf(job);
    let queue = queues.get(key);
    if (!queue) queues.set(key, (queue = { key, busy: 0, waiting: [] }));
    return queue;
  }

  async function drive(queue: Queue, first: Waiting[]): Promise<void> {
    queue.busy += 1;
    for (let batch = first; batch.length; batch = nextBatch(queue)) {
      await deliver(batch).catch((error: unknown) => {
        // The store is down, say. Their leases run out, and they are tried again.
        options.onDefect(error, { lane: queue.key });
        for (const one of batch) one.resolve({ state: "queued", reason: "not yet" });
      });
    }
    queue.busy -= 1;
    if (queue.busy > 0) return;
    queues.delete(queue.key);
    tellIdle();
  }

  function tellIdle(): void {
    if (queues.size > 0 || givingBack > 0) return;
    for (const resolve of onIdle.splice(0)) resolve();
  }

  /** The oldest waiting job and those behind it that may share its request: test traffic travels apart. */
  function nextBatch(queue: Queue): Waiting[] {
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

  async function deliver(batch: Waiting[]): Promise<void> {
    const ours = stillOurs(batch);
    const first = ours[0]?.job;
    if (!first) return;

    const { directory } = options;
    const known = directory.connection(first.siteId, first.connectionId);
    const connection =
      known?.state === "active" ? known : await directory.connectionNow(first.siteId, first.connectionId);
    const platform = connection && platformOf(connection.platform);
    if (!platform) return giveBack(ours, { state: "skipped", reason: "disconnected" });
    if (connection.state !== "active")
      return giveBack(ours, { state: "parked", reason: whyParked(connection) });
    // After a long outage a retry can fall due when the platform would no longer take it.
    const now = options.now();
    const late = ours.filter((one) => one.job.expiresAt <= now);
    if (late.length) await giveBack(late, { state: "expired", reason: "too old to be sent" });
    const fresh = late.length ? ours.filter((one) => one.job.expiresAt > now) : ours;
    if (fresh.length) await attempt(platform, connection, fresh);
  }

  function call(platform: Platform, connection: Connection, batch: Waiting[], startedAt: number) {
    const conversions = batch.map((one) => one.job.conversion);
    const callWith = ({ settings }: Connection) =>
      exchange(options.sender, platform, settings, conversions, startedAt);
    // Most tokens do not end; those that do may have to be renewed first.
    return platform.oauth && connection.settings.refresh_token
      ? callWithToken(connection, batch, callWith)
      : callWith(connection);
  }

  /** A token that is refused although it should hold is renewed, and the call is made again with the new one. */
  async function callWithToken(
    connection: Connection,
    batch: Waiting[],
    callWith: (connection: Connection) => Promise<Exchange>,
  ): Promise<Exchange> {
    let made: Exchange | null = null;
    let current = connection;
    // Twice: the first may only have found a token that somebody else put there, and that has ended too.
    for (let renewals = 0; renewals <= 2; renewals++) {
      const rejected = made ? current.settings.access_token : undefined;
      const fresh = await options.tokens.fresh(current, rejected);
      // What the platform said of the conversions tells more than what it said of the token.
      if ("fault" in fresh) return made && fresh.fault === "refused" ? made : unsent(fresh, batch.length);
      // A renewal takes its time, and the lease must hold for the call after it.
      if (stillOurs(batch).length < batch.length)
        return unsent({ fault: "later", error: "lease ran out" }, batch.length);
      current = fresh;
      made = await callWith(current);
      if (!made.readings.some((reading) => reading.said === "unauthorised")) return made;
    }
    return made as Exchange;
  }

  /** With too little of the lease left, another node may be sending it by the time we are. */
  function stillOurs(batch: Waiting[]): Waiting[] {
    const latest = options.now() + options.attemptMs;
    const lost = batch.filter((one) => one.job.leaseUntil <= latest);
    for (const one of lost) one.resolve({ state: "queued", reason: "lease ran out" });
    return lost.length ? batch.filter((one) => one.job.leaseUntil > latest) : batch;
  }

  /** Settles without an attempt. */
  async function giveBack(batch: Waiting[], outcome: Outcome): Promise<void> {
    await Promise.all(batch.map((one) => settle(one, { ...outcome, dueAt: 0 }, null)));
  }

  async function attempt(platform: Platform, connection: Connection, batch: Waiting[]): Promise<void> {
    const startedAt = options.now();
    const { settings, readings, misread, defect, log, requestOf } = await call(
      platform,
      connection,
      batch,
      startedAt,
    );

    if (defect) options.onDefect(defect, { platform: platform.id, connection: connection.id });
    // A platform that refuses a request whole does not say which conversion it meant: halve until it is found.
    // Not when we could not read its answer: it may have accepted them all.
    if (!misread && batch.length > 1 && readings.every((reading) => reading.said === "refused")) {
      const half = Math.ceil(batch.length / 2);
      // Each half is a request of its own and takes its time: the lease must still hold for it.
      for (const part of [batch.slice(0, half), batch.slice(half)]) {
        const ours = stillOurs(part);
        if (ours.length) await attempt(platform, connection, ours);
      }
      return;
    }
    const refusal = readings.find((reading) => reading.said === "unauthorised");
    if (refusal) {
      await options
        .needsReconnection({ ...connection, settings: settings ?? connection.settings }, refusal.error)
        .catch((error: unknown) => options.onDefect(error, { connection: connection.id }));
    }

    const now = options.now();
    await Promise.all(
      batch.map((one, i) => {
        const attempts = one.job.attempts + 1;
        const reading = readings[i] ?? {
          said: "refused",
          error: "the platform's answer left this event out",
        };
        const decision = decide(reading, { attempts, expiresAt: one.job.expiresAt }, options.retry, now);
        return settle(one, decision, {
          number: attempts,
          startedAt,
          durationMs: now - startedAt,
          state: decision.state,
          reason: decision.reason,
          batch: batch.length,
          request: requestOf(one.job.conversion),
          ...log,
        });
      }),
    );
  }

  async function settle(
    one: Waiting,
    decision: Outcome & { dueAt: number },
    attempted: Attempt | null,
  ): Promise<void> {
    const { job } = one;
    const { state, reason, dueAt } = decision;
    try {
      await options.settle({
        siteId: job.siteId,
        eventId: job.eventId,
        connectionId: job.connectionId,
        owner: job.owner,
        state,
        reason,
        dueAt,
        attempts: attempted?.number ?? job.attempts,
        at: options.now(),
        attempt: attempted,
      });
    } catch (error) {
      // The lease runs out and the delivery is tried again: once too often, never once too few.
      options.onDefect(error, { event: job.eventId, connection: job.connectionId });
    }
    one.resolve({ state, reason });
  }

  return {
    send(job) {
      const queue = queueOf(job);
      const platform = platformOf(options.directory.connection(job.siteId, job.connectionId)?.platform ?? "");
      return new Promise((resolve) => {
        const one = { job, resolve };
        if (queue.busy < (platform?.lanes ?? 1)) void drive(queue, [one]);
        else queue.waiting.push(one);
      });
    },
    withdraw(job) {
      const waiting = queues.get(keyOf(job))?.waiting ?? [];
      const at = waiting.findIndex((one) => one.job === job);
      const [one] = at >= 0 ? waiting.splice(at, 1) : [];
      if (!one) return false;
      givingBack += 1;
      const outcome = { state: "queued", reason: "waiting for its turn", dueAt: options.now() } as const;
      void settle(one, outcome, null).finally(() => {
        givingBack -= 1;
        tellIdle();
      });
      return true;
    },
    room(connection) {
      const platform = platformOf(connection.platform);
      const queue = queues.get(keyOf({ siteId: connection.siteId, connectionId: connection.id }));
      if (!platform) return 1;
      return Math.max(0, platform.lanes * platform.batch - (queue?.waiting.length ?? 0) - (queue?.busy ?? 0));
    },
    idle: () =>
      queues.size === 0 && givingBack === 0
        ? Promise.resolve()
        : new Promise((resolve) => onIdle.push(resolve)),
  };
}

export function whyParked(connection: Connection): string {
  return connection.state === "paused"
    ? "paused"
    : `needs reconnection: ${connection.stateReason ?? ""}`.replace(/: $/, "");
}
