// How long a conversion can be sent: as long as its platform takes it, or for a week.

import type { Conversion } from "../kernel/event.ts";
import { say } from "../kernel/messages/message.ts";
import { dayMs } from "../kernel/time.ts";
import type { ConnectionSettings, Platform } from "../platforms/platform.ts";

/** Platforms without an age limit are retried this long after receipt. */
const defaultExpiryMs = 7 * dayMs;

/** The age limit of the platform for this conversion; undefined where it sets none. */
export function maxAgeDaysOf(
  conversion: Conversion,
  platform: Platform | undefined,
  settings: ConnectionSettings,
): number | undefined {
  const limit = platform?.maxAgeDays;
  return typeof limit === "function" ? limit(conversion, settings) : limit;
}

/** `queuedAt` is later than the receipt where the event was queued by a backfill. */
export function expiryOf(event: { time: number; receivedAt: number }, maxAgeDays: number | undefined, queuedAt = 0): number {
  return maxAgeDays === undefined ? Math.max(event.receivedAt, queuedAt) + defaultExpiryMs : event.time + maxAgeDays * dayMs;
}

/** The reason of an event that is older than the platform takes. */
export const tooOldReason = ({ name }: { name: string }, maxAgeDays: number | undefined): string =>
  say("too_old", { days: maxAgeDays ?? "", platform: name });
