// What follows from a platform's word. The states of a delivery:
//
//   queued ──accepted──▶ sent                     `queued` is the only state that the worker moves. Every attempt
//     │ ▲                                          ends in exactly one settlement by the node that holds the lease, and
//     │ └─later (after the schedule's delay)       nothing is dropped between two states.
//     ├──refused────────▶ rejected
//     ├──unauthorised───▶ parked ──reconnect, resume──▶ queued
//     ├──too old────────▶ expired
//     └──not to be sent─▶ skipped                  deselected, unfit, withdrawn, cancelled, disconnected, erased
//
// Without an attempt a delivery changes only while nobody has it in hand: by a person (pause, resume, cancel, replay, which
// makes any ended one `queued` again) or by what happens to its connection or its person. Invariant: a delivery that was
// accepted is `queued` or `parked` until it has ended with a reason; no state is left without one of these steps.

import type { Conversion, DeliveryState, Reading } from "../kernel/event.ts";
import type { ConnectionSettings, Platform } from "../platforms/platform.ts";

export type Decision = { state: DeliveryState; reason: string | null; dueAt: number };

export type RetryRules = {
  /** Delays after the first, second … failed attempt; the last one repeats. */
  scheduleMs: readonly number[];
  /** 0…1 */
  random: () => number;
};

const dayMs = 86_400_000;

/** Platforms without an age limit are retried this long after receipt. */
const timeoutMs = 7 * dayMs;

/** How old the platform takes this conversion; undefined where it sets no limit. */
export function maxAgeOf(
  conversion: Conversion,
  platform: Platform | undefined,
  settings: ConnectionSettings,
): number | undefined {
  const limit = platform?.maxAgeDays;
  return typeof limit === "function" ? limit(conversion, settings) : limit;
}

export function expiryOf(
  event: { time: number; receivedAt: number },
  maxAgeDays: number | undefined,
): number {
  return maxAgeDays === undefined ? event.receivedAt + timeoutMs : event.time + maxAgeDays * dayMs;
}

export function decide(
  reading: Reading,
  delivery: { attempts: number; expiresAt: number },
  rules: RetryRules,
  now: number,
): Decision {
  switch (reading.outcome) {
    case "accepted":
      return { state: "sent", reason: null, dueAt: 0 };
    case "rejected":
      return { state: "rejected", reason: reading.error, dueAt: 0 };
    case "unauthorized":
      return { state: "parked", reason: `needs reconnection: ${reading.error}`, dueAt: 0 };
    case "retry": {
      const scheduled = rules.scheduleMs[Math.min(delivery.attempts, rules.scheduleMs.length) - 1] ?? 0;
      const jittered = scheduled * (0.8 + 0.4 * rules.random());
      // A platform that asks for a year is not taken at its word: the delivery would expire unsent.
      const asked = Math.min((reading.retryAfterSeconds ?? 0) * 1000, dayMs);
      const dueAt = Math.round(now + Math.max(jittered, asked));
      return dueAt < delivery.expiresAt
        ? { state: "queued", reason: reading.error, dueAt }
        : { state: "expired", reason: `too old to try again; last: ${reading.error}`, dueAt: 0 };
    }
  }
}
