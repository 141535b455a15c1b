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
