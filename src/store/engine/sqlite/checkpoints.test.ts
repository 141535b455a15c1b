// Checkpoints of the embedded engine run beside the writer. The number of times that a log began anew is in its header.

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { freshFolder } from "../../../../test/support/databases.ts";
import { connectSqlite, type SqliteOptions } from "./engine.ts";

const pageSize = 4096;
/** A row that fills this many pages. */
const pagesOfRow = 20;

async function createLines(options: SqliteOptions = {}) {
  const file = `${freshFolder()}/test.db`;
  const db = connectSqlite(file, options);
  await db.write((tx) => tx.all(`CREATE TABLE lines (n integer NOT NULL PRIMARY KEY, text text NOT NULL)`));
  let isOpen = true;
  let written = 0;
  const write = () =>
    db.write((tx) => tx.all(`INSERT INTO lines VALUES ($1, $2)`, [(written += 1), "x".repeat(pagesOfRow * pageSize)]));
  const close = async () => {
    if (isOpen) await db.close();
    isOpen = false;
  };
  onTestFinished(close);
  return {
    db,
    file,
    write,
    close,
    written: () => written,
    logSize: () => statSync(`${file}-wal`).size,
    /** How many logs there were before the present one. */
    restarts: () => readHeader(`${file}-wal`).readUInt32BE(12),
    autoCheckpoint: async () => (await db.all(`PRAGMA wal_autocheckpoint`))[0]?.wal_autocheckpoint,
  };
}

function readHeader(log: string): Buffer {
  const header = Buffer.alloc(32);
  const opened = openSync(log, "r");
  readSync(opened, header, 0, header.length, 0);
  closeSync(opened);
  return header;
}

/** Reads the file as another program does, after the store was closed. */
function readClosed(file: string) {
  const db = new DatabaseSync(file);
  const { n } = db.prepare(`SELECT COUNT(*) AS n FROM lines`).get() as { n: number };
  const { integrity_check: state } = db.prepare(`PRAGMA integrity_check`).get() as {
    integrity_check: string;
  };
  db.close();
  return { n, state };
}

test("under permanent writing the log begins anew again and again, and no commit checkpoints it", async () => {
  const lines = await createLines();
  const before = lines.restarts();
  // Without a pause: whenever one write has ended, the next one waits already.
  while (lines.restarts() < before + 3) await Promise.all([lines.write(), lines.write()]);
  expect(await lines.autoCheckpoint()).toBe(0);
  const written = lines.written();
  await lines.close();
  expect(readClosed(lines.file)).toEqual({ n: written, state: "ok" });
});

test("while another program reads one moment of the database the log grows, and afterwards it shrinks", async () => {
  const lines = await createLines();
  const reading = new DatabaseSync(lines.file, { readOnly: true });
  reading.exec(`BEGIN`);
  expect(reading.prepare(`SELECT COUNT(*) AS n FROM lines`).get()).toEqual({ n: 0 });
  const before = lines.restarts();
  while (lines.written() < 700) await lines.write();
  const grown = lines.logSize();
  expect([lines.restarts(), grown > 700 * pagesOfRow * pageSize]).toEqual([before, true]);
  expect(reading.prepare(`SELECT COUNT(*) AS n FROM lines`).get()).toEqual({ n: 0 });
  reading.close();
  while (lines.restarts() === before) {
    await lines.write();
    await sleep(50);
  }
  await expect.poll(lines.logSize).toBeLessThan(grown);
  const written = lines.written();
  await lines.close();
  expect(readClosed(lines.file)).toEqual({ n: written, state: "ok" });
});

test("a checkpoint thread that dies is reported once, and commits checkpoint from then on", async () => {
  const defects: string[] = [];
  const lines = await createLines({
    onDefect: ({ message }) => defects.push(message),
    checkpointProgram: `throw new Error("no memory")`,
  });
  while (defects.length === 0) await lines.write();
  expect(await lines.autoCheckpoint()).toBe(1000);
  const before = lines.restarts();
  const end = lines.written() + 200;
  while (lines.written() < end) await lines.write();
  expect(defects).toEqual([
    "The database's log could not be checkpointed (no memory). Until a restart, commits do it, which is slower.",
  ]);
  expect(lines.restarts()).toBeGreaterThan(before);
  await lines.close();
  expect(readClosed(lines.file)).toEqual({ n: end, state: "ok" });
});

/** The thread answers every task with this error. */
const failing = (error: string, code: number) =>
  `const { parentPort } = require("node:worker_threads");
   parentPort.on("message", () => parentPort.postMessage(${JSON.stringify({ error, code })}));`;

test("a full disk is reported once, and writing goes on while the log has space", async () => {
  const defects: string[] = [];
  const lines = await createLines({
    onDefect: ({ message }) => defects.push(message),
    checkpointProgram: failing("database or disk is full", 13),
  });
  while (defects.length === 0) await lines.write();
  const since = performance.now();
  while (performance.now() - since < 1200) {
    await lines.write();
    await sleep(10);
  }
  expect(defects).toEqual([
    "The database's log could not be checkpointed (database or disk is full). It grows until that succeeds.",
  ]);
  expect(await lines.db.all(`SELECT COUNT(*) AS n FROM lines`)).toEqual([{ n: lines.written() }]);
});

test("after a sync of the database that failed every write is refused", async () => {
  const defects: string[] = [];
  const lines = await createLines({
    onDefect: ({ message }) => defects.push(message),
    checkpointProgram: failing("disk I/O error", 1034),
  });
  await expect(
    (async () => {
      for (;;) await lines.write();
    })(),
  ).rejects.toThrow("Writes are refused until a restart.");
  await expect(lines.write()).rejects.toThrow("disk I/O error");
  expect(defects).toHaveLength(1);
});
