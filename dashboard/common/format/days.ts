// Days in the site's time zone.

import { dayMs } from "../../../src/kernel/time.ts";
import { commonText } from "../../messages/common.ts";
import { dayText, timeText } from "./times.ts";

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
  return fromWallClock(Date.parse(`${day}T00:00:00Z`) + later * dayMs, timeZone);
}

/** Returns the time at which clocks in the time zone show `wanted`, a time as if it were UTC. */
function fromWallClock(wanted: number, timeZone: string | undefined): number {
  let at = wanted;
  // Twice, because the first guess may be on the other side of a clock change.
  for (let i = 0; i < 2; i++) at += wanted - wallClock(at, timeZone);
  return at;
}

/** Writes the times in a text of the relay, such as "2026-11-15 21:56 Europe/Berlin", in the user's locale. */
export const withLocalTimes = (text: string): string =>
  text.replace(/(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}) ([A-Z]\w*(?:\/[\w+-]+)*)/g, (_, day, time, timeZone) =>
    timeText(fromWallClock(Date.parse(`${day}T${time}:00Z`), String(timeZone)), String(timeZone)),
  );

/** Formats a period: whole days as days, any other period to the minute. */
export function rangeText(from: number | undefined, to: number | undefined, timeZone: string | undefined): string {
  const isMidnight = (at: number | undefined) => at === undefined || wallClock(at, timeZone) % dayMs === 0;
  if (!isMidnight(from) || !isMidnight(to)) {
    return periodText(from === undefined ? null : timeText(from, timeZone), to === undefined ? null : timeText(to, timeZone));
  }
  return periodText(from === undefined ? null : dayText(from, timeZone), to === undefined ? null : dayText(to - 1, timeZone));
}

function periodText(first: string | null, last: string | null): string {
  const { period, since, until, untilNow } = commonText.time;
  if (first === null) return last === null ? untilNow : until(last);
  if (last === null) return since(first);
  return first === last ? first : period(first, last);
}
