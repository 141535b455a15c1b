// The rows of a table, all of them or those of one site: read in pages, compared by key, and written. Backup, restore and moves use it.
// Neither engine's order of texts matters to a copy: pages are ranges of the database that is read.

import { Conflict } from "../../kernel/refusal.ts";
import {
  rowStatement,
  tuples,
  type Database,
  type Dialect,
  type Query,
  type Row,
  type RowQuery,
  type Value,
} from "../engine/database.ts";
import type { Seal } from "../engine/seal.ts";
import { columnsOf, primaryKeyOf, type DialectQuery } from "../schema/tables.ts";
import { sealRow, unsealRow } from "./secrets.ts";

/** A table, or the part of it that belongs to one site. */
export type Table = {
  name: string;
  columns: readonly string[];
  /** Identifies a row: the primary key, without the site where there is only one. Empty where the site alone is the key. */
  key: readonly string[];
  siteId: string | null;
  /** A condition for the rows that count. */
  where?: string | undefined;
};

export type Key = readonly Value[];
/** The keys after one and up to another; null is before the first, or after the last. */
type Range = { after: Key | null; end: Key | null };

/** A database that rows are copied from or to. `seal` is null where secrets stay sealed as they are. */
export type Side<Db = Query & Pick<Dialect, "engine">> = { db: Db; seal: Seal | null };

/** Rows per statement. */
export const pageRows = 250;

export async function readTable(db: DialectQuery, name: string, siteId: string | null): Promise<Table> {
  const key = primaryKeyOf(name).filter((column) => siteId === null || column !== "site_id");
  return { name, columns: await columnsOf(db, name), key, siteId };
}

export const keyOf = (table: Table, row: Row): Key => table.key.map((column) => row[column] ?? null);
export const keyText = (table: Table, row: Row) => JSON.stringify(keyOf(table, row));
const valuesOf = ({ columns }: Table, row: Row) => columns.map((column) => row[column] ?? null);
export const lineOf = (table: Table, row: Row) => rowLine(valuesOf(table, row));

/**
 * Returns a row as a line of JSON. JSON.stringify writes Infinity as null; so it is written as 1e999, which JSON.parse reads as
 * Infinity.
 */
export function rowLine(values: readonly Value[]): string {
  if (values.every((value) => typeof value !== "number" || Number.isFinite(value))) return `${JSON.stringify(values)}\n`;
  const texts = values.map((value) => {
    if (typeof value !== "number" || Number.isFinite(value)) return JSON.stringify(value);
    if (Number.isNaN(value)) throw new Conflict("database", "The database holds a value that is not a number (NaN).");
    return value > 0 ? "1e999" : "-1e999";
  });
  return `[${texts.join(",")}]\n`;
}

/** Adds the values to `params` and returns `($1, $2)`. */
const tuple = (params: Value[], values: Key) => `(${values.map((value) => `$${params.push(value)}`).join(", ")})`;

function whereOf({ siteId, where }: Table, params: Value[], keys: readonly string[]): string {
  const conditions = [...(siteId === null ? [] : [`site_id = $${params.push(siteId)}`]), ...(where ? [where] : []), ...keys];
  return conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
}

/** Reads up to `limit` rows of a range, in the order of this database, with their secrets unsealed. */
export async function readPage({ db, seal }: Side<Query>, table: Table, { after, end }: Range, limit: number): Promise<Row[]> {
  const params: Value[] = [];
  const key = table.key.join(", ");
  const bounds: string[] = [];
  if (key && after) bounds.push(`(${key}) > ${tuple(params, after)}`);
  if (key && end) bounds.push(`(${key}) <= ${tuple(params, end)}`);
  const rows = await db.all(
    `SELECT ${table.columns.join(", ")} FROM ${table.name} ${whereOf(table, params, bounds)} ${key && `ORDER BY ${key}`} LIMIT ${limit}`,
    params,
  );
  return rows.map((row) => unsealRow(seal, table.name, row));
}

/** Yields all rows a page at a time, in the order of this database. */
export async function* readPages(side: Side<Query>, table: Table, limit = pageRows): AsyncGenerator<Row[]> {
  for (let after: Key | null = null; ;) {
    const rows: Row[] = await readPage(side, table, { after, end: null }, limit);
    const last = rows.at(-1);
    if (last) yield rows;
    if (!last || rows.length < limit || table.key.length === 0) return;
    after = keyOf(table, last);
  }
}

/** Reads the rows that have the keys of these. */
export async function readByKeys({ db, seal }: Side, table: Table, rows: readonly Row[]): Promise<Row[]> {
  const found = await forKeys(db, table, rows, `SELECT ${table.columns.join(", ")}`);
  return found.map((row) => unsealRow(seal, table.name, row));
}

export const deleteByKeys = (db: Side["db"], table: Table, rows: readonly Row[]) => forKeys(db, table, rows, "DELETE");

/** Runs the statement for the rows that have the keys of these. */
async function forKeys(db: Side["db"], table: Table, rows: readonly Row[], verb: string): Promise<Row[]> {
  const found: Row[] = [];
  for (let at = 0; at < rows.length; at += pageRows) {
    const params: Value[] = [];
    const wanted = table.key.length > 0 ? rows.slice(at, at + pageRows).map((row) => tuple(params, keyOf(table, row))) : [];
    // PostgreSQL would take parameters in VALUES for texts; SQLite knows no list of tuples.
    const list = db.engine === "sqlite" ? `VALUES ${wanted.join(", ")}` : wanted.join(", ");
    const keys = wanted.length > 0 ? [`(${table.key.join(", ")}) IN (${list})`] : [];
    found.push(...(await db.all(`${verb} FROM ${table.name} ${whereOf(table, params, keys)}`, params)));
  }
  return found;
}

/** A row that the other database refuses, or does not store as it is. */
export class UnfitRow extends Conflict {
  constructor(table: Table, row: Row, why: string) {
    super(
      "database",
      `The table ${table.name} cannot be copied: the row with the key "${keyOf(table, row).join(" ")}" (${why}). Correct it and run the same command again.`,
    );
  }
}

/** Where rows are written: the transaction, and how that database seals. */
type WriteSide = Side<Pick<Dialect, "engine">>;

/** Makes the rows of that side equal to these, and returns how many it had to write. */
export async function putRows(tx: RowQuery, to: WriteSide, table: Table, rows: readonly Row[]): Promise<number> {
  const db = { ...tx, engine: to.db.engine };
  const found = await readByKeys({ db, seal: to.seal }, table, rows);
  const lines = new Map(found.map((row) => [keyText(table, row), lineOf(table, row)]));
  const changed = rows.filter((row) => lines.get(keyText(table, row)) !== lineOf(table, row));
  if (found.length > 0) await deleteByKeys(db, table, changed);
  await addRows(tx, to, table, changed);
  return changed.length;
}

/** Inserts rows, and checks before the commit that they are stored as they are. */
export async function addRows(tx: RowQuery, { seal }: WriteSide, table: Table, rows: readonly Row[]): Promise<void> {
  const columns = table.columns.join(", ");
  for (let at = 0; at < rows.length; at += pageRows) {
    const some = rows.slice(at, at + pageRows);
    const stored = await tx.all(
      `INSERT INTO ${table.name} (${columns}) VALUES ${tuples(some.length, table.columns.length)} RETURNING ${columns}`,
      some.flatMap((row) => valuesOf(table, sealRow(seal, table.name, row))),
    );
    const lines = new Set(stored.map((row) => lineOf(table, unsealRow(seal, table.name, row))));
    const unfit = some.find((row) => !lines.has(lineOf(table, row)));
    if (unfit) throw new UnfitRow(table, unfit, "it is not stored as it is");
  }
}

/** Inserts rows, as the values of the columns. */
export async function fillTable(
  db: Pick<Database, "write">,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly Value[])[],
): Promise<void> {
  const text = `INSERT INTO ${table} (${columns.join(",")}) VALUES {ROWS}`;
  const statement = rowStatement({ text, columns: columns.length });
  await db.write((tx) => tx.change(statement, rows));
}

export const emptyTable = (db: Pick<Database, "write">, table: string) => db.write((tx) => tx.all(`DELETE FROM ${table}`));

export async function countRows(db: Query, table: Pick<Table, "name" | "siteId">): Promise<number> {
  const params = table.siteId === null ? [] : [table.siteId];
  const [row] = await db.all(`SELECT COUNT(*) AS n FROM ${table.name} ${params.length > 0 ? "WHERE site_id = $1" : ""}`, params);
  return Number(row?.n);
}

/** Deletes up to `limit` rows of a site; all where the site alone is the key. Returns how many. */
export async function deleteSomeRows(db: Database, name: string, siteId: string, limit: number): Promise<number> {
  const key = primaryKeyOf(name)
    .filter((column) => column !== "site_id")
    .join(", ");
  const some = key ? `AND (${key}) IN (SELECT ${key} FROM ${name} WHERE site_id = $1 ORDER BY ${key} LIMIT $2)` : "";
  const sql = `DELETE FROM ${name} WHERE site_id = $1 ${some} RETURNING 1 AS n`;
  const deleteSome = (tx: Query) => tx.all(sql, key ? [siteId, limit] : [siteId]);
  return (await db.write(deleteSome, { isSingle: true, isBackground: true })).length;
}
