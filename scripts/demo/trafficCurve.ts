// The demo's traffic over time: by hour and weekday, with a little growth every week.

import { hourMs } from "../../src/kernel/time.ts";
import type { Random } from "./random.ts";
import type { DemoSite } from "./sites.ts";

/** Weights of the hours of a day and of the weekdays. */
const consumers = {
  hours: [2, 1, 1, 1, 1, 2, 4, 6, 8, 9, 10, 10, 11, 10, 10, 10, 11, 12, 14, 16, 17, 14, 9, 5],
  weekdays: { Mon: 1.05, Tue: 0.96, Wed: 0.93, Thu: 0.97, Fri: 0.95, Sat: 1.04, Sun: 1.22 },
};
const businesses = {
  hours: [1, 1, 1, 1, 1, 1, 2, 5, 11, 16, 17, 16, 13, 15, 17, 16, 14, 10, 6, 4, 4, 3, 2, 1],
  weekdays: { Mon: 1.1, Tue: 1.25, Wed: 1.2, Thu: 1.15, Fri: 0.95, Sat: 0.35, Sun: 0.3 },
};

export type TrafficCurve = (at: number) => number;

/** Returns a function from a time to the traffic, relative to the average at the end of the history. */
export function createTrafficCurve({ settings, isBusiness }: DemoSite, from: number, to: number): TrafficCurve {
  const clock = new Intl.DateTimeFormat("en-GB", {
    timeZone: settings.time_zone,
    weekday: "short",
    hour: "2-digit",
    hourCycle: "h23",
  });
  const { hours, weekdays } = isBusiness ? businesses : consumers;
  const mean = hours.reduce((sum, one) => sum + one, 0) / hours.length;
  return (at) => {
    const parts = clock.formatToParts(at);
    const part = (type: string) => parts.find((one) => one.type === type)?.value ?? "";
    const passed = (at - from) / (to - from);
    // A sale in the third week.
    const sale = passed > 0.58 && passed < 0.66 ? 1.45 : 1;
    return (
      ((hours[Number(part("hour"))] ?? mean) / mean) *
      weekdays[part("weekday") as keyof typeof weekdays] *
      (0.72 + 0.28 * passed) *
      sale
    );
  };
}

/** Draws the times of events, hour by hour. */
export function drawTimes(
  random: Random,
  { from, to, perDay }: { from: number; to: number; perDay: number },
  curve: TrafficCurve,
): number[] {
  const times: number[] = [];
  for (let start = from; start < to; start += hourMs) {
    const length = Math.min(hourMs, to - start);
    const count = random.poisson(((perDay / 24) * curve(start) * length) / hourMs);
    for (let i = 0; i < count; i++) times.push(Math.floor(start + random.number() * length));
  }
  return times.toSorted((one, other) => one - other);
}
