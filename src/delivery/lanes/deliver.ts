// Delivers a batch of jobs of one connection: from the last checks before sending to the durable settlement.
//
// One word for each step: the platform's answer (a response, or why there is none), our reading of it (accepted, rejected, retry, unauthorized),
// the decision (what becomes of the delivery), the settlement (what is written), the result (what the sender is told).

import { localClock, type SharedClock } from "../../background/sharedClock.ts";
import { tickMs } from "../../kernel/coarseTimers.ts";
import type { Result } from "../../kernel/event.ts";
import { platformOf } from "../../platforms/index.ts";
import type { Platform } from "../../platforms/platform.ts";
import { isTransientStatus } from "../../platforms/shared/response.ts";
import type { Connection, Directory } from "../../sites/directory.ts";
import type { Settlement } from "../../store/deliveries/delivery.ts";
import type { Attempt } from "../../store/deliveries/delivery.ts";
import type { Store } from "../../store/store.ts";
import type { Breaker } from "./breaker.ts";
import { callPlatform, callWithoutToken, type PlatformCall } from "../platformCall.ts";
import type { Tokens } from "../oauth/tokens.ts";
import type { Job } from "../job.ts";
import { parkedReason } from "../plan.ts";
import { decide, toResult, type Decision, type RetryRules } from "../decide.ts";
import { recheckAfterMs, type Recheck } from "../recheck.ts";
import type { Sender } from "../send.ts";
import { ownedMs } from "../ownership.ts";

type Moment = { at: number; elapsed: number };

export type QueuedJob = {
  job: Job;
  /** When it was looked at, by both clocks: see `hasWaited`. */
  since: Moment;
  resolve: (result: Result) => void;
};

export type DelivererOptions = {
  directory: Directory;
  sender: Sender;
  settle: Store["deliveries"]["settle"];
  /** Called with every settlement as it goes to the store. */
  onSettled?: (settlement: Settlement) => void;
  markForReconnection: (connection: Connection, reason: string) => Promise<void>;
  tokens: Tokens;
  breaker: Breaker;
  retry: RetryRules;
  attemptMs: number;
  now: () => number;
  /** Milliseconds on a monotonic clock, for breakers, quotas and leases. */
  elapsed: () => number;
  /** The clock of due times; by default the node's own, which is enough for a single node. */
  clock?: Pick<SharedClock, "fromLocal">;
  /** Looks again at a batch that waited. */
  recheck?: Recheck;
  /** Headers that continue the trace of these jobs at a customer's receiver. */
  traceHeaders?: ((platform: string, jobs: readonly Job[]) => Record<string, string> | undefined) | undefined;
  /** Reports a defect of a platform's functions, or a settlement that could not be written. */
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

/** A call with the jobs that it carried. */
type AttemptedCall = PlatformCall & { connection: Connection; batch: QueuedJob[]; startedAt: number };

export const connectionKey = (of: { siteId: string; connectionId: string }) => `${of.siteId} ${of.connectionId}`;

export function createDeliverer(options: DelivererOptions) {
  const { fromLocal } = options.clock ?? localClock(options.now);

  /** When this ends, every job of the batch is settled and resolved, or its lease is lost. */
  async function deliver(batch: QueuedJob[]): Promise<void> {
    const first = batch[0]?.job;
    if (!first) return;
    const key = connectionKey(first);

    const { directory, breaker } = options;
    const known = directory.connection(first.siteId, first.connectionId);
    const connection = known?.state === "active" ? known : await directory.connectionNow(first.siteId, first.connectionId);
    const platform = connection && platformOf(connection.platform);
    if (!platform) return settleUntried(batch, { state: "skipped", reason: "disconnected", dueAt: 0 });
    if (connection.state !== "active")
      return settleUntried(batch, { state: "parked", reason: parkedReason(connection), dueAt: 0 });
    // After a long outage a retry can fall due when the platform no longer accepts the event.
    const now = options.now();
    const late = batch.filter((one) => one.job.expiresAt <= now);
    if (late.length) await settleUntried(late, { state: "expired", reason: "too old to be sent", dueAt: 0 });
    const fresh = late.length ? batch.filter((one) => one.job.expiresAt > now) : batch;
    if (fresh.length === 0) return;
    const startsAt = options.elapsed();
    const blockedMs = breaker.blockedMs(key, startsAt);
    if (blockedMs > 0) {
      const reason = `${platform.name} is unavailable or rate-limiting; will retry`;
      return settleUntried(fresh, { state: "queued", reason, dueAt: Math.ceil(now + blockedMs) });
    }
    breaker.recordCall(key, startsAt);
    try {
      await sendBatch(platform, connection, fresh);
    } catch (error) {
      // A probe without a recorded end would block the connection for good.
      breaker.recordFailure(key, options.elapsed());
      throw error;
    }
  }

  /**
   * Calls the platform with those of the batch that may be sent; null where there are none. A token that the platform rejects before
   * its expiry is renewed, and the call is repeated with the new one.
   */
  async function call(platform: Platform, connection: Connection, batch: QueuedJob[]): Promise<AttemptedCall | null> {
    // Most tokens do not expire; those that do may have to be renewed first.
    const isRenewable = platform.oauth && !platform.oauth.isForReading && connection.settings.refresh_token;
    let made: AttemptedCall | null = null;
    let current = connection;
    // Twice: the first renewal may only find a token that another node stored and that has expired too.
    for (let renewals = 0, left = batch; renewals <= (isRenewable ? 2 : 0); renewals++) {
      if (isRenewable) {
        const fresh = await options.tokens.fresh(current, made ? current.settings.access_token : undefined);
        if ("fault" in fresh) {
          // The platform's answer about the conversions explains more than its answer about the token.
          if (made && fresh.fault === "refused") return made;
          return { ...callWithoutToken(fresh, left.length), connection, batch: left, startedAt: options.now() };
        }
        current = fresh;
      }
      // Directly before the call: this node may have waited, or been suspended, at any `await`.
      if (hasWaited(left)) left = await lookAgain(left);
      left = keepLeased(left);
      if (left.length === 0) return null;
      made = await callWith(platform, connection, current.settings, left);
      if (!made.readings.some((reading) => reading.kind === "unauthorized")) return made;
    }
    return made;
  }

  async function callWith(
    platform: Platform,
    connection: Connection,
    settings: Connection["settings"],
    batch: QueuedJob[],
  ): Promise<AttemptedCall> {
    const startedAt = options.now();
    const jobs = batch.map(({ job }) => job);
    const target = { platform, settings, headers: options.traceHeaders?.(platform.id, jobs) };
    const conversions = jobs.map(({ conversion }) => conversion);
    return { ...(await callPlatform(options.sender, target, conversions, startedAt)), connection, batch, startedAt };
  }

  /** Looks again at a batch that waited. To give back what has changed takes time, too, in which the rest may change. */
  async function lookAgain(batch: QueuedJob[]): Promise<QueuedJob[]> {
    const current = await keepCurrent(batch);
    return current.length < batch.length && hasWaited(current) ? lookAgain(current) : current;
  }

  /** Drops the jobs whose lease may end during an attempt: another node could be sending them by then. */
  function keepLeased(batch: QueuedJob[]): QueuedJob[] {
    const neededMs = options.attemptMs + tickMs;
    const [now, elapsed] = [options.now(), options.elapsed()];
    const isLost = ({ job }: QueuedJob) => ownedMs(job.ownership, now, elapsed) <= neededMs;
    const lost = batch.filter(isLost);
    for (const one of lost) giveBack(one, "lease ran out", now);
    return lost.length ? batch.filter((one) => !isLost(one)) : batch;
  }

  /**
   * Gives a job up unsent. Where its row is leased nothing is written: the lease runs out. Where the node owns the event, the
   * delivery gets a row now, which is due at `dueAt`.
   */
  function giveBack(one: QueuedJob, reason: string, dueAt: number): void {
    const decision = { state: "queued", reason, dueAt } as const;
    if (one.job.ownership.by === "node") void settle(one, decision, null);
    else one.resolve(toResult(decision));
  }

  /** The monotonic clock stops while the machine is suspended, and the wall clock may be set back. */
  function hasWaited(batch: readonly QueuedJob[]): boolean {
    const at = options.now() - recheckAfterMs;
    const elapsed = options.elapsed() - recheckAfterMs;
    return batch.some(({ since }) => since.at <= at || since.elapsed <= elapsed);
  }

  /**
   * Gives back what changed while it waited, for the worker to look at anew. If the delivery was settled elsewhere, its
   * settlement here is discarded.
   */
  async function keepCurrent(batch: QueuedJob[]): Promise<QueuedJob[]> {
    const { recheck } = options;
    if (!recheck) return batch;
    const since = { at: options.now(), elapsed: options.elapsed() };
    const outdated = await recheck(batch.map(({ job }) => job));
    for (const one of batch) one.since = since;
    const decision = { state: "queued", reason: "changed while it waited", dueAt: options.now() } as const;
    const changed = batch.filter((one) => outdated.has(one.job));
    await settleUntried(changed, decision);
    return changed.length ? batch.filter((one) => !outdated.has(one.job)) : batch;
  }

  async function settleUntried(batch: readonly QueuedJob[], decision: Decision): Promise<void> {
    await Promise.all(batch.map((one) => settle(one, decision, null)));
  }

  async function sendBatch(platform: Platform, connection: Connection, batch: QueuedJob[]): Promise<void> {
    const key = connectionKey({ siteId: connection.siteId, connectionId: connection.id });
    const made = await call(platform, connection, batch);
    if (!made) return options.breaker.cancelCall(key);
    const { settings, readings, misread, defect, batch: sent } = made;

    if (defect) options.onDefect(defect, { platform: platform.id, connection: connection.id });
    updateBreaker(key, made);
    // A platform that rejects a whole request does not say which conversion is at fault: halve until it is found.
    // Not when the answer could not be read: the platform may have accepted all of them.
    if (!misread && sent.length > 1 && readings.every((reading) => reading.kind === "rejected")) {
      const half = Math.ceil(sent.length / 2);
      await sendBatch(platform, connection, sent.slice(0, half));
      return sendBatch(platform, connection, sent.slice(half));
    }
    const resendable = findResendable(made);
    if (resendable.length) {
      await settleAttempted(made, resendable);
      return sendBatch(platform, connection, resendable);
    }
    const unauthorised = readings.find((reading) => reading.kind === "unauthorized");
    if (unauthorised) {
      await options
        .markForReconnection({ ...connection, settings: settings ?? connection.settings }, unauthorised.error)
        .catch((error: unknown) => options.onDefect(error, { connection: connection.id }));
    }

    await settleAttempted(made, []);
  }

  /** Settles the jobs of a call by their readings, without those that are sent again. */
  async function settleAttempted(
    { connection, batch, startedAt, ...made }: AttemptedCall,
    without: readonly QueuedJob[],
  ): Promise<void> {
    const { readings, log, requestOf } = made;
    const now = options.now();
    await Promise.all(
      batch.flatMap((one, i) => {
        if (without.includes(one)) return [];
        const { job } = one;
        const attemptsMade = job.attemptsMade + 1;
        const reading = readings[i] ?? {
          kind: "rejected",
          error: "the platform's answer left this event out",
        };
        const decision = decide(reading, { attemptsMade, expiresAt: job.expiresAt }, options.retry, now);
        const attempt: Attempt = {
          number: attemptsMade,
          startedAt,
          durationMs: now - startedAt,
          state: decision.state,
          reason: decision.reason,
          batch: batch.length,
          // What was sent at once is made again for the trace, and not stored.
          request: job.ownership.by === "node" && decision.state === "sent" ? "" : requestOf(job.conversion),
          httpStatus: log.httpStatus,
          response: log.response,
        };
        return [settle(one, decision, attempt, connection)];
      }),
    );
  }

  /** Only a call that failed as a whole is a failure of the platform. */
  function updateBreaker(key: string, { readings, log }: PlatformCall): void {
    const { breaker } = options;
    const later = readings.filter((reading) => reading.kind === "retry");
    const { httpStatus } = log;
    // With any other status, "later" concerns these events (a wrong setting, for example), unless the body says it of the platform.
    const isOutage = httpStatus === null || isTransientStatus(httpStatus) || later.every(({ ofPlatform }) => ofPlatform);
    if (later.length < readings.length || !isOutage) return breaker.recordSuccess(key);
    const seconds = Math.max(0, ...later.map((reading) => reading.retryAfterSeconds ?? 0));
    // Each of the three ends a probe: one that never ends would block the connection.
    if (seconds > 0) breaker.recordRetryAfter(key, options.elapsed(), seconds);
    else breaker.recordFailure(key, options.elapsed());
  }

  async function settle(
    { job, resolve }: QueuedJob,
    decision: Decision,
    attempt: Attempt | null,
    connection?: Connection,
  ): Promise<void> {
    const { state, reason, dueAt } = decision;
    const { ownership } = job;
    // By now the row may be leased anew, even by this node: whoever has it decides.
    const isLost = attempt === null && ownership.by === "row" && ownedMs(ownership, options.now(), options.elapsed()) <= 0;
    if (isLost) return resolve(toResult(decision));
    try {
      const settlement: Settlement = {
        siteId: job.siteId,
        eventId: job.eventId,
        connectionId: job.connectionId,
        owner: ownership.owner,
        state,
        reason: attempt === null && state === "queued" && job.queuedFor !== undefined ? job.queuedFor : reason,
        // By its own clock a node that is ahead would let others wait for a retry.
        dueAt: dueAt === 0 ? 0 : fromLocal(dueAt),
        attempts: attempt?.number ?? job.attemptsMade,
        at: fromLocal(options.now()),
        attempt,
      };
      options.onSettled?.(settlement);
      if (ownership.by === "node") await ownership.event.settle(settlement, connection);
      else await options.settle(settlement);
    } catch (error) {
      // The lease runs out and the delivery is attempted again: a delivery is sent at least once.
      options.onDefect(error, { event: job.eventId, connection: job.connectionId });
    }
    resolve(toResult(decision));
  }

  return { deliver, settleUntried, giveBack };
}

/** A request can be rejected for conversions that the platform names; the others can be sent again without them. */
function findResendable({ batch, readings, log }: AttemptedCall): QueuedJob[] {
  const status = log.httpStatus ?? 0;
  const isRejected = status >= 400 && !isTransientStatus(status);
  if (!isRejected || !readings.some((reading) => reading.kind === "rejected")) return [];
  return batch.filter((_one, i) => readings[i]?.kind === "retry");
}
