// Is a pause in a site's events unusual? Weeks repeat: nights, weekends and office hours are the same seven days ago. So
// the pause is held against the same hours of the last four weeks: it must be longer than the longest pause in them by as
// much again, or by six hours where that is less. Sites with few events, or with less than three weeks of them, are not judged at all: a false alarm at night costs
// more trust than a late one costs conversions.

import { hourMs } from "../kernel/time.ts";

const dayHours = 24;
const weekHours = 7 * dayHours;
const weeks = 4;
/** Hours around the pause that are looked at too: habits are not that punctual. */
const margin = 2;
const maxSlackHours = 6;
const minPerDay = 20;
const minWeeks = 3;

/** The hours that `judgeSilence` wants to know of. */
export const hoursNeeded = weeks * weekHours + dayHours;

export type Silence = {
  since: number;
  /** The longest pause that the last weeks would suggest, in hours. */
  usualHours: number;
};

/** `uses`: events by hour (epoch hours). Null when the pause is nothing special, or cannot be judged. */
export function judgeSilence(uses: ReadonlyMap<number, number>, lastAt: number, now: number): Silence | null {
  const thisHour = Math.floor(now / hourMs);
  const first = thisHour - weeks * weekHours;
  const used = [...uses].filter(([, n]) => n > 0);
  const total = used.filter(([hour]) => hour >= first).reduce((sum, [, n]) => sum + n, 0);
  if (total < minPerDay * 7 * weeks) return null;
  const known = Math.min(...used.map(([hour]) => hour));

  const from = Math.floor(lastAt / hourMs);
  let longest = 0;
  let compared = 0;
  for (let week = 1; week <= weeks; week++) {
    const shift = week * weekHours;
    if (from - shift - margin < known) continue;
    compared += 1;
    longest = Math.max(longest, maxPause(uses, from - shift - margin, thisHour - shift + margin));
  }
  if (compared < minWeeks) return null;
  // Between two events in neighbouring hours there may lie up to an hour without one.
  const usualHours = longest + 1;
  const toleratedHours = usualHours + Math.min(usualHours, maxSlackHours);
  return now - lastAt > toleratedHours * hourMs ? { since: lastAt, usualHours } : null;
}

/** The most hours in a row without an event. */
function maxPause(uses: ReadonlyMap<number, number>, from: number, to: number): number {
  let longest = 0;
  let pause = 0;
  for (let hour = from; hour <= to; hour++) {
    pause = (uses.get(hour) ?? 0) > 0 ? 0 : pause + 1;
    longest = Math.max(longest, pause);
  }
  return longest;
}
