import { describe, expect, test } from "vitest";
import type { Pulse } from "../store/statistics/health.ts";
import { countConsecutiveFailures, openReadiness, watchClockJumps } from "./readiness.ts";

const base = Date.UTC(2026, 10, 15, 12);

function setUp() {
  const world = {
    ms: 0,
    clockMs: 0,
    asked: 0,
    polledAt: 0,
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
    workerPolledAt: () => world.polledAt,
    failedInARow: () => world.failures,
    stuckMs: () => world.stuckMs,
    now: () => base + world.clockMs,
    elapsed: () => world.ms,
  });
  return { world, readiness };
}

const allOk = { store: "ok", writes: "ok", worker: "ok", clock: "ok", schema: "ok" };

describe("readiness", () => {
  test("a node is ready while every check passes", async () => {
    expect(await setUp().readiness.read()).toEqual({ ok: true, checks: allOk });
  });

  test("readiness asks the store at most once a second, however many requests come", async () => {
    const { world, readiness } = setUp();
    await Promise.all(Array.from({ length: 100 }, () => readiness.read()));
    world.ms = 999;
    await readiness.read();
    expect(world.asked).toBe(1);
    world.ms = 1000;
    await readiness.read();
    expect(world.asked).toBe(2);
  });

  test("a store that fails or does not answer for a second makes the node not ready", async () => {
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

  test("three failed commits in a row make the node not ready, two do not", async () => {
    const { world, readiness } = setUp();
    world.failures = 2;
    expect((await readiness.read()).ok).toBe(true);
    world.ms = 1000;
    world.failures = 3;
    expect((await readiness.read()).checks.writes).toBe("failing");
  });

  test("commits that hang make the node not ready, even while reads work", async () => {
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

  test("a worker that has not polled for a minute makes the node not ready", async () => {
    const { world, readiness } = setUp();
    world.ms = 59_000;
    expect((await readiness.read()).ok).toBe(true);
    world.ms = 60_000;
    expect((await readiness.read()).checks.worker).toBe("failing");
  });

  test("a clock 30 seconds off the database's makes the node not ready", async () => {
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

  test("a clock before the database's creation makes the node not ready", async () => {
    const { world, readiness } = setUp();
    world.clockMs = -base;
    expect((await readiness.read()).checks.clock).toBe("failing");
  });

  test("an older or incompatible schema makes the node not ready, a newer compatible one does not", async () => {
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

  test("a shutdown makes the node not ready at once, even for requests that already wait", async () => {
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

test("setting the system clock is reported, the passing of time is not", async () => {
  const jumps: number[] = [];
  const started = performance.now();
  let set = 0;
  const elapsed = () => performance.now() - started;
  const stop = watchClockJumps({ now: () => base + elapsed() + set, elapsed }, (ms) => jumps.push(ms), 5);
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(jumps).toEqual([]);
  set = -3_600_000;
  await new Promise((resolve) => setTimeout(resolve, 30));
  set += 90_000;
  await new Promise((resolve) => setTimeout(resolve, 30));
  stop();
  expect(jumps).toEqual([-3_600_000, 90_000]);
});

test("failures in a row count until one success, or until five seconds have passed", () => {
  let ms = 100;
  const failures = countConsecutiveFailures(() => ms);
  expect(failures.inARow()).toBe(0);
  for (let n = 0; n < 3; n++) failures.add(true);
  expect(failures.inARow()).toBe(3);
  failures.add(false);
  expect(failures.inARow()).toBe(0);
  failures.add(true);
  ms += 4999;
  expect(failures.inARow()).toBe(1);
  ms += 1;
  expect(failures.inARow()).toBe(0);
});
