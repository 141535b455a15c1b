// Decides whether a pause in a site's events is unusual. Weeks repeat: nights, weekends and office hours are the same seven
// days ago. So the pause is compared with the same hours of the last four weeks: it is unusual when it is twice as long as
// the longest pause in them, or six hours longer if that is less. Sites with few events, or with less than three weeks of
// them, are never judged: a false alarm at night costs more trust than a late one costs conversions.

import { hourMs } from "../kernel/time.ts";

const dayHours = 24;
const weekHours = 7 * dayHours;
const weeks = 4;
/** Hours before and after the pause that are compared too: habits are not that punctual. */
const margin = 2;
const maxSlackHours = 6;
const minPerDay = 20;
const minWeeks = 3;

/** The hours of history that `judgeSilence` needs. */
export const hoursNeeded = weeks * weekHours + dayHours;

/** The pause is unusual; or it is not, and cannot become so before `until`. */
type Judgement =
  | {
      isUnusual: true;
      since: number;
      /** The longest pause to expect after the last weeks, in hours. */
      usualHours: number;
    }
  | { isUnusual: false; until: number };

/** The shortest pause that can be unusual. */
const minHours = 2;

/** `uses`: events by hour (epoch hours). */
export function judgeSilence(uses: ReadonlyMap<number, number>, lastAt: number, now: number): Judgement {
  const thisHour = Math.floor(now / hourMs);
  const first = thisHour - weeks * weekHours;
  const used = [...uses].filter(([, n]) => n > 0);
  const total = used.filter(([hour]) => hour >= first).reduce((sum, [, n]) => sum + n, 0);
  // Only further events can change this, and they would begin a new pause.
  const tooFewEvents = { isUnusual: false, until: now + minHours * hourMs } as const;
  if (total < minPerDay * 7 * weeks) return tooFewEvents;
  const firstUsed = Math.min(...used.map(([hour]) => hour));

  const from = Math.floor(lastAt / hourMs);
  let maxHours = 0;
  let compared = 0;
  for (let week = 1; week <= weeks; week++) {
    const shift = week * weekHours;
    if (from - shift - margin < firstUsed) continue;
    compared += 1;
    maxHours = Math.max(maxHours, maxPause(uses, from - shift - margin, thisHour - shift + margin));
  }
  if (compared < minWeeks) return tooFewEvents;
  // Two events in neighbouring hours may be up to an hour further apart.
  const usualHours = maxHours + 1;
  const toleratedHours = usualHours + Math.min(usualHours, maxSlackHours);
  // While the pause lasts, it is compared with longer and longer ones, so it is never tolerated for less.
  const until = lastAt + toleratedHours * hourMs;
  return now > until ? { isUnusual: true, since: lastAt, usualHours } : { isUnusual: false, until };
}

/** Returns the length of the longest pause, in hours. */
function maxPause(uses: ReadonlyMap<number, number>, from: number, to: number): number {
  let maxHours = 0;
  let pause = 0;
  for (let hour = from; hour <= to; hour++) {
    pause = (uses.get(hour) ?? 0) > 0 ? 0 : pause + 1;
    maxHours = Math.max(maxHours, pause);
  }
  return maxHours;
}
