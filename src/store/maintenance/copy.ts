// A move compares a table of the embedded database with the same table on PostgreSQL by ranges of keys, in byte order, and
// the hash of the rows in them. copySource.ts reads the former, copyTarget.ts fills the latter.

import { hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { Value } from "../engine/database.ts";

export type Key = readonly (string | number)[];
/** The keys after one and up to another; null is before the first, or after the last. */
export type Range = { after: Key | null; end: Key | null };
/** A row, as the values of the table's columns. */
export type Values = readonly Value[];
/** The rows of a range. While a relay writes they may be of several moments; while the move lock is held they are not. */
export type Piece = { range: Range; rows: readonly Values[] };
export type Table = {
  name: string;
  columns: readonly string[];
  /** The columns for whole numbers, in which SQLite stores anything. */
  whole: readonly string[];
  key: readonly string[];
  textKey: readonly string[];
};

/** Compares keys in the order of both databases. */
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
  const key = columns.filter((column) => Number(column.pk) > 0).toSorted((one, other) => Number(one.pk) - Number(other.pk));
  return {
    name,
    columns: columns.map((column) => String(column.name)),
    whole: columns.filter((column) => /^(?:big)?int/i.test(String(column.type))).map((column) => String(column.name)),
    key: key.map((column) => String(column.name)),
    textKey: key.filter((column) => String(column.type).toLowerCase() === "text").map((column) => String(column.name)),
  };
}

/** Hashes the rows as lines of JSON. */
export const hashOf = (rows: readonly Values[]): string => hash("sha256", rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

export const keyOf = (table: Table, row: Values): Key =>
  table.key.map((column) => row[table.columns.indexOf(column)] as string | number);

/** Returns the key as SQL, for an order and for an index. */
export const keyText = (table: Table, collation: string) =>
  table.key.map((column) => column + (table.textKey.includes(column) ? collation : "")).join(", ");

/** Returns `FROM table WHERE` the key is in the range. */
export function fromRange(table: Table, { after, end }: Range, collation: string): { text: string; params: Value[] } {
  const key = keyText(table, collation);
  const params: Value[] = [];
  const place = (values: Key) => `(${values.map((value) => `$${params.push(value)}`).join(", ")})`;
  const parts: string[] = [];
  if (after) parts.push(`(${key}) > ${place(after)}`);
  if (end) parts.push(`(${key}) <= ${place(end)}`);
  return { text: `FROM ${table.name}${parts.length ? ` WHERE ${parts.join(" AND ")}` : ""}`, params };
}

/** Describes a range in a message, for a person who has to find a row in it. */
export function rangeText({ after, end }: Range): string {
  const text = (key: Key) => key.join(" ");
  if (after && end) return `after "${text(after)}" up to "${text(end)}"`;
  if (after) return `after "${text(after)}"`;
  return end ? `up to "${text(end)}"` : "all of it";
}
