// One description of a table's rows, from which the columns, the values of an insert and the reader follow. A field that
// is listed twice will differ some day.

import { readObject } from "./damagedRows.ts";
import type { NewRow, Row, Value } from "./engine/database.ts";

type Reader<T> = (value: Value, row: Row) => T;

/** A field of `T` and its column. Without `write` a new row leaves the column empty. */
type Field<T, Item, Other> = {
  column: string;
  write?: (item: Item, other: Other) => Value;
  read: Reader<T>;
};

/** A field that a new row takes from the item. Its column has the same name, in snake case. */
type OwnField<T> = { read: Reader<T> } & ([T] extends [Value] ? unknown : { pack: (value: T) => Value });

type Fields<T, Item, Other> = {
  [Name in keyof T]-?: Field<T[Name], Item, Other> | (Name extends keyof Item ? OwnField<T[Name]> : never);
};

type RowDescription<T, Item, Other> = {
  /** Every column that is read; `list` has them as a text. */
  columns: readonly string[];
  list: string;
  /** The columns of an insert, in the order of `values`. */
  inserted: readonly string[];
  values: (item: Item, other: Other) => Value[];
  toRow: (item: Item, other: Other) => NewRow;
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
  type Whole = Field<T[keyof T], Item, Other>;
  const names = Object.keys(fields) as (keyof T & string)[];
  const whole = new Map<keyof T, Whole>(names.map((name) => [name, toField<Whole>(name, fields[name])]));
  const fieldOf = (name: keyof T) => whole.get(name) as Whole;
  // Two fields may be read from one column.
  const columnsOf = (wanted: readonly (keyof T)[]) => [...new Set(wanted.map((name) => fieldOf(name).column))];
  const columns = columnsOf(names);
  const inserted: string[] = [];
  const writers: ((item: Item, other: Other) => Value)[] = [];
  for (const { column, write } of whole.values()) {
    if (!write) continue;
    inserted.push(column);
    writers.push(write);
  }
  inserted.push(...Object.keys(unread));
  writers.push(...Object.values(unread));

  function readSome<Name extends keyof T>(row: Row, wanted: readonly Name[]): Pick<T, Name> {
    const found: Partial<T> = {};
    for (const name of wanted) {
      const { column, read } = fieldOf(name);
      found[name] = read(row[column] ?? null, row) as T[Name];
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
    list: columns.join(", "),
    inserted,
    values,
    toRow: (item, other) => Object.fromEntries(values(item, other).map((value, i) => [inserted[i] ?? "", value])),
    read: (row) => readSome<keyof T>(row, names),
    columnsOf,
    readSome,
  };
}

function toField<Whole>(name: string, given: unknown): Whole {
  const { pack, ...field } = given as { pack?: (value: unknown) => Value; column?: string };
  if (field.column !== undefined) return field as Whole;
  const valueOf = (item: Record<string, Value>) => item[name] ?? null;
  return {
    ...field,
    column: name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    write: pack ? (item: Record<string, Value>) => pack(item[name]) : valueOf,
  } as Whole;
}

/** Returns the columns with the table in front of each, for a join. */
export const qualified = (table: string, { columns }: { columns: readonly string[] }) =>
  columns.map((column) => `${table}.${column}`).join(", ");

/** The usual fields. */
export const asText = { read: String };
export const asNumber = { read: Number };
export const asTextOrNull = { read: (value: Value) => value as string | null };
export const asNumberOrNull = { read: (value: Value) => readNumber(value) };
export const asOneOf = <T extends Value>() => ({ read: (value: Value) => value as T });
/** A JSON object; an empty one where it is damaged. */
export const asObject = {
  read: (value: Value): Record<string, unknown> => readObject(String(value)) ?? {},
  pack: (value: object) => JSON.stringify(value),
};
export const asJson = <T>() => ({
  read: (value: Value): T => readJson(value),
  pack: (value: T) => JSON.stringify(value),
});

export const readJson = (value: Value) => JSON.parse(String(value));
export const readText = (value: Value) => value as string | null;
export const readNumber = (value: Value | undefined) => (value == null ? null : Number(value));
