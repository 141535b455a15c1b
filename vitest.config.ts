import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import LongFirst from "./test/support/runner/order.ts";
import { filesOf, readTier } from "./test/support/runner/tiers.ts";

// All processes of a test run share one compile cache, also with the next run. It halves the time in which a worker loads its
// modules, and that of a relay's start.
process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "cleancast-test-compiled");

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
    // Node loads the sources itself, as it does outside of tests: vite would transform each one, and each worker evaluate it anew.
    experimental: { viteModuleRunner: false, nodeLoader: false },
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
