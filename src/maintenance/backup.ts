// Takes a backup: one moment of the database, written while a relay runs.

import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Conflict, Denied } from "../kernel/refusal.ts";
import type { Value } from "../store/engine/database.ts";
import { latestVersion } from "../store/schema/migrate.ts";
import { countRows, rowLine } from "../store/copy/rows.ts";
import { rowsOf, type Snapshot } from "../store/maintenance/snapshot.ts";
import { syncToDisk } from "../store/maintenance/syncToDisk.ts";
import { columnsOf, tablesAt } from "../store/schema/tables.ts";
import type { BackupSecret } from "./backups/encryption.ts";
import { writeLines, type Header, type Totals } from "./backupFile.ts";

/** `rows` of `total` rows are written; `table` is the present one. */
type OnProgress = (rows: number, total: number, table: string) => void;

type BackupOptions = {
  version: string;
  now: number;
  replace: boolean;
  /** Encrypts the file. */
  secret?: BackupSecret | null;
  /** The name while the file is written; a random one by default, so that two backups at once never write to the same file. */
  part?: string;
  /** Called as the file grows; what it throws ends the backup. */
  onWritten?: (bytes: number) => void;
  onProgress?: OnProgress;
};

export type TakenBackup = Totals & { file: string; bytes: number; schema: number };

export async function takeBackup(snapshot: Snapshot, file: string, options: BackupOptions): Promise<TakenBackup> {
  if (existsSync(file) && !options.replace)
    throw new Conflict("file", `${file} exists already; choose another name, or --force to replace it.`);
  // The new tables of a newer schema would be missing, which would show only when the backup is restored.
  if (snapshot.version > latestVersion)
    throw new Conflict(
      "database",
      `The database has schema ${snapshot.version}, this version of Cleancast knows ${latestVersion}: take the backup with the newer version.`,
    );
  const header: Header = {
    cleancast: "backup",
    format: 1,
    schema: snapshot.version,
    engine: snapshot.engine,
    version: options.version,
    madeAt: new Date(options.now).toISOString(),
  };
  const totals: Totals = { tables: 0, rows: 0 };
  // The file gets its name only when it is complete.
  const part = options.part ?? `${file}.${randomBytes(6).toString("hex")}.part`;
  const { secret, onWritten, onProgress } = options;
  let bytes: number;
  try {
    bytes = await writeLines(linesOf(snapshot, header, totals, onProgress), part, secret, onWritten);
    await rename(part, file);
    syncToDisk(dirname(file));
  } catch (error) {
    await rm(part, { force: true });
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw new Denied("unavailable", `The backup could not be written: ${error.message}.`, undefined, "file");
  }
  return { ...totals, file, bytes, schema: snapshot.version };
}

async function* linesOf(
  snapshot: Snapshot,
  header: Header,
  totals: Totals,
  onProgress: OnProgress = () => {},
): AsyncGenerator<string> {
  yield `${JSON.stringify(header)}\n`;
  const tables = tablesAt(snapshot.version);
  let total = 0;
  for (const name of tables) total += await countRows(snapshot, { name, siteId: null });
  for (const table of tables) {
    const columns = await columnsOf(snapshot, table);
    yield `${JSON.stringify({ table, columns })}\n`;
    const hash = createHash("sha256");
    let count = 0;
    for await (const rows of rowsOf(snapshot, table, columns)) {
      const lines = rows.map((row) => rowLine(columns.map((column) => row[column] as Value))).join("");
      hash.update(lines);
      count += rows.length;
      onProgress(totals.rows + count, total, table);
      yield lines;
    }
    totals.tables += 1;
    totals.rows += count;
    yield `${JSON.stringify({ end: table, rows: count, sha256: hash.digest("hex") })}\n`;
  }
  yield `${JSON.stringify({ end: "backup", ...totals })}\n`;
}
