import { expect, test } from "vitest";
import { createPace } from "./pace.ts";

function setUp(isServer: boolean) {
  const world = { time: 0, commits: { count: 0, ms: 0 }, lateMs: 0, lagBytes: 0, slept: [] as number[] };
  const pace = createPace({
    isServer,
    elapsed: () => world.time,
    readCommits: () => ({ ...world.commits }),
    readLagBytes: async () => world.lagBytes,
    async sleep(ms) {
      world.slept.push(ms);
      world.time += ms + world.lateMs;
    },
  });
  /** Rests after a step, while `count` commits take `ms` each. Returns the pause. */
  async function rest(tookMs: number, count = 0, ms = 0): Promise<number> {
    world.commits.count += count;
    world.commits.ms += count * ms;
    const before = world.slept.length;
    await pace.rest(tookMs);
    return world.slept[before] ?? 0;
  }
  return { world, pace, rest };
}

test("where nothing is disturbed, pauses shrink to the length of a step", async () => {
  for (const isServer of [true, false]) {
    const { rest } = setUp(isServer);
    let pause = 0;
    for (let i = 0; i < 20; i += 1) pause = await rest(50, 60, 2);
    expect(pause).toBeCloseTo(50);
  }
});

test("pauses grow while commits take longer than before, and shrink again", async () => {
  const { rest } = setUp(true);
  for (let i = 0; i < 20; i += 1) await rest(50, 60, 2);
  const calm = await rest(50, 60, 2);
  for (let i = 0; i < 10; i += 1) await rest(50, 60, 4);
  const disturbed = await rest(50, 60, 4);
  expect(disturbed).toBeGreaterThan(calm * 10);
  for (let i = 0; i < 20; i += 1) await rest(50, 60, 2);
  expect(await rest(50, 60, 2)).toBeCloseTo(calm);
});

test("what commits tell is kept while there are too few for another look", async () => {
  const { rest } = setUp(false);
  for (let i = 0; i < 20; i += 1) await rest(4, 60, 2);
  for (let i = 0; i < 4; i += 1) await rest(4, 60, 6);
  const pauses: number[] = [];
  for (let i = 0; i < 6; i += 1) pauses.push(await rest(4, 1, 6));
  expect(pauses).toEqual(Array.from({ length: 6 }, () => 4 * 16));
});

test("a database that has become slower for other reasons is not spared for ever", async () => {
  const { rest } = setUp(true);
  for (let i = 0; i < 5; i += 1) await rest(50, 60, 2);
  expect(await rest(50, 60, 6)).toBeCloseTo(50);
  let pause = 0;
  for (let i = 0; i < 3000; i += 1) pause = await rest(50, 60, 6);
  expect(pause).toBeLessThan(100);
});

test("pauses grow while the thread is late, and shrink again", async () => {
  const { rest, world } = setUp(false);
  for (let i = 0; i < 2000; i += 1) await rest(4);
  world.lateMs = 20;
  for (let i = 0; i < 2000; i += 1) await rest(4);
  world.lateMs = 0;
  expect(await rest(4)).toBe(4 * 16);
  for (let i = 0; i < 5000; i += 1) await rest(4);
  expect(await rest(4)).toBe(4);
});

test("on a quiet relay, a few commits that take longer than others are no disturbance", async () => {
  const { rest } = setUp(false);
  const pauses = new Set<number>();
  for (let i = 0; i < 5000; i += 1) pauses.add(await rest(4, i % 200 === 0 ? 1 : 0, i % 400 === 0 ? 2 : 20));
  expect(pauses).toEqual(new Set([4]));
});

test("nothing goes on while a standby server is far behind", async () => {
  const { rest, world } = setUp(true);
  world.lagBytes = 2 ** 30;
  const resting = rest(100);
  while (world.slept.length < 5) await Promise.resolve();
  world.lagBytes = 0;
  await resting;
  expect(world.slept.slice(1, 5)).toEqual([1000, 1000, 1000, 1000]);
});
