// Carries what was committed from SQLite's log into its file, in a thread of its own.
//
// SQLite does this by itself at some commit, which then takes tens of milliseconds, or more where the disk is slow; every
// event of that moment waits. A database that is written to rarely is left to do so. Under steady writing a second
// connection, in another thread, carries over what there is once a second, and nobody waits. It never waits for
// writers either, so under full load the log may outgrow it: then the commit does the little that is left.

import { Worker } from "node:worker_threads";

const everyMs = 1000;
/** So many commits in that time are steady writing. */
const steady = 50;

/** How many pages the log may have before a commit carries them over itself. */
export const pagesAlone = 1000;
const pagesBeside = 10_000;

// As text: a file of its own would have to be found again after bundling.
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
  committed(): void;
  close(): Promise<void>;
};

/** `allow` sets how many pages the writing connection lets the log grow to. */
export function openCheckpoints(file: string, allow: (pages: number) => void): Checkpoints {
  let commits = 0;
  let isBusy = false;
  let worker: Worker | null = null;
  let timer: NodeJS.Timeout | null = null;

  function start(): Worker {
    const started = new Worker(program, { eval: true, workerData: file, execArgv: [], stdout: false });
    started.unref();
    started.on("message", () => (isBusy = false));
    // Without it SQLite does as it always did.
    started.on("error", () => {
      worker = null;
      isBusy = false;
      allow(pagesAlone);
    });
    allow(pagesBeside);
    return started;
  }

  function look(): void {
    timer = null;
    const isSteady = commits >= steady;
    commits = 0;
    if (!isSteady || isBusy) return;
    worker ??= start();
    isBusy = true;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
    worker.postMessage("now");
  }

  return {
    committed() {
      commits += 1;
      timer ??= setTimeout(look, everyMs).unref();
    },
    async close() {
      if (timer) clearTimeout(timer);
      await worker?.terminate();
    },
  };
}
