// A table of the embedded database and the same table on PostgreSQL, compared and copied a range of keys at a time.
//
// Keys are ordered by their bytes on both sides. PostgreSQL may order texts by a language; then the copy brings an index
// of its own, which goes when the copy is done.

import { hash } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { rowStatement, type Database, type Query, type Row, type RowQuery, type Value } from "./database.ts";
import { isCitus, oneAfterTheOther } from "./distribute.ts";
import { tablesAt } from "./tables.ts";

export type Key = readonly (string | number)[];
/** The keys after one and up to another; null is before the first, or after the last. */
export type Range = { after: Key | null; end: Key | null };
/** A row, as the values of the table's columns. */
export type Line = readonly Value[];
export type Table = {
  name: string;
  columns: readonly string[];
  key: readonly string[];
  textKey: readonly string[];
};

/** Order of keys as both databases see it. */
export function compareKeys(one: Key, other: Key): number {
  for (const [i, value] of one.entries()) {
    const against = other[i] as string | number;
    if (value === against) continue;
    if (typeof value === "number") return value < Number(against) ? -1 : 1;
    return Buffer.compare(Buffer.from(value), Buffer.from(String(against)));
  }
  return 0;
}

export function readTable(db: DatabaseSync, name: string): Table {
  const columns = db.prepare(`SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid`).all(name);
  const key = columns
    .filter((column) => Number(column.pk) > 0)
    .toSorted((one, other) => Number(one.pk) - Number(other.pk));
  return {
    name,
    columns: columns.map((column) => String(column.name)),
    key: key.map((column) => String(column.name)),
    textKey: key
      .filter((column) => String(column.type).toLowerCase() === "text")
      .map((column) => String(column.name)),
  };
}

/** The rows as lines, the way backups write them. */
export const hashOf = (rows: readonly Line[]): string =>
  hash("sha256", rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

export const keyOf = (table: Table, row: Line): Key =>
  table.key.map((column) => row[table.columns.indexOf(column)] as string | number);

function conditionOf(
  table: Table,
  { after, end }: Range,
  collation: string,
): { text: string; params: Value[] } {
  const key = table.key
    .map((column) => column + (table.textKey.includes(column) ? collation : ""))
    .join(", ");
  const params: Value[] = [];
  const place = (values: Key) => `(${values.map((value) => `$${params.push(value)}`).join(", ")})`;
  const parts: string[] = [];
  if (after) parts.push(`(${key}) > ${place(after)}`);
  if (end) parts.push(`(${key}) <= ${place(end)}`);
  return { text: parts.length ? ` WHERE ${parts.join(" AND ")}` : "", params };
}

const orderOf = (table: Table, collation: string) =>
  table.key.map((column) => column + (table.textKey.includes(column) ? collation : "")).join(", ");

/** Reads ranges of the embedded database. Each is of one moment; nobody is held up. */
export function openSource(db: DatabaseSync) {
  const statements = new Map<string, StatementSync>();
  return {
    read(table: Table, range: Range, most: number): Line[] {
      const { text, params } = conditionOf(table, range, "");
      const sql = `SELECT ${table.columns.join(", ")} FROM ${table.name}${text} ORDER BY ${orderOf(table, "")} LIMIT ${most}`;
      let statement = statements.get(sql);
      if (!statement) {
        statement = db.prepare(sql.replace(/\$(\d+)/g, "?$1"));
        // Half the time of objects.
        statement.setReturnArrays(true);
        statements.set(sql, statement);
      }
      return statement.all(...params) as unknown as Line[];
    },
  };
}

export type Source = ReturnType<typeof openSource>;

/** Fills ranges of PostgreSQL. */
export async function openFilled(db: Database) {
  const collation = (await ordersByBytes(db)) ? "" : ' COLLATE "C"';
  const isSpread = await isCitus(db);

  return {
    /** What a range holds becomes what `rows` are, and is read back before it counts. */
    async fill(table: Table, range: Range, rows: readonly Line[]): Promise<void> {
      const { text, params } = conditionOf(table, range, collation);
      const insert = rowStatement({
        text: `INSERT INTO ${table.name} (${table.columns.join(",")}) VALUES {ROWS}`,
        columns: table.columns.length,
      });
      await db.write(async (tx: RowQuery) => {
        if (isSpread) await tx.all(oneAfterTheOther);
        await tx.all(`DELETE FROM ${table.name}${text}`, params);
        await tx.change(insert, rows);
        const found = await tx.all(
          `SELECT ${table.columns.join(", ")} FROM ${table.name}${text} ORDER BY ${orderOf(table, collation)}`,
          params,
        );
        const lines = found.map((row) => table.columns.map((column) => row[column] as Value));
        if (hashOf(lines) !== hashOf(rows))
          throw new Error(`${table.name}: what PostgreSQL holds differs from what was written`);
      });
    },

    async count(table: Table): Promise<number> {
      const [row] = await db.write((tx) => patiently(tx, `SELECT COUNT(*) AS n FROM ${table.name}`));
      return Number(row?.n);
    },

    /** So that the first queries of a relay are planned for tables that are full. */
    async analyze(tables: readonly Table[]): Promise<void> {
      for (const table of tables) await db.write((tx) => patiently(tx, `ANALYZE ${table.name}`));
    },

    /** For the time of the copy: an order by bytes, where the database's own is another. */
    async begin(tables: readonly Table[]): Promise<void> {
      for (const table of collation === "" ? [] : tables)
        await db.write((tx) =>
          tx.all(
            `CREATE INDEX IF NOT EXISTS ${indexOf(table)} ON ${table.name} (${orderOf(table, collation)})`,
          ),
        );
    },

    async end(tables: readonly Table[]): Promise<void> {
      for (const table of collation === "" ? [] : tables)
        await db.write((tx) => tx.all(`DROP INDEX IF EXISTS ${indexOf(table)}`));
    },
  };
}

export type Filled = Awaited<ReturnType<typeof openFilled>>;

/** A full table may take longer than any statement of a relay. */
async function patiently(tx: Query, sql: string): Promise<Row[]> {
  await tx.all(`SET LOCAL statement_timeout = 0`);
  return tx.all(sql);
}

const indexOf = (table: Table) => `moving_${table.name}`;

/** Asked by an example: a language puts a before B whatever their case. The catalogue spells it differently in each version. */
async function ordersByBytes(db: Query): Promise<boolean> {
  const [row] = await db.all(`SELECT CASE WHEN 'a' < 'B' THEN 'language' ELSE 'bytes' END AS kind`);
  return row?.kind === "bytes";
}

/** Does somebody use this database already? */
export async function hasData(db: Query, version: number): Promise<boolean> {
  for (const table of ["sites", "users", "events"].filter((one) => tablesAt(version).includes(one)))
    if ((await db.all(`SELECT 1 AS n FROM ${table} LIMIT 1`)).length) return true;
  return false;
}

/** The schema of an embedded database. */
export const schemaIn = (db: DatabaseSync) =>
  Number(db.prepare("SELECT MAX(version) AS version FROM migrations").get()?.version);
