import type { Dialect } from "../database.ts";

export const sqliteDialect: Dialect = {
  engine: "sqlite",
  isServer: false,
  forUpdate: "",
  compactTable: "WITHOUT ROWID",
  serverClock: "NULL",
  columnNames: `SELECT name FROM pragma_table_info($1) ORDER BY cid`,
};

/** SQLite spells PostgreSQL's `$1` as `?1`. */
export const toSqliteParams = (sql: string) => sql.replace(/\$(\d+)/g, "?$1");
