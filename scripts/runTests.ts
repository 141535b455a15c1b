// Runs tiers of tests one after the other, all of them even if one fails, and ends with the names
// of the tests that failed and one line: the sum of all.
//
//   node scripts/runTests.ts quick rest engines [--second-run] [options for vitest]
//
// With `--second-run` a few files that failed run once more, alone. What passes then counts as passed, and is named: it is a race of
// the test or of the relay, and a defect, but one that a busy machine may show at any time, and no reason to hold back other work.
//
// `quick` and `rest` are the two tiers of test/support/runner/tiers.ts. `engines` are the tests on Citus and Patroni, where these are
// installed.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closingLine, type Tally } from "../test/support/runner/closingLine.ts";

type Run = { env: Record<string, string>; args: readonly string[] };

const runs: Record<string, Run> = {
  quick: { env: { TEST_TIER: "quick" }, args: [] },
  rest: { env: { TEST_TIER: "rest" }, args: [] },
  engines: {
    env: { ENGINES: "short" },
    args: ["--maxWorkers=2", ...["citus", "citusMove", "clocks", "patroni"].map((name) => `test/engines/${name}.test.ts`)],
  },
};

/** With more files than these something is broken, and a second run would only take time. */
const maxFilesAgain = 8;

const given = process.argv.slice(2);
const wanted = given.filter((one) => one in runs);
const runsAgain = given.includes("--second-run");
const options = given.filter((one) => !(one in runs) && one !== "--second-run");
const folder = mkdtempSync(join(tmpdir(), "cleancast-tests-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const sum: Tally = { passed: 0, failed: 0, skipped: 0, failedFiles: [] };
const passedAgain: string[] = [];
for (const name of wanted) add(sum, await runTier(name, runs[name] as Run));
for (const failure of passedAgain) console.log(`passed in a second run only: ${failure}`);
for (const failure of sum.failedFiles.flatMap(({ failures }) => failures)) console.log(`failed: ${failure}`);
console.log(closingLine(sum));
if (sum.failed > 0 || sum.passed === 0) process.exitCode = 1;

function add(to: Tally, tally: Tally): void {
  for (const key of ["passed", "failed", "skipped"] as const) to[key] += tally[key];
  to.failedFiles.push(...tally.failedFiles);
}

async function runTier(name: string, run: Run): Promise<Tally> {
  const began = performance.now();
  const first = await runFiles(name, run);
  const files = first.failedFiles.length;
  const tally = runsAgain && files > 0 && files <= maxFilesAgain ? await runFailedAgain(name, run, first) : first;
  console.log(`${name}: ${closingLine(tally)}, in ${Math.round((performance.now() - began) / 1000)} s`);
  return tally;
}

/** The counts of the files that failed are replaced by those of their second run. An error outside of every file stays. */
async function runFailedAgain(name: string, { env }: Run, first: Tally): Promise<Tally> {
  for (const failure of first.failedFiles.flatMap(({ failures }) => failures)) console.log(`runs again: ${failure}`);
  const files = first.failedFiles.map(({ file }) => file);
  const second = await runFiles(`${name}-again`, { env, args: ["--maxWorkers=1", ...files] });
  const failsStill = new Set(second.failedFiles.map(({ file }) => file));
  passedAgain.push(...first.failedFiles.filter(({ file }) => !failsStill.has(file)).flatMap(({ failures }) => failures));
  const tally: Tally = { ...first, failedFiles: [] };
  for (const file of first.failedFiles) for (const key of ["passed", "failed", "skipped"] as const) tally[key] -= file[key];
  add(tally, second);
  return tally;
}

async function runFiles(name: string, { env, args }: Run): Promise<Tally> {
  const file = join(folder, `${name}.json`);
  const code = await vitest([...args, ...options], { ...env, TEST_COUNTS: file });
  const none: Tally = { passed: 0, failed: 0, skipped: 0, failedFiles: [] };
  const counts = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Tally) : none;
  // A run that broke off, or that vitest itself calls failed, must not look like one that passed.
  if (code !== 0) counts.failed = Math.max(1, counts.failed);
  return counts;
}

function vitest(args: readonly string[], env: Record<string, string>): Promise<number> {
  const child = spawn("vitest", ["run", ...args], { stdio: "inherit", env: { ...process.env, ...env } });
  return new Promise((resolve) => child.on("close", (code) => resolve(code ?? 1)));
}
