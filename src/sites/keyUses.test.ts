import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { KeyUse } from "../store/keyUse.ts";
import { countKeyUses } from "./keyUses.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("uses that cannot be written are kept, and those that were written are not written again", async () => {
  const written: KeyUse[] = [];
  let failing: string[] = [];
  const failures: unknown[] = [];
  const addUses = async (uses: readonly KeyUse[]) => {
    if (uses.some(({ siteId }) => failing.includes(siteId))) throw new Error("gone");
    written.push(...uses);
  };
  const counts = countKeyUses({ keyUse: { addUses } as never }, (error) => failures.push(error));
  const sumOf = (siteId: string) =>
    written.filter((use) => use.siteId === siteId).reduce((sum, { uses }) => sum + uses, 0);

  failing = ["b"];
  for (let second = 0; second < 60; second++) {
    for (const siteId of ["a", "b", "c"]) counts.count(siteId, "key", second * 1000);
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(failures.length).toBeGreaterThan(10);
  expect(sumOf("a")).toBeGreaterThan(50);
  expect(sumOf("b")).toBe(0);
  failing = [];
  await counts.stop();
  expect(["a", "b", "c"].map(sumOf)).toEqual([60, 60, 60]);
  expect(written.find(({ siteId }) => siteId === "b")?.lastUsedAt).toBe(59_000);
});
