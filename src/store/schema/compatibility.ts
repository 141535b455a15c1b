// Schema compatibility decides which versions of the code may work on a database at the same time. A settings row, which every
// release can read, holds the oldest schema whose code can work with the present one. So a node of the release before can be
// started again after an upgrade, and one that is too old refuses to start.

import type { Query } from "../engine/database.ts";
import { readSetting } from "../settings.ts";
import type { Migration } from "./migration.ts";

/** Code of an earlier schema was never released. */
const firstReleasedSchema = 1;

/** The name of the settings row. */
export const oldestSchemaSetting = "oldest_schema";

export class NewerSchema extends Error {
  constructor(found: number, known: number, oldest: number | null) {
    const why = oldest === null ? "" : `, and needs something that is no longer there`;
    super(
      `The database has schema ${found}, this version of Cleancast knows ${known}${why}. ` +
        `Start the newer version again${oldest === null ? "" : ` (or any that knows schema ${oldest})`}, ` +
        `or restore a backup taken before the upgrade, into an empty database.`,
    );
  }
}

/** An upgrade skipped a release: nodes that are connected still use what the migration removes. */
export class OlderNodes extends Error {
  constructor({ version, name }: Migration, schema: number) {
    super(
      `Schema ${version} ("${name}") removes what nodes with schema ${schema} need, and one of them is connected. ` +
        `Nothing was changed. Stop all of them first, or upgrade to a release in between.`,
    );
  }
}

/** Returns the oldest schema whose code can work on a database at `version`. */
export const oldestCompatible = (migrations: readonly Migration[], version: number): number =>
  Math.max(
    firstReleasedSchema,
    ...migrations.map((one) => (one.kind === "contract" && one.version <= version ? one.unusedSince : 0)),
  );

/** Returns null where the database has no such row. */
export async function readOldestSchema(db: Query): Promise<number | null> {
  const text = await readSetting(db, oldestSchemaSetting);
  return text === null ? null : Number(text);
}

/** Throws unless code that knows schema `known` can work with the newer schema `found`. */
export async function refuseIfTooOld(db: Query, found: number, known: number): Promise<void> {
  const oldest = await readOldestSchema(db);
  if (oldest === null || known < oldest) throw new NewerSchema(found, known, oldest);
}

const sessionPrefix = "cleancast schema ";

/** Returns the name of a node's connections, by which other nodes see which schema it needs. */
export const sessionName = (schema: number) => `${sessionPrefix}${schema}`;

/** Returns the schemas of the nodes and commands that are connected to this PostgreSQL database. */
export async function connectedSchemas(db: Query): Promise<number[]> {
  const rows = await db.all(
    `SELECT DISTINCT application_name AS name FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE $1 AND pid <> pg_backend_pid()`,
    [`${sessionPrefix}%`],
  );
  return rows.map((row) => Number(String(row.name).slice(sessionPrefix.length)));
}
