// Prints the last line of a test run in a form that any machine can read. A hook or a file that fails counts as failed too:
// vitest reports the tests behind it as skipped, and a line with "0 failed" would hide it.

import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

export type Counts = { passed: number; failed: number; skipped: number };
/** A file with tests, or hooks, that failed: its own counts, and each failure with the first line of its error. */
export type FailedFile = Counts & { file: string; failures: string[] };
export type Tally = Counts & { failedFiles: FailedFile[] };

export const closingLine = ({ passed, failed, skipped }: Counts) => `${passed} passed, ${failed} failed, ${skipped} skipped`;

/** scripts/runTests.ts, which runs several tiers, gives a file for the counts, and prints their sum. */
const countsFile = process.env["TEST_COUNTS"];

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const sum: Tally = { passed: 0, failed: unhandled.length, skipped: 0, failedFiles: [] };
    for (const module of modules) {
      const counts = countsOf(module);
      for (const key of ["passed", "failed", "skipped"] as const) sum[key] += counts[key];
      if (counts.failed > 0) sum.failedFiles.push({ file: module.relativeModuleId, ...counts, failures: failuresOf(module) });
    }
    if (countsFile) writeFileSync(countsFile, JSON.stringify(sum));
    else console.log(closingLine(sum));
  }
}

function countsOf(module: TestModule): Counts {
  const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
  for (const group of [module, ...module.children.allSuites()]) count.failed += group.errors().length;
  for (const test of module.children.allTests()) count[test.result().state] += 1;
  return { passed: count.passed, failed: count.failed, skipped: count.skipped + count.pending };
}

/** By name, because the run of several tiers is long, and what failed in the first is far up. */
function failuresOf(module: TestModule): string[] {
  const file = module.relativeModuleId;
  const tests = [...module.children.allTests("failed")];
  const groups = [module, ...module.children.allSuites()].flatMap((group) => group.errors());
  return [
    ...tests.map((test) => `${file} > ${test.fullName}: ${firstLine(test.result().errors?.[0])}`),
    ...groups.map((error) => `${file}: ${firstLine(error)}`),
  ];
}

const firstLine = (error: { message: string } | undefined) => error?.message.split("\n", 1)[0] ?? "";
