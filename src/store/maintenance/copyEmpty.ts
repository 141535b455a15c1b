// Whether a PostgreSQL database may be filled by a move.

import type { Database, Query } from "../engine/database.ts";
import { schemaVersion } from "../schema/applyMigration.ts";
import { latestVersion } from "../schema/migrate.ts";
import { whoMovesIn } from "./moveMarker.ts";
import { columnsOf, tablesAt } from "../schema/tables.ts";

/** Its schema, 0 where there is none, and the move that fills it. */
export type Found = { version: number; mover: string | null };

export async function lookInto(db: Query & Pick<Database, "engine">): Promise<Found> {
  // Other programs have a table of this name, too.
  const columns = await columnsOf(db, "migrations");
  if (!["version", "name", "applied_at"].every((one) => columns.includes(one)))
    return { version: 0, mover: null };
  return { version: await schemaVersion(db), mover: await whoMovesIn(db) };
}

/**
 * A table that is in the way; null where there is none. In a schema of ours every row but those that a start writes counts, in
 * any other database every table that has a name of ours.
 */
export async function tableInUse(
  db: Query & Pick<Database, "engine">,
  { version }: Found,
): Promise<string | null> {
  const ours = tablesAt(version === 0 ? latestVersion : version);
  for (const table of version === 0 ? ["migrations", ...ours] : ours) {
    if (version > 0 && table === "settings") continue;
    const found =
      version === 0 ? await columnsOf(db, table) : await db.all(`SELECT 1 AS n FROM ${table} LIMIT 1`);
    if (found.length) return table;
  }
  return null;
}
