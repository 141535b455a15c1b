// The tables of a schema, as the migrations declare them, and their columns.

import type { Dialect, Query } from "../engine/database.ts";
import { migrations } from "./schema.ts";

/** Returns the tables of a schema version, without `migrations` itself. */
export const tablesAt = (version: number) =>
  migrations.flatMap((one) => (one.version <= version ? [...one.configuration, ...one.bySite] : []));

/** Returns the columns of a table's primary key, in their order. */
export function primaryKeyOf(table: string): string[] {
  const statements = migrations.flatMap((one) => one.statements);
  const created = statements.find((text) => text.startsWith(`CREATE TABLE ${table} (`)) ?? "";
  const [, columns, column] = /PRIMARY KEY \(([^)]+)\)|(\w+) \w+ NOT NULL PRIMARY KEY/.exec(created) ?? [];
  return columns?.split(", ") ?? (column === undefined ? [] : [column]);
}

export type DialectQuery = Query & Pick<Dialect, "engine" | "columnNames">;

/** Returns an empty list for a table that does not exist. */
export async function columnsOf(db: DialectQuery, table: string): Promise<readonly string[]> {
  const rows = await db.all(db.columnNames, [table]);
  return rows.map((row) => String(row.name));
}
