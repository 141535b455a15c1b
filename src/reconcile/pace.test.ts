import { expect, test } from "vitest";
import { createPace, watchStep } from "./pace.ts";

const pace = () => createPace({ stepMs: 6, maxRows: 250 });

test("steps grow until they work as long as intended, up to a limit", () => {
  const of = pace();
  const runs = (msPerRow: number) => {
    for (let times = 0; times < 40; times++) of.afterStep(of.rows() * msPerRow);
    return of.rows();
  };
  expect(runs(0.05)).toBe(120);
  expect(runs(0.1)).toBe(60);
  expect(runs(0.001)).toBe(250);
  expect(runs(10)).toBe(16);
});

test("a single step that was measured wrong hardly changes the next ones", () => {
  const of = pace();
  for (let times = 0; times < 40; times++) of.afterStep(of.rows() * 0.05);
  of.afterStep(0);
  expect(of.rows()).toBeLessThan(180);
  for (let times = 0; times < 40; times++) of.afterStep(of.rows() * 0.05);
  expect(of.rows()).toBe(120);
});

test("pauses are a fraction of the steps on an idle thread", () => {
  const of = pace();
  expect(of.afterStep(40)).toBe(40);
  for (let times = 0; times < 5; times++) of.afterPause(0.1);
  expect(of.afterStep(40)).toBe(5);
  expect(of.afterStep(4)).toBe(2);
});

test("pauses grow to a multiple of the steps while the thread is busy with other work, and shrink afterwards", () => {
  const of = pace();
  for (let times = 0; times < 9; times++) of.afterPause(0.9);
  expect(of.afterStep(5)).toBe(40);
  of.afterPause(0);
  expect(of.afterStep(5)).toBe(20);
});

test("what others work while a step lets them in is not its own work", async () => {
  let worked = 100;
  const step = watchStep(() => worked);
  worked += 3;
  setImmediate(() => (worked += 50));
  await step.letOthersIn();
  worked += 2;
  expect(step.workedMs()).toBe(5);
});
