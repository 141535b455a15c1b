// Where a backup is written back to. All of it or nothing: the embedded store is made beside the one that is there and
// put in its place at the end; on PostgreSQL everything is one transaction.

import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openClient } from "../engine/postgres/client.ts";
import {
  rowStatement,
  type Database,
  type Query,
  type Row,
  type RowQuery,
  type Value,
} from "../engine/database.ts";
import { isCitus, oneAfterTheOther } from "../schema/distribute.ts";
import { latestVersion } from "../schema/migrate.ts";
import { run, change } from "../engine/postgres/engine.ts";
import { writableAmong } from "../engine/postgres/probe.ts";
import { serversOf } from "../engine/postgres/servers.ts";
import { openSqlite } from "../engine/sqlite/engine.ts";
import type { StoreLocation } from "../store.ts";
import { tablesAt, versionIn } from "../schema/tables.ts";

export type Target = {
  db: Database;
  /** Puts what was written in the place of what was there. Returns the name under which that is kept, where it is. */
  finish(): Promise<string | null>;
  /** As if nothing had been written. */
  abandon(): Promise<void>;
};

/** What hinders a restore: data that is there, somebody who uses it, damage, or a schema that is not ours to replace. */
export type Hindrance = "data" | "in use" | "damaged" | "newer schema";

export async function openTarget(
  location: StoreLocation,
  force: boolean,
  now: number,
): Promise<Target | Hindrance> {
  return location.engine === "sqlite" ? besideFile(location.file, force, now) : inPlace(location.url, force);
}

async function hindranceIn(db: Query & Pick<Database, "engine">, force: boolean): Promise<Hindrance | null> {
  const version = await versionIn(db);
  if (version > latestVersion) return "newer schema";
  if (version === 0 || force) return null;
  for (const table of ["sites", "users"].filter((one) => tablesAt(version).includes(one)))
    if ((await db.all(`SELECT 1 AS n FROM ${table} LIMIT 1`)).length) return "data";
  return null;
}

async function besideFile(file: string, force: boolean, now: number): Promise<Target | Hindrance> {
  const made = `${file}.restoring`;
  const held = existsSync(file) ? await holdFile(file, force) : null;
  if (typeof held === "string") return held;
  // Of a restore that was killed.
  removeDatabase(made);
  const db = openSqlite(made);
  return {
    db,
    async finish() {
      await db.close();
      sync(made);
      // A log that stayed behind would be played into the database that takes the place.
      const aside = held ? null : putAside(file, now);
      for (const end of companions) rmSync(`${file}${end}`, { force: true });
      renameSync(made, file);
      sync(dirname(file));
      held?.close();
      return aside;
    },
    async abandon() {
      // What failed may have closed it already.
      await db.close().catch(() => {});
      removeDatabase(made);
      held?.close();
    },
  };
}

/**
 * Opens the database that is there so that nobody else can read or write it until it is closed, and leaves it in one
 * file, without a write-ahead log. Who waits for it meanwhile finds in the end that the file is no longer in its place,
 * and writes nothing: in this mode SQLite looks. Null for one that is damaged, with `force`.
 */
async function holdFile(file: string, force: boolean): Promise<DatabaseSync | Hindrance | null> {
  const db = new DatabaseSync(file, { timeout: 2000 });
  try {
    const all: Query["all"] = async (sql, params = []) =>
      db.prepare(sql.replace(/\$(\d+)/g, "?$1")).all(...params) as Row[];
    const hindrance = (await hindranceIn({ engine: "sqlite", all }, force)) ?? takeWhole(db);
    if (hindrance === null) return db;
    db.close();
    return hindrance;
  } catch (error) {
    db.close();
    const code = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
    if (code === busy) return "in use";
    if (code !== corrupt && code !== notADatabase) throw error;
    return force ? null : "damaged";
  }
}

/** SQLite's primary result codes. */
const [busy, corrupt, notADatabase] = [5, 11, 26];

function takeWhole(db: DatabaseSync): Hindrance | null {
  db.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  const [mode] = db.prepare("PRAGMA journal_mode").all();
  // Somebody came between the two, and switched the log on again.
  return mode?.journal_mode === "delete" ? null : "in use";
}

const companions = ["-wal", "-shm", "-journal"];

/** What cannot be used any more is somebody's data all the same. Returns its new name; null where nothing was there. */
function putAside(file: string, now: number): string | null {
  const aside = `${file}.damaged-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, "")}`;
  const there = ["", ...companions].filter((end) => existsSync(`${file}${end}`));
  for (const end of there) renameSync(`${file}${end}`, `${aside}${end}`);
  return there.length ? aside : null;
}

function removeDatabase(file: string): void {
  for (const end of ["", ...companions]) rmSync(`${file}${end}`, { force: true });
}

function sync(path: string): void {
  const opened = openSync(path, "r");
  fsyncSync(opened);
  closeSync(opened);
}

async function inPlace(url: string, force: boolean): Promise<Target | Hindrance> {
  const { server } = await writableAmong(serversOf(url));
  const client = await openClient(server, "cleancast restore");
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
    if (await isCitus({ all })) await all(oneAfterTheOther);
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
      advisoryLocks: false,
      alone: null,
      isSharded: async () => false,
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
      return null;
    },
    abandon: () => client.end(),
  };
}

/** Relays and commands name themselves to the server. */
async function isUsed(all: Query["all"]): Promise<boolean> {
  const rows = await all(
    `SELECT 1 AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'cleancast schema %'
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
