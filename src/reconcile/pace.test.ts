import { expect, test } from "vitest";
import { openPace } from "./pace.ts";

const pace = () => openPace({ stepMs: 6, maxRows: 250 });

test("steps grow while they are cheap, up to a limit, and shrink when one works for too long", () => {
  const of = pace();
  const sizes = [1, 1, 1, 1, 1, 7, 4].map((workedMs) => {
    of.afterStep(workedMs);
    return of.rows();
  });
  expect(sizes).toEqual([32, 64, 128, 250, 250, 125, 125]);
  for (let times = 0; times < 10; times++) of.afterStep(1000);
  expect(of.rows()).toBe(16);
});

test("pauses are a fraction of the steps on an idle thread", () => {
  const of = pace();
  expect(of.afterStep(4)).toBe(4);
  for (let times = 0; times < 5; times++) of.afterPause(0.1);
  expect(of.afterStep(4)).toBe(1);
});

test("pauses grow to a multiple of the steps while the thread is busy with other work, and shrink afterwards", () => {
  const of = pace();
  for (let times = 0; times < 9; times++) of.afterPause(0.9);
  expect(of.afterStep(5)).toBe(40);
  of.afterPause(0);
  expect(of.afterStep(5)).toBe(20);
});
