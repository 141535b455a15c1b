// Starts a backup when one is due, on one node at a time: the node holds a lease. The backup itself is the command `cleancast
// backup` in a process of its own, because reading the whole database would delay the events that this process accepts.

import { createLeaderJob, type JobNode, type LeaderJob, type Leadership } from "../../background/leaderJob.ts";
import { runWhileLeading, type RunCommand } from "../../background/ownProcess.ts";
import { dayMs, minuteMs, secondMs } from "../../kernel/time.ts";
import type { Store } from "../../store/store.ts";
import { overdueMs, type Schedule } from "./schedule.ts";

type BackupJobOptions = JobNode & {
  store: Pick<Store, "leases" | "backups">;
  schedule: Schedule;
  runBackup: RunCommand;
  onMade: () => void;
  /** A backup or its hook failed. Called once a day while that lasts. */
  onFailed: (reason: string) => void;
};

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

  /** Makes a backup if one is due. */
  async function check(leadership: Leadership): Promise<void> {
    const { signal, mayContinue } = leadership;
    if (!(await isDue()) || !(await mayContinue())) return;
    // Another node may have made it in the meantime.
    if (!(await isDue())) return;
    const startedAt = now();
    const reason = await runWhileLeading(leadership, runBackup, maxRunMs);
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
