import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Late } from "../kernel/deadline.ts";
import { PostgresError } from "../store/engine/postgres/errors.ts";
import { isTransient, openTransientFaults, type FaultLine } from "./transientFaults.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("any number of transient faults makes one log line a second, with their number", async () => {
  const lines: FaultLine[] = [];
  const faults = openTransientFaults((line) => lines.push(line));
  for (let ms = 0; ms < 2500; ms += 5) {
    faults.add(new PostgresError("08001", "no server can be written to"));
    await vi.advanceTimersByTimeAsync(5);
  }
  faults.stop();
  expect(lines).toHaveLength(4);
  expect(lines[0]).toEqual({ fault: "no server can be written to", code: "08001", times: 1 });
  expect(lines.reduce((sum, { times }) => sum + times, 0)).toBe(500);
  expect(vi.getTimerCount()).toBe(0);
});

test("the first transient fault after a second without any is logged at once", async () => {
  const lines: FaultLine[] = [];
  const faults = openTransientFaults((line) => lines.push(line));
  faults.add(new Late("the store did not answer in time"));
  await vi.advanceTimersByTimeAsync(5000);
  expect(vi.getTimerCount()).toBe(0);
  faults.add(new Late("the store did not answer in time"));
  expect(lines).toHaveLength(2);
});

test("only timeouts and lost connections count as transient faults", () => {
  expect(isTransient(new Late("too slow"))).toBe(true);
  expect(isTransient(new PostgresError("57P01", "terminating connection"))).toBe(true);
  expect(isTransient(new PostgresError("28P01", "password authentication failed"))).toBe(false);
  expect(isTransient(new TypeError("undefined is not a function"))).toBe(false);
});
