// Which versions of the code may work on a database at the same time. The schema itself says which is the oldest, in a row
// that code reads which knows nothing of the newer one: so a node of the release before can be started again after an
// upgrade, and one that is too old says so in place of failing later.

import type { Query } from "../engine/database.ts";
import type { Migration } from "./migration.ts";

/** Code before it was never released. */
export const firstRelease = 1;

/** The name of the row. */
export const oldestMark = "oldest_schema";

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

/** A release was left out: what it made unnecessary is still in use. */
export class OlderNodes extends Error {
  constructor({ version, name }: Migration, schema: number) {
    super(
      `Schema ${version} ("${name}") takes away what nodes with schema ${schema} need, and one of them is connected. ` +
        `Nothing was changed by it. Stop all of them first, or upgrade to a release in between.`,
    );
  }
}

/** The oldest schema whose code can work on a database that is as far as `version`. */
export const oldestAt = (migrations: readonly Migration[], version: number): number =>
  Math.max(
    firstRelease,
    ...migrations.map((one) => (one.kind === "contract" && one.version <= version ? one.unusedSince : 0)),
  );

/** What the database says of itself; null where it says nothing. */
export async function oldestIn(db: Query): Promise<number | null> {
  const [row] = await db.all(`SELECT value FROM settings WHERE name = $1`, [oldestMark]);
  return row ? Number(row.value) : null;
}

export async function writeOldest(tx: Query, oldest: number): Promise<void> {
  await tx.all(
    `INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [oldestMark, String(oldest)],
  );
}

/** `found` is newer than what is `known`: throws unless it may be used all the same. */
export async function refuseIfTooOld(db: Query, found: number, known: number): Promise<void> {
  const oldest = await oldestIn(db);
  if (oldest === null || known < oldest) throw new NewerSchema(found, known, oldest);
}

const nameStart = "cleancast schema ";

/** How a node's connections are called: so that others see that it is there, and what it needs. */
export const sessionName = (schema: number) => `${nameStart}${schema}`;

/** The schemas of the nodes and commands that are connected to this PostgreSQL database. */
export async function connectedSchemas(db: Query): Promise<number[]> {
  const rows = await db.all(
    `SELECT DISTINCT application_name AS name FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE $1 AND pid <> pg_backend_pid()`,
    [`${nameStart}%`],
  );
  return rows.map((row) => Number(String(row.name).slice(nameStart.length)));
}
