// Checkpoints SQLite's write-ahead log in a thread of its own, so that the event loop never waits for the database's disk.
//
// SQLite's own way is to checkpoint inside a commit, which blocks the process for tens of milliseconds, or for seconds on a
// slow disk. Here no connection does that. When the log has grown, the thread copies it into the database while writing
// goes on. What was written meanwhile is little: for this rest the writer waits, asynchronously, until the thread has
// copied it, synced the database, and begun the log anew. The thread writes the first frame of the new log, because SQLite
// syncs the log's header then.
//
// A log cannot begin anew while a transaction reads from it. So during a backup it grows by what is written; afterwards it
// begins anew, and the file shrinks.

import { Worker } from "node:worker_threads";

/** The size of the log, in pages, at which it is checkpointed. */
const startPages = 4000;
/** The writer waits for at most so many pages to be copied, unless the log has grown beyond `maxPages`. */
const maxRestPages = 1000;
const maxPages = 40_000;
/** What was written during a copy is copied again, at most so often. */
const maxShortCopies = 4;
/** Measuring the log costs five microseconds, so not every commit does it. */
const measureEveryMs = 20;
/** The pause after a checkpoint that failed, or left the log as it was. */
const retryMs = 1000;
/** Without the thread, SQLite checkpoints inside a commit at this size. */
const autoCheckpointPages = 1000;

// This is a text because a file of its own would have to be found again after bundling.
const program = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { DatabaseSync } = require("node:sqlite");

  function connect() {
    // Waits this long for transactions that read from the log, while the writer waits for this thread.
    const db = new DatabaseSync(workerData, { timeout: 20 });
    db.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 33554432");
    return db;
  }

  const db = connect();
  /** They read from the log, so that no commit begins it anew: that one would have to wait for the disk. */
  let [guard, nextGuard] = [connect(), connect()];
  const endTransaction = (of, how) => of.isTransaction && of.exec(how);
  const checkpoint = (mode) => db.prepare("PRAGMA wal_checkpoint(" + mode + ")").get();

  /** Copies what a new guard sees. The guard before it goes then: only what the oldest one sees is copied. */
  function copyOnce() {
    nextGuard.exec("BEGIN; SELECT 1 FROM sqlite_schema");
    endTransaction(guard, "COMMIT");
    [guard, nextGuard] = [nextGuard, guard];
    checkpoint("PASSIVE");
    const { log, checkpointed } = checkpoint("NOOP");
    return { log, rest: log - checkpointed };
  }

  const work = {
    copy() {
      let { log, rest } = copyOnce();
      // SQLite syncs the database when no commit came during the copy, which is likely of a short one. Otherwise the writer would wait for it.
      for (let i = 0; i < ${maxShortCopies} && rest > 0; i += 1) ({ log, rest } = copyOnce());
      const isDone = rest <= ${maxRestPages} || log > ${maxPages};
      if (!isDone) endTransaction(guard, "COMMIT");
      return { isDone };
    },
    restart() {
      endTransaction(guard, "COMMIT");
      if (checkpoint("RESTART").busy) return { isDone: false };
      // Writes a page as it is: the first frame of the new log.
      db.exec("BEGIN IMMEDIATE");
      const { application_id: id } = db.prepare("PRAGMA application_id").get();
      db.exec("PRAGMA application_id = " + id + "; COMMIT");
      return { isDone: true };
    },
  };
  parentPort.on("message", (task) => {
    try {
      parentPort.postMessage(work[task]());
    } catch (error) {
      for (const one of [db, guard, nextGuard]) endTransaction(one, "ROLLBACK");
      parentPort.postMessage({ error: error.message, code: error.errcode ?? 0 });
    }
  });
`;

type Answer = { isDone?: boolean; error?: string; code?: number };

class CheckpointFailed extends Error {
  constructor(reason: string, consequence: string) {
    super(`The database's log could not be checkpointed (${reason}). ${consequence}`);
  }
}

type Checkpoints = {
  /** To be called after every commit, outside of a transaction. */
  onCommit(): void;
  /** While the log begins anew, the writer waits for this. */
  restart: Promise<unknown> | null;
  close(): Promise<void>;
};

type CheckpointOptions = {
  file: string;
  /** Returns the number of pages in the log. */
  measureLog: () => number;
  /** Lets the writing connection checkpoint by itself when its log has so many pages. */
  setAutoCheckpoint: (pages: number) => void;
  /** A sync of the database failed: what was copied may be lost, so only the log has it, and it must stay as it is. */
  onLost: (error: Error) => void;
  onDefect: (error: Error) => void;
  /** Another program for the thread, for tests. */
  threadProgram?: string | undefined;
};

export function createCheckpoints(options: CheckpointOptions): Checkpoints {
  const { file, measureLog, setAutoCheckpoint, onLost, onDefect, threadProgram = program } = options;
  let thread: Worker | null = null;
  let answer: ((answer: Answer) => void) | null = null;
  let isStopped = false;
  let isRunning = false;
  let isReported = false;
  let measureAt = 0;

  function start(): Worker {
    const started = new Worker(threadProgram, { eval: true, workerData: file, execArgv: [], stdout: false });
    started.on("message", (message: Answer) => {
      started.unref();
      answer?.(message);
    });
    started.on("error", (error) => stop(error.message));
    started.on("exit", () => stop("the thread ended"));
    return started;
  }

  /** The thread is gone. SQLite checkpoints inside commits from now on: slower, and as safe. */
  function stop(reason: string): void {
    answer?.({ error: reason });
    if (isStopped) return;
    isStopped = true;
    setAutoCheckpoint(autoCheckpointPages);
    onDefect(new CheckpointFailed(reason, "Until a restart, commits do it, which is slower."));
  }

  function ask(task: "copy" | "restart"): Promise<Answer> {
    if (isStopped) return Promise.resolve({});
    return new Promise((resolve) => {
      answer = resolve;
      thread ??= start();
      // Writes may wait for the answer, and the process with them.
      thread.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
      thread.postMessage(task);
    });
  }

  /** True when the log begins anew with the next commit. */
  async function checkpoint(): Promise<boolean> {
    // What the first pass leaves was written meanwhile, or a long transaction reads from the log.
    if (!isDone(await ask("copy")) && !isDone(await ask("copy"))) return false;
    const restarting = ask("restart");
    checkpoints.restart = restarting;
    await restarting;
    checkpoints.restart = null;
    return isDone(await restarting);
  }

  function isDone({ isDone: isSo = false, error, code = 0 }: Answer): boolean {
    // Busy: another process writes or checkpoints at this moment.
    if (error === undefined || isStopped || isBusyCode(code)) return isSo;
    const isLost = isSyncError(code);
    if (isLost) onLost(new Error(error));
    const consequence = isLost ? "Writes are refused until a restart." : "It grows until that succeeds.";
    throw new CheckpointFailed(error, consequence);
  }

  async function run(): Promise<void> {
    isRunning = true;
    try {
      const isRestarted = await checkpoint();
      measureAt = performance.now() + (isRestarted ? 0 : retryMs);
      isReported &&= !isRestarted;
    } catch (error) {
      measureAt = performance.now() + retryMs;
      if (!isReported) onDefect(error as Error);
      isReported = true;
    } finally {
      isRunning = false;
    }
  }

  const checkpoints: Checkpoints = {
    onCommit() {
      if (isRunning || isStopped || performance.now() < measureAt) return;
      measureAt = performance.now() + measureEveryMs;
      if (measureLog() >= startPages) void run();
    },
    restart: null,
    async close() {
      isStopped = true;
      await thread?.terminate();
    },
  };
  return checkpoints;
}

const isBusyCode = (code: number) => (code & 0xff) === 5;
/** SQLite's extended codes for a failed fsync of a file and of its folder. */
const isSyncError = (code: number) => code === 1034 || code === 1290;
