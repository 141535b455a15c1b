import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import LongFirst from "./test/support/runner/order.ts";
import { filesOf, readTier } from "./test/support/runner/tiers.ts";

const tier = readTier(process.env["TEST_TIER"]);

export default defineConfig({
  test: {
    environment: "node",
    include: filesOf(tier, fileURLToPath(new URL(".", import.meta.url))),
    // A file of the quick tier need not have tests that belong to the rest.
    passWithNoTests: tier !== null,
    runner: "./test/support/runner/runner.ts",
    globalSetup: "test/support/runner/setup.ts",
    setupFiles: "test/support/runner/cleanUp.ts",
    // A worker for each file would cost as much as half of the files do.
    isolate: false,
    reporters: ["default", "./test/support/runner/closingLine.ts"],
    fileParallelism: true,
    // More than the two cores of the smallest machine: most tests wait for something most of the time.
    maxWorkers: 4,
    // No file may lean on another having run before it.
    sequence: { shuffle: { files: true }, sequencer: LongFirst },
    // Only a test that hangs exceeds these: a starved machine makes a test slow, not red.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 240_000 } },
  },
});
