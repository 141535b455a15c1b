import { expect, test } from "vitest";
import { createSharedClock } from "../background/sharedClock.ts";
import { createRowOwnership, ownedMs } from "./ownership.ts";

test("a node does not believe in a lease for longer than it is stored, although it was suspended since it read the time", async () => {
  const world = { time: 1_000_000, elapsed: 0 };
  const clocks = { now: () => world.time, elapsed: () => world.elapsed };
  const clock = createSharedClock({ readDatabase: async () => world.time, ...clocks });
  await clock.read();
  // Only the wall clock goes on meanwhile.
  world.time += 5000;
  const ownership = createRowOwnership({ owner: "a", leaseMs: 8000, ...clocks, clock })(world.time);
  if (ownership.by !== "row") expect.unreachable();
  const storedMs = ownership.dueAt - world.time;
  expect(storedMs).toBe(3000);
  expect(ownedMs(ownership, world.time, world.elapsed)).toBeLessThanOrEqual(storedMs);
});

test("a clock that is set back while an event is accepted does not prolong the lease of its deliveries", async () => {
  const world = { time: 1_000_000_000, elapsed: 0 };
  const clocks = { now: () => world.time, elapsed: () => world.elapsed };
  const database = { time: world.time };
  const clock = createSharedClock({ readDatabase: async () => database.time, ...clocks });
  await clock.read();
  const receivedAt = world.time;
  // An operator sets it back by two hours.
  world.time -= 7_200_000;
  world.elapsed += 100;
  database.time += 100;
  const ownership = createRowOwnership({ owner: "a", leaseMs: 8000, ...clocks, clock })(receivedAt);
  if (ownership.by !== "row") expect.unreachable();
  // Other nodes wait for the lease, and no longer.
  expect(ownership.dueAt - database.time).toBe(8000);
  expect(ownership.at).toBe(database.time);
  expect(ownedMs(ownership, world.time, world.elapsed)).toBe(8000);
});
