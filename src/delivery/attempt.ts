// One attempt for a batch of deliveries of one connection, from the last look before sending to the durable outcome.

import type { Conversion } from "../kernel/event.ts";
import { platformOf } from "../platforms/index.ts";
import type { Platform } from "../platforms/platform.ts";
import { isTransientStatus } from "../platforms/shared/readResponse.ts";
import type { Connection, Directory } from "../sites/directory.ts";
import type { Settlement } from "../store/deliveries/deliveries.ts";
import type { Attempt } from "../store/deliveries/delivery.ts";
import type { Breaker } from "./breaker.ts";
import type { Companions } from "./settleTogether.ts";
import { exchange, unsent, type Exchange } from "./exchange.ts";
import { decide, type Decision, type RetryRules } from "./retry.ts";
import type { Sender } from "./send.ts";
import type { Tokens } from "./oauth/tokens.ts";

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
  /** The deliveries of the same event that are tried at the same time. */
  companions?: Companions;
};

export type Outcome = Pick<Decision, "state" | "reason">;

/** A job, and who wants to know what became of it. */
export type Waiting = { job: Job; resolve: (outcome: Outcome) => void };

export type AttemptOptions = {
  directory: Directory;
  sender: Sender;
  settle: (settlement: Settlement) => Promise<void>;
  needsReconnection: (connection: Connection, reason: string) => Promise<void>;
  tokens: Tokens;
  breaker: Breaker;
  retry: RetryRules;
  attemptMs: number;
  now: () => number;
  /** A defect in a platform's file, or a settlement that could not be written. */
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

export const keyOf = (job: { siteId: string; connectionId: string }) => `${job.siteId} ${job.connectionId}`;

export type Attempts = ReturnType<typeof openAttempts>;

export function openAttempts(options: AttemptOptions) {
  /** Attempts a batch; every job in it is settled and resolved when this ends, or its lease is lost. */
  async function deliver(batch: Waiting[]): Promise<void> {
    const ours = stillOurs(batch);
    const first = ours[0]?.job;
    if (!first) return;

    const { directory, breaker } = options;
    const known = directory.connection(first.siteId, first.connectionId);
    const connection =
      known?.state === "active" ? known : await directory.connectionNow(first.siteId, first.connectionId);
    const platform = connection && platformOf(connection.platform);
    if (!platform) return giveBack(ours, { state: "skipped", reason: "disconnected", dueAt: 0 });
    if (connection.state !== "active")
      return giveBack(ours, { state: "parked", reason: whyParked(connection), dueAt: 0 });
    // After a long outage a retry can fall due when the platform would no longer take it.
    const now = options.now();
    const late = ours.filter((one) => one.job.expiresAt <= now);
    if (late.length) await giveBack(late, { state: "expired", reason: "too old to be sent", dueAt: 0 });
    const fresh = late.length ? ours.filter((one) => one.job.expiresAt > now) : ours;
    if (fresh.length === 0) return;
    const closedUntil = breaker.closedUntil(keyOf(first), now);
    if (closedUntil) {
      const reason = `${platform.name} is not answering or asked for patience; waiting`;
      return giveBack(fresh, { state: "queued", reason, dueAt: closedUntil });
    }
    breaker.calling(keyOf(first), now);
    try {
      await attempt(platform, connection, fresh);
    } catch (error) {
      // Whatever it was, the call that everybody waits for must come to an end.
      breaker.failed(keyOf(first), options.now());
      throw error;
    }
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
  async function giveBack(batch: readonly Waiting[], decision: Decision): Promise<void> {
    await Promise.all(batch.map((one) => settle(one, decision, null)));
  }

  async function attempt(platform: Platform, connection: Connection, batch: Waiting[]): Promise<void> {
    const startedAt = options.now();
    const made = await call(platform, connection, batch, startedAt);
    const { settings, readings, misread, defect } = made;

    if (defect) options.onDefect(defect, { platform: platform.id, connection: connection.id });
    tellBreaker(keyOf({ siteId: connection.siteId, connectionId: connection.id }), made);
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
    const innocent = innocentsOf(batch, made);
    if (innocent.length) {
      const isInnocent = new Set(innocent);
      await conclude(batch, made, startedAt, (one) => !isInnocent.has(one));
      const ours = stillOurs(innocent);
      if (ours.length) await attempt(platform, connection, ours);
      return;
    }
    const refusal = readings.find((reading) => reading.said === "unauthorised");
    if (refusal) {
      await options
        .needsReconnection({ ...connection, settings: settings ?? connection.settings }, refusal.error)
        .catch((error: unknown) => options.onDefect(error, { connection: connection.id }));
    }

    await conclude(batch, made, startedAt, () => true);
  }

  /** Writes what the platform said of those that are `wanted`. */
  async function conclude(
    batch: Waiting[],
    { readings, log, requestOf }: Exchange,
    startedAt: number,
    wanted: (one: Waiting) => boolean,
  ): Promise<void> {
    const now = options.now();
    await Promise.all(
      batch.flatMap((one, i) => {
        if (!wanted(one)) return [];
        const attempts = one.job.attempts + 1;
        const reading = readings[i] ?? {
          said: "refused",
          error: "the platform's answer left this event out",
        };
        const decision = decide(reading, { attempts, expiresAt: one.job.expiresAt }, options.retry, now);
        const concluded = settle(one, decision, {
          number: attempts,
          startedAt,
          durationMs: now - startedAt,
          state: decision.state,
          reason: decision.reason,
          batch: batch.length,
          request: requestOf(one.job.conversion),
          ...log,
        });
        return [concluded];
      }),
    );
  }

  /** Only a call that failed as a whole says something about the platform. */
  function tellBreaker(key: string, { readings, log }: Exchange): void {
    const { breaker } = options;
    const later = readings.filter((reading) => reading.said === "later");
    const { httpStatus } = log;
    // "Later" in any other answer is about these events (a setting to be put right, say), not about the platform.
    const isTrouble = httpStatus === null || isTransientStatus(httpStatus);
    if (later.length < readings.length || !isTrouble) return breaker.passed(key);
    const seconds = Math.max(0, ...later.map((reading) => reading.retryAfterSeconds ?? 0));
    // Each of the three ends a probe: one that nobody ends would keep everybody away.
    if (seconds > 0) breaker.asked(key, options.now(), seconds);
    else breaker.failed(key, options.now());
  }

  async function settle(one: Waiting, decision: Decision, attempted: Attempt | null): Promise<void> {
    const { job } = one;
    const { state, reason, dueAt } = decision;
    await job.companions?.arrive();
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

  return { deliver, giveBack };
}

const isRefusal = (status: number) => status >= 400 && !isTransientStatus(status);

/** A request that was refused for some of its conversions, which the platform names: the others go again without them. */
function innocentsOf(batch: Waiting[], { readings, log }: Exchange): Waiting[] {
  if (!isRefusal(log.httpStatus ?? 0) || !readings.some((reading) => reading.said === "refused")) return [];
  return batch.filter((_one, i) => readings[i]?.said === "later");
}

export function whyParked(connection: Connection): string {
  return connection.state === "paused"
    ? "paused"
    : `needs reconnection: ${connection.stateReason ?? ""}`.replace(/: $/, "");
}
