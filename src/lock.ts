// One server per folder.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ConfigFaults } from "./config.ts";

/** SQLite's result code for "somebody else holds it". */
const busy = 5;

/** The lock is an open transaction, so it ends with the process, however that ends. */
export function lockFolder(folder: string): () => void {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(join(folder, "serve.lock"), { timeout: 0 });
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock?.close();
    throw new ConfigFaults([faultOf(folder, error)]);
  }
  return () => lock.close();
}

function faultOf(folder: string, error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("errcode" in error && (Number(error.errcode) & 0xff) === busy)
    return `another Cleancast is running on ${folder}; stop it, or give this one its own CLEANCAST_DATA.`;
  return `CLEANCAST_DATA is ${folder}, where nothing can be written (${error.message}).`;
}
