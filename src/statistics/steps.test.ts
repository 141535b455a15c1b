import { describe, expect, test } from "vitest";
import { hourMs } from "../kernel/time.ts";
import { earlierOf, stepsOf } from "./steps.ts";

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

describe("the earlier period", () => {
  const text = (of: number) => new Date(of * hourMs).toISOString().slice(0, 13);
  const compare = (from: string, to: string, step: "hour" | "day", timeZone: string) => {
    const steps = stepsOf(hour(from), hour(to), step, timeZone);
    const earlier = earlierOf(steps, step, timeZone);
    const hours = steps.map(() => [] as number[]);
    for (let one = earlier.fromHour; one < hour(to); one++) hours[earlier.stepAt(one) ?? -1]?.push(one);
    return { steps, earlier, hours };
  };

  test("of a running day are the same hours of the day before, and of a running week those of the week before", () => {
    const day = compare("2026-11-18T00:00Z", "2026-11-18T15:00Z", "hour", "UTC");
    expect(day.hours.flat().map(text)).toEqual(Array.from({ length: 15 }, (_, i) => `2026-11-17T${String(i).padStart(2, "0")}`));
    const week = compare("2026-11-12T00:00Z", "2026-11-18T15:00Z", "day", "UTC");
    expect(week.hours.map(({ length }) => length)).toEqual([24, 24, 24, 24, 24, 24, 15]);
    expect(week.earlier.starts.map(text)).toEqual(
      [5, 6, 7, 8, 9, 10, 11].map((date) => `2026-11-${String(date).padStart(2, "0")}T00`),
    );
  });

  test.each(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"])(
    "in %s each day is compared with one whole local day, over every clock change of a year",
    (timeZone) => {
      for (let from = hour("2026-01-05T00:00Z"); from < hour("2027-01-05T00:00Z"); from += 5 * 24) {
        const [, first] = stepsOf(from, from + 48, "day", timeZone);
        const start = first?.fromHour ?? 0;
        const end = stepsOf(start, start + 7 * 24 + 30, "day", timeZone)[7]?.fromHour ?? 0;
        const steps = stepsOf(start, end, "day", timeZone);
        const earlier = earlierOf(steps, "day", timeZone);
        const days = stepsOf(earlier.fromHour, start, "day", timeZone);
        expect(earlier.starts).toEqual(days.map(({ fromHour }) => fromHour));
        for (const [i, day] of days.entries())
          for (let one = day.fromHour; one < day.toHour; one++) expect(earlier.stepAt(one)).toBe(i);
        expect(earlier.stepAt(earlier.fromHour - 1)).toBeUndefined();
        expect(earlier.stepAt(start)).toBeUndefined();
      }
    },
  );

  test("of the hour that a clock change skips is empty, and the hours around it have one each", () => {
    // 02:00 to 03:00 of 29 March does not exist in Berlin.
    const { hours } = compare("2026-03-29T22:00Z", "2026-03-30T22:00Z", "hour", "Europe/Berlin");
    expect(hours.map(({ length }) => length)).toEqual([1, 1, 0, ...Array.from({ length: 21 }, () => 1)]);
  });
});
