// One moment of a database, read beside a running relay without holding it up: for backups and for the check. Nothing is
// written, not even a migration.

import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { openClient } from "../engine/postgres/client.ts";
import type { Database, Query, Row, Value } from "../engine/database.ts";
import { refuseIfOld } from "./moveLock.ts";
import { run } from "../engine/postgres/engine.ts";
import { writableAmong } from "../engine/postgres/probe.ts";
import { serversOf } from "../engine/postgres/servers.ts";
import type { StoreLocation } from "../store.ts";
import { versionIn } from "../schema/tables.ts";

export type Snapshot = Query &
  Pick<Database, "engine"> & {
    /** Schema version; 0 for an empty database. */
    version: number;
    /** The rows of a query, some at a time: memory stays small whatever the table's size. */
    stream(sql: string, params?: readonly Value[]): AsyncGenerator<Row[]>;
    close(): Promise<void>;
  };

const portion = 500;

/** Null where there is no database. */
export async function openSnapshot(location: StoreLocation): Promise<Snapshot | null> {
  if (location.engine === "sqlite" && !existsSync(location.file)) return null;
  const opened =
    location.engine === "sqlite" ? sqliteSnapshot(location.file) : await postgresSnapshot(location.url);
  try {
    return { ...opened, version: await versionIn(opened) };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

type Opened = Omit<Snapshot, "version">;

/** In WAL mode a reader sees the moment of its first read, and writers go on beside it. */
function sqliteSnapshot(file: string): Opened {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
  const spelt = (sql: string) => sql.replace(/\$(\d+)/g, "?$1");
  db.exec("BEGIN");
  try {
    refuseIfOld(Number(db.prepare("PRAGMA user_version").get()?.user_version));
  } catch (error) {
    db.close();
    throw error;
  }
  return {
    engine: "sqlite",
    all: async (sql, params = []) => db.prepare(spelt(sql)).all(...params) as Row[],
    async *stream(sql, params = []) {
      let some: Row[] = [];
      for (const row of db.prepare(spelt(sql)).iterate(...params)) {
        some.push(row as Row);
        if (some.length < portion) continue;
        yield some;
        some = [];
      }
      if (some.length) yield some;
    },
    close: async () => db.close(),
  };
}

async function postgresSnapshot(url: string): Promise<Opened> {
  const servers = serversOf(url);
  // A single one may be a standby: it is only read.
  const [only] = servers;
  const server = servers.length > 1 || !only ? (await writableAmong(servers)).server : only;
  const client = await openClient(server, "cleancast backup");
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  let cursors = 0;
  return {
    engine: "postgres",
    all: (sql, params) => run(client, sql, params),
    async *stream(sql, params = []) {
      const cursor = `portions${(cursors += 1)}`;
      await client.query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`, params as Value[]);
      for (let some: Row[]; ;) {
        some = (await client.query<Row>(`FETCH ${portion} FROM ${cursor}`)).rows;
        if (some.length) yield some;
        if (some.length < portion) break;
      }
      await client.query(`CLOSE ${cursor}`);
    },
    close: () => client.end(),
  };
}

/** All rows of a table. */
export const rowsOf = (snapshot: Snapshot, table: string, columns: readonly string[]) =>
  snapshot.stream(`SELECT ${columns.join(", ")} FROM ${table}`);
