import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { companionsOf } from "./settleTogether.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("whoever is alone waits for nobody", () => {
  expect(companionsOf(1).arrive()).toBeUndefined();
  expect(vi.getTimerCount()).toBe(0);
});

test("the last one takes all the others along, and no timer stays behind", async () => {
  const companions = companionsOf(3);
  const left: string[] = [];
  void companions.arrive()?.then(() => left.push("first"));
  void companions.arrive()?.then(() => left.push("second"));
  await vi.advanceTimersByTimeAsync(1);
  expect(left).toEqual([]);
  expect(companions.arrive()).toBeUndefined();
  await Promise.resolve();
  expect(left).toEqual(["first", "second"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("one that takes its time holds nobody up, and is not waited for again", async () => {
  const companions = companionsOf(3);
  const left: string[] = [];
  void companions.arrive()?.then(() => left.push("first"));
  await vi.advanceTimersByTimeAsync(2);
  expect(left).toEqual(["first"]);
  void companions.arrive()?.then(() => left.push("second"));
  await Promise.resolve();
  expect(left).toEqual(["first", "second"]);
  expect(companions.arrive()).toBeUndefined();
});
