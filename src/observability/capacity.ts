// Reads how much space is left, how large the database is, and when the last backup and the last purge ended, for the metrics.
// It runs on a scrape; sizes are measured at most once a minute.

import { statfs } from "node:fs/promises";
import { secondMs } from "../kernel/time.ts";
import { overdueMs, type Schedule } from "../maintenance/backups/schedule.ts";
import type { BackupRecord } from "../store/maintenance/backupRecord.ts";
import type { PurgeRun } from "../store/maintenance/purge.ts";
import type { Store } from "../store/store.ts";

export type Capacity = {
  /** By the name of the folder: data, backups. */
  disks: Map<string, { freeBytes: number; wholeBytes: number }>;
  databaseBytes: number;
  backup: BackupRecord;
  /** Null where the relay makes no backups by itself. */
  backupOverdueMs: number | null;
  purge: PurgeRun | null;
};

type CapacityOptions = {
  store: Pick<Store, "health" | "backups" | "purge">;
  dataFolder: string;
  backups: { folder: string | null; schedule: Schedule | null };
  now: () => number;
  elapsed: () => number;
};

const cacheMs = 60 * secondMs;
type Sizes = Pick<Capacity, "disks" | "databaseBytes">;

/** Returns a reader whose slow parts are cached. */
export function createCapacity(options: CapacityOptions): () => Promise<Capacity> {
  const { store, now, elapsed } = options;
  const { folder, schedule } = options.backups;
  let cached: { sizes: Promise<Sizes>; at: number } | null = null;

  async function readSizes(): Promise<Sizes> {
    const folders = { data: options.dataFolder, ...(folder !== null && { backups: folder }) };
    const disks: Capacity["disks"] = new Map();
    for (const [name, path] of Object.entries(folders)) {
      // The folder of backups is created by the first one.
      const found = await statfs(path).catch(() => null);
      if (!found) continue;
      const { bsize, bavail, blocks } = found;
      disks.set(name, { freeBytes: bsize * bavail, wholeBytes: bsize * blocks });
    }
    return { disks, databaseBytes: await store.health.readBytes() };
  }

  return async () => {
    if (!cached || elapsed() - cached.at >= cacheMs) cached = { sizes: readSizes(), at: elapsed() };
    try {
      const [sizes, backup, purge] = await Promise.all([cached.sizes, store.backups.read(), store.purge.readRun()]);
      const isScheduled = folder !== null && schedule !== null;
      const backupOverdueMs = isScheduled ? overdueMs(schedule, backup, now()) : null;
      return { ...sizes, backup, backupOverdueMs, purge };
    } catch (error) {
      // A failure is not cached: the next scrape reads again.
      cached = null;
      throw error;
    }
  };
}
