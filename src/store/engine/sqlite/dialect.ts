import type { DatabaseSync } from "node:sqlite";
import type { Dialect, Query, Row } from "../database.ts";

export const sqliteDialect: Dialect = {
  engine: "sqlite",
  isServer: false,
  forUpdate: "",
  compactTable: "WITHOUT ROWID",
  serverClock: "NULL",
  columnNames: `SELECT name FROM pragma_table_info($1) ORDER BY cid`,
};

/**
 * SQLite spells PostgreSQL's `$1` as `?1`. It would compile a statement anew whenever another limit is bound, to suit the plan to it,
 * which takes longer than most statements run; a sum hides the limit from the planner.
 */
export const toSqliteParams = (sql: string) => sql.replace(/\bLIMIT (?=\$)/g, "LIMIT 0 + ").replace(/\$(\d+)/g, "?$1");

/** Lets an open file be queried like any database. */
export const queryOn = (db: DatabaseSync): Query & Dialect => ({
  ...sqliteDialect,
  all: async (sql, params = []) => db.prepare(toSqliteParams(sql)).all(...params) as Row[],
});
