// Gives the space of deleted rows back, and with it what their bytes still say about them.

import { statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Query } from "../engine/database.ts";
import { connectDatabase, type StoreLocation } from "../connect.ts";
import { latestVersion } from "../schema/migrate.ts";
import { columnsOf, tablesAt } from "../schema/tables.ts";

/** The size of the database in bytes. */
export type VacuumReport = { before: number; after: number };

/** Rewrites the file of the embedded database. No relay may run. */
export function vacuumFile(file: string): VacuumReport {
  const db = new DatabaseSync(file, { timeout: 10_000 });
  try {
    // Copies of the data stay in its folder, whose disk has space for them.
    const folder = dirname(file).replaceAll("'", "''");
    db.exec(`PRAGMA temp_store = FILE; PRAGMA temp_store_directory = '${folder}'; PRAGMA secure_delete = ON`);
    const before = bytesOf(file);
    db.exec("VACUUM");
    // Without this the old pages would stay until the log is written to the database.
    const { busy } = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() ?? {};
    if (busy !== 0) throw new Error("another process reads the database");
    return { before, after: bytesOf(file) };
  } finally {
    db.exec("PRAGMA temp_store_directory = ''");
    db.close();
  }
}

const bytesOf = (file: string) =>
  [file, `${file}-wal`].reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);

/**
 * Vacuums every table of a server. While relays run, this makes the space of deleted rows reusable; `isFull` rewrites the
 * tables, and each is locked meanwhile. Null where the server does this by itself, or the database has no tables yet.
 */
export async function vacuumServer(
  location: StoreLocation & { engine: "postgres" },
  { isFull }: { isFull: boolean },
): Promise<VacuumReport | null> {
  const db = connectDatabase(location);
  try {
    const tables: string[] = [];
    for (const table of tablesAt(latestVersion)) if ((await columnsOf(db, table)).length > 0) tables.push(table);
    if (tables.length === 0 || !db.onDedicatedConnection) return null;
    return await db.onDedicatedConnection(async (session) => {
      const before = await serverBytes(session);
      for (const table of tables) await session.all(`VACUUM (${isFull ? "FULL, " : ""}ANALYZE) ${table}`);
      return { before, after: await serverBytes(session) };
    });
  } finally {
    await db.close();
  }
}

async function serverBytes(session: Query): Promise<number> {
  const [row] = await session.all("SELECT pg_database_size(current_database()) AS bytes");
  return Number(row?.bytes);
}
