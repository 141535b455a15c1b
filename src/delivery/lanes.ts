// Lanes: each connection has a few concurrent requests. A conversion that finds a free lane goes at once, alone;
// those that come while all lanes are busy wait together and leave as one batch when a lane is free. The busier a
// connection, the cheaper each of its conversions; and a connection that hangs fills its own lanes only.

import type { Conversion, DeliveryState, Reading } from "../event.ts";
import { platformOf } from "../platforms/index.ts";
import type { Platform, PlatformRequest } from "../platforms/platform.ts";
import type { Connection, Directory } from "../sites/directory.ts";
import type { Attempt, Settlement } from "../store/deliveries.ts";
import { decide, type RetryRules } from "./retry.ts";
import type { Sender, Sent } from "./send.ts";

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
  retry: RetryRules;
  attemptMs: number;
  now: () => number;
  /** A defect in a platform's file, or a settlement that could not be written. */
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

type Waiting = { job: Job; resolve: (outcome: Outcome) => void };
type Queue = { busy: number; waiting: Waiting[] };

export function openLanes(options: LaneOptions): Lanes {
  const queues = new Map<string, Queue>();
  let onIdle: (() => void)[] = [];
  let givingBack = 0;

  function queueOf(job: Job): Queue {
    let queue = queues.get(keyOf(job));
    if (!queue) queues.set(keyOf(job), (queue = { busy: 0, waiting: [] }));
    return queue;
  }

  async function drive(queue: Queue, first: Waiting[]): Promise<void> {
    queue.busy += 1;
    for (let batch = first; batch.length; batch = nextBatch(queue)) await deliver(batch);
    queue.busy -= 1;
    if (queue.busy === 0 && queue.waiting.length === 0) forgetIdleQueues();
  }

  function forgetIdleQueues(): void {
    for (const [key, queue] of queues) if (queue.busy === 0 && queue.waiting.length === 0) queues.delete(key);
    if (queues.size > 0 || givingBack > 0) return;
    for (const resolve of onIdle) resolve();
    onIdle = [];
  }

  /** The oldest waiting job and those behind it that may share its request: test traffic travels apart. */
  function nextBatch(queue: Queue): Waiting[] {
    const oldest = queue.waiting[0];
    if (!oldest) return [];
    const { siteId, connectionId, conversion } = oldest.job;
    const platform = platformOf(options.directory.connection(siteId, connectionId)?.platform ?? "");
    const batch: Waiting[] = [];
    const rest: Waiting[] = [];
    for (const one of queue.waiting) {
      const fits = batch.length < (platform?.batch ?? 1) && one.job.conversion.mode === conversion.mode;
      (fits ? batch : rest).push(one);
    }
    queue.waiting = rest;
    return batch;
  }

  async function deliver(batch: Waiting[]): Promise<void> {
    const ours = stillOurs(batch);
    const first = ours[0]?.job;
    if (!first) return;

    const connection = options.directory.connection(first.siteId, first.connectionId);
    const platform = connection && platformOf(connection.platform);
    if (!platform) return giveBack(ours, { state: "skipped", reason: "disconnected" });
    if (connection.state !== "active")
      return giveBack(ours, { state: "parked", reason: whyParked(connection) });
    await attempt(platform, connection, ours);
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
    const conversions = batch.map((one) => one.job.conversion);
    const { request, sent, readings } = await exchange(platform, connection, conversions);

    // A platform that refuses a request whole does not say which conversion it meant: halve until it is found.
    if (batch.length > 1 && readings.every((reading) => reading.said === "refused")) {
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
        .needsReconnection(connection, refusal.error)
        .catch((error: unknown) => options.onDefect(error, { connection: connection.id }));
    }

    const now = options.now();
    const log = describeExchange(platform, request, sent);
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
          ...log,
        });
      }),
    );
  }

  async function exchange(platform: Platform, connection: Connection, conversions: Conversion[]) {
    let request: PlatformRequest | null = null;
    try {
      request = platform.toRequest(conversions, connection.settings);
      const sent = await options.sender.send(request, {
        platform: platform.id,
        customerAddress: platform.customerAddress === true,
      });
      return { request, sent, readings: read(platform, connection, conversions, sent) };
    } catch (error) {
      // Pure functions of ours do not throw: this is a defect, and sending the same again would not mend it.
      options.onDefect(error, { platform: platform.id, connection: connection.id });
      const readings = conversions.map((): Reading => ({
        said: "refused",
        error: "internal error of the relay",
      }));
      return { request, sent: null, readings };
    }
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
        forgetIdleQueues();
      });
      return true;
    },
    room(connection) {
      const platform = platformOf(connection.platform);
      const queue = queues.get(`${connection.siteId} ${connection.id}`);
      if (!platform) return 1;
      return Math.max(0, platform.lanes * platform.batch - (queue?.waiting.length ?? 0) - (queue?.busy ?? 0));
    },
    idle: () =>
      queues.size === 0 && givingBack === 0
        ? Promise.resolve()
        : new Promise((resolve) => onIdle.push(resolve)),
  };
}

const keyOf = (job: Job) => `${job.siteId} ${job.connectionId}`;

function read(platform: Platform, connection: Connection, conversions: Conversion[], sent: Sent): Reading[] {
  if (sent.ok) return platform.readResponse(sent.response, conversions, connection.settings);
  return conversions.map(() => ({ said: sent.blocked ? "refused" : "later", error: sent.error }));
}

export function whyParked(connection: Connection): string {
  return connection.state === "paused"
    ? "paused"
    : `needs reconnection: ${connection.stateReason ?? ""}`.replace(/: $/, "");
}

const shownRequest = 4096;
const shownResponse = 2048;

/** What the sync log keeps of a call: no header values, no secret part of the address, bounded text. */
function describeExchange(platform: Platform, request: PlatformRequest | null, sent: Sent | null) {
  const line = request ? `${request.method} ${shownAddress(platform, request.url)}` : platform.id;
  return {
    httpStatus: sent?.ok ? sent.response.status : null,
    request: `${line}\n\n${request?.body ?? ""}`.slice(0, shownRequest),
    // PostgreSQL cannot store NUL, and a stranger's answer may hold anything.
    response: sent?.ok
      ? withoutSecrets(sent.response.body, request)
          .slice(0, shownResponse)
          .replaceAll("\0", "")
          .toWellFormed()
      : null,
  };
}

/** Some endpoints answer with the request's own headers. */
function withoutSecrets(text: string, request: PlatformRequest | null): string {
  const { "content-type": _open, ...headers } = request?.headers ?? {};
  const secrets = Object.values(headers).flatMap((value) => [value, ...value.split(" ")]);
  return secrets.filter((one) => one.length >= 6).reduce((rest, one) => rest.replaceAll(one, "…"), text);
}

/** A query may hold a token, and so may the path of an address that a customer chose. */
function shownAddress(platform: Platform, address: string): string {
  if (address.startsWith("sandbox:")) return address;
  if (!URL.canParse(address)) return "(no address)";
  const url = new URL(address);
  if (platform.customerAddress) return `${url.origin}/…`;
  return `${url.origin}${url.pathname}${url.search ? "?…" : ""}`;
}
