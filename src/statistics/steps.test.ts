import { describe, expect, test } from "vitest";
import { hourMs } from "../kernel/time.ts";
import { stepsOf } from "./steps.ts";

const hour = (text: string) => Date.parse(text) / hourMs;

describe("the steps of a chart", () => {
  test("a chart by hours has one step per hour", () => {
    expect(stepsOf(10, 13, "hour", "Asia/Tokyo")).toEqual([
      { fromHour: 10, toHour: 11 },
      { fromHour: 11, toHour: 12 },
      { fromHour: 12, toHour: 13 },
    ]);
  });

  test.each([
    // The days on which clocks change have 23 and 25 hours.
    ["Europe/Berlin", "2026-03-27T23:00Z", "2026-03-30T22:00Z", [24, 23, 24]],
    ["Europe/Berlin", "2026-10-23T22:00Z", "2026-10-26T23:00Z", [24, 25, 24]],
    ["America/New_York", "2026-10-31T04:00Z", "2026-11-03T05:00Z", [24, 25, 24]],
    ["UTC", "2026-10-24T00:00Z", "2026-10-26T12:00Z", [24, 24, 12]],
    // Half past: the hour that begins before midnight belongs to the day before.
    ["Asia/Kolkata", "2026-10-24T18:00Z", "2026-10-26T19:00Z", [1, 24, 24]],
    ["Pacific/Kiritimati", "2026-10-24T10:00Z", "2026-10-26T10:00Z", [24, 24]],
  ])("a chart by days in %s from %s to %s has the local days as steps", (timeZone, from, to, hours) => {
    const steps = stepsOf(hour(from), hour(to), "day", timeZone);
    expect(steps.map(({ fromHour, toHour }) => toHour - fromHour)).toEqual(hours);
  });

  test("a chart of a year leaves out no hour and counts none twice", () => {
    const [from, to] = [hour("2026-01-01T00:00Z"), hour("2027-01-01T00:00Z")];
    for (const timeZone of ["Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns"]) {
      const steps = stepsOf(from, to, "day", timeZone);
      expect(steps[0]?.fromHour).toBe(from);
      expect(steps.at(-1)?.toHour).toBe(to);
      for (const [i, step] of steps.entries()) if (i) expect(step.fromHour).toBe(steps[i - 1]?.toHour);
      expect(steps.length).toBe(366);
    }
  });
});
