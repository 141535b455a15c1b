// Formats times and durations in the user's locale and the site's time zone. One function for one kind of time.

import { dayMs, hourMs, minuteMs } from "../../../src/kernel/time.ts";
import { commonText } from "../../messages/common.ts";
import { dateFormat, numberFormat, relativeFormat } from "./intl.ts";

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * dayMs],
  ["month", 30 * dayMs],
  ["day", dayMs],
  ["hour", hourMs],
  ["minute", minuteMs],
];

/** Formats "5 min ago" without the full stop of "min.", which would look like the end of a sentence. */
const ago = (count: number, unit: Intl.RelativeTimeFormatUnit) => relativeFormat().format(count, unit).replace(".", "");

export function agoText(at: number, now: number): string {
  const distance = at - now;
  for (const [unit, ms] of steps) if (Math.abs(distance) >= ms) return ago(Math.round(distance / ms), unit);
  return Math.abs(distance) < 10_000 ? commonText.time.justNow : ago(Math.round(distance / 1000), "second");
}

/** Formats the age of a time, or the date from a week on. */
export function whenText(at: number, now: number, timeZone: string | undefined): string {
  if (Math.abs(at - now) < 7 * dayMs) return agoText(at, now);
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return dateFormat({ month: "short", day: "numeric", ...(isThisYear ? {} : { year: "numeric" }) }, timeZone).format(at);
}

/** A time to the second, with the name of its time zone. */
export const exactTime = (at: number, timeZone: string | undefined): string =>
  dateFormat({ dateStyle: "medium", timeStyle: "long" }, timeZone).format(at);

/** A day of the last twelve months. */
export const dayText = (at: number, timeZone: string | undefined): string =>
  dateFormat({ month: "short", day: "numeric" }, timeZone).format(at);

/** A day and a time of day, to the minute. */
export const timeText = (at: number, timeZone: string | undefined): string =>
  dateFormat({ month: "short", day: "numeric", hour: "numeric", minute: "2-digit" }, timeZone).format(at);

/** A time of day, to the minute. */
export const hourText = (at: number, timeZone: string | undefined): string =>
  dateFormat({ hour: "numeric", minute: "2-digit" }, timeZone).format(at);

/** How long something took: "340 ms", "2.4 s". */
export function durationText(ms: number): string {
  if (ms < 1000) return numberFormat({ style: "unit", unit: "millisecond" }).format(ms);
  return numberFormat({
    style: "unit",
    unit: "second",
    maximumFractionDigits: ms < 10_000 ? 1 : 0,
  }).format(ms / 1000);
}

/** Formats an age: "3 days". */
export function ageText(ms: number): string {
  const [unit, size] = steps.find(([, length]) => ms >= length) ?? ["minute", minuteMs];
  if (ms < minuteMs) return commonText.time.lessThanAMinute;
  return numberFormat({ style: "unit", unit, unitDisplay: "long" }).format(Math.floor(ms / size));
}
