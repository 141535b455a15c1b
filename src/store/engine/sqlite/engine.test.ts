// Promises of the embedded engine, in which all callers share one connection.

import { DatabaseSync } from "node:sqlite";
import { writeFileSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { freshFolder } from "../../../../test/support/databases.ts";
import { rowStatement } from "../database.ts";
import { connectSqlite } from "./engine.ts";

const put = rowStatement({ text: `INSERT INTO lines (n) VALUES {ROWS}`, columns: 1 });

async function opened(file = `${freshFolder()}/test.db`) {
  const db = connectSqlite(file);
  await db.write((tx) => tx.all(`CREATE TABLE IF NOT EXISTS lines (n integer NOT NULL PRIMARY KEY)`));
  const lines = async () => (await db.all(`SELECT n FROM lines ORDER BY n`)).map((row) => row.n);
  const write = (...numbers: number[]) =>
    db.write((tx) =>
      tx.change(
        put,
        numbers.map((n) => [n]),
      ),
    );
  return { file, db, lines, write };
}

describe("writes of one moment", () => {
  test("concurrent writes share a transaction, and one that fails does not fail the others", async () => {
    const { db, lines, write } = await opened();
    const failed = db.write(async (tx) => {
      await tx.change(put, [[100]]);
      throw new Error("on purpose");
    });
    const done = await Promise.allSettled([write(1), failed, write(2), write(1), write(3)]);
    expect(done.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected", "fulfilled"]);
    expect(await lines()).toEqual([1, 2, 3]);
    await db.close();
  });

  test("a turn of the event loop has one transaction, and what arrives until the next shares that", async () => {
    const { db } = await opened();
    let turn = 0;
    let isOver = false;
    const countTurns = () => setImmediate(() => (isOver ? undefined : ((turn += 1), countTurns())));
    countTurns();
    const turns: number[] = [];
    const note = async () => void turns.push(turn);
    const writeSome = async () => {
      for (let n = 0; n < 8; n += 1) await db.write(note, { isRepeatable: true });
    };
    await Promise.all([writeSome(), writeSome()]);
    isOver = true;
    expect(turns).toHaveLength(16);
    expect(new Set(turns).size).toBe(8);
    await db.close();
  });

  test("a write is invisible to readers before its commit, and visible after it", async () => {
    const { db, lines, write } = await opened();
    let during: unknown;
    await db.write(async (tx) => {
      await tx.change(put, [[1]]);
      during = await lines();
    });
    expect(during).toEqual([]);
    expect(await lines()).toEqual([1]);
    await write(2);
    expect(await lines()).toEqual([1, 2]);
    await db.close();
  });

  test("a write never goes on after SQLite has ended its transaction", async () => {
    const { db, lines, write } = await opened();
    await write(1);
    const swallowing = db.write(async (tx) => {
      await tx.all(`INSERT OR ROLLBACK INTO lines (n) VALUES (1)`).catch(() => {});
      await tx.change(put, [[7]]);
    });
    await expect(Promise.all([swallowing, write(2)])).rejects.toThrow();
    expect(await lines()).toEqual([1]);
    await write(3);
    expect(await lines()).toEqual([1, 3]);
    await db.close();
  });

  test("a write after close is refused at once", async () => {
    const { db, write } = await opened();
    await db.close();
    await expect(write(1)).rejects.toThrow("closed");
  });
});

test("while another process writes, this one waits without blocking", async () => {
  const { file, db, lines, write } = await opened();
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE; INSERT INTO lines (n) VALUES (50)");
  let ticks = 0;
  const ticking = setInterval(() => (ticks += 1), 5);
  const waiting = write(1);
  await vi.waitFor(() => expect(ticks).toBeGreaterThan(5), 60_000);
  expect(await lines()).toEqual([]);
  other.exec("COMMIT");
  other.close();
  await waiting;
  clearInterval(ticking);
  expect(await lines()).toEqual([1, 50]);
  await db.close();
});

test("a damaged page fails only the read of that page", async () => {
  const { file, db } = await opened();
  await db.write((tx) => tx.all(`CREATE TABLE other (n integer NOT NULL PRIMARY KEY, text text)`));
  await db.write((tx) => tx.all(`INSERT INTO other VALUES (1, 'x')`));
  const [row] = await db.all(`SELECT rootpage FROM sqlite_schema WHERE name = 'other'`);
  await db.close();
  const bytes = readFileSync(file);
  bytes.fill(0xff, (Number(row?.rootpage) - 1) * 4096, Number(row?.rootpage) * 4096);
  writeFileSync(file, bytes);

  const again = await opened(file);
  await expect(again.db.all(`SELECT * FROM other`)).rejects.toThrow();
  await sleep(5);
  await again.write(1);
  expect(await again.lines()).toEqual([1]);
  await expect(again.db.all(`SELECT * FROM other`)).rejects.toThrow();
  await again.db.close();
});
