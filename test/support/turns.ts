// Counts the rows that are read in one turn of the event loop: in the embedded database, the thread that accepts events reads them.

import { connectDatabase, type StoreLocation } from "../../src/store/connect.ts";
import type { Database } from "../../src/store/engine/database.ts";

/** Returns the most rows that a turn read while `work` went on. */
export async function maxRowsOfTurn(location: StoreLocation, work: (db: Database) => Promise<unknown>): Promise<number> {
  const opened = connectDatabase(location);
  let [rows, max] = [0, 0];
  let isOver = false;
  const nextTurn = () => {
    max = Math.max(max, rows);
    rows = 0;
    if (!isOver) setImmediate(nextTurn);
  };
  setImmediate(nextTurn);
  const db: Database = {
    ...opened,
    async all(sql, params) {
      const found = await opened.all(sql, params);
      rows += found.length;
      return found;
    },
  };
  try {
    await work(db);
    return Math.max(max, rows);
  } finally {
    isOver = true;
    await opened.close();
  }
}
