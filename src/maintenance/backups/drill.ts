// Proves that a backup can be restored: restores it into a temporary database, and checks that database. The data of the
// installation is not touched.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Inconsistency } from "../../store/maintenance/check/faults.ts";
import type { Keys } from "../../store/engine/seal.ts";
import { dropTables } from "../../store/maintenance/restoreTarget.ts";
import type { StoreLocation } from "../../store/connect.ts";
import type { Totals } from "../backupFile.ts";
import { restoreBackup } from "../restore.ts";
import type { BackupSecret } from "./encryption.ts";

type DrillOptions = {
  /** The temporary database is created in this folder; the caller holds its lock. */
  dataFolder: string;
  /** An empty PostgreSQL database that is used instead, and is empty again afterwards. */
  database: (StoreLocation & { engine: "postgres" }) | null;
  keys: Keys;
  secret: BackupSecret | null;
  now: () => number;
  onProgress: (fraction: number, step: "verifying" | "writing") => void;
};

export type Drill = Totals & { file: string; madeAt: string; seconds: number; wrong: Inconsistency[] };

const folderName = "restore-drill";

export async function runDrill(file: string, options: DrillOptions): Promise<Drill> {
  const { dataFolder, database, keys, secret, now, onProgress } = options;
  const folder = join(dataFolder, folderName);
  // A drill that was killed leaves its database.
  rmSync(folder, { recursive: true, force: true });
  if (!database) mkdirSync(folder, { mode: 0o700 });
  const startedAt = now();
  let isRestored = false;
  try {
    const location = database ?? ({ engine: "sqlite", file: join(folder, "cleancast.db") } as const);
    const restored = await restoreBackup(file, location, keys, {
      force: false,
      now: startedAt,
      secret,
      onProgress,
    });
    isRestored = true;
    const { header, rows, tables, wrong } = restored;
    const seconds = (now() - startedAt) / 1000;
    return { file, madeAt: header.madeAt, rows, tables, seconds, wrong };
  } finally {
    if (database && isRestored) await dropTables(database.url);
    rmSync(folder, { recursive: true, force: true });
  }
}
