import { expect, test } from "vitest";
import { gatherWhenBusy } from "./adaptiveBatching.ts";

/** A process that works and waits as the test says. */
function told() {
  const spent = { idle: 0, active: 0 };
  const gather = gatherWhenBusy(() => ({ ...spent }));
  return {
    gather,
    pass: (activeMs: number, idleMs: number) => {
      spent.active += activeMs;
      spent.idle += idleMs;
    },
  };
}

test("nobody waits where there is time to spare", () => {
  const { gather, pass } = told();
  expect(gather(1)).toBe(0);
  for (let i = 0; i < 5; i += 1) {
    pass(50, 50);
    expect(gather(1)).toBe(0);
  }
});

test("on a busy process a few wait for more, until it is no longer busy", () => {
  const { gather, pass } = told();
  pass(90, 10);
  expect([1, 2, 31].map(gather)).toEqual([6, 6, 6]);
  pass(30, 70);
  expect(gather(1)).toBe(0);
});

test("many are company enough", () => {
  const { gather, pass } = told();
  pass(100, 0);
  expect([32, 33, 256].map(gather)).toEqual([0, 0, 0]);
});

test("a moment says nothing", () => {
  const { gather, pass } = told();
  pass(20, 80);
  expect(gather(1)).toBe(0);
  // Five milliseconds of work, looked at by themselves, would be a process that does nothing else.
  pass(5, 0);
  expect(gather(1)).toBe(0);
  pass(65, 30);
  expect(gather(1)).toBe(6);
});
