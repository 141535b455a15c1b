// The named ranges of the dashboard, and the number of bars in their charts.

import { describe, expect, test } from "vitest";
import { rangeOf } from "../../dashboard/common/format/ranges.ts";
import { stepsOf } from "../../src/statistics/steps.ts";

const hourMs = 3_600_000;
const at = Date.parse;

const bars = (name: "24h" | "7d" | "30d" | "90d", timeZone: string, now: number) => {
  const { from, to, step } = rangeOf(name, timeZone, now);
  return stepsOf(from / hourMs, to / hourMs, step, timeZone).length;
};

describe("ranges", () => {
  test("the range 24 h is the current hour and the 23 before it", () => {
    const now = at("2026-11-15T10:20:00Z");
    expect(rangeOf("24h", "Europe/Berlin", now)).toEqual({
      from: at("2026-11-14T11:00:00Z"),
      to: at("2026-11-15T11:00:00Z"),
      step: "hour",
    });
    expect(bars("24h", "Europe/Berlin", now)).toBe(24);
  });

  test("ranges of days begin at midnight in the site's time zone and end today", () => {
    expect(rangeOf("7d", "Europe/Berlin", at("2026-11-15T10:20:00Z"))).toEqual({
      from: at("2026-11-08T23:00:00Z"),
      to: at("2026-11-15T11:00:00Z"),
      step: "day",
    });
  });

  test.each([
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Pacific/Auckland",
  ])("a chart has as many bars as days in %s, also when clocks change", (timeZone) => {
    for (const day of ["2026-03-10", "2026-03-30", "2026-10-27", "2026-11-03"])
      for (const time of ["00:10", "11:50", "18:20", "18:40", "23:50"]) {
        const now = at(`${day}T${time}:00Z`);
        expect([day, time, bars("7d", timeZone, now), bars("30d", timeZone, now)]).toEqual([
          day,
          time,
          7,
          30,
        ]);
      }
  });
});
