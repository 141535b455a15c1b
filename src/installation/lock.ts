// Locks on the data folder: one server, one move, one backup into the folder, and one restore drill.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ConfigFaults } from "./config.ts";
import { folderFault } from "./dataFolder.ts";

/** SQLite's result code SQLITE_BUSY. */
const busy = 5;

export function lockFolder(folder: string): () => void {
  const unlock = tryLock(folder, "serve.lock");
  if (unlock) return unlock;
  throw new ConfigFaults([`another Cleancast is running on ${folder}; stop it, or give this one its own CLEANCAST_DATA.`]);
}

/** Null where another process holds the lock. The lock is an open transaction, so it always ends with the process. */
export function tryLock(folder: string, name: `${"serve" | "move" | "backup" | "drill"}.lock`): (() => void) | null {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(join(folder, name), { timeout: 0 });
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock?.close();
    if (isBusy(error)) return null;
    throw folderFault(folder, "which is not writable", error);
  }
  return () => lock.close();
}

const isBusy = (error: unknown) => error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === busy;
