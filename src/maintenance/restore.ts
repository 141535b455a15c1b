// Restores a backup: the whole file is verified before the first row is written, and the restored data replaces the present
// data atomically. A restore that is killed has changed nothing.

import { Conflict } from "../kernel/refusal.ts";
import type { Inconsistency } from "../store/maintenance/check/faults.ts";
import { emptyTable, fillTable } from "../store/copy/rows.ts";
import type { MigratedDatabase } from "../store/engine/database.ts";
import { generationOf, generationSetting } from "../store/schema/generation.ts";
import { latestVersion, migrate } from "../store/schema/migrate.ts";
import { sealWith, tryUnseal, type Keys } from "../store/engine/seal.ts";
import { sealedNames } from "../store/maintenance/sealedColumns.ts";
import type { StoreLocation } from "../store/connect.ts";
import { columnsOf, tablesAt } from "../store/schema/tables.ts";
import { createRestoreTarget, type RestoreObstacle } from "../store/maintenance/restoreTarget.ts";
import type { BackupSecret } from "./backups/encryption.ts";
import { checkLocation } from "./check.ts";
import { readBackup, type Header, type OnRead, type Totals } from "./backupFile.ts";

type Restored = Totals & {
  header: Header;
  schema: number;
  /** The name under which a damaged database is kept. */
  aside: string | null;
  wrong: Inconsistency[];
};

/** The whole file is read twice: each time, `fraction` goes from 0 to 1. */
type OnProgress = (fraction: number, step: "verifying" | "writing") => void;

export async function restoreBackup(
  file: string,
  location: StoreLocation,
  keys: Keys,
  options: { force: boolean; now: number; secret?: BackupSecret | null; onProgress?: OnProgress },
): Promise<Restored> {
  const { onProgress = () => {}, secret = null } = options;
  const { header, ...totals } = await verifyBackup(file, keys, secret, (read, size) => onProgress(read / size, "verifying"));
  const target = await createRestoreTarget(location, options.force, options.now);
  if (typeof target === "string") throw new Conflict("target", obstacles[target]);
  let aside: string | null;
  try {
    await migrate(target.db, { to: header.schema });
    await writeTables(file, secret, target.db, (read, size) => onProgress(read / size, "writing"));
    await migrate(target.db);
    aside = await target.finish();
  } catch (error) {
    await target.abandon();
    throw error;
  }
  return { ...totals, header, schema: latestVersion, aside, wrong: await checkLocation(location, keys) };
}

const obstacles: Record<RestoreObstacle, string> = {
  data: "The database already has data; --force replaces all of it.",
  "in use": "A relay or a command is using the database; stop every one of them first.",
  damaged: "The present database is damaged; --force puts it aside and restores the backup in its place.",
  "newer schema": "The present database belongs to a newer version of Cleancast; restore with that version.",
};

const unreleased = () =>
  new Conflict(
    "file",
    "The backup was made by an unreleased version of Cleancast, and cannot be restored. Export the configuration with that version.",
  );

/** Reads the whole file, and checks that it is undamaged, of a known schema, and sealed with the present key. */
export async function verifyBackup(
  file: string,
  keys: Keys,
  secret: BackupSecret | null = null,
  onRead?: OnRead,
): Promise<Totals & { header: Header }> {
  const seal = sealWith(keys);
  const parts = readBackup(file, secret, onRead);
  const missing = new Set<string>();
  let header: Header | null = null;
  let generation: unknown;
  for (;;) {
    const { done, value } = await parts.next();
    if (done) {
      const [table] = missing;
      if (table !== undefined) throw new Conflict("file", `The table ${table} is missing in the backup; it is not restored.`);
      if (generation !== generationOf()) throw unreleased();
      return { header: header as unknown as Header, ...value };
    }
    if (value.part === "header") {
      header = value.header;
      if (header.schema > latestVersion)
        throw new Conflict(
          "file",
          `The backup has schema ${header.schema}, this version of Cleancast knows ${latestVersion}; restore it with version ${header.version} or a later one.`,
        );
      for (const table of tablesAt(header.schema)) missing.add(table);
    }
    if (value.part === "table" && !missing.delete(value.table))
      throw tablesAt(header?.schema ?? 0).includes(value.table)
        ? new Conflict("file", `The backup has the table ${value.table} twice; it is not restored.`)
        : unreleased();
    if (value.part !== "rows" || value.table !== "settings") continue;
    for (const row of value.rows) {
      const { name, value: text } = Object.fromEntries(value.columns.map((column, i) => [column, row[i]]));
      if (name === generationSetting) generation = text;
      if (name === sealedNames.check && tryUnseal(seal, String(text), name) === null)
        throw new Conflict(
          "key",
          "This backup was sealed with another encryption key. A key is never part of a backup: put the one that " +
            "belongs to it into CLEANCAST_ENCRYPTION_KEY, or encryption.key into the data folder, and restore again.",
        );
    }
  }
}

async function writeTables(file: string, secret: BackupSecret | null, db: MigratedDatabase, onRead: OnRead): Promise<void> {
  for await (const part of readBackup(file, secret, onRead)) {
    if (part.part === "table") {
      const known = await columnsOf(db, part.table);
      const unknown = part.columns.find((column) => !known.includes(column));
      if (unknown !== undefined) throw new Conflict("file", `The backup has an unknown column ${unknown} in ${part.table}.`);
      // A migration has inserted rows.
      await emptyTable(db, part.table);
    }
    if (part.part === "rows") await fillTable(db, part.table, part.columns, part.rows);
  }
}
