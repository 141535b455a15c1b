import { expect, test } from "vitest";
import { createLease, type LeaseStore } from "./lease.ts";

/** One row, as the store keeps it, and nodes with a clock that they share. */
function setUp() {
  const world = { now: 1000, set: 0, isDown: false, writes: 0 };
  let row: { owner: string; until: number } | null = null;
  const leases: LeaseStore<"job"> = {
    async acquire(_name, owner, now, until) {
      if (world.isDown) throw new Error("the store is down");
      world.writes += 1;
      if (row && row.owner !== owner && row.until > now) return false;
      row = { owner, until };
      return true;
    },
    async release(_name, owner) {
      if (world.isDown) throw new Error("the store is down");
      if (row?.owner === owner) row = null;
    },
  };
  const errors: unknown[] = [];
  const node = (owner: string) =>
    createLease({
      leases,
      name: "job",
      owner,
      lengthMs: 60_000,
      now: () => world.now + world.set,
      elapsed: () => world.now,
      onError: (error) => errors.push(error),
    });
  return { world, errors, node };
}

test("one node holds the lease at a time, and renews it without asking the store at every step", async () => {
  const { world, node } = setUp();
  const [a, b] = [node("a"), node("b")];
  expect([await a.hold(), await b.hold()]).toEqual([true, false]);
  world.writes = 0;
  for (let step = 0; step < 120; step++) {
    world.now += 1000;
    expect(await a.hold()).toBe(true);
  }
  expect(world.writes).toBe(6);
  expect(await b.hold()).toBe(false);
});

test("a lease whose holder died goes to another node when it ends", async () => {
  const { world, node } = setUp();
  await node("a").hold();
  const b = node("b");
  world.now += 59_999;
  expect(await b.hold()).toBe(false);
  world.now += 1;
  expect(await b.hold()).toBe(true);
});

test("a released lease goes to another node at once", async () => {
  const { node } = setUp();
  const [a, b] = [node("a"), node("b")];
  await a.hold();
  await b.release();
  expect(await b.hold()).toBe(false);
  await a.release();
  expect([await b.hold(), await a.hold()]).toEqual([true, false]);
});

test("a node that was suspended while it worked learns that it lost the lease before its next step", async () => {
  const { world, node } = setUp();
  const [a, b] = [node("a"), node("b")];
  await a.hold();
  world.now += 61_000;
  expect(await b.hold()).toBe(true);
  expect(await a.hold()).toBe(false);
  expect(await a.hold()).toBe(false);
});

test("a clock that was set back makes the holder ask the store again", async () => {
  const { world, node } = setUp();
  const a = node("a");
  await a.hold();
  world.set = -500;
  world.writes = 0;
  expect(await a.hold()).toBe(true);
  expect(world.writes).toBe(1);
});

test("a clock that is set ahead or back again and again does not prolong a lease", async () => {
  const { world, node } = setUp();
  const a = node("a");
  world.set = 3_600_000;
  await a.hold();
  // The clock is right again, and as late as it was wrong.
  world.now += 3_600_000;
  world.set = 0;
  world.writes = 0;
  expect(await a.hold()).toBe(true);
  expect(world.writes).toBe(1);
});

test("when the store is down, hold() rejects and release() only reports the error", async () => {
  const { world, errors, node } = setUp();
  const a = node("a");
  world.isDown = true;
  await expect(a.hold()).rejects.toThrow("the store is down");
  await a.release();
  expect(errors).toEqual([new Error("the store is down")]);
});
