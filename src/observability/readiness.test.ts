import { describe, expect, test } from "vitest";
import type { Pulse } from "../store/statistics/health.ts";
import { openReadiness, watchClock } from "./readiness.ts";

const base = Date.UTC(2026, 10, 15, 12);

function setUp() {
  const world = {
    ms: 0,
    clockMs: 0,
    asked: 0,
    lookedAt: 0,
    failures: 0,
    stuckMs: 0,
    pulse: (): Promise<Pulse> => Promise.resolve({ schema: 9, oldest: 9, migratedAt: base, clock: null }),
  };
  const readiness = openReadiness({
    pulse: () => {
      world.asked += 1;
      return world.pulse();
    },
    schema: 9,
    workerLookedAt: () => world.lookedAt,
    failedInARow: () => world.failures,
    stuckMs: () => world.stuckMs,
    now: () => base + world.clockMs,
    elapsed: () => world.ms,
  });
  return { world, readiness };
}

const allOk = { store: "ok", writes: "ok", worker: "ok", clock: "ok", schema: "ok" };

describe("readiness", () => {
  test("holds while everything does", async () => {
    expect(await setUp().readiness.read()).toEqual({ ok: true, checks: allOk });
  });

  test("asks the store once a second, however many ask", async () => {
    const { world, readiness } = setUp();
    await Promise.all(Array.from({ length: 100 }, () => readiness.read()));
    world.ms = 999;
    await readiness.read();
    expect(world.asked).toBe(1);
    world.ms = 1000;
    await readiness.read();
    expect(world.asked).toBe(2);
  });

  test("fails with a store that fails, and with one that is silent for a second", async () => {
    const { world, readiness } = setUp();
    world.pulse = () => Promise.reject(new Error("gone"));
    expect(await readiness.read()).toEqual({ ok: false, checks: { ...allOk, store: "failing" } });
    world.ms = 1000;
    world.pulse = () => new Promise(() => {});
    expect((await readiness.read()).checks.store).toBe("failing");
    world.ms = 2000;
    world.pulse = () => Promise.resolve({ schema: 9, oldest: 9, migratedAt: base, clock: null });
    expect((await readiness.read()).ok).toBe(true);
  });

  test("fails when three commits in a row did, and not for one", async () => {
    const { world, readiness } = setUp();
    world.failures = 2;
    expect((await readiness.read()).ok).toBe(true);
    world.ms = 1000;
    world.failures = 3;
    expect((await readiness.read()).checks.writes).toBe("failing");
  });

  test("fails while commits hang, although reads are answered", async () => {
    const { world, readiness } = setUp();
    world.stuckMs = 2900;
    expect((await readiness.read()).ok).toBe(true);
    world.ms = 1000;
    world.stuckMs = 3000;
    expect(await readiness.read()).toEqual({ ok: false, checks: { ...allOk, writes: "failing" } });
    world.ms = 2000;
    world.stuckMs = 5;
    expect((await readiness.read()).ok).toBe(true);
  });

  test("fails when the worker has not looked for a minute", async () => {
    const { world, readiness } = setUp();
    world.ms = 59_000;
    expect((await readiness.read()).ok).toBe(true);
    world.ms = 60_000;
    expect((await readiness.read()).checks.worker).toBe("failing");
  });

  test("fails when the clock is half a minute away from the database's", async () => {
    const { world, readiness } = setUp();
    world.pulse = () => Promise.resolve({ schema: 9, oldest: 9, migratedAt: base - 1e9, clock: base });
    world.clockMs = 29_000;
    expect((await readiness.read()).ok).toBe(true);
    expect(readiness.skewMs()).toBe(29_000);
    for (const clockMs of [31_000, -31_000]) {
      world.ms += 1000;
      world.clockMs = clockMs;
      expect((await readiness.read()).checks.clock).toBe("failing");
    }
  });

  test("fails when the clock is before the database was made", async () => {
    const { world, readiness } = setUp();
    world.clockMs = -base;
    expect((await readiness.read()).checks.clock).toBe("failing");
  });

  test("fails on a schema that is older than this version's, or that took away what it needs, not on a newer one that did not", async () => {
    const { world, readiness } = setUp();
    world.pulse = () => Promise.resolve({ schema: 10, oldest: 9, migratedAt: base, clock: null });
    expect((await readiness.read()).ok).toBe(true);
    world.ms = 1000;
    world.pulse = () => Promise.resolve({ schema: 8, oldest: 9, migratedAt: base, clock: null });
    expect((await readiness.read()).checks.schema).toBe("failing");
    world.ms = 2000;
    world.pulse = () => Promise.resolve({ schema: 11, oldest: 10, migratedAt: base, clock: null });
    expect((await readiness.read()).checks.schema).toBe("failing");
  });

  test("ends at once with a stop, also for those who asked before", async () => {
    const { world, readiness } = setUp();
    await readiness.read();
    let answer: (pulse: Pulse) => void = () => {};
    world.ms = 1000;
    world.pulse = () => new Promise((resolve) => (answer = resolve));
    const asked = readiness.read();
    readiness.stop();
    answer({ schema: 9, oldest: 9, migratedAt: base, clock: null });
    const stopping = { ok: false, checks: { stopping: "failing" } };
    expect(await asked).toEqual(stopping);
    expect(await readiness.read()).toEqual(stopping);
  });
});

test("a clock that is set is told from time that passes", async () => {
  const jumps: number[] = [];
  const started = performance.now();
  let set = 0;
  const elapsed = () => performance.now() - started;
  const stop = watchClock({ now: () => base + elapsed() + set, elapsed }, (ms) => jumps.push(ms), 5);
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(jumps).toEqual([]);
  set = -3_600_000;
  await new Promise((resolve) => setTimeout(resolve, 30));
  set += 90_000;
  await new Promise((resolve) => setTimeout(resolve, 30));
  stop();
  expect(jumps).toEqual([-3_600_000, 90_000]);
});
