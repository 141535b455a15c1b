// Checkpoints SQLite's write-ahead log in a thread of its own.
//
// SQLite checkpoints by itself inside a commit, which then takes tens of milliseconds, or more on a slow disk; every event of
// that moment waits. That is fine for a database that is written to rarely. Under steady writing a second connection, in
// another thread, checkpoints once a second, and no commit waits. It never waits for writers either, so under full load the
// log may grow past its limit: then a commit checkpoints the little that is left.

import { Worker } from "node:worker_threads";

const everyMs = 1000;
/** This many commits within `everyMs` are steady writing. */
const minSteadyCommits = 50;

/** The size of the log, in pages, at which a commit checkpoints by itself: without the thread, and with it. */
export const autoCheckpointPages = 1000;
const threadCheckpointPages = 10_000;

// This is a text because a file of its own would have to be found again after bundling.
const program = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { DatabaseSync } = require("node:sqlite");
  const db = new DatabaseSync(workerData, { timeout: 0 });
  parentPort.on("message", () => {
    try { db.exec("PRAGMA wal_checkpoint(PASSIVE)"); } catch {}
    parentPort.postMessage("done");
  });
`;

export type Checkpoints = {
  /** To be called after every commit. */
  onCommit(): void;
  close(): Promise<void>;
};

/** `setMaxPages` sets the size of the log at which the writing connection checkpoints by itself. */
export function openCheckpoints(file: string, setMaxPages: (pages: number) => void): Checkpoints {
  let commits = 0;
  let isBusy = false;
  let worker: Worker | null = null;
  let timer: NodeJS.Timeout | null = null;

  function start(): Worker {
    const started = new Worker(program, { eval: true, workerData: file, execArgv: [], stdout: false });
    started.unref();
    started.on("message", () => (isBusy = false));
    // Without the thread SQLite checkpoints inside commits again.
    started.on("error", () => {
      worker = null;
      isBusy = false;
      setMaxPages(autoCheckpointPages);
    });
    setMaxPages(threadCheckpointPages);
    return started;
  }

  function checkpointIfSteady(): void {
    timer = null;
    const isSteady = commits >= minSteadyCommits;
    commits = 0;
    if (!isSteady || isBusy) return;
    worker ??= start();
    isBusy = true;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
    worker.postMessage("now");
  }

  return {
    onCommit() {
      commits += 1;
      timer ??= setTimeout(checkpointIfSteady, everyMs).unref();
    },
    async close() {
      if (timer) clearTimeout(timer);
      await worker?.terminate();
    },
  };
}
