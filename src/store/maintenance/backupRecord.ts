// Records the last backup of the installation and the last failure, so that every node can report them.

import type { Database } from "../engine/database.ts";
import { readSetting, writeSetting } from "../settings.ts";

export type BackupRecord = {
  /** The newest complete backup. */
  last: { at: number; bytes: number } | null;
  /** Null where the last run succeeded. `hook`: the backup was written, and the program after it failed. */
  failure: { at: number; step: "backup" | "hook" } | null;
};

const setting = "backup record";
const never: BackupRecord = { last: null, failure: null };

export function backupRecordStore(db: Pick<Database, "all" | "write">) {
  const read = async (): Promise<BackupRecord> => {
    const text = await readSetting(db, setting);
    return text === null ? never : { ...never, ...(JSON.parse(text) as Partial<BackupRecord>) };
  };
  return {
    read,
    /** Keeps what the change does not name. */
    async save(change: Partial<BackupRecord>): Promise<void> {
      const record = { ...(await read()), ...change };
      await db.write((tx) => writeSetting(tx, setting, JSON.stringify(record)));
    },
  };
}
