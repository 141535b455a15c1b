// Which tables there are, as the migrations declare them, and which columns they have.

import type { Database, Query } from "../engine/database.ts";
import { movingIn, NotYetMoved } from "../maintenance/moveMarker.ts";
import { migrations } from "./schema.ts";

/** The tables of a schema version; without `migrations`, which the schema itself is made of. */
export const tablesAt = (version: number) =>
  migrations.flatMap((one) => (one.version <= version ? [...one.configuration, ...one.bySite] : []));

export async function columnsOf(
  db: Query & Pick<Database, "engine">,
  table: string,
): Promise<readonly string[]> {
  const rows = await db.all(
    db.engine === "sqlite"
      ? `SELECT name FROM pragma_table_info($1) ORDER BY cid`
      : `SELECT column_name AS name FROM information_schema.columns
         WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`,
    [table],
  );
  return rows.map((row) => String(row.name));
}

/** 0 for a database that was never used. One that is being filled has none yet. */
export async function versionIn(db: Query & Pick<Database, "engine">): Promise<number> {
  if ((await columnsOf(db, "migrations")).length === 0) return 0;
  const [row] = await db.all(`SELECT MAX(version) AS version FROM migrations`);
  const version = Number(row?.version ?? 0);
  if (version === movingIn) throw new NotYetMoved();
  return version;
}
