// How long a conversion can be sent: as long as its platform takes it, or for a week.

import type { Conversion } from "../kernel/event.ts";
import { say } from "../kernel/messages/message.ts";
import { dayMs } from "../kernel/time.ts";
import type { ConnectionSettings, Platform } from "../platforms/platform.ts";
import type { Attempt, Delivery } from "../store/deliveries/delivery.ts";

/** Platforms without an age limit are retried this long after receipt, or after the beginning of later attempts. */
const defaultExpiryMs = 7 * dayMs;

/** Longer than the delays between attempts. After it, attempts begin anew. */
const interruptionMs = 2 * dayMs;

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
  { reason }: Pick<Delivery, "reason">,
  attempts: readonly Pick<Attempt, "state" | "reason" | "startedAt">[],
  now: number,
): number {
  // Something else than the last attempt queued it: it is attempted at least once.
  if (attempts.at(-1)?.reason !== reason) return now;
  let begunAt = now;
  for (const { state, startedAt } of attempts.toReversed()) {
    if (state !== "queued" || begunAt - startedAt > interruptionMs) break;
    begunAt = startedAt;
  }
  return begunAt;
}

/** The reason of an event that is older than the platform takes. */
export const tooOldReason = ({ name }: { name: string }, maxAgeDays: number | undefined): string =>
  say("too_old", { days: maxAgeDays ?? "", platform: name });
