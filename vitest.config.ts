import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    environment: "node",
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "standins/**/*.test.ts"],
    globalSetup: "test/setup.ts",
    reporters: ["default", "./test/closing.ts"],
    fileParallelism: true,
    maxWorkers: 2,
    // No file may lean on another having run before it.
    sequence: { shuffle: { files: true } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
