import { expect, test } from "vitest";
import { idAt } from "../kernel/ids.ts";
import type { Site } from "../sites/directory.ts";
import { createBacklog, type BacklogOptions } from "./backlog.ts";

const now = Date.UTC(2026, 10, 15, 12);

test("the backlog is summed by platform and read again after 15 seconds", async () => {
  const connections = [
    { siteId: "s", id: "a", platform: "meta" },
    { siteId: "s", id: "b", platform: "meta" },
    { siteId: "s", id: "c", platform: "x" },
    { siteId: "s", id: "d", platform: "ga4" },
  ];
  const waiting: Record<string, { count: number; dueAt: number; oldestEvent: string }> = {
    a: { count: 2, dueAt: now - 30_000, oldestEvent: idAt(now - 90_000) },
    b: { count: 3, dueAt: now - 60_000, oldestEvent: idAt(now - 70_000) },
    c: { count: 1, dueAt: now + 60_000, oldestEvent: idAt(now - 5_000) },
  };
  let reads = 0;
  let ms = 0;
  let fails = false;
  const backlog = createBacklog({
    store: {
      deliveries: {
        findDue: async () => {
          reads += 1;
          if (fails) throw new Error("gone");
          // Deliveries of a connection that was removed may still wait.
          return [...Object.keys(waiting), "removed"].map((connectionId) => ({ siteId: "s", connectionId }));
        },
      },
      health: {
        measureBacklog: async (_site: string, id: string) => waiting[id],
        oldestPushes: async () => [now - 10_000, now - 40_000],
      } as unknown as BacklogOptions["store"]["health"],
    },
    directory: { sites: () => [{ connections } as unknown as Site] },
    now: () => now,
    elapsed: () => ms,
  });
  const found = await backlog();
  expect(Object.fromEntries(found.waiting)).toEqual({
    meta: { count: 5, overdueSeconds: 60, ageSeconds: 90 },
    x: { count: 1, overdueSeconds: 0, ageSeconds: 5 },
    ga4: { count: 0, overdueSeconds: 0, ageSeconds: 0 },
  });
  expect(found.pushLagSeconds).toBe(40);
  ms = 14_999;
  await backlog();
  expect(reads).toBe(1);

  // A failure is not cached.
  ms = 15_000;
  fails = true;
  await expect(backlog()).rejects.toThrow("gone");
  fails = false;
  expect((await backlog()).waiting.get("meta")?.count).toBe(5);
});
