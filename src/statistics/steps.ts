// Splits a range of hours into the steps of a chart: hours, or days in the time zone of the site. Each step is compared with the
// same hours some days earlier.

import { hourMs } from "../kernel/time.ts";

export type Step = "hour" | "day";

/** From one hour to another, the last not included. */
type StepHours = { fromHour: number; toHour: number };

const dayHours = 24;

/** An hour belongs to the day in which it begins: in some time zones days begin at half past. */
export function stepsOf(fromHour: number, toHour: number, step: Step, timeZone: string): StepHours[] {
  const steps: StepHours[] = [];
  const dayOf = daysIn(timeZone);
  let lastDay: number | null = null;
  for (let hour = fromHour; hour < toHour; hour++) {
    const day = step === "day" ? dayOf(hour) : hour;
    const last = steps.at(-1);
    if (last && day === lastDay) last.toHour = hour + 1;
    else steps.push({ fromHour: hour, toHour: hour + 1 });
    lastDay = day;
  }
  return steps;
}

type Earlier = {
  fromHour: number;
  /** The first hour that belongs to each step. */
  starts: number[];
  /** The step with which an hour is compared; undefined for an hour outside of the earlier range. */
  stepAt: (hour: number) => number | undefined;
};

/**
 * Returns the range to compare with: as many whole days earlier as the range has, so that a night is compared with a night and the
 * morning of a running day with a morning. Hours are matched by the clock on the wall.
 */
export function earlierOf(steps: readonly StepHours[], step: Step, timeZone: string): Earlier {
  const localHour = localHoursIn(timeZone);
  const [fromHour, toHour] = [steps[0]?.fromHour ?? 0, steps.at(-1)?.toHour ?? 0];
  const from = localHour(fromHour);
  const days = Math.max(1, Math.ceil((localHour(toHour) - from) / dayHours));
  const keyOf = (local: number) => (step === "day" ? Math.floor(local / dayHours) : local);
  const indexOf = new Map(steps.map((one, i) => [keyOf(localHour(one.fromHour)), i]));
  const end = localHour(toHour - 1) + 1;

  const stepAt = (hour: number): number | undefined => {
    if (hour >= fromHour) return undefined;
    const then = localHour(hour) + days * dayHours;
    return then >= from && then < end ? indexOf.get(keyOf(then)) : undefined;
  };
  const shifted = (hour: number) => {
    const guess = hour - days * dayHours;
    return guess + localHour(hour) - days * dayHours - localHour(guess);
  };
  // The hours that a clock change skips have no earlier one.
  return { fromHour: Math.min(shifted(fromHour), fromHour - 1), starts: steps.map((one) => shifted(one.fromHour)), stepAt };
}

/** Returns a function that gives the local day number of an hour since the epoch. */
function daysIn(timeZone: string): (hour: number) => number {
  const localHour = localHoursIn(timeZone);
  return (hour) => Math.floor(localHour(hour) / dayHours);
}

/** The offsets of days, by time zone; null for a day with a clock change. To find those of a year takes some twenty milliseconds. */
const offsets = new Map<string, Map<number, number | null>>();
const maxZones = 50;
const maxDays = 2000;

/** Returns a function that gives the local time of an hour since the epoch, in whole hours. */
function localHoursIn(timeZone: string): (hour: number) => number {
  const offsetAt = offsetsOf(timeZone);
  const known = offsets.get(timeZone) ?? new Map<number, number | null>();
  if (!offsets.has(timeZone) && offsets.size >= maxZones) offsets.clear();
  offsets.set(timeZone, known);
  return (hour) => {
    const day = Math.floor(hour / dayHours);
    let offset = known.get(day);
    if (offset === undefined) {
      const first = offsetAt(day * dayHours * hourMs);
      offset = first === offsetAt((day * dayHours + dayHours - 1) * hourMs) ? first : null;
      if (known.size >= maxDays) known.clear();
      known.set(day, offset);
    }
    const at = hour * hourMs;
    return Math.floor((at + (offset ?? offsetAt(at))) / hourMs);
  };
}

function offsetsOf(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (at) => {
    const parts: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(at)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - at;
  };
}
