import { once } from "node:events";
import { getPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";

test.runIf(process.platform === "linux")(
  "a thread with a lower priority leaves the others of its process as they are",
  async () => {
    const before = getPriority();
    const program = `
    const { getPriority } = require("node:os");
    import(${JSON.stringify(new URL("./threadPriority.ts", import.meta.url))}).then(({ lowerThreadPriority }) => {
      lowerThreadPriority();
      require("node:worker_threads").parentPort.postMessage(getPriority());
    });`;
    const [lowered] = (await once(new Worker(program, { eval: true, execArgv: [] }), "message")) as [number];
    expect(lowered).toBeGreaterThan(before);
    expect(getPriority()).toBe(before);
  },
);
