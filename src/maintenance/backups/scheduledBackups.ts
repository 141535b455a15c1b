// Starts a backup when one is due, on one node at a time: the node holds a lease. The backup itself is the command `cleancast
// backup` in a process of its own, because reading the whole database would delay the events that this process accepts.

import { spawn } from "node:child_process";
import { setPriority } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { createLeaderJob, type JobNode, type LeaderJob, type Leadership } from "../../background/leaderJob.ts";
import { dayMs, minuteMs, secondMs } from "../../kernel/time.ts";
import type { Store } from "../../store/store.ts";
import { overdueMs, type Schedule } from "./schedule.ts";

type BackupJobOptions = JobNode & {
  store: Pick<Store, "leases" | "backups">;
  schedule: Schedule;
  /** Starts the command, and resolves with the reason of a failure or null. Aborting the signal ends it. */
  runBackup: (signal: AbortSignal) => Promise<string | null>;
  onMade: () => void;
  /** A backup or its hook failed. Called once a day while that lasts. */
  onFailed: (reason: string) => void;
};

const renewMs = 15 * secondMs;
/** A backup that failed is tried again after this time. */
const retryMs = 15 * minuteMs;
/** A folder on a network may hang. */
const maxRunMs = dayMs;

export function createBackupJob(options: BackupJobOptions): LeaderJob {
  const { store, schedule, runBackup, now, elapsed, onMade, onFailed, onDefect } = options;
  let reportedAt = -Infinity;

  async function isDue(): Promise<boolean> {
    const record = await store.backups.read();
    if (overdueMs(schedule, record, now()) === 0) return false;
    // A failure from the future was written by a clock that ran ahead.
    const sinceFailure = record.failure?.step === "backup" ? now() - record.failure.at : Infinity;
    return sinceFailure < 0 || sinceFailure >= retryMs;
  }

  /** Ends the backup when this node is stopped or loses the lease, which another may have taken. */
  async function keepLease({ mayContinue }: Leadership, ending: AbortController, ended: AbortSignal): Promise<void> {
    while (!ended.aborted && !ending.signal.aborted) {
      await wait(renewMs, undefined, { signal: ended }).catch(() => {});
      // A renewal that fails is repeated: the lease lasts for some of them.
      if (!ended.aborted && !(await mayContinue().catch(() => true))) ending.abort();
    }
  }

  /** Makes a backup if one is due. */
  async function check(leadership: Leadership): Promise<void> {
    const { signal, mayContinue } = leadership;
    if (!(await isDue()) || !(await mayContinue())) return;
    // Another node may have made it in the meantime.
    if (!(await isDue())) return;
    const ending = new AbortController();
    const ended = new AbortController();
    const startedAt = now();
    const kept = keepLease(leadership, ending, ended.signal);
    try {
      const reason = await runBackup(AbortSignal.any([ending.signal, signal, AbortSignal.timeout(maxRunMs)]));
      if (reason === null) {
        reportedAt = -Infinity;
        return onMade();
      }
      if (signal.aborted) return;
      if (elapsed() - reportedAt >= dayMs) {
        reportedAt = elapsed();
        onFailed(reason);
      }
      onDefect(new Error(`the scheduled backup failed: ${reason}`), { worker: "backups" });
      // The command records its failures, unless it was killed.
      const { failure, last } = await store.backups.read();
      if ((failure?.at ?? 0) < startedAt && (last?.at ?? 0) < startedAt)
        await store.backups.save({ failure: { at: now(), step: "backup" } });
    } finally {
      ended.abort();
      await kept;
    }
  }

  return createLeaderJob({
    everyMs: minuteMs,
    // A start has more urgent work.
    firstMs: 2 * secondMs,
    ...options,
    name: "backups",
    leases: store.leases,
    leaseMs: minuteMs,
    work: check,
  });
}

const maxPrinted = 16_000;

/** Runs `cleancast backup` with low priority. Resolves with the reason of a failure, or null. */
export function runBackupCommand(program: string, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program, "--json", "backup"], {
      stdio: ["ignore", "pipe", "pipe"],
      signal,
    });
    let printed = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (printed = (printed + text).slice(-maxPrinted)));
    try {
      if (child.pid !== undefined) setPriority(child.pid, 10);
    } catch {
      // It runs with the usual priority.
    }
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code, ended) =>
      resolve(code === 0 ? null : reasonIn(printed) || `it ended with ${ended ?? `exit code ${code}`}`),
    );
  });
}

/** The last line is an error, or the result with that of the hook. */
function reasonIn(printed: string): string {
  const last = printed.trim().split("\n").at(-1) ?? "";
  try {
    const { error, hook } = JSON.parse(last) as { error?: string; hook?: { reason?: string } };
    return error ?? hook?.reason ?? "";
  } catch {
    return last;
  }
}
