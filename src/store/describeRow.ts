// One description of a table's rows, from which the columns, the values of an insert and the reader follow. A field that
// is listed twice will differ some day.

import type { Row, Value } from "./engine/database.ts";

/** A field of `T` and its column. Without `write` a new row leaves the column empty. */
type Field<T, Item, Other> = {
  column: string;
  write?: (item: Item, other: Other) => Value;
  read: (value: Value, row: Row) => T;
};

type Fields<T, Item, Other> = { [Name in keyof T]-?: Field<T[Name], Item, Other> };

type RowDescription<T, Item, Other> = {
  /** Every column that is read. */
  columns: readonly string[];
  /** The columns of an insert, in the order of `values`. */
  inserted: readonly string[];
  values: (item: Item, other: Other) => Value[];
  read: (row: Row) => T;
  /** The same for some fields. */
  columnsOf: (names: readonly (keyof T)[]) => string[];
  readSome: <Name extends keyof T>(row: Row, names: readonly Name[]) => Pick<T, Name>;
};

/**
 * A new row is built from `item` and, where that is not enough, `other`. `unread` are columns that are written for an index
 * and never read back. The first field is the site's, by which rows are sharded.
 */
export function describeRow<T extends object, Item, Other = void>(
  fields: Fields<T, Item, Other>,
  unread: Readonly<Record<string, (item: Item, other: Other) => Value>> = {},
): RowDescription<T, Item, Other> {
  const names = Object.keys(fields) as (keyof T)[];
  // Two fields may be read from one column.
  const columns = [...new Set(names.map((name) => fields[name].column))];
  const inserted: string[] = [];
  const writers: ((item: Item, other: Other) => Value)[] = [];
  for (const name of names) {
    const { column, write } = fields[name];
    if (!write) continue;
    inserted.push(column);
    writers.push(write);
  }
  inserted.push(...Object.keys(unread));
  writers.push(...Object.values(unread));

  function readSome<Name extends keyof T>(row: Row, wanted: readonly Name[]): Pick<T, Name> {
    const found: Partial<T> = {};
    for (const name of wanted) {
      const { column, read } = fields[name];
      found[name] = read(row[column] ?? null, row);
    }
    return found as Pick<T, Name>;
  }

  /** Every accepted event comes through here, so nothing but the list is allocated. */
  function values(item: Item, other: Other): Value[] {
    const list: Value[] = [];
    for (const write of writers) list.push(write(item, other));
    return list;
  }

  return {
    columns,
    inserted,
    values,
    read: (row) => readSome(row, names),
    columnsOf: (wanted) => [...new Set(wanted.map((name) => fields[name].column))],
    readSome,
  };
}

export const readJson = (value: Value) => JSON.parse(String(value));
export const readText = (value: Value) => value as string | null;
export const readNumber = (value: Value | undefined) => (value == null ? null : Number(value));
