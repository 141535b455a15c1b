import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createNodes } from "../../test/support/nodes.ts";
import type { KeyUse } from "../store/sites/keyUse.ts";
import type { Store } from "../store/store.ts";
import { countKeyUses } from "./keyUses.ts";

// The turns of the event loop stay real, for the database.
beforeEach(() => void vi.useFakeTimers({ toNotFake: ["setImmediate"] }));
afterEach(() => void vi.useRealTimers());

test("uses that cannot be written are kept, and written ones are not written again", async () => {
  const written: KeyUse[] = [];
  let failing: string[] = [];
  const failures: unknown[] = [];
  const addUses = async (uses: readonly KeyUse[]) => {
    if (uses.some(({ siteId }) => failing.includes(siteId))) throw new Error("gone");
    written.push(...uses);
  };
  const counts = countKeyUses({ keyUse: { addUses } as never }, "here", (error) => failures.push(error));
  const sumOf = (siteId: string) => written.filter((use) => use.siteId === siteId).reduce((sum, { uses }) => sum + uses, 0);

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
  expect(written.findLast(({ siteId }) => siteId === "b")?.lastUsedAt).toBe(59_000);
});

test("uses whose write may have been committed are written again unchanged, and counted once", async () => {
  const { store, close } = await createNodes("sqlite");
  const hour = Math.floor(Date.now() / 3_600_000);
  let times = 0;
  let last: Promise<void> = Promise.resolve();
  async function write(...given: Parameters<Store["keyUse"]["addUses"]>): Promise<void> {
    await store.keyUse.addUses(...given);
    times += 1;
    if (times % 2 === 1) throw new Error("the answer was lost");
  }
  /** Writes, and reports every other write as failed. */
  const lossy: Store["keyUse"]["addUses"] = (...given) => (last = write(...given));
  const counts = countKeyUses({ keyUse: { ...store.keyUse, addUses: lossy } }, "here", () => {});
  for (let second = 0; second < 20; second++) {
    counts.count("site", second % 3 ? "often" : "seldom", Date.now());
    await vi.advanceTimersByTimeAsync(1000);
    // The disk does not follow the fake clock.
    await last.catch(() => {});
  }
  await counts.stop();
  await counts.stop();
  expect(times).toBeGreaterThan(10);
  const uses = await store.keyUse.sumUses("site", hour);
  expect([uses.get("often")?.uses24h, uses.get("seldom")?.uses24h]).toEqual([13, 7]);
  await close();
});
