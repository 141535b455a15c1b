// The start and end of a named range.

import { hourMs } from "../../../src/kernel/time.ts";
import { dayOf, startOfDay } from "./days.ts";

const ranges = {
  "24h": { days: 1, step: "hour" },
  "7d": { days: 7, step: "day" },
  "30d": { days: 30, step: "day" },
  "90d": { days: 90, step: "day" },
} as const;
type RangeName = keyof typeof ranges;
export const rangeNames = Object.keys(ranges) as RangeName[];

export const isRange = (text: unknown): text is RangeName => typeof text === "string" && text in ranges;

/**
 * Returns the range in milliseconds, rounded to whole hours. 24 h is the current hour and the 23 before it, as in the list of
 * sites. Ranges of days start at midnight in the site's time zone, and their last day is today.
 */
export function rangeOf(
  name: RangeName,
  timeZone: string | undefined,
  now = Date.now(),
): { from: number; to: number; step: "hour" | "day" } {
  const { days, step } = ranges[name];
  const to = (Math.floor(now / hourMs) + 1) * hourMs;
  if (step === "hour") return { from: to - 24 * hourMs, to, step };
  // In time zones with a half-hour offset, an hour belongs to the day in which it begins.
  const midnight = startOfDay(dayOf(to - hourMs, timeZone), timeZone, 1 - days);
  return { from: Math.ceil(midnight / hourMs) * hourMs, to, step };
}
