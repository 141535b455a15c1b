// The promises of the relay hold in hundreds of simulated installations with faults. firstSeeds.test.ts has the first of them.

import { availableParallelism } from "node:os";
import { beforeAll, expect, test } from "vitest";
import { rare } from "./decisions.ts";
import { firstSeeds } from "./firstSeeds.ts";
import { focuses } from "./focuses.ts";
import { pinned, pinnedWithFocus } from "./pinned.ts";
import { Report } from "./report.ts";
import { runWorkers } from "./workers.ts";

/** `npm run simulate:faults` runs more. */
const lastSeed = 1000;
/** Under a focus more happens than in other seeds: all of these take about a quarter of an hour of processor time. */
const seedsOfFocus = 200;

const numbers = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
const seeds = [...new Set([...numbers(firstSeeds.length + 1, lastSeed), ...pinned])];
const focused = [
  ...Object.keys(focuses).flatMap((name) => numbers(1, seedsOfFocus).map((seed): [number, string] => [seed, name])),
  ...pinnedWithFocus,
];

const report = new Report();

beforeAll(async () => {
  await runWorkers({ seeds: [...seeds, ...focused] }, availableParallelism(), (result) => report.add(result));
}, 7_200_000);

test("every promise holds in all seeds, and in those that once found a bug", () => {
  expect(report.failed.map(({ seed, focus, failure }) => `seed ${seed}, focus ${focus}: ${failure}`)).toEqual([]);
  expect(report.done).toBe(seeds.length + focused.length);
});

test("every fault, every outcome and every decision occurs in the seeds", () => {
  // Seeds in which nothing happens would prove nothing.
  expect(report.missing).toEqual([]);
  const outcomes = ["dispatched", "deduped", "filtered", "unavailable", "none", "lost", "pushes", "batches"];
  expect(outcomes.filter((name) => report.sum(name) < 10)).toEqual([]);
  expect(report.undecided.filter((what) => !rare.includes(what))).toEqual([]);
});
