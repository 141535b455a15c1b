import { pino } from "pino";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createNodes } from "../../test/support/nodes.ts";
import { eventually } from "../../test/support/relay.ts";
import { newLine } from "../inbound/event.ts";
import { readConfig } from "../installation/config.ts";
import { hourMs } from "../kernel/time.ts";
import { createHttpServer } from "../server/server.ts";
import { createDirectory } from "../sites/directory.ts";
import { MachineDown } from "../store/engine/postgres/machines.ts";
import type { Pulse } from "../store/statistics/health.ts";
import { createObservability } from "./observability.ts";
import { countConsecutiveFailures, createReadiness, watchClockJumps } from "./readiness.ts";

const base = Date.UTC(2026, 10, 15, 12);

function setUp() {
  const state = {
    ms: 0,
    clockMs: 0,
    asked: 0,
    polledAt: 0,
    readAt: 0,
    failures: 0,
    stuckMs: 0,
    pulse: (): Promise<Pulse> => Promise.resolve({ schema: 9, oldest: 9, migratedAt: base, clock: null }),
  };
  const readiness = createReadiness({
    pulse: () => {
      state.asked += 1;
      return state.pulse();
    },
    schema: 9,
    workerPolledAt: () => state.polledAt,
    configurationReadAt: () => state.readAt,
    failedInARow: () => state.failures,
    stuckMs: () => state.stuckMs,
    now: () => base + state.clockMs,
    elapsed: () => state.ms,
  });
  return { state, readiness };
}

const allOk = {
  store: "ok",
  writes: "ok",
  configuration: "ok",
  worker: "ok",
  clock: "ok",
  schema: "ok",
};

describe("readiness", () => {
  test("a node is ready while every check passes", async () => {
    expect(await setUp().readiness.read()).toEqual({ ok: true, checks: allOk });
  });

  test("readiness asks the store at most once a second, however many requests come", async () => {
    const { state, readiness } = setUp();
    await Promise.all(Array.from({ length: 100 }, () => readiness.read()));
    state.ms = 999;
    await readiness.read();
    expect(state.asked).toBe(1);
    state.ms = 1000;
    await readiness.read();
    expect(state.asked).toBe(2);
  });

  test("a store that fails or does not answer for a second makes the node not ready", async () => {
    const { state, readiness } = setUp();
    state.pulse = () => Promise.reject(new Error("gone"));
    expect(await readiness.read()).toEqual({ ok: false, checks: { ...allOk, store: "failing" } });
    state.ms = 1000;
    state.pulse = () => new Promise(() => {});
    expect((await readiness.read()).checks.store).toBe("failing");
    state.ms = 2000;
    state.pulse = () => Promise.resolve({ schema: 9, oldest: 9, migratedAt: base, clock: null });
    expect((await readiness.read()).ok).toBe(true);
  });

  test("three failed commits in a row make the node not ready, two do not", async () => {
    const { state, readiness } = setUp();
    state.failures = 2;
    expect((await readiness.read()).ok).toBe(true);
    state.ms = 1000;
    state.failures = 3;
    expect((await readiness.read()).checks.writes).toBe("failing");
  });

  test("commits that hang make the node not ready, even while reads work", async () => {
    const { state, readiness } = setUp();
    state.stuckMs = 2900;
    expect((await readiness.read()).ok).toBe(true);
    state.ms = 1000;
    state.stuckMs = 3000;
    expect(await readiness.read()).toEqual({ ok: false, checks: { ...allOk, writes: "failing" } });
    state.ms = 2000;
    state.stuckMs = 5;
    expect((await readiness.read()).ok).toBe(true);
  });

  test("a worker that has not polled for a minute makes the node not ready", async () => {
    const { state, readiness } = setUp();
    state.ms = state.readAt = 59_000;
    expect((await readiness.read()).ok).toBe(true);
    state.ms = state.readAt = 60_000;
    expect(await readiness.read()).toEqual({ ok: false, checks: { ...allOk, worker: "failing" } });
  });

  test("a configuration that could not be read for five seconds makes the node not ready", async () => {
    const { state, readiness } = setUp();
    state.ms = 4900;
    expect((await readiness.read()).ok).toBe(true);
    state.ms = 6000;
    expect(await readiness.read()).toEqual({ ok: false, checks: { ...allOk, configuration: "failing" } });
    state.ms = state.readAt = 11_000;
    expect((await readiness.read()).ok).toBe(true);
  });

  test("a clock 30 seconds off the database's makes the node not ready", async () => {
    const { state, readiness } = setUp();
    state.pulse = () => Promise.resolve({ schema: 9, oldest: 9, migratedAt: base - 1e9, clock: base });
    state.clockMs = 29_000;
    expect((await readiness.read()).ok).toBe(true);
    expect(readiness.skewMs()).toBe(29_000);
    for (const clockMs of [31_000, -31_000]) {
      state.ms += 1000;
      state.clockMs = clockMs;
      expect((await readiness.read()).checks.clock).toBe("failing");
    }
  });

  test("a clock before the database's creation makes the node not ready", async () => {
    const { state, readiness } = setUp();
    state.clockMs = -base;
    expect((await readiness.read()).checks.clock).toBe("failing");
  });

  test("an older or incompatible schema makes the node not ready, a newer compatible one does not", async () => {
    const { state, readiness } = setUp();
    state.pulse = () => Promise.resolve({ schema: 10, oldest: 9, migratedAt: base, clock: null });
    expect((await readiness.read()).ok).toBe(true);
    state.ms = 1000;
    state.pulse = () => Promise.resolve({ schema: 8, oldest: 9, migratedAt: base, clock: null });
    expect((await readiness.read()).checks.schema).toBe("failing");
    state.ms = 2000;
    state.pulse = () => Promise.resolve({ schema: 11, oldest: 10, migratedAt: base, clock: null });
    expect((await readiness.read()).checks.schema).toBe("failing");
  });

  test("a shutdown makes the node not ready at once, even for requests that already wait", async () => {
    const { state, readiness } = setUp();
    await readiness.read();
    let answer: (pulse: Pulse) => void = () => {};
    state.ms = 1000;
    state.pulse = () => new Promise((resolve) => (answer = resolve));
    const asked = readiness.read();
    readiness.stop();
    answer({ schema: 9, oldest: 9, migratedAt: base, clock: null });
    const stopping = { ok: false, checks: { stopping: "failing" } };
    expect(await asked).toEqual(stopping);
    expect(await readiness.read()).toEqual(stopping);
  });
});

test("due times are looked at again however the clock was set: one that was set back too far is set ahead", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const config = readConfig({ CLEANCAST_DATA: "/tmp/none" });
  const log = { log: pino({ level: "silent" }), writeInbound() {}, writeSource() {}, writeAttempt() {} };
  let set = 0;
  const observability = createObservability(config, log, () => Date.now() + set);
  onTestFinished(observability.stop);
  const seen: number[] = [];
  observability.whenClockSet(() => seen.push(set));
  for (const ms of [3 * hourMs, -hourMs, -hourMs, 0]) {
    set = ms;
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(seen.splice(0)).toEqual([3 * hourMs, -hourMs, 0]);
  // By hours, and back by less before anybody looked.
  set = 3 * hourMs;
  await vi.advanceTimersByTimeAsync(100);
  set = hourMs;
  await vi.advanceTimersByTimeAsync(1000);
  expect(seen).toEqual([hourMs]);
});

test("events that fail because of one machine of a sharded database leave the node ready, others do not", async () => {
  const { store, close } = await createNodes("sqlite");
  onTestFinished(close);
  const config = readConfig({ CLEANCAST_DATA: "/tmp/none" });
  const log = { log: pino({ level: "silent" }), writeInbound() {}, writeSource() {}, writeAttempt() {} };
  const observability = createObservability(config, log, Date.now);
  onTestFinished(observability.stop);
  const app = createHttpServer(null, () => {});
  let down = 1;
  const health = {
    ...store.health,
    countDownMachines: () => down,
    isMachineError: (error: unknown) => error instanceof MachineDown,
  };
  observability.mountRoutes(app, {
    store: { ...store, health },
    directory: createDirectory(store),
    version: "1",
    traces: null,
    certificateExpiresAt: () => null,
    lanes: {} as never,
    breaker: {} as never,
  });
  onTestFinished(() => app.close());
  const writes = async () => {
    const answer = await app.inject("/readyz");
    return answer.json<{ checks: Record<string, string> }>().checks["writes"];
  };
  const fail = (error: unknown) => {
    for (let n = 0; n < 3; n++) observability.onAnswered({ ...newLine(), exit: "unavailable", error });
  };
  fail(new MachineDown());
  expect(await writes()).toBe("ok");
  down = 0;
  // An answer is cached for a second.
  await eventually("it is not ready", async () => {
    fail(new Error("the disk is full"));
    return (await writes()) === "failing";
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
