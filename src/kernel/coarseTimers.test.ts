import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { CoarseTimeout } from "./coarseTimers.ts";

// A wheel of its own: in the one that all files of a worker share, deadlines of other tests may wait.
const own = "./coarseTimers.ts?own";
const { clearCoarseTimeout, setCoarseTimeout, tickMs } = (await import(own)) as typeof import("./coarseTimers.ts");

describe("with fake timers", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Starts a timeout at each of these times and returns the time at which each ended. */
  async function endsOf(timeouts: readonly { at: number; ms: number }[]): Promise<number[]> {
    const began = performance.now();
    const ends: number[] = timeouts.map(() => -1);
    timeouts.forEach(({ at, ms }, i) => {
      setTimeout(() => setCoarseTimeout(ms, () => (ends[i] = performance.now() - began)), at);
    });
    await vi.advanceTimersByTimeAsync(60_000);
    return ends;
  }

  test("a coarse timeout ends never early and at most a tick late", async () => {
    let seed = 7;
    const next = (limit: number) => (seed = (seed * 48_271) % 2_147_483_647) % limit;
    const timeouts = Array.from({ length: 2000 }, () => ({ at: next(20_000), ms: next(30_000) }));
    const ends = await endsOf(timeouts);
    timeouts.forEach(({ at, ms }, i) => {
      // A timer of 0 ms starts after 1 ms.
      const lateMs = (ends[i] as number) - Math.max(at, 1) - ms;
      expect(lateMs).toBeGreaterThanOrEqual(0);
      expect(lateMs).toBeLessThanOrEqual(tickMs);
    });
  });

  test("timeouts of any length end: none, less than a tick, a turn of the wheel, several turns", async () => {
    const lengths = [-5, 0, 0.4, tickMs - 1, tickMs, tickMs + 1, 10_239, 10_240, 10_241, 20_480, 55_000];
    const ends = await endsOf(lengths.map((ms) => ({ at: 100, ms })));
    ends.forEach((end, i) => expect(end).toBeLessThanOrEqual(100 + (lengths[i] as number) + tickMs + 5));
    expect(ends).toEqual(ends.toSorted((one, other) => one - other));
    expect(ends[0]).toBeGreaterThanOrEqual(100);
  });

  test("timeouts of the same length end in the order in which they began", async () => {
    const ended: number[] = [];
    for (let n = 0; n < 100; n += 1) setCoarseTimeout(500, () => ended.push(n));
    await vi.advanceTimersByTimeAsync(520);
    expect(ended).toEqual(Array.from({ length: 100 }, (_, n) => n));
  });

  test("a cancelled timeout does not end, and may be cancelled again", async () => {
    const ended: string[] = [];
    const first = setCoarseTimeout(100, () => ended.push("first"));
    const second = setCoarseTimeout(100, () => ended.push("second"));
    setCoarseTimeout(100, () => ended.push("third"));
    clearCoarseTimeout(second);
    clearCoarseTimeout(second);
    await vi.advanceTimersByTimeAsync(120);
    clearCoarseTimeout(first);
    expect(ended).toEqual(["first", "third"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("a timeout that ends may cancel its neighbours and begin new ones", async () => {
    const ended: string[] = [];
    const others: CoarseTimeout[] = [];
    setCoarseTimeout(100, () => {
      ended.push("first");
      for (const other of others) clearCoarseTimeout(other);
      setCoarseTimeout(0, () => ended.push("new"));
    });
    for (const name of ["second", "third"]) others.push(setCoarseTimeout(100, () => ended.push(name)));
    setCoarseTimeout(100, () => ended.push("fourth"));
    await vi.advanceTimersByTimeAsync(100 + 3 * tickMs);
    expect(ended).toEqual(["first", "fourth", "new"]);
  });

  test("a timeout that throws surfaces like that of any timer, and takes no other with it", async () => {
    const ended: string[] = [];
    const fail = (name: string) => () => {
      ended.push(name);
      throw new Error(name);
    };
    setCoarseTimeout(100, () => ended.push("first"));
    setCoarseTimeout(100, fail("second"));
    setCoarseTimeout(100, fail("third"));
    setCoarseTimeout(100, () => ended.push("fourth"));
    setCoarseTimeout(100 + tickMs, () => ended.push("fifth"));
    const surfaced: unknown[] = [];
    for (let ms = 0; ms < 300; ms += tickMs)
      await vi.advanceTimersByTimeAsync(tickMs).catch((error: Error) => surfaced.push(error.message));
    expect(surfaced).toEqual(["second", "third"]);
    expect(ended).toEqual(["first", "second", "third", "fourth", "fifth"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("the timer stops a tick after the last timeout has ended or was cancelled", async () => {
    const timeout = setCoarseTimeout(10_000, () => {});
    setCoarseTimeout(300, () => {});
    await vi.advanceTimersByTimeAsync(400);
    expect(vi.getTimerCount()).toBe(1);
    clearCoarseTimeout(timeout);
    await vi.advanceTimersByTimeAsync(tickMs);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("10,000 timeouts that are cancelled need one timer", async () => {
    const timeouts = Array.from({ length: 10_000 }, (_, n) => setCoarseTimeout(1000 + n, () => {}));
    expect(vi.getTimerCount()).toBe(1);
    for (const timeout of timeouts) clearCoarseTimeout(timeout);
    await vi.advanceTimersByTimeAsync(tickMs);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test("timeouts end after fake timers came and went while some were waiting", async () => {
  const ended: string[] = [];
  const wait = (name: string, ms: number) =>
    new Promise<void>((resolve) => {
      setCoarseTimeout(ms, () => {
        ended.push(name);
        resolve();
      });
    });
  const real = wait("real", 60);
  for (const name of ["fake", "fake again"]) {
    vi.useFakeTimers();
    const fake = wait(name, 5000);
    await vi.advanceTimersByTimeAsync(5000 + tickMs);
    await fake;
    if (name === "fake") vi.useRealTimers();
  }
  const lost = setCoarseTimeout(3_600_000, () => ended.push("never"));
  vi.useRealTimers();
  await wait("after", 60);
  await real;
  clearCoarseTimeout(lost);
  expect(ended.toSorted()).toEqual(["after", "fake", "fake again", "real"]);
});

test("in real time a timeout ends never early", async () => {
  const began = performance.now();
  const ends = await Promise.all(
    Array.from(
      { length: 30 },
      (_, n) =>
        new Promise<number>((resolve) => {
          setCoarseTimeout(n * 7, () => resolve(performance.now() - began - n * 7));
        }),
    ),
  );
  for (const lateMs of ends) expect(lateMs).toBeGreaterThanOrEqual(0);
});
