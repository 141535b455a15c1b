import { expect, test } from "vitest";
import { trustClock } from "./purge.ts";

const hour = 3_600_000;
const day = 24 * hour;
const today = Date.UTC(2026, 10, 15);

function testClock(newest: number | null, ahead = 0) {
  let elapsed = 5;
  let zero = today + ahead;
  const isTrusted = trustClock(
    () => zero + elapsed,
    () => elapsed,
    newest,
  );
  return {
    isTrusted,
    pass: (ms: number) => void (elapsed += ms),
    set: (ms: number) => void (zero += ms),
  };
}

test("a clock is trusted if it is near the stored times, if no time is stored, or if it was set back", () => {
  for (const newest of [today, today - day, today + 400 * day, null]) {
    const { isTrusted, pass, set } = testClock(newest);
    expect(isTrusted()).toBe(true);
    pass(10 * day);
    expect(isTrusted()).toBe(true);
    set(-400 * day);
    expect(isTrusted()).toBe(true);
  }
});

test("a clock that is days ahead of all stored times is trusted after an hour", () => {
  const { isTrusted, pass } = testClock(today, 400 * day);
  expect(isTrusted()).toBe(false);
  pass(hour - 1);
  expect(isTrusted()).toBe(false);
  pass(1);
  expect(isTrusted()).toBe(true);
});

test("a clock that is set days ahead at run time is trusted an hour later", () => {
  const { isTrusted, pass, set } = testClock(today);
  expect(isTrusted()).toBe(true);
  pass(5 * hour);
  set(3 * day);
  expect(isTrusted()).toBe(false);
  pass(hour / 2);
  set(3 * day);
  expect(isTrusted()).toBe(false);
  pass(hour - 1);
  expect(isTrusted()).toBe(false);
  pass(1);
  expect(isTrusted()).toBe(true);
});
