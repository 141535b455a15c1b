// Days in the site's time zone.

import { dayMs } from "../../../src/kernel/time.ts";
import { dayText, timeText } from "./format.ts";

/** Returns the wall-clock time in the time zone, as if it were UTC. */
function wallClock(at: number, timeZone: string | undefined): number {
  const parts = new Intl.DateTimeFormat("en", {
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
    hourCycle: "h23",
    ...(timeZone ? { timeZone } : {}),
  }).formatToParts(at);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value ?? 0);
  return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
}

/** Returns the day of a time: "2026-11-15". */
export const dayOf = (at: number, timeZone: string | undefined): string =>
  new Date(wallClock(at, timeZone)).toISOString().slice(0, 10);

/** Returns the start of a day in the time zone, or of the day that is `later` days later. */
export function startOfDay(day: string, timeZone: string | undefined, later = 0): number {
  const wanted = Date.parse(`${day}T00:00:00Z`) + later * dayMs;
  let at = wanted;
  // Twice, because the first guess may be on the other side of a clock change.
  for (let i = 0; i < 2; i++) at += wanted - wallClock(at, timeZone);
  return at;
}

/** Formats a period: whole days as days, any other period to the minute. */
export function rangeText(
  from: number | undefined,
  to: number | undefined,
  timeZone: string | undefined,
): string {
  const isMidnight = (at: number | undefined) => at === undefined || wallClock(at, timeZone) % dayMs === 0;
  if (!isMidnight(from) || !isMidnight(to)) {
    const [first, last] = [from, to].map((at) => (at === undefined ? null : timeText(at, timeZone)));
    return first && last ? `${first} – ${last}` : first ? `since ${first}` : `until ${last ?? "now"}`;
  }
  const first = from === undefined ? null : dayText(from, timeZone);
  const last = to === undefined ? null : dayText(to - 1, timeZone);
  if (first && last) return first === last ? first : `${first} – ${last}`;
  return first ? `since ${first}` : `until ${last ?? "now"}`;
}
