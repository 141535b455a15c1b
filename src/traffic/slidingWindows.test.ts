import { expect, test } from "vitest";
import { createWindows } from "./slidingWindows.ts";

test("a flood of keys makes room a few at a time: a report never waits until all are sorted", () => {
  let measured = 0;
  const windowsAt = createWindows<number>(60_000, (weight) => {
    measured += 1;
    return { weight, held: 1 };
  });
  const atOnce: number[] = [];
  for (let i = 0; i < 100_000; i += 1) {
    const key = (i * 7919).toString(36).padStart(5, "0").split("").toReversed().join("");
    measured = 0;
    windowsAt(1000).set(key, 1);
    atOnce.push(measured);
  }
  const sum = atOnce.reduce((all, one) => all + one, 0);
  expect(sum).toBeGreaterThan(100_000);
  expect(Math.max(...atOnce)).toBeLessThan(2000);
});

test("keys of one owner, however many, do not displace what repeats elsewhere", () => {
  const windowsAt = createWindows<number>(60_000, (weight) => ({ weight, held: 1 }));
  for (let i = 0; i < 1000; i += 1) windowsAt(1000).set(`${i}`.padStart(4, "0"), 2);
  for (let i = 0; i < 50_000; i += 1) windowsAt(1000).set(`one! ${i}`, 3);
  const isKept = (i: number) => windowsAt(1000).current.get(`${i}`.padStart(4, "0")) === 2;
  expect(Array.from({ length: 1000 }, (_, i) => i).filter((i) => !isKept(i))).toEqual([]);
});
