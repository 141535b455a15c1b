// Starts processes that run seeds. Each is a process of its own, because the simulation owns its clocks and its modules.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { SeedResult } from "./runSeed.ts";

export type SeedOptions = {
  /** Some may have a focus of their own, by its name. */
  seeds: readonly (number | [seed: number, focus: string])[];
  /** Adds the trace to the results. */
  trace?: boolean;
  /** The name of a bug to plant. Its focus applies to all seeds, unless another one is given. */
  mutation?: string | undefined;
  /** The name of a focus that applies to all seeds. */
  focus?: string | undefined;
  /** Ends with the first seed that fails. */
  bail?: boolean;
  /** Ends the processes. */
  signal?: AbortSignal;
};

/** A process ends after so many seeds, and another one goes on: a run of hours needs no more memory than a short one. */
const maxSeedsOfProcess = 2000;

/** Runs seeds in one process, in the order given. */
export async function runWorker({ signal, ...options }: SeedOptions, onResult: (result: SeedResult) => void): Promise<void> {
  const worker = fileURLToPath(new URL("worker.ts", import.meta.url));
  // Each process would strip the types of the product's modules and compile them again.
  const cache = fileURLToPath(new URL("../../node_modules/.cache/simulation", import.meta.url));
  // A simulated world is short-lived and large: with a small young generation, a sixth of the time goes to its collection.
  const flags = ["--disable-warning=ExperimentalWarning", "--min-semi-space-size=64", "--max-semi-space-size=64"];
  const child = spawn(process.execPath, [...flags, worker], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
  });
  const kill = () => child.kill();
  signal?.addEventListener("abort", kill);
  child.stdin.end(JSON.stringify(options));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  for await (const line of createInterface({ input: child.stdout })) onResult(JSON.parse(line) as SeedResult);
  const code = await ended;
  signal?.removeEventListener("abort", kill);
  if (code !== 0 && !signal?.aborted) throw new Error(`a process that runs seeds ended with code ${code}`);
}

/** Runs seeds in several processes at a time. */
export async function runWorkers(
  { seeds, ...options }: SeedOptions,
  workers: number,
  onResult: (result: SeedResult) => void,
): Promise<void> {
  const size = Math.min(maxSeedsOfProcess, Math.ceil(seeds.length / workers));
  const parts = Array.from({ length: Math.ceil(seeds.length / size) }, (_, i) => seeds.slice(i * size, (i + 1) * size));
  const runParts = async () => {
    for (let part = parts.shift(); part && !options.signal?.aborted; part = parts.shift())
      await runWorker({ ...options, seeds: part }, onResult);
  };
  await Promise.all(Array.from({ length: workers }, runParts));
}
