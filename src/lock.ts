// One server per folder.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ConfigFaults } from "./config.ts";

/** The lock is an open transaction, so it ends with the process, however that ends. */
export function lockFolder(folder: string): () => void {
  const lock = new DatabaseSync(join(folder, "serve.lock"), { timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
  } catch {
    lock.close();
    throw new ConfigFaults([
      `another Cleancast is running on ${folder}; stop it, or give this one its own CLEANCAST_DATA.`,
    ]);
  }
  return () => lock.close();
}
