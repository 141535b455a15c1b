import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Late } from "../kernel/deadline.ts";
import { PostgresError } from "../store/engine/postgres/errors.ts";
import { openPassingFaults, passesByItself, type FaultLine } from "./transientFaults.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("however many there are, a line a second tells how many", async () => {
  const lines: FaultLine[] = [];
  const faults = openPassingFaults((line) => lines.push(line));
  for (let ms = 0; ms < 2500; ms += 5) {
    faults.met(new PostgresError("08001", "no server can be written to"));
    await vi.advanceTimersByTimeAsync(5);
  }
  faults.stop();
  expect(lines).toHaveLength(4);
  expect(lines[0]).toEqual({ fault: "no server can be written to", code: "08001", times: 1 });
  expect(lines.reduce((sum, { times }) => sum + times, 0)).toBe(500);
  expect(vi.getTimerCount()).toBe(0);
});

test("after a quiet second the next one is said at once", async () => {
  const lines: FaultLine[] = [];
  const faults = openPassingFaults((line) => lines.push(line));
  faults.met(new Late("the store did not answer in time"));
  await vi.advanceTimersByTimeAsync(5000);
  expect(vi.getTimerCount()).toBe(0);
  faults.met(new Late("the store did not answer in time"));
  expect(lines).toHaveLength(2);
});

test("what does not pass is none of them", () => {
  expect(passesByItself(new Late("too slow"))).toBe(true);
  expect(passesByItself(new PostgresError("57P01", "terminating connection"))).toBe(true);
  expect(passesByItself(new PostgresError("28P01", "password authentication failed"))).toBe(false);
  expect(passesByItself(new TypeError("undefined is not a function"))).toBe(false);
});
