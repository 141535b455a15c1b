// The promises of the relay hold in the first simulated installations with faults, and a seed repeats a run exactly.

import { availableParallelism } from "node:os";
import { beforeAll, expect, test } from "vitest";
import { firstSeeds } from "./firstSeeds.ts";
import { Report } from "./report.ts";
import type { SeedResult } from "./runSeed.ts";
import { runWorker, runWorkers } from "./workers.ts";

const report = new Report();
const hashes = new Map<number, string>();

beforeAll(async () => {
  await runWorkers({ seeds: firstSeeds }, availableParallelism(), (result) => {
    report.add(result);
    hashes.set(result.seed, result.hash);
  });
}, 1_800_000);

test("every promise holds in the first seeds", () => {
  expect(report.failed.map(({ seed, failure }) => `seed ${seed}: ${failure}`)).toEqual([]);
  expect(report.done).toBe(firstSeeds.length);
});

test("a seed gives the same trace again, after other seeds and in another process", async () => {
  const again: SeedResult[] = [];
  await runWorker({ seeds: [9, 3, 8, 4, 7, 9] }, (result) => again.push(result));
  expect(again.map(({ hash }) => hash)).toEqual(again.map(({ seed }) => hashes.get(seed)));
  expect(new Set(again.map(({ hash }) => hash)).size).toBe(5);
});
