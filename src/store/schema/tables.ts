// The tables of a schema, as the migrations declare them, and their columns.

import type { Dialect, Query } from "../engine/database.ts";
import { moveMarkerVersion, MoveUnfinished } from "./moveMarker.ts";
import { migrations } from "./schema.ts";

/** Returns the tables of a schema version, without `migrations` itself. */
export const tablesAt = (version: number) =>
  migrations.flatMap((one) => (one.version <= version ? [...one.configuration, ...one.bySite] : []));

export type DialectQuery = Query & Pick<Dialect, "columnNames">;

/** Returns an empty list for a table that does not exist. */
export async function columnsOf(db: DialectQuery, table: string): Promise<readonly string[]> {
  const rows = await db.all(db.columnNames, [table]);
  return rows.map((row) => String(row.name));
}

/** Returns 0 for a database that was never used. Throws for one that a move is filling. */
export async function probeVersion(db: DialectQuery): Promise<number> {
  if ((await columnsOf(db, "migrations")).length === 0) return 0;
  const [row] = await db.all(`SELECT MAX(version) AS version FROM migrations`);
  const version = Number(row?.version ?? 0);
  if (version === moveMarkerVersion) throw new MoveUnfinished();
  return version;
}
