// The statements of a move of an installation that are not copies of rows: reading the embedded database, and the checks of the
// PostgreSQL database that it fills. maintenance/moves/move.ts has the order.

import type { DatabaseSync } from "node:sqlite";
import { errorCode } from "../../kernel/errorCode.ts";
import { Conflict } from "../../kernel/refusal.ts";
import { noStatementTimeout } from "../copy/copy.ts";
import type { Database, Dialect, Query, Row } from "../engine/database.ts";
import { queryOn } from "../engine/sqlite/dialect.ts";
import { isBusy } from "../engine/sqlite/errors.ts";
import { schemaVersion } from "../schema/applyMigration.ts";
import { refuseUnreleased, UnreleasedSchema } from "../schema/generation.ts";
import { latestVersion } from "../schema/migrate.ts";
import { readMoveMarker } from "../schema/moveMarker.ts";
import { hasMigrations, readVersion } from "../schema/schemaProbe.ts";
import { columnsOf, tablesAt, type DialectQuery } from "../schema/tables.ts";

/** The embedded database, and not the target, is at fault. */
class SourceFault extends Conflict {
  constructor(doing: string, error: unknown) {
    const message = error instanceof Error ? error.message : String(error);
    const remedy = isBusy(error) ? "Another process is writing to it; try again." : "Run 'cleancast check'; a backup may help.";
    super("database", `The embedded database cannot be ${doing} (${message}). ${remedy}`);
  }
}

/** Runs `work` and reports its errors as those of the embedded database. */
export function onSource<T>(doing: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new SourceFault(doing, error);
  }
}

/** Lets the embedded database be queried. An error names the table. */
export function querySource(db: DatabaseSync): Query & Dialect {
  const source = queryOn(db);
  return {
    ...source,
    all: (sql, params) =>
      source.all(sql, params).catch((error: unknown) => {
        throw new SourceFault(`read in ${/FROM (\w+)/.exec(sql)?.[1]}`, error);
      }),
  };
}

/** Returns null where the file is not a database of ours. */
export async function readSourceSchema(db: DatabaseSync): Promise<number | null> {
  const source = queryOn(db);
  try {
    return (await hasMigrations(source)) ? await readVersion(source) : null;
  } catch (error) {
    throw error instanceof UnreleasedSchema ? error : new SourceFault("read", error);
  }
}

/** The schema of the database, 0 where it has none, and the id of the move that fills it. */
type TargetState = { version: number; move: string | null };

export async function readTargetState(db: DialectQuery): Promise<TargetState> {
  // Other programs may have a table of this name, too.
  const columns = await columnsOf(db, "migrations");
  if (!["version", "name", "applied_at"].every((one) => columns.includes(one))) return { version: 0, move: null };
  const version = await schemaVersion(db);
  await refuseUnreleased(db, version);
  return { version, move: await readMoveMarker(db) };
}

/**
 * Finds a table that prevents a move into this database. In a schema of ours every row counts but those that a start writes;
 * in any other database every table with one of our names.
 */
export async function findTableInUse(db: DialectQuery, { version }: TargetState): Promise<string | null> {
  const ours = tablesAt(version === 0 ? latestVersion : version);
  for (const table of version === 0 ? ["migrations", ...ours] : ours) {
    if (version > 0 && table === "settings") continue;
    const found = version === 0 ? await columnsOf(db, table) : await db.all(`SELECT 1 AS n FROM ${table} LIMIT 1`);
    if (found.length) return table;
  }
  return null;
}

/**
 * Identifies the database that answers. Another one, or the same after a fail-over, may lack what was written. Returns an
 * empty text where it cannot be identified.
 */
export async function identifyServer(db: Query): Promise<string> {
  const reading = db.all(
    `SELECT CONCAT((SELECT system_identifier FROM pg_control_system()), ' ',
       SUBSTR(pg_walfile_name(pg_current_wal_lsn()), 1, 8), ' ',
       (SELECT oid FROM pg_database WHERE datname = current_database())) AS place`,
  );
  const [row] = await reading.catch((error: unknown): Row[] => {
    if (/^(?:42|0A)/.test(errorCode(error))) return [];
    throw error;
  });
  return String(row?.place ?? "");
}

/** Lets the first queries of a relay be planned for full tables. */
export const analyzeTables = (db: Database, tables: readonly string[]) =>
  db.write(async (tx) => {
    await tx.all(noStatementTimeout);
    for (const table of tables) await tx.all(`ANALYZE ${table}`);
  });
