// The database that a backup is restored into. A restore is all or nothing: the embedded database is written next to the
// present one and replaces it at the end; on PostgreSQL everything is one transaction.

import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { errorCode } from "../../kernel/errorCode.ts";
import { syncToDisk } from "./syncToDisk.ts";
import { connectClient } from "../engine/postgres/client.ts";
import { type MigratedDatabase, type Query, type RowQuery } from "../engine/database.ts";
import { postgresDialect } from "../engine/postgres/dialect.ts";
import { isCitus, sequentialShardChanges } from "../schema/distribute.ts";
import { latestVersion } from "../schema/migrate.ts";
import { changeRows, query } from "../engine/postgres/statements.ts";
import { findPrimary } from "../engine/postgres/probe.ts";
import { serverUrls } from "../engine/postgres/servers.ts";
import { queryOn } from "../engine/sqlite/dialect.ts";
import { connectSqlite } from "../engine/sqlite/engine.ts";
import { isBusy, isDamaged } from "../engine/sqlite/errors.ts";
import type { StoreLocation } from "../connect.ts";
import { probeVersion } from "../schema/schemaProbe.ts";
import { tablesAt, type DialectQuery } from "../schema/tables.ts";

type RestoreTarget = {
  db: MigratedDatabase;
  /** Replaces the present database. Returns the name under which a damaged one is kept; null where there was none. */
  finish(): Promise<string | null>;
  /** Discards what was written. */
  abandon(): Promise<void>;
};

/** The reason why a restore is refused: the present database has data, is in use, is damaged, or has a newer schema. */
export type RestoreObstacle = "data" | "in use" | "damaged" | "newer schema";

export async function createRestoreTarget(
  location: StoreLocation,
  force: boolean,
  now: number,
): Promise<RestoreTarget | RestoreObstacle> {
  return location.engine === "sqlite" ? createSqliteTarget(location.file, force, now) : createPostgresTarget(location.url, force);
}

async function findObstacle(db: DialectQuery, force: boolean): Promise<RestoreObstacle | null> {
  const version = await probeVersion(db);
  if (version > latestVersion) return "newer schema";
  if (version === 0 || force) return null;
  for (const table of ["sites", "users"].filter((one) => tablesAt(version).includes(one)))
    if ((await db.all(`SELECT 1 AS n FROM ${table} LIMIT 1`)).length) return "data";
  return null;
}

async function createSqliteTarget(file: string, force: boolean, now: number): Promise<RestoreTarget | RestoreObstacle> {
  const restoring = `${file}.restoring`;
  const locked = existsSync(file) ? await lockFile(file, force) : null;
  if (typeof locked === "string") return locked;
  // A restore that was killed may have left its file.
  removeDatabase(restoring);
  const db = connectSqlite(restoring);
  return {
    db,
    async finish() {
      await db.close();
      syncToDisk(restoring);
      const aside = locked ? null : putAside(file, now);
      // A log that stayed behind would be replayed into the restored database.
      for (const end of sidecars) rmSync(`${file}${end}`, { force: true });
      renameSync(restoring, file);
      syncToDisk(dirname(file));
      locked?.close();
      return aside;
    },
    async abandon() {
      // The failure may have closed the database already.
      await db.close().catch(() => {});
      removeDatabase(restoring);
      locked?.close();
    },
  };
}

/**
 * Opens the present database so that no other process can read or write it until it is closed, and leaves it in one file,
 * without a write-ahead log. A process that waits for it meanwhile finds that the file was replaced, and writes nothing:
 * SQLite checks this where there is no such log. Returns null for a damaged database, with `force`.
 */
async function lockFile(file: string, force: boolean): Promise<DatabaseSync | RestoreObstacle | null> {
  const db = new DatabaseSync(file, { timeout: 2000 });
  try {
    const obstacle = (await findObstacle(queryOn(db), force)) ?? lockExclusively(db);
    if (obstacle === null) return db;
    db.close();
    return obstacle;
  } catch (error) {
    db.close();
    if (isBusy(error)) return "in use";
    if (!isDamaged(error)) throw error;
    return force ? null : "damaged";
  }
}

function lockExclusively(db: DatabaseSync): RestoreObstacle | null {
  db.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  const [mode] = db.prepare("PRAGMA journal_mode").all();
  // Between the two statements, another process may have switched the log on again.
  return mode?.journal_mode === "delete" ? null : "in use";
}

const sidecars = ["-wal", "-shm", "-journal"];

/** Keeps a damaged database, which may still be of use. Returns its new name; null where there was none. */
function putAside(file: string, now: number): string | null {
  const aside = `${file}.damaged-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, "")}`;
  const present = ["", ...sidecars].filter((end) => existsSync(`${file}${end}`));
  for (const end of present) renameSync(`${file}${end}`, `${aside}${end}`);
  return present.length ? aside : null;
}

function removeDatabase(file: string): void {
  for (const end of ["", ...sidecars]) rmSync(`${file}${end}`, { force: true });
}

async function createPostgresTarget(url: string, force: boolean): Promise<RestoreTarget | RestoreObstacle> {
  const client = await connectToPrimary(url);
  const all: Query["all"] = (sql, params) => query(client, sql, params);
  const change: RowQuery["change"] = (statement, rows, first) => changeRows(client, statement, rows, first);
  try {
    await client.query("BEGIN");
    // A session that holds a lock for longer uses the database.
    await client.query("SET LOCAL lock_timeout = '5s'");
    const obstacle = (await isInUse(all)) ? "in use" : await findObstacle({ ...postgresDialect, all }, force);
    if (obstacle) {
      await client.end();
      return obstacle;
    }
    await dropAll(all);
  } catch (error) {
    await client.end();
    if (errorCode(error) === "55P03") return "in use";
    throw error;
  }
  return {
    // Every transaction of the restore is a part of the one that is open.
    db: {
      ...postgresDialect,
      advisoryLocks: false,
      onDedicatedConnection: null,
      all,
      write: (work) => work({ all, change }),
    },
    async finish() {
      await client.query("COMMIT");
      await client.end();
      return null;
    },
    abandon: () => client.end(),
  };
}

const connectToPrimary = async (url: string) => connectClient((await findPrimary(serverUrls(url))).server, "cleancast restore");

async function dropAll(all: Query["all"]): Promise<void> {
  if (await isCitus({ all })) await all(sequentialShardChanges);
  for (const table of ["migrations", ...tablesAt(latestVersion)]) await all(`DROP TABLE IF EXISTS ${table}`);
}

/** Empties a PostgreSQL database into which a backup was restored to try it. */
export async function dropTables(url: string): Promise<void> {
  const client = await connectToPrimary(url);
  try {
    await client.query("BEGIN");
    await dropAll((sql, params) => query(client, sql, params));
    await client.query("COMMIT");
  } finally {
    await client.end();
  }
}

/** Relays and commands set the name of their sessions. */
async function isInUse(all: Query["all"]): Promise<boolean> {
  const rows = await all(
    `SELECT 1 AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'cleancast schema %'
       AND pid <> pg_backend_pid() LIMIT 1`,
  );
  return rows.length > 0;
}
