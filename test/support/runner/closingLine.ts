// Prints the last line of a test run in a form that any machine can read. A hook or a file that fails counts as failed too:
// vitest reports the tests behind it as skipped, and a line with "0 failed" would hide it.

import type { Reporter, TestModule, TestSuite } from "vitest/node";

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 };
    const addErrors = (group: TestModule | TestSuite) => (count.failed += group.errors().length);
    for (const module of modules) {
      addErrors(module);
      for (const suite of module.children.allSuites()) addErrors(suite);
      for (const test of module.children.allTests()) count[test.result().state] += 1;
    }
    console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped`);
  }
}
