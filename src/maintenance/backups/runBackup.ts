// Makes one backup into the folder: writes the file, deletes old ones, and runs the hook. The result is recorded in the
// database, for metrics, the doctor and the schedule.

import { accessSync, constants } from "node:fs";
import { Denied } from "../../kernel/refusal.ts";
import type { BackupRecord } from "../../store/maintenance/backupRecord.ts";
import type { Snapshot } from "../../store/maintenance/snapshot.ts";
import { makeFolder } from "../../store/maintenance/syncToDisk.ts";
import { takeBackup, type TakenBackup } from "../backup.ts";
import type { BackupSecret } from "./encryption.ts";
import { deleteOldBackups, deleteParts, guardSpace, nextFile, type Retention } from "./folder.ts";
import { runHook, type Hook, type HookResult } from "./hook.ts";

type FolderBackupOptions = {
  snapshot: Snapshot;
  folder: string;
  /** The data folder, whose lock the caller holds. */
  place: string;
  retention: Retention;
  secret: BackupSecret | null;
  hook: Hook | null;
  version: string;
  now: () => number;
  record: { save(change: Partial<BackupRecord>): Promise<void> };
  onProgress?: (rows: number, total: number, table: string) => void;
};

export type FolderBackup = TakenBackup & { deleted: string[]; hook: HookResult | null };

function prepareFolder(folder: string): void {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Denied("unavailable", `CLEANCAST_BACKUP_FOLDER is ${folder}, which cannot be written (${reason}).`);
  }
}

export async function runFolderBackup(options: FolderBackupOptions): Promise<FolderBackup> {
  const { folder, record, now } = options;
  const startedAt = now();
  let taken: TakenBackup;
  let deleted: string[];
  try {
    prepareFolder(folder);
    deleteParts(folder, options.place, startedAt);
    const { file, part } = nextFile(folder, startedAt, options.place);
    const onWritten = guardSpace(folder);
    taken = await takeBackup(options.snapshot, file, {
      ...options,
      now: startedAt,
      replace: false,
      part,
      onWritten,
    });
    deleted = deleteOldBackups(folder, options.retention, startedAt);
  } catch (error) {
    // The database may be the reason; the error says more than a record that could not be written.
    await record.save({ failure: { at: now(), step: "backup" } }).catch(() => {});
    throw error;
  }
  await record.save({ last: { at: startedAt, bytes: taken.bytes }, failure: null });
  const backup = { file: taken.file, madeAt: startedAt, bytes: taken.bytes };
  const hook = options.hook && (await runHook(options.hook, backup, options.secret !== null));
  if (hook?.ok === false) await record.save({ failure: { at: now(), step: "hook" } });
  return { ...taken, deleted, hook };
}
