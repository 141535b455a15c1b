// How long a conversion can be sent: as long as its platform takes it, or for a week.

import type { Conversion } from "../kernel/event.ts";
import { say } from "../kernel/messages/message.ts";
import { dayMs } from "../kernel/time.ts";
import type { ConnectionSettings, Platform } from "../platforms/platform.ts";
import { backfillReason } from "../store/deliveries/backfills.ts";
import { notCountedReason, replayedReason, type Attempt } from "../store/deliveries/delivery.ts";

/** Platforms without an age limit are retried this long after receipt, or after the beginning of later attempts. */
const defaultExpiryMs = 7 * dayMs;

/** Longer than the delays between attempts. After it, attempts begin anew, as after a pause. */
const interruptionMs = 2 * dayMs;
/**
 * So long after the receipt an interruption counts. Where an endpoint is dead for good, a long queue may wait for days between two attempts,
 * and must end.
 */
const maxInterruptedMs = 90 * dayMs;

/** Null after a release. */
const anewReasons = new Set<string | null>([null, replayedReason, backfillReason, notCountedReason]);

/** True for the reason of a delivery that something else than its last attempt has queued: it is attempted at least once. */
export const isQueuedAnew = (reason: string | null) => anewReasons.has(reason);

/** The age limit of the platform for this conversion; undefined where it sets none. */
export function maxAgeDaysOf(
  conversion: Conversion,
  platform: Platform | undefined,
  settings: ConnectionSettings,
): number | undefined {
  const limit = platform?.maxAgeDays;
  return typeof limit === "function" ? limit(conversion, settings) : limit;
}

/** `begunAt` is later than the receipt where attempts began anew: after a replay, a pause or a backfill. */
export function expiryOf(event: { time: number; receivedAt: number }, maxAgeDays: number | undefined, begunAt = 0): number {
  return maxAgeDays === undefined ? Math.max(event.receivedAt, begunAt) + defaultExpiryMs : event.time + maxAgeDays * dayMs;
}

/** When the attempts of now began. `attempts` are all of the delivery so far, the oldest first. */
export function beginningOf(
  attempts: readonly Pick<Attempt, "state" | "startedAt">[],
  { receivedAt }: { receivedAt: number },
  now: number,
): number {
  if (attempts.length === 0) return receivedAt;
  const isYoung = now < receivedAt + maxInterruptedMs;
  let begunAt = now;
  for (const { state, startedAt } of attempts.toReversed()) {
    if (state !== "queued" || (isYoung && begunAt - startedAt > interruptionMs)) break;
    begunAt = startedAt;
  }
  return begunAt;
}

/** The reason of an event that is older than the platform takes. */
export const tooOldReason = ({ name }: { name: string }, maxAgeDays: number | undefined): string =>
  say("too_old", { days: maxAgeDays ?? "", platform: name });
