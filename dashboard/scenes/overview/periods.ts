// The periods of the overview: named ones, and days that the user chose. The URL holds a name as `range`, or `from` and
// `to` in milliseconds.

import { dayMs, hourMs } from "../../../src/kernel/time.ts";
import { dayOf, startOfDay } from "../../common/format/days.ts";
import { isRange, rangeOf } from "../../common/format/ranges.ts";

export const periodNames = ["today", "yesterday", "24h", "7d", "30d", "90d", "month", "lastMonth", "12m"] as const;
type PeriodName = (typeof periodNames)[number];
export const defaultPeriod: PeriodName = "30d";

export type ChosenPeriod = PeriodName | { from: number; to: number };

const isPeriod = (text: string): text is PeriodName => (periodNames as readonly string[]).includes(text);

export function readPeriod(range: string, from: number | undefined, to: number | undefined, now = Date.now()): ChosenPeriod {
  if (isPeriod(range)) return range;
  if (from === undefined && to === undefined) return defaultPeriod;
  const end = to ?? now;
  return { from: from ?? end - 30 * dayMs, to: end };
}

type Period = { from: number; to: number; step: "hour" | "day" };

/** Up to two days are shown by hour. */
const maxHourly = 2 * dayMs + hourMs;

/** Returns the period in whole hours. Days are those of the site's time zone. */
export function periodOf(chosen: ChosenPeriod, timeZone: string | undefined, now: number): Period {
  if (typeof chosen === "object") {
    const { from, to } = wholeHours(chosen.from, chosen.to);
    return { from, to, step: to - from <= maxHourly ? "hour" : "day" };
  }
  if (isRange(chosen)) return rangeOf(chosen, timeZone, now);
  const nextHour = (Math.floor(now / hourMs) + 1) * hourMs;
  const today = dayOf(nextHour - hourMs, timeZone);
  const firstOfMonth = `${today.slice(0, 8)}01`;
  const midnight = (day: string, later = 0) => startOfDay(day, timeZone, later);
  switch (chosen) {
    case "today":
      return { ...wholeHours(midnight(today), nextHour), step: "hour" };
    case "yesterday":
      return { ...wholeHours(midnight(today, -1), midnight(today)), step: "hour" };
    case "month":
      return { ...wholeHours(midnight(firstOfMonth), nextHour), step: "day" };
    case "lastMonth": {
      const month = midnight(firstOfMonth);
      const before = `${dayOf(month - hourMs, timeZone).slice(0, 8)}01`;
      return { ...wholeHours(midnight(before), month), step: "day" };
    }
    case "12m":
      return { ...wholeHours(midnight(today, -364), nextHour), step: "day" };
    default:
      throw new Error(`no period ${String(chosen)}`);
  }
}

/** In time zones with a half-hour offset, an hour belongs to the day in which it begins. */
const wholeHours = (from: number, to: number) => {
  const first = Math.ceil(from / hourMs) * hourMs;
  return { from: first, to: Math.max(first + hourMs, Math.ceil(to / hourMs) * hourMs) };
};
