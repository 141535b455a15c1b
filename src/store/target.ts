// Where a backup is written back to. All of it or nothing: the embedded store is made beside the one that is there and
// put in its place at the end; on PostgreSQL everything is one transaction.

import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { rowStatement, type Database, type Query, type Row, type RowQuery, type Value } from "./database.ts";
import { latestVersion } from "./migrate.ts";
import { run, change, types } from "./postgres.ts";
import { openSqlite } from "./sqlite.ts";
import type { StoreLocation } from "./store.ts";
import { tablesAt, versionIn } from "./tables.ts";

export type Target = {
  db: Database;
  /** Puts what was written in the place of what was there. */
  finish(): Promise<void>;
  /** As if nothing had been written. */
  abandon(): Promise<void>;
};

/** What hinders a restore: data that is there, somebody who uses it, or a schema that is not ours to replace. */
export type Hindrance = "data" | "in use" | "newer schema";

export async function openTarget(location: StoreLocation, force: boolean): Promise<Target | Hindrance> {
  return location.engine === "sqlite" ? besideFile(location.file, force) : inPlace(location.url, force);
}

async function hindranceIn(db: Query & Pick<Database, "engine">, force: boolean): Promise<Hindrance | null> {
  const version = await versionIn(db);
  if (version > latestVersion) return "newer schema";
  if (version === 0 || force) return null;
  for (const table of ["sites", "users"].filter((one) => tablesAt(version).includes(one)))
    if ((await db.all(`SELECT 1 AS n FROM ${table} LIMIT 1`)).length) return "data";
  return null;
}

async function besideFile(file: string, force: boolean): Promise<Target | Hindrance> {
  const made = `${file}.restoring`;
  if (existsSync(file)) {
    const hindrance = await settleFile(file, force);
    if (hindrance) return hindrance;
  }
  // Of a restore that was killed.
  removeDatabase(made);
  const db = openSqlite(made);
  return {
    db,
    async finish() {
      await db.close();
      sync(made);
      renameSync(made, file);
      sync(dirname(file));
    },
    async abandon() {
      await db.close();
      removeDatabase(made);
    },
  };
}

/**
 * Leaves the database that is there in one file. A write-ahead log that stayed behind would be played into the one that
 * takes its place.
 */
async function settleFile(file: string, force: boolean): Promise<Hindrance | null> {
  const db = new DatabaseSync(file, { timeout: 2000 });
  try {
    const all: Query["all"] = async (sql, params = []) =>
      db.prepare(sql.replace(/\$(\d+)/g, "?$1")).all(...params) as Row[];
    const hindrance = await hindranceIn({ engine: "sqlite", all }, force);
    if (hindrance) return hindrance;
    const [mode] = db.prepare("PRAGMA journal_mode = DELETE").all();
    return mode?.journal_mode === "delete" ? null : "in use";
  } catch (error) {
    if (error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === 5) return "in use";
    throw error;
  } finally {
    db.close();
  }
}

function removeDatabase(file: string): void {
  for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(`${file}${end}`, { force: true });
}

function sync(path: string): void {
  const opened = openSync(path, "r");
  fsyncSync(opened);
  closeSync(opened);
}

async function inPlace(url: string, force: boolean): Promise<Target | Hindrance> {
  const client = new Client({ connectionString: url, application_name: "cleancast restore", types });
  client.on("error", () => {});
  await client.connect();
  const all: Query["all"] = (sql, params) => run(client, sql, params);
  const changeRows: RowQuery["change"] = (statement, rows, first) => change(client, statement, rows, first);
  try {
    await client.query("BEGIN");
    // Whoever holds a lock for longer uses the database.
    await client.query("SET LOCAL lock_timeout = '5s'");
    const hindrance = (await isUsed(all)) ? "in use" : await hindranceIn({ engine: "postgres", all }, force);
    if (hindrance) {
      await client.end();
      return hindrance;
    }
    for (const table of ["migrations", ...tablesAt(latestVersion)])
      await all(`DROP TABLE IF EXISTS ${table}`);
  } catch (error) {
    await client.end();
    if (error instanceof Error && "code" in error && error.code === "55P03") return "in use";
    throw error;
  }
  return {
    // Every transaction of the restore is a part of the one that is open.
    db: {
      engine: "postgres",
      skipLocked: "",
      all,
      write: (work) => work({ all, change: changeRows }),
      commitGroup: (siteId) => siteId,
      blamesData: () => false,
      isOwnError: () => true,
      close: async () => {},
    },
    async finish() {
      await client.query("COMMIT");
      await client.end();
    },
    abandon: () => client.end(),
  };
}

/** Relays and commands name themselves to the server. */
async function isUsed(all: Query["all"]): Promise<boolean> {
  const rows = await all(
    `SELECT 1 AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'cleancast'
       AND pid <> pg_backend_pid() LIMIT 1`,
  );
  return rows.length > 0;
}

/** Writes rows as they are. */
export async function fillTable(
  db: Database,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly Value[])[],
): Promise<void> {
  const text = `INSERT INTO ${table} (${columns.join(",")}) VALUES {ROWS}`;
  const statement = rowStatement({ text, columns: columns.length });
  await db.write((tx) => tx.change(statement, rows));
}

/** Of what a migration put there. */
export const emptyTable = (db: Database, table: string) => db.write((tx) => tx.all(`DELETE FROM ${table}`));
