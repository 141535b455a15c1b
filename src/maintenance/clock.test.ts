import { expect, test } from "vitest";
import { trustClock } from "./clock.ts";

const hour = 3_600_000;
const day = 24 * hour;
const today = Date.UTC(2026, 10, 15);

function watched(newest: number | null, ahead = 0) {
  let elapsed = 5;
  let zero = today + ahead;
  const isSound = trustClock(
    () => zero + elapsed,
    () => elapsed,
    newest,
  );
  return {
    isSound,
    pass: (ms: number) => void (elapsed += ms),
    set: (ms: number) => void (zero += ms),
  };
}

test("a clock near the stored times is trusted, and so is one without stored times, or that was set back", () => {
  for (const newest of [today, today - day, today + 400 * day, null]) {
    const { isSound, pass, set } = watched(newest);
    expect(isSound()).toBe(true);
    pass(10 * day);
    expect(isSound()).toBe(true);
    set(-400 * day);
    expect(isSound()).toBe(true);
  }
});

test("a clock that is days ahead of all stored times is trusted after an hour", () => {
  const { isSound, pass } = watched(today, 400 * day);
  expect(isSound()).toBe(false);
  pass(hour - 1);
  expect(isSound()).toBe(false);
  pass(1);
  expect(isSound()).toBe(true);
});

test("a clock that is set days ahead at run time is trusted an hour later", () => {
  const { isSound, pass, set } = watched(today);
  expect(isSound()).toBe(true);
  pass(5 * hour);
  set(3 * day);
  expect(isSound()).toBe(false);
  pass(hour / 2);
  set(3 * day);
  expect(isSound()).toBe(false);
  pass(hour - 1);
  expect(isSound()).toBe(false);
  pass(1);
  expect(isSound()).toBe(true);
});
