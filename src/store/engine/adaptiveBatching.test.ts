import { expect, test } from "vitest";
import { batchWhenBusy } from "./adaptiveBatching.ts";

/** Simulates a process that is active and idle as the test says. */
function simulated() {
  const spent = { idle: 0, active: 0 };
  const windowFor = batchWhenBusy(() => ({ ...spent }));
  return {
    windowFor,
    pass: (activeMs: number, idleMs: number) => {
      spent.active += activeMs;
      spent.idle += idleMs;
    },
  };
}

test("a process with idle time never holds a batch open", () => {
  const { windowFor, pass } = simulated();
  expect(windowFor(1)).toBe(0);
  for (let i = 0; i < 5; i += 1) {
    pass(50, 50);
    expect(windowFor(1)).toBe(0);
  }
});

test("a busy process holds small batches open, until it is no longer busy", () => {
  const { windowFor, pass } = simulated();
  pass(90, 10);
  expect([1, 2, 31].map(windowFor)).toEqual([6, 6, 6]);
  pass(30, 70);
  expect(windowFor(1)).toBe(0);
});

test("a batch that is large enough leaves at once", () => {
  const { windowFor, pass } = simulated();
  pass(100, 0);
  expect([32, 33, 256].map(windowFor)).toEqual([0, 0, 0]);
});

test("a moment is too short to measure the utilization", () => {
  const { windowFor, pass } = simulated();
  pass(20, 80);
  expect(windowFor(1)).toBe(0);
  // Five milliseconds of work, measured by themselves, would be full utilization.
  pass(5, 0);
  expect(windowFor(1)).toBe(0);
  pass(65, 30);
  expect(windowFor(1)).toBe(6);
});
