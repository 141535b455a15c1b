// Starts a backup when one is due, on one node at a time: the node holds a lease. The backup itself is the command `cleancast
// backup` in a process of its own, because reading the whole database would delay the events that this process accepts.

import { spawn } from "node:child_process";
import { setPriority } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { createLease } from "../../background/lease.ts";
import { poll } from "../../background/poll.ts";
import { dayMs, minuteMs, secondMs } from "../../kernel/time.ts";
import type { Store } from "../../store/store.ts";
import { overdueMs, type Schedule } from "./schedule.ts";

type ScheduledBackupOptions = {
  store: Pick<Store, "leases" | "backups">;
  schedule: Schedule;
  /** Starts the command, and resolves with the reason of a failure or null. Aborting the signal ends it. */
  runBackup: (signal: AbortSignal) => Promise<string | null>;
  /** This node. */
  owner: string;
  now: () => number;
  elapsed: () => number;
  onMade: () => void;
  /** A backup or its hook failed. Called once a day while that lasts. */
  onFailed: (reason: string) => void;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

const everyMs = minuteMs;
const leaseMs = minuteMs;
const renewMs = 15 * secondMs;
/** A backup that failed is tried again after this time. */
const retryMs = 15 * minuteMs;
/** A folder on a network may hang. */
const maxRunMs = dayMs;

export function startScheduledBackups(options: ScheduledBackupOptions): { stop(): Promise<void> } {
  const backups = createScheduledBackups(options);
  const loop = poll({
    everyMs,
    // A start has more urgent work.
    firstMs: 2 * secondMs,
    jitter: 0.2,
    work: backups.check,
    onError: (error) => options.onDefect(error, { backup: "schedule" }),
  });
  return {
    async stop() {
      await loop.stop();
      await backups.lease.release();
    },
  };
}

/** `check` makes a backup if one is due. */
export function createScheduledBackups(options: ScheduledBackupOptions) {
  const { store, schedule, runBackup, owner, now, elapsed, onMade, onFailed, onDefect } = options;
  let reportedAt = -Infinity;
  const lease = createLease({
    leases: store.leases,
    name: "backups",
    owner,
    lengthMs: leaseMs,
    now,
    elapsed,
    onError: (error) => onDefect(error, { backup: "lease" }),
  });

  async function isDue(): Promise<boolean> {
    const record = await store.backups.read();
    if (overdueMs(schedule, record, now()) === 0) return false;
    // A failure from the future was written by a clock that ran ahead.
    const sinceFailure = record.failure?.step === "backup" ? now() - record.failure.at : Infinity;
    return sinceFailure < 0 || sinceFailure >= retryMs;
  }

  /** Ends the backup when this node loses the lease, which another may have taken. */
  async function keepLease(ending: AbortController, ended: AbortSignal): Promise<void> {
    while (!ended.aborted && !ending.signal.aborted) {
      await wait(renewMs, undefined, { signal: ended }).catch(() => {});
      if (ended.aborted) return;
      // A renewal that fails is repeated: the lease lasts for some of them.
      const isHeld = await lease.hold().catch(() => true);
      if (!isHeld) ending.abort();
    }
  }

  async function check(stopping?: AbortSignal): Promise<void> {
    if (stopping?.aborted || !(await isDue()) || !(await lease.hold())) return;
    // Another node may have made it in the meantime.
    if (!(await isDue())) return;
    const ending = new AbortController();
    const ended = new AbortController();
    const signals = [ending.signal, AbortSignal.timeout(maxRunMs), ...(stopping ? [stopping] : [])];
    const startedAt = now();
    const kept = keepLease(ending, ended.signal);
    try {
      const reason = await runBackup(AbortSignal.any(signals));
      if (reason === null) {
        reportedAt = -Infinity;
        return onMade();
      }
      if (stopping?.aborted) return;
      if (elapsed() - reportedAt >= dayMs) {
        reportedAt = elapsed();
        onFailed(reason);
      }
      onDefect(new Error(`the scheduled backup failed: ${reason}`), { backup: "run" });
      // The command records its failures, unless it was killed.
      const { failure, last } = await store.backups.read();
      if ((failure?.at ?? 0) < startedAt && (last?.at ?? 0) < startedAt)
        await store.backups.save({ failure: { at: now(), step: "backup" } });
    } finally {
      ended.abort();
      await kept;
    }
  }

  return { check, lease };
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
