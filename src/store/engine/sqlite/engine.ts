// The embedded engine: one file, one connection that writes, and one that reads during a write.
//
// A connection keeps the pages that it read until another connection writes. So reads go through the writing connection,
// whose cache stays valid; only while it writes does the other one serve them, with what was committed before. Reads of
// one turn of the event loop share a transaction, because taking its locks costs as much as reading a row.

import { realpathSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { createCheckpoints } from "./checkpoints.ts";
import { onOneMachine, singleStatements, type Database, type Row, type RowQuery, type Value } from "../database.ts";
import { sqliteDialect, toSqliteParams } from "./dialect.ts";
import { isBusy, isDataError, isSqliteError } from "./errors.ts";
import { FlushFailed, createLogFlush, type Flush } from "./logFlush.ts";
import { DatabaseMoved, refuseWrite } from "./moveLock.ts";

/** How long another process may hold the write lock before this one gives up. */
const lockTimeoutMs = 10_000;
/** How long SQLite itself waits for a lock; the whole process is blocked meanwhile. */
const blockingMs = 20;

export type SqliteOptions = {
  flush?: Flush | undefined;
  /** Called when the log cannot be checkpointed. */
  onDefect?: ((error: Error) => void) | undefined;
  /** Another program for the thread that checkpoints, for tests. */
  checkpointProgram?: string | undefined;
};

export function connectSqlite(file: string, options: SqliteOptions = {}): Database {
  const writer = connect(file);
  const reader = connect(file);
  let waiting: PendingWrite[] = [];
  let isWriting = false;
  let isReading = false;
  let isClosed = false;
  let written: Promise<void> = Promise.resolve();
  /**
   * A turn of the event loop has one transaction: requests are read before the next one, and what arrives meanwhile joins it. However many
   * groups of a site's writes follow each other, another site's wait for one of them.
   */
  let turnAfterWrite: Promise<void> | null = null;
  // Where the file is a link, the log is next to its target.
  const log = createLogFlush(`${realpathSync(file)}-wal`, options.flush);
  const checkpoints = createCheckpoints({
    file,
    measureLog: () => writer.logPages(),
    setAutoCheckpoint: (pages) => writer.exec(`PRAGMA wal_autocheckpoint = ${pages}`),
    onLost: (error) => log.fail(error),
    onDefect: options.onDefect ?? ((error) => process.emitWarning(error)),
    threadProgram: options.checkpointProgram,
  });
  checkpointLeftovers(writer);

  function readingConnection(): Connection {
    if (isWriting) return reader;
    if (!isReading) {
      writer.exec("BEGIN");
      isReading = true;
      setImmediate(endReading);
    }
    return writer;
  }

  function endReading(): void {
    if (!isReading) return;
    isReading = false;
    // There is nothing to commit after an error such as a damaged page, which the reader has already received.
    try {
      if (writer.isOpen()) writer.exec("COMMIT");
    } catch {
      if (writer.isOpen()) writer.exec("ROLLBACK");
    }
  }

  /** Waits for another process that writes, without blocking this one. */
  async function begin(): Promise<void> {
    for (const end = performance.now() + lockTimeoutMs; ;) {
      endReading();
      try {
        // IMMEDIATE takes the write lock at once: a later upgrade could fail half way when another process writes.
        writer.exec("BEGIN IMMEDIATE");
        isWriting = true;
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() > end) throw error;
        await sleep(10);
      }
    }
  }

  /** The writing connection inside a transaction. After an error that ended the transaction it must not write on its own. */
  const transaction: RowQuery = {
    all: (sql, params) => connectWriter().all(sql, params),
    change: (statement, rows, first) => connectWriter().change(statement, rows, first),
  };

  function connectWriter(): Connection {
    if (!writer.isOpen()) throw new Error("the transaction has ended");
    return writer;
  }

  /** Runs all waiting writes in one transaction, so that they share its fsync. */
  async function writeTogether(writes: PendingWrite[]): Promise<void> {
    try {
      log.throwIfFailed();
      await begin();
      refuseWrite(writer.moveMark(), Date.now());
      const finished: FinishedWrite[] = [];
      for (const write of writes)
        finished.push({ write, settle: await (writes.length > 1 ? runInSavepoint(write) : run(write)) });
      // The flush may have failed since the transaction began.
      log.throwIfFailed();
      writer.exec("COMMIT");
      checkpoints.onCommit();
      settleWhenDurable(finished);
    } catch (error) {
      // SQLite rolls back by itself after some errors, such as a full disk.
      if (isWriting && writer.isOpen()) writer.exec("ROLLBACK");
      for (const write of writes) write.reject(error);
    } finally {
      isWriting = false;
    }
  }

  /** A commit survives the end of this process. Callers that need more are answered when it is on the disk. */
  function settleWhenDurable(finished: FinishedWrite[]): void {
    const needDisk = finished.filter(({ write }) => !write.isRepeatable);
    for (const { write, settle } of finished) if (write.isRepeatable) settle();
    if (needDisk.length === 0) return;
    log.flushed().then(
      () => needDisk.forEach(({ settle }) => settle()),
      (error: unknown) => needDisk.forEach(({ write }) => write.reject(error)),
    );
  }

  /** Runs one write; if it fails its changes are undone, and those of the others stay. */
  async function runInSavepoint(write: PendingWrite): Promise<() => void> {
    writer.exec("SAVEPOINT work");
    try {
      const settle = await run(write);
      writer.exec("RELEASE work");
      return settle;
    } catch (error) {
      writer.exec("ROLLBACK TO work; RELEASE work");
      return () => write.reject(error);
    }
  }

  async function run({ work, resolve }: PendingWrite): Promise<() => void> {
    const result = await work(transaction);
    return () => resolve(result);
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      if (turnAfterWrite) await turnAfterWrite;
      if (checkpoints.restart) await checkpoints.restart;
      const writes = waiting;
      waiting = [];
      await writeTogether(writes);
      turnAfterWrite = new Promise((resolve) => setImmediate(resolve)).then(() => void (turnAfterWrite = null));
    }
  }

  return {
    ...sqliteDialect,
    skipLocked: "",
    advisoryLocks: false,
    onDedicatedConnection: null,
    isSharded: async () => false,
    readers: 1,
    all: async (sql, params) => readingConnection().all(sql, params),
    background: { all: async (sql, params) => readingConnection().all(sql, params) },
    commitGroup: () => "",
    promotions: () => 0,
    ...onOneMachine,
    ...singleStatements,
    write: <T>(work: (tx: RowQuery) => Promise<T>, { isRepeatable = false } = {}) =>
      new Promise<T>((resolve, reject) => {
        if (isClosed) return reject(new Error("the store is closed"));
        waiting.push({ work, isRepeatable, resolve: resolve as PendingWrite["resolve"], reject });
        // Starts after the current task, so that other writes of this moment join the transaction.
        if (waiting.length === 1 && !isWriting) written = written.then(drain, drain);
      }),
    isDataError,
    isOwnError: (error) => isSqliteError(error) || error instanceof DatabaseMoved || error instanceof FlushFailed,
    close: async () => {
      isClosed = true;
      // The callers of the last write have received its error.
      await written.catch(() => {});
      await log.close();
      endReading();
      await checkpoints.close();
      reader.close();
      writer.close();
    },
  };
}

/**
 * Checkpoints what an earlier process left in the log, as far as no other process uses it, so that the log starts anew: parts
 * of it may never have reached the disk, and whatever is written behind such a gap would not be found after a power cut.
 */
function checkpointLeftovers(writer: Connection): void {
  try {
    writer.exec("PRAGMA wal_checkpoint(PASSIVE)");
  } catch {
    // The next write fails with the same error, such as a full disk.
  }
}

type PendingWrite = {
  work: (tx: RowQuery) => Promise<unknown>;
  isRepeatable: boolean;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
};

/** A write that has run. `settle` answers its caller. */
type FinishedWrite = { write: PendingWrite; settle: () => void };

type Connection = RowQuery & {
  exec(sql: string): void;
  /** Reads the mark of moveLock.ts. */
  moveMark(): number;
  /** Returns the number of pages in the log. */
  logPages(): number;
  /** True while a transaction is open. */
  isOpen(): boolean;
  close(): void;
};

function connect(file: string): Connection {
  const db = new DatabaseSync(file, { timeout: 10_000 });
  // NORMAL: SQLite itself makes its log durable before it checkpoints it, and createLogFlush() does after a commit.
  // secure_delete overwrites deleted rows with zeros, so that the file says nothing about an erased person.
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -32768; PRAGMA mmap_size = 268435456; PRAGMA temp_store = MEMORY;
    PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = 0; PRAGMA busy_timeout = ${blockingMs}`);
  const statements = new Map<string, StatementSync>();

  function prepare(sql: string): StatementSync {
    const known = statements.get(sql);
    if (known) return known;
    const statement = db.prepare(toSqliteParams(sql));
    statements.set(sql, statement);
    return statement;
  }

  let markQuery: StatementSync | undefined;
  let logQuery: StatementSync | undefined;

  return {
    logPages: () => Number((logQuery ??= db.prepare("PRAGMA wal_checkpoint(NOOP)")).get()?.log),
    moveMark: () => Number((markQuery ??= db.prepare("PRAGMA user_version")).get()?.user_version),
    // This is async in form only: it runs to its end at once, so that no other code gets between two statements.
    all: async (sql: string, params: readonly Value[] = []) => prepare(sql).all(...params) as Row[],
    change: async (statement, rows, first = []) => {
      const prepared = prepare(statement.forOne);
      return rows.map((row) => prepared.run(...first, ...row).changes > 0);
    },
    exec: (sql) => db.exec(sql),
    isOpen: () => db.isTransaction,
    close: () => db.close(),
  };
}
