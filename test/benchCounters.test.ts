// The counters behind docs/explanation/benchmarks.md count what happened.

import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { countAllocations } from "../bench/support/allocations.ts";
import { logCounter, readEveryMs } from "../bench/support/counters.ts";

/** Writes the same rows, and returns the bytes of the log by our count and, if it never starts anew, by its size. */
async function writeLog(autoCheckpointPages: number): Promise<{ counted: number; size: number }> {
  const folder = mkdtempSync(join(tmpdir(), "cleancast-log-"));
  const file = join(folder, "a.db");
  const db = new DatabaseSync(file);
  db.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = ${autoCheckpointPages};
     CREATE TABLE rows (id integer PRIMARY KEY, text blob); PRAGMA wal_checkpoint(TRUNCATE); DELETE FROM rows`,
  );
  const insert = db.prepare("INSERT INTO rows (text) VALUES (zeroblob(3000))");
  // The log exists from the first row on.
  insert.run();
  const before = statSync(`${file}-wal`).size;
  const end = await logCounter(file)();
  for (let i = 0; i < 3000; i++) {
    insert.run();
    // The counter reads in between, however slow the machine is.
    if (i % 300 === 0) await sleep(2 * readEveryMs);
  }
  const { walBytes = Number.NaN } = await end();
  const size = statSync(`${file}-wal`).size - before;
  db.close();
  rmSync(folder, { recursive: true });
  return { counted: walBytes, size };
}

test("the log counter counts every frame, also when the log starts anew between two readings", async () => {
  const growing = await writeLog(0);
  expect(growing.counted).toBe(growing.size);
  const restarting = await writeLog(1000);
  expect(restarting.size).toBeLessThan(growing.size / 2);
  // A page that a checkpoint has moved to the database is written to the log again, or not: the counts differ by little.
  expect(Math.abs(restarting.counted / growing.counted - 1)).toBeLessThan(0.01);
});

test("allocations are counted across garbage collections", () => {
  const [arrays, numbers] = [50_000, 200];
  const copied = Array.from({ length: numbers }, (_, i) => i);
  let kept: number[][] = [];
  countAllocations("begin");
  for (let i = 0; i < arrays; i++) {
    kept.push(copied.slice());
    if (kept.length > 100) kept = [];
  }
  const ratio = countAllocations("end") / (arrays * numbers * 8);
  // Each array has a header too. All of it together is many times the space for young objects.
  expect(ratio).toBeGreaterThan(1);
  expect(ratio).toBeLessThan(1.3);
});
