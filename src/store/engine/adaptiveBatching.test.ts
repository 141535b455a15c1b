import { expect, test } from "vitest";
import { batchWhenBusy, batchWhenFrequent } from "./adaptiveBatching.ts";

/** Simulates a process that is active and idle as the test says. */
function simulated() {
  const spent = { idle: 0, active: 0 };
  const batchWindow = batchWhenBusy(() => ({ ...spent }));
  return {
    windowFor: (size: number, idleMs = 0) => batchWindow(size, idleMs),
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
  expect([1, 2, 31].map((size) => windowFor(size))).toEqual([6, 6, 6]);
  pass(30, 70);
  expect(windowFor(1)).toBe(0);
});

test("a batch that is large enough leaves at once", () => {
  const { windowFor, pass } = simulated();
  pass(100, 0);
  expect([32, 33, 256].map((size) => windowFor(size))).toEqual([0, 0, 0]);
});

test("an event that comes alone to a process that is busy with something else does not wait", () => {
  const { windowFor, pass } = simulated();
  pass(100, 0);
  expect([windowFor(1, 5), windowFor(1, 20), windowFor(1, Infinity)]).toEqual([6, 0, 0]);
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

test("where batches are frequent, one that follows another closely stays open, unless it is large enough", () => {
  expect([batchWhenFrequent(1, Infinity), batchWhenFrequent(1, 16)]).toEqual([0, 0]);
  expect([batchWhenFrequent(1, 15), batchWhenFrequent(31, 0), batchWhenFrequent(32, 0)]).toEqual([8, 8, 0]);
});
