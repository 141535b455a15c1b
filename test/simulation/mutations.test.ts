// The simulation finds bugs: each of these is planted in the product's code while it is loaded, and a seed must fail.

import { expect, test } from "vitest";
import { mutations } from "./mutations.ts";
import type { SeedResult } from "./runSeed.ts";
import { runWorker } from "./workers.ts";

/** Tried when the seed that a bug names does not find it. Far more than any of them takes: docs/explanation/fault-simulation.md. */
const maxSeeds = 60;
const others = Array.from({ length: maxSeeds }, (_, i) => i + 1);

/** The seed that found each of them. */
const found: [seed: number, focus: string, mutation: string][] = [];

test.each(Object.entries(mutations).filter(([, { isRare }]) => !isRare))(
  "a seed finds a planted bug: %s",
  { timeout: 1_800_000 },
  async (name, { what, focus, seed: first }) => {
    await runWorker(
      { seeds: [...(first === undefined ? [] : [first]), ...others], mutation: name, bail: true },
      ({ seed, failure }) => {
        if (failure !== null) found.push([seed, focus, name]);
      },
    );
    expect(found.at(-1)?.[2], what).toBe(name);
  },
);

test("the seeds that find planted bugs keep every promise without them", { timeout: 1_800_000 }, async () => {
  const results: SeedResult[] = [];
  const seeds = found.map(([seed, focus]): [number, string] => [seed, focus]);
  await runWorker({ seeds }, (result) => results.push(result));
  expect(results.map(({ failure }) => failure)).toEqual(found.map(() => null));
});
