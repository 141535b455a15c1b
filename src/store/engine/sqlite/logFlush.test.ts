// Writes of the embedded engine are answered when they are durable. The disk here answers only when the test lets it.

import { existsSync, symlinkSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { freshFolder } from "../../../../test/support/databases.ts";
import { connectSqlite } from "./engine.ts";

async function onSlowDisk() {
  const flushes: PromiseWithResolvers<void>[] = [];
  let isReady = false;
  const db = connectSqlite(`${freshFolder()}/test.db`, {
    flush: async () => {
      if (!isReady) return;
      const flush = Promise.withResolvers<void>();
      flushes.push(flush);
      await flush.promise;
    },
  });
  await db.write((tx) => tx.all(`CREATE TABLE lines (n integer NOT NULL PRIMARY KEY)`));
  isReady = true;
  const results: string[] = [];
  /** Records the outcome in `results`. */
  function write(n: number, options?: { isRepeatable: boolean }): Promise<unknown> {
    const insert = db.write((tx) => tx.all(`INSERT INTO lines (n) VALUES ($1)`, [n]), options);
    return insert.then(
      () => results.push(`${n} is safe`),
      (error: Error) => results.push(`${n}: ${error.message}`),
    );
  }
  const isThere = async (n: number) => expect.poll(() => db.all(`SELECT n FROM lines WHERE n = $1`, [n])).toHaveLength(1);
  onTestFinished(async () => {
    isReady = false;
    for (const one of flushes) one.resolve();
    await db.close();
  });
  return { db, flushes, results, write, isThere };
}

test("a write is answered when it is on the disk, and others run meanwhile", async () => {
  const { flushes, results, write, isThere } = await onSlowDisk();
  const first = write(1);
  await isThere(1);
  const second = write(2);
  await isThere(2);
  const third = write(3);
  await isThere(3);
  expect([results, flushes.length]).toEqual([[], 1]);

  // The first flush began before the second write: it does not cover that write.
  flushes[0]?.resolve();
  await first;
  await expect.poll(() => flushes.length).toBe(2);
  expect(results).toEqual(["1 is safe"]);

  flushes[1]?.resolve();
  await Promise.all([second, third]);
  expect([results, flushes.length]).toEqual([["1 is safe", "2 is safe", "3 is safe"], 2]);
});

test("a repeatable write does not wait for the disk, not even together with one that does", async () => {
  const { flushes, results, write } = await onSlowDisk();
  await write(1, { isRepeatable: true });
  expect([results, flushes.length]).toEqual([["1 is safe"], 0]);

  const lasting = write(2);
  await write(3, { isRepeatable: true });
  expect([results, flushes.length]).toEqual([["1 is safe", "3 is safe"], 1]);
  flushes[0]?.resolve();
  await lasting;
  expect(results.at(-1)).toBe("2 is safe");
});

test("after a failed flush every write is refused", async () => {
  const { db, flushes, results, write } = await onSlowDisk();
  const first = write(1);
  await expect.poll(() => flushes.length).toBe(1);
  const second = write(2);
  flushes[0]?.reject(new Error("EIO: i/o error, fdatasync"));
  await Promise.all([first, second]);
  await write(3);
  await write(4, { isRepeatable: true });
  const failed = "Data could not be written to the disk (EIO: i/o error, fdatasync).";
  expect(results).toEqual([1, 2, 3, 4].map((n) => expect.stringContaining(`${n}: ${failed}`)));
  expect(flushes).toHaveLength(1);
  const error: unknown = await db.write((tx) => tx.all(`SELECT 1`)).catch((thrown: unknown) => thrown);
  expect([db.isOwnError(error), db.isDataError(error)]).toEqual([true, false]);
});

test("closing waits for the disk, and leaves no log behind", async () => {
  const file = `${freshFolder()}/test.db`;
  const flush = Promise.withResolvers<void>();
  const order: string[] = [];
  const db = connectSqlite(file, { flush: () => flush.promise });
  const written = db.write((tx) => tx.all(`CREATE TABLE lines (n integer NOT NULL)`)).then(() => order.push("written"));
  await expect.poll(() => existsSync(`${file}-wal`)).toBe(true);
  const closed = db.close().then(() => order.push("closed"));
  flush.resolve();
  await Promise.all([written, closed]);
  expect(order).toEqual(["written", "closed"]);
  expect(existsSync(`${file}-wal`)).toBe(false);
});

test("a database behind a link can be written, and closing it twice is an error", async () => {
  const folder = freshFolder();
  await connectSqlite(`${folder}/real.db`).close();
  symlinkSync(`${folder}/real.db`, `${folder}/link.db`);
  const db = connectSqlite(`${folder}/link.db`);
  await db.write((tx) => tx.all(`CREATE TABLE lines (n integer NOT NULL)`));
  expect(existsSync(`${folder}/real.db-wal`)).toBe(true);
  await db.close();
  await expect(db.close()).rejects.toThrow("not open");
});

test("the next start checkpoints the log that another process left behind", async () => {
  const folder = freshFolder();
  const gone = new DatabaseSync(`${folder}/test.db`);
  gone.exec(`PRAGMA journal_mode = WAL; CREATE TABLE lines (n integer NOT NULL)`);
  gone.exec(`INSERT INTO lines (n) VALUES (1)`);
  const db = connectSqlite(`${folder}/test.db`);
  // `log` counts the frames of the log, `checkpointed` those that the database file has, too.
  const [log] = await db.all(`PRAGMA wal_checkpoint(NOOP)`);
  expect(log).toMatchObject({ busy: 0, log: log?.checkpointed });
  expect(Number(log?.log)).toBeGreaterThan(0);
  await db.close();
  gone.close();
});
