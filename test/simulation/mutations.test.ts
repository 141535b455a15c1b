// The simulation finds bugs: each of these is planted in the product's code while it is loaded, and a seed must fail.

import { expect, test } from "vitest";
import { mutations } from "./mutations.ts";
import type { SeedResult } from "./runSeed.ts";
import { runWorker } from "./workers.ts";

const maxSeeds = 1000;

test.each(Object.entries(mutations))(
  "a seed finds a planted bug: %s",
  { timeout: 300_000 },
  async (name, { what, seed }) => {
    // A change of the product's timing changes what a seed does. Then another one has to find the bug.
    const seeds = [seed, ...Array.from({ length: maxSeeds }, (_, i) => i + 1)];
    const failed: SeedResult[] = [];
    await runWorker({ seeds, mutation: name, bail: true }, (result) => {
      if (result.failure !== null) failed.push(result);
    });
    expect(failed.length, what).toBe(1);
  },
);
