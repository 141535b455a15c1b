// Splits a range of hours into the steps of a chart: hours, or days in the time zone of the site.

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

/** Returns a function that gives the local day number of an hour since the epoch. */
function daysIn(timeZone: string): (hour: number) => number {
  const offsetAt = offsetsOf(timeZone);
  let block = { start: Number.NaN, offset: null as number | null };
  return (hour) => {
    // The offset of a day without a clock change is computed once.
    const start = Math.floor(hour / dayHours) * dayHours;
    if (block.start !== start) {
      const offset = offsetAt(start * hourMs);
      block = { start, offset: offset === offsetAt((start + dayHours - 1) * hourMs) ? offset : null };
    }
    const at = hour * hourMs;
    return Math.floor((at + (block.offset ?? offsetAt(at))) / (dayHours * hourMs));
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
