// The embedded engine: one file, one writing connection, one reading connection.

import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Database, Query, Row, Value } from "./database.ts";

/** SQLite's primary result codes for "this value is not acceptable": too big, constraint, mismatch, range. */
const dataFaults = new Set([18, 19, 20, 25]);

export function openSqlite(file: string): Database {
  const writer = connect(file);
  const reader = connect(file);
  let lastWrite: Promise<unknown> = Promise.resolve();

  return {
    engine: "sqlite",
    skipLocked: "",
    all: reader.all,
    commitGroup: () => "",
    // One transaction at a time: they share the connection.
    write: (work) => {
      const next = lastWrite.then(() => transaction(writer, work));
      lastWrite = next.catch(() => {});
      return next;
    },
    blamesData: (error) =>
      error instanceof Error && "errcode" in error && dataFaults.has(Number(error.errcode) & 0xff),
    isOwnError: (error) => error instanceof Error && "errcode" in error,
    close: async () => {
      await lastWrite;
      reader.close();
      writer.close();
    },
  };
}

async function transaction<T>(connection: Connection, work: (tx: Query) => Promise<T>): Promise<T> {
  // IMMEDIATE takes the write lock at once: a later upgrade could fail half way beside another process.
  connection.exec("BEGIN IMMEDIATE");
  try {
    const result = await work(connection);
    connection.exec("COMMIT");
    return result;
  } catch (error) {
    connection.exec("ROLLBACK");
    throw error;
  }
}

type Connection = Query & { exec(sql: string): void; close(): void };

function connect(file: string): Connection {
  const db = new DatabaseSync(file, { timeout: 10_000 });
  // FULL: a commit that was answered survives a power cut, not only a crash of the process.
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    PRAGMA cache_size = -32768; PRAGMA mmap_size = 268435456; PRAGMA temp_store = MEMORY`);
  const statements = new Map<string, StatementSync>();

  function prepare(sql: string): StatementSync {
    const known = statements.get(sql);
    if (known) return known;
    // `$1` is PostgreSQL's spelling; SQLite calls the same thing `?1`.
    const statement = db.prepare(sql.replace(/\$(\d+)/g, "?$1"));
    statements.set(sql, statement);
    return statement;
  }

  return {
    // Async in form only: it runs to its end at once, so that no other code gets between two statements.
    all: async (sql: string, params: readonly Value[] = []) => prepare(sql).all(...params) as Row[],
    exec: (sql) => db.exec(sql),
    close: () => db.close(),
  };
}
