// When things happen in the demo: by the hours and days of people's lives, and a little more every week.

import type { Chance } from "./chance.ts";
import type { DemoSite } from "./sites.ts";

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

const byHour = [2, 1, 1, 1, 1, 2, 4, 6, 8, 9, 10, 10, 11, 10, 10, 10, 11, 12, 14, 16, 17, 14, 9, 5];
const atWork = [1, 1, 1, 1, 1, 1, 2, 5, 11, 16, 17, 16, 13, 15, 17, 16, 14, 10, 6, 4, 4, 3, 2, 1];
const ofShops: Record<string, number> = {
  Mon: 1.05,
  Tue: 0.96,
  Wed: 0.93,
  Thu: 0.97,
  Fri: 0.95,
  Sat: 1.04,
  Sun: 1.22,
};
const ofOffices: Record<string, number> = {
  Mon: 1.1,
  Tue: 1.25,
  Wed: 1.2,
  Thu: 1.15,
  Fri: 0.95,
  Sat: 0.35,
  Sun: 0.3,
};

export type Rhythm = (at: number) => number;

/** How much there is at a moment, where 1 is an ordinary one at the end of the time. */
export function rhythmOf({ timeZone, platforms }: DemoSite, from: number, to: number): Rhythm {
  const clock = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    weekday: "short",
    hour: "2-digit",
    hourCycle: "h23",
  });
  const isOffice = platforms.some(([id]) => id === "segment");
  const hours = isOffice ? atWork : byHour;
  const mean = hours.reduce((sum, one) => sum + one, 0) / hours.length;
  const days = isOffice ? ofOffices : ofShops;
  return (at) => {
    const parts = clock.formatToParts(at);
    const part = (type: string) => parts.find((one) => one.type === type)?.value ?? "";
    const passed = (at - from) / (to - from);
    // A sale in the third week.
    const sale = passed > 0.58 && passed < 0.66 ? 1.45 : 1;
    return (
      ((hours[Number(part("hour"))] ?? mean) / mean) *
      (days[part("weekday")] ?? 1) *
      (0.72 + 0.28 * passed) *
      sale
    );
  };
}

/** Moments of an evenly flowing time that is cut into pieces, each with its own rhythm. */
export function momentsIn(
  chance: Chance,
  { from, to, perDay }: { from: number; to: number; perDay: number },
  rhythm: Rhythm,
): number[] {
  const moments: number[] = [];
  for (let start = from; start < to; start += hourMs) {
    const length = Math.min(hourMs, to - start);
    const count = chance.poisson(((perDay / 24) * rhythm(start) * length) / hourMs);
    for (let i = 0; i < count; i++) moments.push(Math.floor(start + chance.number() * length));
  }
  return moments.toSorted((one, other) => one - other);
}
