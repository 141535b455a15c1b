// The embedded engine: one file, one connection that writes, and one for what is read while it does.
//
// A connection keeps the pages that it read until another one writes. So what is read goes through the connection that
// writes, whose pages stay good; only while it writes does the other one answer, which sees what was committed before.
// What is read in one turn of the event loop shares a transaction, because taking its locks costs as much as reading a row.

import { realpathSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { openCheckpoints, pagesAlone } from "./checkpoints.ts";
import type { Database, Row, RowQuery, Value } from "../database.ts";
import { NotOnDisk, openLogSync, type Flush } from "./logFlush.ts";
import { Moved, refuseIfMoved } from "../../maintenance/moveLock.ts";

/** SQLite's primary result codes for "this value is not acceptable": too big, constraint, mismatch, range. */
const dataFaults = new Set([18, 19, 20, 25]);

/** How long another process may write before this one gives up. */
const lockPatienceMs = 10_000;
/** So long SQLite itself waits for a lock, and the whole process with it. */
const busyMs = 20;

export function openSqlite(file: string, flush?: Flush): Database {
  const writer = connect(file);
  const reader = connect(file);
  const checkpoints = openCheckpoints(file, (pages) => writer.exec(`PRAGMA wal_autocheckpoint = ${pages}`));
  let waiting: Waiting[] = [];
  let isWriting = false;
  let isReading = false;
  let isClosed = false;
  let written: Promise<void> = Promise.resolve();
  // Where the file is a link, the log lies beside what it leads to.
  const log = openLogSync(`${realpathSync(file)}-wal`, flush);
  carryOver(writer);

  function whereToRead(): Connection {
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
    // After a damaged page, for one, there is nothing to commit. Whoever read it has heard of it.
    try {
      if (writer.isOpen()) writer.exec("COMMIT");
    } catch {
      if (writer.isOpen()) writer.exec("ROLLBACK");
    }
  }

  /** Waits for another process that writes, and does not hold up this one meanwhile. */
  async function begin(): Promise<void> {
    for (const end = performance.now() + lockPatienceMs; ;) {
      endReading();
      try {
        // IMMEDIATE takes the write lock at once: a later upgrade could fail half way beside another process.
        writer.exec("BEGIN IMMEDIATE");
        isWriting = true;
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() > end) throw error;
        await sleep(10);
      }
    }
  }

  /** What a work sees of the writing connection. After an error that ended the transaction it must not write alone. */
  const inside: RowQuery = {
    all: (sql, params) => openWriter().all(sql, params),
    change: (statement, rows, first) => openWriter().change(statement, rows, first),
  };

  function openWriter(): Connection {
    if (!writer.isOpen()) throw new Error("the transaction has ended");
    return writer;
  }

  /** All that waits, in one transaction: what is to be written at one moment shares its fsync. */
  async function writeTogether(works: Waiting[]): Promise<void> {
    try {
      log.refuseIfBroken();
      await begin();
      refuseIfMoved(writer.mark(), Date.now());
      const ended: Ended[] = [];
      for (const one of works) ended.push({ one, tell: await (works.length > 1 ? attempt(one) : run(one)) });
      // It may have been begun before that was known.
      log.refuseIfBroken();
      writer.exec("COMMIT");
      checkpoints.committed();
      tellWhenSafe(ended);
    } catch (error) {
      // A full disk, for one, makes SQLite roll back by itself.
      if (isWriting && writer.isOpen()) writer.exec("ROLLBACK");
      for (const one of works) one.reject(error);
    } finally {
      isWriting = false;
    }
  }

  /** What is committed survives the end of this process. Who needs more than that hears when the disk has it. */
  function tellWhenSafe(ended: Ended[]): void {
    const needDisk = ended.filter(({ one }) => !one.isRepeatable);
    for (const { one, tell } of ended) if (one.isRepeatable) tell();
    if (needDisk.length === 0) return;
    log.synced().then(
      () => needDisk.forEach(({ tell }) => tell()),
      (error: unknown) => needDisk.forEach(({ one }) => one.reject(error)),
    );
  }

  /** One piece of work; what it wrote is undone when it fails, and what the others wrote stays. */
  async function attempt(one: Waiting): Promise<() => void> {
    writer.exec("SAVEPOINT work");
    try {
      const tell = await run(one);
      writer.exec("RELEASE work");
      return tell;
    } catch (error) {
      writer.exec("ROLLBACK TO work; RELEASE work");
      return () => one.reject(error);
    }
  }

  async function run({ work, resolve }: Waiting): Promise<() => void> {
    const result = await work(inside);
    return () => resolve(result);
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const works = waiting;
      waiting = [];
      await writeTogether(works);
    }
  }

  return {
    engine: "sqlite",
    skipLocked: "",
    advisoryLocks: false,
    alone: null,
    isSharded: async () => false,
    all: async (sql, params) => whereToRead().all(sql, params),
    commitGroup: () => "",
    write: <T>(work: (tx: RowQuery) => Promise<T>, { isRepeatable = false } = {}) =>
      new Promise<T>((resolve, reject) => {
        if (isClosed) return reject(new Error("the store is closed"));
        waiting.push({ work, isRepeatable, resolve: resolve as Waiting["resolve"], reject });
        // Begun when the work at hand is done: what else wants to write at this moment comes along.
        if (waiting.length === 1 && !isWriting) written = written.then(drain, drain);
      }),
    blamesData: (error) =>
      error instanceof Error && "errcode" in error && dataFaults.has(Number(error.errcode) & 0xff),
    isOwnError: (error) =>
      error instanceof Error && ("errcode" in error || error instanceof Moved || error instanceof NotOnDisk),
    close: async () => {
      isClosed = true;
      // Without a care for how the last one went: whoever wanted it has heard.
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
 * What an earlier process left in the log goes into the file, as far as nobody else uses it, and the log begins anew: parts of
 * it may never have reached the disk, and nothing that is written behind such a gap would be found after a power cut.
 */
function carryOver(writer: Connection): void {
  try {
    writer.exec("PRAGMA wal_checkpoint(PASSIVE)");
  } catch {
    // A full disk, for one. Whoever writes will hear of it.
  }
}

/** SQLITE_BUSY. */
const isBusy = (error: unknown) =>
  error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === 5;

type Waiting = {
  work: (tx: RowQuery) => Promise<unknown>;
  isRepeatable: boolean;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
};

/** A piece of work that has run, and how its outcome is told. */
type Ended = { one: Waiting; tell: () => void };

type Connection = RowQuery & {
  exec(sql: string): void;
  /** See moved.ts. */
  mark(): number;
  /** Is a transaction open? */
  isOpen(): boolean;
  close(): void;
};

function connect(file: string): Connection {
  const db = new DatabaseSync(file, { timeout: 10_000 });
  // NORMAL: SQLite itself makes its log durable before it carries it over, and openLogSync() does after a commit.
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -32768; PRAGMA mmap_size = 268435456; PRAGMA temp_store = MEMORY;
    PRAGMA wal_autocheckpoint = ${pagesAlone}; PRAGMA busy_timeout = ${busyMs}`);
  const statements = new Map<string, StatementSync>();

  function prepare(sql: string): StatementSync {
    const known = statements.get(sql);
    if (known) return known;
    // `$1` is PostgreSQL's spelling; SQLite calls the same thing `?1`.
    const statement = db.prepare(sql.replace(/\$(\d+)/g, "?$1"));
    statements.set(sql, statement);
    return statement;
  }

  let markQuery: StatementSync | undefined;

  return {
    mark: () => Number((markQuery ??= db.prepare("PRAGMA user_version")).get()?.user_version),
    // Async in form only: it runs to its end at once, so that no other code gets between two statements.
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
