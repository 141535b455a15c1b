// The command `npm run simulate:faults`: its exit code, and what it prints.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { focuses } from "./focuses.ts";

const main = fileURLToPath(new URL("main.ts", import.meta.url));

/** One process runs the seeds, because each takes a second to start; seeds.test.ts runs them in several. */
const runSeeds = (...args: string[]) => run("--workers", "1", ...args);

const run = (...args: string[]) =>
  new Promise<{ code: number; out: string }>((resolve) => {
    execFile(process.execPath, [main, ...args], (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out: out + err }),
    );
  });

test("a run in which every promise holds ends with 0 and a summary", async () => {
  const { code, out } = await runSeeds("--seeds", "4");
  expect([code, out]).toEqual([0, expect.stringContaining("4 of 4 seeds")]);
  expect(out).toMatch(/4 seeds, \d+ events, \d+ faults, 0 seeds failed/);
  expect(out).toMatch(/decisions never exercised: .*consent that was withdrawn counts after a wait/);
  expect(out).toMatch(/hash of all traces: [0-9a-f]{16}/);
});

test("a run with a seed that fails ends with 1, its trace, and the command that repeats it", async () => {
  const mutation = "newest period first";
  const { code, out } = await runSeeds("--seeds", "12", "--mutation", mutation);
  expect([code, out]).toEqual([1, expect.stringContaining("12 of 12 seeds")]);
  const seed = /npm run simulate:faults -- --seed (\d+) --mutation "newest period first"/.exec(out)?.[1] ?? "";
  expect(out).toContain("rules violation: ");
  const again = await run("--seed", seed, "--mutation", mutation);
  expect([again.code, again.out]).toEqual([1, expect.stringContaining(`seed ${seed}, trace `)]);
  expect(again.out).toContain("rules violation: ");
});

test("a run under each focus repeats a seed that fails under its own", async () => {
  const mutation = "newest period first";
  const { code, out } = await run("--seeds", "1", "--focus", "all", "--mutation", mutation);
  const all = Object.keys(focuses).length;
  expect([code, out]).toEqual([1, expect.stringContaining(`${all} of ${all} seeds`)]);
  const [, seed = "", focus = ""] = /-- --seed (\d+) --mutation "newest period first" --focus "(.+)"$/m.exec(out) ?? [];
  const again = await run("--seed", seed, "--mutation", mutation, "--focus", focus);
  expect([again.code, again.out]).toEqual([1, expect.stringContaining(`seed ${seed}, trace `)]);
});

test.each([
  [["--seeds", "0"], "--seeds must be a whole number from 1 on: 0"],
  [["--seed", "x"], "--seed must be a whole number from 1 on: x"],
  [["--seeds", "1", "--mutation", "none"], "there is no mutation none"],
  [["--seeds", "1", "--focus", "none"], "there is no focus none"],
])("the command refuses %j and says why", async (args, reason) => {
  const { code, out } = await run(...args);
  expect(code).not.toBe(0);
  expect(out).toContain(reason);
});
