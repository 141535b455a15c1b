// One step of the schema, beside nodes that work on the database meanwhile.

import { connectedSchemas, oldestAt, OlderNodes, writeOldest } from "./compatibility.ts";
import type { Database, Query } from "../engine/database.ts";
import { distribute, isCitus, oneAfterTheOther } from "./distribute.ts";
import type { Index, Migration } from "./migration.ts";
import { movingIn } from "../maintenance/moveMarker.ts";

/** Another node is at it. */
export class OthersTurn extends Error {}

const turn = 7220415;

/**
 * A change of a table waits for whoever reads it, and everybody else waits behind it; so it gives up soon, and is tried
 * again. Longer than the second after which PostgreSQL takes its own vacuum out of the way, and shorter than what an
 * event has time for.
 */
const lockMs = 1500;

export async function schemaVersion(db: Query): Promise<number> {
  const [row] = await db.all(`SELECT MAX(version) AS version FROM migrations WHERE version <> $1`, [
    movingIn,
  ]);
  return Number(row?.version ?? 0);
}

/**
 * Two nodes that start at once take turns. Nobody waits inside a transaction: an index that is being built beside would
 * wait for that one in return. Only comfort: who is too late finds the tables there, and looks again.
 */
export async function takeTurn(db: Database, tx: Query, kind: "" | "xact_" = "xact_"): Promise<void> {
  if (!db.advisoryLocks) return;
  const [row] = await tx.all(
    `SELECT CASE WHEN pg_try_advisory_${kind}lock(${turn}) THEN 1 ELSE 0 END AS mine`,
  );
  if (Number(row?.mine) !== 1) throw new OthersTurn();
}

/** False where another node has done it meanwhile. */
export async function apply(db: Database, migration: Migration, all: readonly Migration[]): Promise<boolean> {
  const { alone } = db;
  const isBeside = migration.indexes !== undefined && alone !== null;
  return isBeside ? alone((session) => buildBeside(db, session, migration, all)) : inOne(db, migration, all);
}

/** All of it in one transaction. */
function inOne(db: Database, migration: Migration, all: readonly Migration[]): Promise<boolean> {
  return db.write(async (tx) => {
    await takeTurn(db, tx);
    if ((await schemaVersion(tx)) >= migration.version) return false;
    const compact = db.engine === "sqlite" ? "WITHOUT ROWID" : "";
    if (db.engine === "postgres") {
      await refuseBesideOlder(tx, migration);
      await tx.all(`SET LOCAL lock_timeout = ${lockMs}`);
    }
    const isSpread = db.engine === "postgres" && (await isCitus(tx));
    if (isSpread) await tx.all(oneAfterTheOther);
    for (const statement of migration.statements) await tx.all(statement.replace("{COMPACT}", compact));
    for (const { name, on } of migration.indexes ?? [])
      await tx.all(`CREATE INDEX IF NOT EXISTS ${name} ON ${on}`);
    if (isSpread) await distribute(tx, migration);
    await record(tx, migration, all);
    return true;
  });
}

async function buildBeside(
  db: Database,
  session: Query,
  migration: Migration,
  all: readonly Migration[],
): Promise<boolean> {
  await takeTurn(db, session, "");
  if ((await schemaVersion(session)) >= migration.version) return false;
  for (const index of migration.indexes ?? []) await buildIndex(session, index);
  await db.write((tx) => record(tx, migration, all));
  return true;
}

async function buildIndex(session: Query, { name, on }: Index): Promise<void> {
  const [found] = await session.all(
    `SELECT CASE WHEN indisvalid THEN 1 ELSE 0 END AS whole FROM pg_index
     WHERE indexrelid = to_regclass($1)`,
    [name],
  );
  if (Number(found?.whole) === 1) return;
  // Of a node that died while it built it: PostgreSQL keeps it up to date, and never uses it.
  if (found) await session.all(`DROP INDEX CONCURRENTLY ${name}`);
  await session.all(`CREATE INDEX CONCURRENTLY ${name} ON ${on}`);
}

async function refuseBesideOlder(tx: Query, migration: Migration): Promise<void> {
  if (migration.kind === "expand") return;
  const older = (await connectedSchemas(tx)).find((schema) => schema < migration.unusedSince);
  if (older !== undefined) throw new OlderNodes(migration, older);
}

async function record(tx: Query, migration: Migration, all: readonly Migration[]): Promise<void> {
  const { version, name } = migration;
  await writeOldest(tx, oldestAt(all, version));
  await tx.all(`INSERT INTO migrations (version, name, applied_at) VALUES ($1, $2, $3)`, [
    version,
    name,
    Date.now(),
  ]);
}
