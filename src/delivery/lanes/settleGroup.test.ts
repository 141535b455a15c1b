import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createSettleGroup } from "./settleGroup.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a single outcome settles without waiting", () => {
  expect(createSettleGroup(1).join()).toBeUndefined();
  expect(vi.getTimerCount()).toBe(0);
});

test("the last outcome releases the others and leaves no timer", async () => {
  const group = createSettleGroup(3);
  const released: string[] = [];
  void group.join()?.then(() => released.push("first"));
  void group.join()?.then(() => released.push("second"));
  await vi.advanceTimersByTimeAsync(1);
  expect(released).toEqual([]);
  expect(group.join()).toBeUndefined();
  await Promise.resolve();
  expect(released).toEqual(["first", "second"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("a slow outcome delays the others only briefly, and only once", async () => {
  const group = createSettleGroup(3);
  const released: string[] = [];
  void group.join()?.then(() => released.push("first"));
  await vi.advanceTimersByTimeAsync(2);
  expect(released).toEqual(["first"]);
  void group.join()?.then(() => released.push("second"));
  await Promise.resolve();
  expect(released).toEqual(["first", "second"]);
  expect(group.join()).toBeUndefined();
});
