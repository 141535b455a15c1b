// The folder of an installation's data. What is wrong with it is explained with what to do.

import { statSync } from "node:fs";
import { errorCode } from "../kernel/errorCode.ts";
import { makeFolder } from "../store/maintenance/syncToDisk.ts";
import { ConfigFaults, type Config } from "./config.ts";
import { messageOf } from "./databaseErrors.ts";

/** SQLite's result codes for a file that may not be written or opened, and for a full disk. */
const sqliteReadOnly = 8;
const sqliteFull = 13;
const sqliteCannotOpen = 14;

/** `what` goes on with the sentence "CLEANCAST_DATA is FOLDER, which …". */
export function folderFault(folder: string, what: string, error: unknown): ConfigFaults {
  return new ConfigFaults([`CLEANCAST_DATA is ${folder}, ${what} (${messageOf(error)}). ${remedyOf(error)}`]);
}

function remedyOf(error: unknown): string {
  const code = errorCode(error);
  const sqliteCode = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : null;
  if (code === "ENOSPC" || sqliteCode === sqliteFull)
    return "Free some space there, or set CLEANCAST_DATA to a folder on another disk.";
  if (["EACCES", "EPERM", "EROFS"].includes(code) || sqliteCode === sqliteReadOnly || sqliteCode === sqliteCannotOpen)
    return "Run this as the user that the data belongs to (sudo -u USER …), let this user write there, or set CLEANCAST_DATA to another folder.";
  return "Set CLEANCAST_DATA to another folder.";
}

export function makeDataFolder({ dataFolder }: Config): void {
  try {
    makeFolder(dataFolder);
  } catch (error) {
    throw folderFault(dataFolder, "which cannot be created", error);
  }
}

/** False where the file of the embedded database is not there, or still empty. */
export function hasDatabaseFile(folder: string, file: string): boolean {
  try {
    return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
  } catch (error) {
    throw folderFault(folder, "which cannot be read", error);
  }
}
