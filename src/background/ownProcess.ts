// Work of a leader job that reads so much that it would delay the events which this process accepts: a command of `cleancast` in a
// process of its own.

import { spawn } from "node:child_process";
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { setTimeout as wait } from "node:timers/promises";
import { packageFolder } from "../kernel/packageFolder.ts";
import { secondMs } from "../kernel/time.ts";
import type { Leadership } from "./leaderJob.ts";

const renewMs = 15 * secondMs;
const maxPrinted = 16_000;

/** Starts a command, and resolves with the reason of a failure or null. Aborting the signal ends it. */
export type RunCommand = (signal: AbortSignal) => Promise<string | null>;

/** Runs a command, at most for `maxMs`. Ends it when this node is stopped or loses the lease, which another may have taken. */
export async function runWhileLeading(
  { signal, mayContinue }: Leadership,
  run: RunCommand,
  maxMs: number,
): Promise<string | null> {
  const ending = new AbortController();
  const ended = new AbortController();
  async function keepLease(): Promise<void> {
    while (!ended.signal.aborted && !ending.signal.aborted) {
      await wait(renewMs, undefined, { signal: ended.signal }).catch(() => {});
      // A renewal that fails is repeated: the lease lasts for some of them.
      if (!ended.signal.aborted && !(await mayContinue().catch(() => true))) ending.abort();
    }
  }
  const kept = keepLease();
  try {
    return await run(AbortSignal.any([ending.signal, signal, AbortSignal.timeout(maxMs)]));
  } finally {
    ended.abort();
    await kept;
  }
}

/** Runs a command of `cleancast` with low priority. */
export const commandOf =
  (args: readonly string[], program = fileURLToPath(new URL("bin/cleancast.mjs", packageFolder))): RunCommand =>
  (signal) =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [program, "--json", ...args], { stdio: ["ignore", "pipe", "pipe"], signal });
      let printed = "";
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => (printed = (printed + text).slice(-maxPrinted)));
      try {
        if (child.pid !== undefined) setPriority(child.pid, 10);
      } catch {
        // It runs with the usual priority.
      }
      child.on("error", (error) => resolve(error.message));
      child.on("close", (code, end) =>
        resolve(code === 0 ? null : reasonIn(printed) || `it ended with ${end ?? `exit code ${code}`}`),
      );
    });

/** The last line is an error, or the result with that of the hook. */
function reasonIn(printed: string): string {
  const last = printed.trim().split("\n").at(-1) ?? "";
  try {
    const { error, hook } = JSON.parse(last) as { error?: { message?: string }; hook?: { reason?: string } };
    return error?.message ?? hook?.reason ?? "";
  } catch {
    return last;
  }
}
