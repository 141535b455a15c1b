import { expect, test } from "vitest";
import { hourMs, minuteMs } from "../../kernel/time.ts";
import { lastDue, overdueMs, readSchedule } from "./schedule.ts";

const at = (text: string) => Date.parse(`2026-11-${text}:00Z`);
const made = (text: string) => ({ last: { at: at(text), bytes: 1 }, failure: null });
const schedule = readSchedule("15:30,03:00") ?? [];

test("times of the day are read in any order, once each", () => {
  expect(readSchedule("15:30, 03:00,03:00")).toEqual([3 * hourMs, 15.5 * hourMs]);
  for (const text of ["", "3:00", "24:00", "03:60", "03:00,", "daily"]) expect(readSchedule(text)).toBeNull();
});

test("the last due time is today's or, before the first of the day, yesterday's", () => {
  expect(lastDue(schedule, at("16T03:00"))).toBe(at("16T03:00"));
  expect(lastDue(schedule, at("16T15:29"))).toBe(at("16T03:00"));
  expect(lastDue(schedule, at("16T02:59"))).toBe(at("15T15:30"));
});

test("a backup is due from the first scheduled time after the last one, also after days without a relay", () => {
  expect(overdueMs(schedule, made("16T03:00"), at("16T15:29"))).toBe(0);
  expect(overdueMs(schedule, made("16T03:01"), at("16T15:35"))).toBe(5 * minuteMs);
  expect(overdueMs(schedule, made("14T03:01"), at("16T03:30"))).toBe(36 * hourMs);
});

test("an installation without a backup needs one at once", () => {
  expect(overdueMs(schedule, { last: null, failure: null }, at("16T04:00"))).toBe(hourMs);
});

test("a backup that a clock ahead of time has dated does not hold up the next one", () => {
  expect(overdueMs(schedule, made("20T03:00"), at("16T04:00"))).toBe(hourMs);
});
