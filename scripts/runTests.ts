// Runs tiers of tests one after the other, all of them even if one fails, and ends with the names
// of the tests that failed and one line: the sum of all.
//
//   node scripts/runTests.ts quick rest engines [options for vitest]
//
// `quick` and `rest` are the two tiers of test/support/runner/tiers.ts. `engines` are the tests on Citus and Patroni, where these are
// installed.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closingLine, type Counts } from "../test/support/runner/closingLine.ts";

type Run = { env: Record<string, string>; args: readonly string[] };

const runs: Record<string, Run> = {
  quick: { env: { TEST_TIER: "quick" }, args: [] },
  rest: { env: { TEST_TIER: "rest" }, args: [] },
  engines: {
    env: { ENGINES: "short" },
    args: ["--maxWorkers=2", ...["citus", "citusMove", "clocks", "patroni"].map((name) => `test/engines/${name}.test.ts`)],
  },
};

const wanted = process.argv.slice(2).filter((one) => one in runs);
const options = process.argv.slice(2).filter((one) => !(one in runs));
const folder = mkdtempSync(join(tmpdir(), "cleancast-tests-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

type Tally = Counts & { failures: string[] };

const sum: Tally = { passed: 0, failed: 0, skipped: 0, failures: [] };
for (const name of wanted) {
  const tally = await runTier(name, runs[name] as Run);
  for (const key of ["passed", "failed", "skipped"] as const) sum[key] += tally[key];
  sum.failures.push(...tally.failures);
}
for (const failure of sum.failures) console.log(`failed: ${failure}`);
console.log(closingLine(sum));
if (sum.failed > 0 || sum.passed === 0) process.exitCode = 1;

async function runTier(name: string, { env, args }: Run): Promise<Tally> {
  const file = join(folder, `${name}.json`);
  const began = performance.now();
  const code = await vitest([...args, ...options], { ...env, TEST_COUNTS: file });
  const none: Tally = { passed: 0, failed: 0, skipped: 0, failures: [] };
  const counts = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Tally) : none;
  // A run that broke off, or that vitest itself calls failed, must not look like one that passed.
  if (code !== 0) counts.failed = Math.max(1, counts.failed);
  console.log(`${name}: ${closingLine(counts)}, in ${Math.round((performance.now() - began) / 1000)} s`);
  return counts;
}

function vitest(args: readonly string[], env: Record<string, string>): Promise<number> {
  const child = spawn("vitest", ["run", ...args], { stdio: "inherit", env: { ...process.env, ...env } });
  return new Promise((resolve) => child.on("close", (code) => resolve(code ?? 1)));
}
