import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { freshFolder } from "../../../../test/support/databases.ts";
import { openSqlite } from "./engine.ts";

test("under steady writing the log stays small, and after closing the file has every row and is intact", async () => {
  const file = `${freshFolder()}/steady.db`;
  const db = openSqlite(file);
  await db.write((tx) => tx.all(`CREATE TABLE lines (n integer NOT NULL PRIMARY KEY, text text NOT NULL)`));
  let written = 0;
  let largest = 0;
  for (const end = performance.now() + 1500; performance.now() < end; written += 1) {
    await db.write((tx) => tx.all(`INSERT INTO lines VALUES ($1, $2)`, [written, "x".repeat(3000)]));
    largest = Math.max(largest, statSync(`${file}-wal`).size);
    if (written % 20 === 0) await sleep(1);
  }
  expect(written).toBeGreaterThan(100);
  expect(await db.all(`SELECT COUNT(*) AS n FROM lines`)).toEqual([{ n: written }]);
  // A log of all commits would be far larger.
  expect(largest).toBeLessThan(Math.max(10_500 * 4200, written * 3000));
  await db.close();
  const again = new DatabaseSync(file);
  expect(again.prepare(`SELECT COUNT(*) AS n FROM lines`).get()).toEqual({ n: written });
  expect(again.prepare(`PRAGMA integrity_check`).get()).toEqual({ integrity_check: "ok" });
  again.close();
});
