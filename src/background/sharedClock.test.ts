import { expect, test } from "vitest";
import { maxSkewMs } from "../kernel/time.ts";
import { leasesBy } from "./lease.ts";
import { createSharedClock } from "./sharedClock.ts";

/** A node whose clock is `aheadMs` ahead of the database's, and the number of readings. */
function setUp(aheadMs: number) {
  const world = { time: 1_000_000, elapsed: 50, aheadMs, reads: 0, answerMs: 0 };
  const pass = (ms: number) => {
    world.time += ms;
    world.elapsed += ms;
  };
  const clock = createSharedClock({
    async readDatabase() {
      world.reads += 1;
      pass(world.answerMs);
      return world.time;
    },
    now: () => world.time + world.aheadMs,
    elapsed: () => world.elapsed,
  });
  return { world, pass, clock };
}

test.each([14_000, -14_000, 30_000, -30_000])(
  "a node whose clock differs by %i ms reads the database's time",
  async (aheadMs) => {
    const { clock, world, pass } = setUp(aheadMs);
    expect(await clock.read()).toEqual({ now: world.time, isOff: false });
    pass(9000);
    expect(await clock.read()).toEqual({ now: world.time, isOff: false });
    expect(world.reads).toBe(1);
    expect(clock.fromLocal(world.time + aheadMs + 30_000)).toBe(world.time + 30_000);
  },
);

test("a clock that differs by more than is permitted is reported as off, in both directions", async () => {
  for (const aheadMs of [maxSkewMs + 1, -maxSkewMs - 1]) expect(await setUp(aheadMs).clock.read()).toMatchObject({ isOff: true });
});

test("the database is asked again after ten seconds, and when the wall clock was set or the machine was suspended", async () => {
  const { clock, world, pass } = setUp(0);
  await clock.read();
  pass(10_000);
  await clock.read();
  expect(world.reads).toBe(2);
  world.aheadMs = 60_000;
  expect(await clock.read()).toEqual({ now: world.time, isOff: true });
  expect(world.reads).toBe(3);
  world.aheadMs = 0;
  // The monotonic clock stops while the machine is suspended.
  world.time += 3000;
  expect(await clock.read()).toEqual({ now: world.time, isOff: false });
  expect(world.reads).toBe(4);
});

test("an answer that took too long is not used", async () => {
  const { clock, world } = setUp(0);
  world.answerMs = 2001;
  await expect(clock.read()).rejects.toThrow("could not be read in time");
  world.answerMs = 100;
  expect(await clock.read()).toEqual({ now: world.time + 50, isOff: false });
});

test("a database without a clock of its own leaves the node its own time", async () => {
  const clock = createSharedClock({ readDatabase: async () => null, now: () => 5, elapsed: () => 1 });
  expect([await clock.read(), clock.fromLocal(9)]).toEqual([{ now: 5, isOff: false }, 9]);
});

test("leases get the database's times, and a node whose clock is off gets none", async () => {
  const { clock, world } = setUp(20_000);
  const asked: unknown[] = [];
  const leases = leasesBy(clock, {
    acquire: async (...given) => asked.push(given) > 0,
    release: async () => {},
  });
  const acquire = () => {
    const now = world.time + world.aheadMs;
    return leases.acquire("purge", "node", now, now + 5000);
  };
  expect([await acquire(), asked]).toEqual([true, [["purge", "node", world.time, world.time + 5000]]]);
  world.aheadMs = maxSkewMs + 1000;
  expect([await acquire(), asked.length]).toEqual([false, 1]);
});

test("the lag is what a reading cannot know, and what has passed while the machine was suspended", async () => {
  const { clock, world, pass } = setUp(5000);
  expect(clock.lagMs()).toBe(0);
  world.answerMs = 300;
  await clock.read();
  pass(1000);
  expect(clock.lagMs()).toBe(150);
  // The monotonic clock stops while the machine is suspended.
  world.time += 4000;
  expect(clock.lagMs()).toBe(4150);
  // A wall clock that was set back hides nothing.
  world.aheadMs = -9000;
  expect(clock.lagMs()).toBe(150);
});
