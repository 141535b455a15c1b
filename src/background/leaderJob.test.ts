import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLeaderJob, type Leadership } from "./leaderJob.ts";

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

/** Nodes that share one lease. */
function setUp() {
  const held = new Map<string, number>();
  const defects: unknown[] = [];
  const leases = {
    async acquire(_name: "job", owner: string, now: number, until: number) {
      const isTaken = [...held].some(([holder, end]) => holder !== owner && end > now);
      if (!isTaken) held.set(owner, until);
      return !isTaken;
    },
    release: async (_name: "job", owner: string) => void held.delete(owner),
  };
  const createJob = (owner: string, work: (leadership: Leadership) => Promise<unknown>, isDivided?: boolean) =>
    createLeaderJob({
      name: "job",
      leases,
      leaseMs: 60_000,
      everyMs: 1000,
      isDivided,
      owner,
      now: Date.now,
      elapsed: Date.now,
      onDefect: (error, about) => defects.push([error, about]),
      work,
    });
  return { held, defects, createJob };
}

test("of several nodes one works, and another goes on when that one stops or dies", async () => {
  const { createJob, held } = setUp();
  const worked: string[] = [];
  const start = (owner: string) =>
    createJob(owner, async ({ mayContinue }) => (await mayContinue()) && worked.push(owner)).start();
  const [a, b] = [start("a"), start("b")];
  await vi.advanceTimersByTimeAsync(1900);
  expect(new Set(worked).size).toBe(1);
  const [first, second] = worked[0] === "a" ? [a, b] : [b, a];
  await first.stop();
  worked.length = 0;
  await vi.advanceTimersByTimeAsync(1500);
  expect(worked.length).toBeGreaterThan(0);
  await second.stop();
  expect(held.size).toBe(0);
});

test("where nodes divide the work, each works, without a lease", async () => {
  const { createJob, held } = setUp();
  const worked: string[] = [];
  for (const owner of ["a", "b"])
    await createJob(owner, async ({ mayContinue }) => (await mayContinue()) && worked.push(owner), true).run();
  expect([worked, held.size]).toEqual([["a", "b"], 0]);
});

test("an item that fails is reported and stops no other; a stop or another leader ends the work before the next item", async () => {
  const { createJob, held, defects } = setUp();
  const stopping = new AbortController();
  const worked: number[] = [];
  const onItem = new Map<number, () => void>();
  const job = createJob("a", ({ each }) =>
    each(
      [1, 2, 3, 4],
      (item) => ({ item }),
      async (item) => {
        worked.push(item);
        onItem.get(item)?.();
        if (item === 2) throw new Error("damaged");
      },
    ),
  );
  await job.run();
  expect(worked).toEqual([1, 2, 3, 4]);
  expect(defects).toEqual([[new Error("damaged"), { worker: "job", item: 2 }]]);
  onItem.set(3, () => stopping.abort());
  await job.run(stopping.signal);
  expect(worked.slice(4)).toEqual([1, 2, 3]);
  onItem.set(1, () => {
    vi.setSystemTime(61_000);
    held.set("b", 120_000);
  });
  await job.run();
  expect(worked.slice(7)).toEqual([1]);
});

test("a run that fails is reported with the name of the job, and the next one starts", async () => {
  const { createJob, defects } = setUp();
  const loop = createJob("a", () => Promise.reject(new Error("the store is down"))).start();
  await vi.advanceTimersByTimeAsync(2500);
  await loop.stop();
  expect(defects).toEqual([1, 2].map(() => [new Error("the store is down"), { worker: "job" }]));
});
