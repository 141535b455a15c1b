// Translates the product's statements for PostgreSQL into statements of SQLite, which evaluates them, and finds the locks that
// PostgreSQL would take.

import type { Tables } from "./tables.ts";

export type Statement = {
  /** `server`: it asks about the server itself, or tells it something, and has nothing to do with rows. */
  kind: "begin" | "commit" | "rollback" | "query" | "server";
  sql: string;
  /** The command that PostgreSQL names in its answer. */
  command: string;
  /** Of SELECT … FOR UPDATE: the rows' table, and whether locked rows are left out. */
  lock: { table: string; isSkipping: boolean; keys: number } | null;
  /** Of an INSERT: what happens where the key exists. */
  onConflict: "fail" | "nothing" | "update" | null;
};

const control: Readonly<Record<string, Statement["kind"]>> = {
  BEGIN: "begin",
  COMMIT: "commit",
  ROLLBACK: "rollback",
};

const aboutServer =
  /current_setting\('transaction_read_only'\)|pg_walfile_name|pg_extension|pg_logical_emit_message|pg_cancel_backend|pg_stat_replication/;

const statementsOf = new WeakMap<Tables, Map<string, Statement>>();

export function createStatements(tables: Tables): (text: string) => Statement {
  const known = statementsOf.get(tables) ?? new Map<string, Statement>();
  statementsOf.set(tables, known);
  return (text) => {
    let statement = known.get(text);
    if (!statement) known.set(text, (statement = translate(tables, text)));
    return statement;
  };
}

function translate(tables: Tables, text: string): Statement {
  const trimmed = text.trim();
  const kind = control[trimmed] ?? (aboutServer.test(trimmed) ? "server" : "query");
  const command = /^\w+/.exec(trimmed)?.[0].toUpperCase() ?? "";
  const sql = replaceServerFunctions(trimmed);
  const none = { kind, command, lock: null, onConflict: null };
  if (/\bFOR UPDATE\b/.test(sql)) return { ...none, ...lockingSelect(tables, sql) };
  if (command !== "INSERT") return { ...none, sql };
  const isUpdating = /ON CONFLICT[^;]*DO UPDATE/.test(sql);
  const isIgnoring = /ON CONFLICT[^;]*DO NOTHING/.test(sql);
  return { ...none, sql, onConflict: isUpdating ? "update" : isIgnoring ? "nothing" : "fail" };
}

/** Functions and tables of the server that the product asks for. */
const replaceServerFunctions = (sql: string) =>
  sql
    .replaceAll("CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS double precision)", "simulation_clock()")
    .replace(
      /SELECT CAST\(attname AS text\) AS name FROM pg_attribute[^]*/,
      "SELECT name FROM pragma_table_info($1) ORDER BY cid",
    );

/**
 * The keys of the rows are selected too, in front, so that the rows can be locked. With SKIP LOCKED, rows that others hold are
 * left out before the limit counts.
 */
function lockingSelect(tables: Tables, sql: string): Pick<Statement, "sql" | "lock"> {
  const isSkipping = /FOR UPDATE SKIP LOCKED\s*$/.test(sql);
  const plain = sql.replace(/FOR UPDATE(?: SKIP LOCKED)?\s*$/, "");
  const parts = /^SELECT ([^]*?) FROM (\w+)\s+WHERE ([^]*?)(\s+ORDER BY [^]*|\s+LIMIT [^]*|\s*)$/.exec(plain);
  if (!parts) throw new Error(`not simulated: ${sql}`);
  const [, columns, table = "", where, rest] = parts;
  const { key, columns: names } = tables.table(table);
  const keys = key.map((at, i) => `"${names[at]}" AS simulation_key_${i}`).join(", ");
  const isFree = `simulation_is_free('${table}', ${key.map((at) => `"${names[at]}"`).join(", ")})`;
  const condition = isSkipping ? `(${where}) AND ${isFree}` : where;
  return {
    sql: `SELECT ${keys}, ${columns} FROM ${table} WHERE ${condition}${rest}`,
    lock: { table, isSkipping, keys: key.length },
  };
}
