import { expect, test } from "vitest";
import { countWithin, createWindows, distinctWithin, sumsOf } from "./slidingWindows.ts";

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

test("after the clock was set back, what was counted before counts once more at most, and no longer than a window", () => {
  const now = Date.UTC(2026, 10, 19);
  const second = 1000;
  for (const back of [5, 30, 50, 70, 3600, 86_400]) {
    const count = countWithin(60 * second);
    // A visit every second for two minutes.
    const visit = (at: number) => count("site", true, at);
    for (let i = 0; i < 110; i += 1) visit(now + i * second);
    const set = now + (110 - back) * second;
    const counts = Array.from({ length: 180 }, (_, i) => visit(set + i * second));
    expect(Math.max(...counts), `${back} s`).toBeLessThanOrEqual(125);
    expect(
      counts.slice(130).every((one) => one >= 55 && one <= 65),
      `${back} s`,
    ).toBe(true);
  }

  const distinct = distinctWithin(60 * second);
  distinct("site", "before", now);
  const yesterday = now - 86_400 * second;
  expect(distinct("site", "after", yesterday)).toBe(2);
  for (const at of [70, 140]) distinct("site", "after", yesterday + at * second);
  expect(distinct("site", null, yesterday + 141 * second)).toBe(1);
});

test("what asks with a time that is a little older forgets nothing", () => {
  const sums = sumsOf(60_000, { seen: 0 });
  for (let at = 100_000; at < 110_000; at += 100) {
    sums("site", at).seen += 1;
    expect(sums("site", at - 5000).seen).toBe((at - 100_000) / 100 + 1);
  }
});
