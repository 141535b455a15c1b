// Runs the tests for `npm test`. Files that failed while the host of a virtual machine withheld the CPU are run again, once and
// one after the other: such a failure is about the host. All others count.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FailedFile } from "../test/support/runner/stalls.ts";

/** More failures than these are not the host's. */
const maxAgain = 20;

const folder = mkdtempSync(join(tmpdir(), "cleancast-tests-"));
const report = join(folder, "failed.json");
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
process.exitCode = await runTests(process.argv.slice(2));

async function runTests(args: readonly string[]): Promise<number> {
  const code = await vitest(args, { TEST_FAILURES: report });
  if (code === 0 || !existsSync(report)) return code;
  const failed = JSON.parse(readFileSync(report, "utf8")) as FailedFile[];
  const counts = failed.filter(({ wasStalled }) => !wasStalled);
  if (failed.length === 0 || counts.length > 0 || failed.length > maxAgain) return code;
  const files = failed.map(({ file }) => file);
  console.log(
    `\nThe host withheld more than half of the CPU while these files failed. They are run again:\n  ${files.join("\n  ")}\n`,
  );
  return vitest(["--maxWorkers=1", ...files], {});
}

function vitest(args: readonly string[], env: Record<string, string>): Promise<number> {
  const child = spawn("vitest", ["run", ...args], { stdio: "inherit", env: { ...process.env, ...env } });
  return new Promise((resolve) => child.on("close", (code) => resolve(code ?? 1)));
}
