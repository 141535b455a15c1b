// Reads one moment of a database while a relay works on it, for backups and for the check. It writes nothing, not even a
// migration.

import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { connectClient } from "../engine/postgres/client.ts";
import type { Dialect, Query, Row, Value } from "../engine/database.ts";
import { postgresDialect } from "../engine/postgres/dialect.ts";
import { query } from "../engine/postgres/statements.ts";
import { findPrimary } from "../engine/postgres/probe.ts";
import { serverUrls } from "../engine/postgres/servers.ts";
import { queryOn, toSqliteParams } from "../engine/sqlite/dialect.ts";
import { refuseMoved } from "../engine/sqlite/moveLock.ts";
import type { StoreLocation } from "../connect.ts";
import { probeVersion } from "../schema/schemaProbe.ts";

export type Snapshot = Query &
  Dialect & {
    /** The schema version; 0 for an empty database. */
    version: number;
    /** Yields the rows of a query some at a time: memory stays small whatever the table's size. */
    stream(sql: string, params?: readonly Value[]): AsyncGenerator<Row[]>;
    close(): Promise<void>;
  };

const batchSize = 500;

/** Returns null where there is no database. */
export async function createSnapshot(location: StoreLocation): Promise<Snapshot | null> {
  if (location.engine === "sqlite" && !existsSync(location.file)) return null;
  const opened = location.engine === "sqlite" ? createSqliteSnapshot(location.file) : await createPostgresSnapshot(location.url);
  try {
    return { ...opened, version: await probeVersion(opened) };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

type Opened = Omit<Snapshot, "version">;

/** In WAL mode a reader sees the moment of its first read, and does not block writers. */
function createSqliteSnapshot(file: string): Opened {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
  db.exec("BEGIN");
  try {
    refuseMoved(Number(db.prepare("PRAGMA user_version").get()?.user_version));
  } catch (error) {
    db.close();
    throw error;
  }
  return {
    ...queryOn(db),
    async *stream(sql, params = []) {
      let some: Row[] = [];
      for (const row of db.prepare(toSqliteParams(sql)).iterate(...params)) {
        some.push(row as Row);
        if (some.length < batchSize) continue;
        yield some;
        some = [];
      }
      if (some.length) yield some;
    },
    close: async () => db.close(),
  };
}

async function createPostgresSnapshot(url: string): Promise<Opened> {
  const servers = serverUrls(url);
  // A single server may be a standby, because it is only read.
  const [only] = servers;
  const server = servers.length > 1 || !only ? (await findPrimary(servers)).server : only;
  const client = await connectClient(server, "cleancast backup");
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  let cursors = 0;
  return {
    ...postgresDialect,
    all: (sql, params) => query(client, sql, params),
    async *stream(sql, params = []) {
      const cursor = `snapshot${(cursors += 1)}`;
      await client.query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`, params as Value[]);
      for (let some: Row[]; ;) {
        some = (await client.query<Row>(`FETCH ${batchSize} FROM ${cursor}`)).rows;
        if (some.length) yield some;
        if (some.length < batchSize) break;
      }
      await client.query(`CLOSE ${cursor}`);
    },
    close: () => client.end(),
  };
}

/** Yields all rows of a table, in any order: the cheapest way to read one moment, where nothing has to be found again. */
export const rowsOf = (snapshot: Snapshot, table: string, columns: readonly string[]) =>
  snapshot.stream(`SELECT ${columns.join(", ")} FROM ${table}`);
