// The named ranges of the dashboard, and the number of bars in their charts.

import { describe, expect, test } from "vitest";
import { ticksFor } from "../../dashboard/common/charts/scale.ts";
import { rangeOf } from "../../dashboard/common/format/ranges.ts";
import { periodNames, periodOf, readPeriod } from "../../dashboard/scenes/overview/periods.ts";
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

  test.each(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Pacific/Auckland"])(
    "a chart has as many bars as days in %s, also when clocks change",
    (timeZone) => {
      for (const day of ["2026-03-10", "2026-03-30", "2026-10-27", "2026-11-03"])
        for (const time of ["00:10", "11:50", "18:20", "18:40", "23:50"]) {
          const now = at(`${day}T${time}:00Z`);
          expect([day, time, bars("7d", timeZone, now), bars("30d", timeZone, now)]).toEqual([day, time, 7, 30]);
        }
    },
  );
});

describe("periods of the overview", () => {
  const now = at("2026-03-15T10:20:00Z");
  const inBerlin = (name: (typeof periodNames)[number]) => {
    const { from, to, step } = periodOf(name, "Europe/Berlin", now);
    return [new Date(from).toISOString().slice(0, 13), new Date(to).toISOString().slice(0, 13), step];
  };

  test("days and months begin at midnight in the site's time zone, and those that are over end there", () => {
    expect(inBerlin("today")).toEqual(["2026-03-14T23", "2026-03-15T11", "hour"]);
    expect(inBerlin("yesterday")).toEqual(["2026-03-13T23", "2026-03-14T23", "hour"]);
    expect(inBerlin("month")).toEqual(["2026-02-28T23", "2026-03-15T11", "day"]);
    expect(inBerlin("lastMonth")).toEqual(["2026-01-31T23", "2026-02-28T23", "day"]);
    expect(inBerlin("12m")).toEqual(["2025-03-15T23", "2026-03-15T11", "day"]);
    expect(inBerlin("7d")).toEqual(["2026-03-08T23", "2026-03-15T11", "day"]);
  });

  test("a period from the URL is a name, chosen days, or the default, and short ones are shown by hour", () => {
    expect(readPeriod("yesterday", 5, 6)).toBe("yesterday");
    expect(readPeriod("nonsense", undefined, undefined)).toBe("30d");
    const days = readPeriod("", now - 48 * hourMs, now, now);
    expect(days).toEqual({ from: now - 48 * hourMs, to: now });
    expect(periodOf(days, "UTC", now).step).toBe("hour");
    expect(periodOf({ from: now - 72 * hourMs, to: now }, "UTC", now).step).toBe("day");
    // Even days that end before they begin are a period that the relay takes.
    expect(periodOf({ from: now, to: now - hourMs }, "UTC", now)).toMatchObject({
      to: at("2026-03-15T12:00:00Z"),
    });
  });

  test("every named period is one that the relay takes, in every time zone", () => {
    for (const timeZone of ["UTC", "Asia/Kathmandu", "America/St_Johns", "Pacific/Auckland"])
      for (const name of periodNames)
        for (const time of ["00:10", "13:50", "23:59"]) {
          const { from, to, step } = periodOf(name, timeZone, at(`2026-03-01T${time}:00Z`));
          expect([name, from % hourMs, to % hourMs, from < to]).toEqual([name, 0, 0, true]);
          expect((to - from) / hourMs).toBeLessThanOrEqual(24 * (step === "hour" ? 31 : 400));
        }
  });
});

describe("the scale of a chart", () => {
  const whole = (max: number) => ticksFor(max, { isWhole: true });

  test("ticks are round, few, and the last one is not below the highest bar", () => {
    expect(whole(0)).toEqual([0, 1]);
    expect(whole(3)).toEqual([0, 1, 2, 3]);
    expect(whole(7)).toEqual([0, 2, 4, 6, 8]);
    expect(whole(103)).toEqual([0, 50, 100, 150]);
    expect(whole(49_299)).toEqual([0, 20_000, 40_000, 60_000]);
    expect(ticksFor(0.9, { isWhole: false })).toEqual([0, 0.25, 0.5, 0.75, 1]);
    for (let max = 1; max < 1e13; max = Math.ceil(max * 1.07)) {
      const ticks = whole(max);
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(max);
      expect(ticks.length).toBeLessThanOrEqual(6);
      expect(ticks.every((tick) => Number.isInteger(tick))).toBe(true);
    }
  });
});
