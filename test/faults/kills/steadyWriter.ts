// Writes numbered texts to 100 rows in turn, without a pause, until it is killed. Prints each number when it is durable. The
// texts are long, so that the log is checkpointed several times a second.

import { connectSqlite } from "../../../src/store/engine/sqlite/engine.ts";

const db = connectSqlite(process.argv[2] ?? "");
await db.write((tx) =>
  tx.all(`CREATE TABLE IF NOT EXISTS lines (slot integer NOT NULL PRIMARY KEY, n integer NOT NULL, text text NOT NULL)`),
);
const [row] = await db.all(`SELECT COALESCE(MAX(n), 0) AS n FROM lines`);

for (let n = Number(row?.n); ;) {
  const some = Array.from({ length: 8 }, () => (n += 1));
  await Promise.all(
    some.map(async (one) => {
      await db.write((tx) =>
        tx.all(`INSERT OR REPLACE INTO lines VALUES ($1, $2, $3)`, [one % 100, one, `${one} `.repeat(10_000)]),
      );
      process.stdout.write(`${one}\n`);
    }),
  );
}
