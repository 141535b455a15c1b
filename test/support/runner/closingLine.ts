// Prints the last line of a test run in a form that any machine can read. A hook or a file that fails counts as failed too:
// vitest reports the tests behind it as skipped, and a line with "0 failed" would hide it.

import { writeFileSync } from "node:fs";
import type { Reporter, TestModule, TestSuite } from "vitest/node";

export type Counts = { passed: number; failed: number; skipped: number };

export const closingLine = ({ passed, failed, skipped }: Counts) => `${passed} passed, ${failed} failed, ${skipped} skipped`;

/** scripts/runTests.ts, which runs several tiers, gives a file for the counts, and prints their sum. */
const countsFile = process.env["TEST_COUNTS"];

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 };
    const addErrors = (group: TestModule | TestSuite) => (count.failed += group.errors().length);
    for (const module of modules) {
      addErrors(module);
      for (const suite of module.children.allSuites()) addErrors(suite);
      for (const test of module.children.allTests()) count[test.result().state] += 1;
    }
    // Also by name, because the run of several tiers is long, and what failed in the first is far up.
    const failures = modules.flatMap((module) => {
      const names = [...module.children.allTests("failed")].map((test) => `${module.relativeModuleId} > ${test.fullName}`);
      return names.length > 0 || module.ok() ? names : [module.relativeModuleId];
    });
    const counts: Counts = { passed: count.passed, failed: count.failed, skipped: count.skipped + count.pending };
    if (countsFile) writeFileSync(countsFile, JSON.stringify({ ...counts, failures }));
    else console.log(closingLine(counts));
  }
}
