// Decides what follows from the reading of a platform's answer. docs/explanation/concepts.md shows the states of a delivery; the drawing is
// made from the model in test/deliveryModel, which lists every step between them and is checked against the store.
//
// `queued` is the only state that the worker moves. Every attempt ends in exactly one settlement by the node that holds the
// lease. Without an attempt a delivery changes only while no node has claimed it: by a user (pause, resume, cancel, or replay,
// which makes any ended one `queued` again) or by a change of its connection. Only an erasure does not wait. Invariant: an
// accepted delivery is `queued` or `parked` until it ends with a reason.

import { english, say } from "../kernel/messages/message.ts";
import { dayMs } from "../kernel/time.ts";
import type { DeliveryState, Reading, Result } from "../kernel/event.ts";

export type Decision = { state: DeliveryState; reason: string | null; dueAt: number };

/** What the sender is told. */
export function toResult({ state, reason }: Pick<Decision, "state" | "reason">): Result {
  return state === "sent" ? { ok: true } : { ok: false, status: state, error: english(reason ?? state) };
}

export type RetryRules = {
  /** Delays after the first, second … failed attempt; the last one repeats. */
  scheduleMs: readonly number[];
  /** 0…1 */
  random: () => number;
};

/** The schedule's delay with jitter, or the longer one that the receiver asked for, up to `maxAskedMs`. */
export function nextAttemptAt(
  { failures, askedSeconds = 0, maxAskedMs = 0 }: { failures: number; askedSeconds?: number; maxAskedMs?: number },
  { scheduleMs, random }: RetryRules,
  now: number,
): number {
  const scheduled = scheduleMs[Math.min(failures, scheduleMs.length) - 1] ?? 0;
  const jittered = scheduled * (0.8 + 0.4 * random());
  return Math.round(now + Math.max(jittered, Math.min(askedSeconds * 1000, maxAskedMs)));
}

export function decide(
  reading: Reading,
  delivery: { attemptsMade: number; expiresAt: number },
  rules: RetryRules,
  now: number,
): Decision {
  switch (reading.kind) {
    case "accepted":
      return { state: "sent", reason: null, dueAt: 0 };
    case "rejected":
      return { state: "rejected", reason: reading.error, dueAt: 0 };
    case "unauthorized":
      return { state: "parked", reason: say("needs_reconnection", { reason: reading.error }), dueAt: 0 };
    case "retry": {
      // At most a day: the delivery would expire unsent if a platform asked for a year.
      const dueAt = nextAttemptAt(
        { failures: delivery.attemptsMade, askedSeconds: reading.retryAfterSeconds ?? 0, maxAskedMs: dayMs },
        rules,
        now,
      );
      return dueAt < delivery.expiresAt
        ? { state: "queued", reason: reading.error, dueAt }
        : { state: "expired", reason: say("too_old_to_retry", { reason: reading.error }), dueAt: 0 };
    }
  }
}
