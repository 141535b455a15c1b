// Applies one migration while other nodes work on the database.

import { connectedSchemas, oldestCompatible, OlderNodes, oldestSchemaSetting } from "./compatibility.ts";
import type { MigratedDatabase, Query } from "../engine/database.ts";
import { writeSetting } from "../settings.ts";
import { distribute, isCitus, limitsOnEveryMachine, sequentialShardChanges } from "./distribute.ts";
import { generationOf, generationSetting } from "./generation.ts";
import type { Index, Migration } from "./migration.ts";
import { moveMarkerVersion } from "./moveMarker.ts";

/** Another node holds the migration lock. */
export class MigrationLockTaken extends Error {}

const migrationLockId = 7220415;

/**
 * A change of a table waits for its readers, and all other statements wait behind it; so it gives up soon, and is tried
 * again. This is longer than the second after which PostgreSQL cancels its own vacuum, and shorter than the time that an
 * event has.
 */
const lockTimeoutMs = 1500;

export async function schemaVersion(db: Query): Promise<number> {
  const [row] = await db.all(`SELECT MAX(version) AS version FROM migrations WHERE version <> $1`, [moveMarkerVersion]);
  return Number(row?.version ?? 0);
}

/**
 * Lets one node at a time migrate. It never waits inside a transaction: an index that is being built concurrently would wait
 * for that transaction in return. Nothing depends on the lock: a node that is too late finds the tables, and starts over.
 */
export async function takeMigrationLock(db: MigratedDatabase, tx: Query): Promise<void> {
  if (!db.advisoryLocks) return;
  const [row] = await tx.all(`SELECT CASE WHEN pg_try_advisory_xact_lock(${migrationLockId}) THEN 1 ELSE 0 END AS mine`);
  if (Number(row?.mine) !== 1) throw new MigrationLockTaken();
}

/** Returns false where another node has applied it meanwhile. */
export async function applyMigration(db: MigratedDatabase, migration: Migration, all: readonly Migration[]): Promise<boolean> {
  const { onDedicatedConnection } = db;
  if (migration.indexes === undefined || onDedicatedConnection === null) return applyInTransaction(db, migration, all);
  return onDedicatedConnection((holder) =>
    whileLocked(db, holder, () => onDedicatedConnection((session) => buildIndexes(db, session, migration, all))),
  );
}

/**
 * Holds the lock in a transaction of its own, in which nothing else is done: the index does not wait for it. A lock of the session
 * would stay with a connection that a pooler gives to others.
 */
async function whileLocked<T>(db: MigratedDatabase, holder: Query, work: () => Promise<T>): Promise<T> {
  await holder.all("BEGIN");
  try {
    await takeMigrationLock(db, holder);
    // The server may end idle transactions. Also, the snapshot of the last query lasts until another statement, and the index
    // would wait for it.
    await holder.all("SET LOCAL idle_in_transaction_session_timeout = 0");
    return await work();
  } finally {
    await holder.all("ROLLBACK").catch(() => {});
  }
}

async function applyInTransaction(db: MigratedDatabase, migration: Migration, all: readonly Migration[]): Promise<boolean> {
  const isSharded = db.isServer && (await isCitus(db));
  const apply = async (tx: Query) => {
    await takeMigrationLock(db, tx);
    if ((await schemaVersion(tx)) >= migration.version) return false;
    if (db.isServer) {
      await refuseWithOlderNodes(tx, migration);
      if (isSharded) await tx.all(limitsOnEveryMachine);
      await tx.all(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
    }
    if (isSharded) await tx.all(sequentialShardChanges);
    for (const statement of migration.statements) await tx.all(statement.replace("{COMPACT}", db.compactTable));
    for (const { name, on } of migration.indexes ?? []) await tx.all(`CREATE INDEX IF NOT EXISTS ${name} ON ${on}`);
    if (isSharded) await distribute(tx, migration);
    await recordMigration(tx, migration, all);
    return true;
  };
  // To create dozens of shards may take longer than a statement on the connections of nodes may.
  if (isSharded && db.onDedicatedConnection) return db.onDedicatedConnection((session) => inTransaction(session, apply));
  return db.write(apply);
}

async function inTransaction<T>(session: Query, work: (tx: Query) => Promise<T>): Promise<T> {
  await session.all("BEGIN");
  try {
    const result = await work(session);
    await session.all("COMMIT");
    return result;
  } catch (error) {
    await session.all("ROLLBACK").catch(() => {});
    throw error;
  }
}

/** Builds indexes concurrently, while nodes write to their tables. */
async function buildIndexes(
  db: MigratedDatabase,
  session: Query,
  migration: Migration,
  all: readonly Migration[],
): Promise<boolean> {
  if ((await schemaVersion(session)) >= migration.version) return false;
  for (const index of migration.indexes ?? []) await buildIndex(session, index);
  await db.write((tx) => recordMigration(tx, migration, all));
  return true;
}

async function buildIndex(session: Query, { name, on }: Index): Promise<void> {
  const [found] = await session.all(
    `SELECT CASE WHEN indisvalid THEN 1 ELSE 0 END AS is_valid FROM pg_index
     WHERE indexrelid = to_regclass($1)`,
    [name],
  );
  if (Number(found?.is_valid) === 1) return;
  // A node that died during the build left this index: PostgreSQL maintains it, and never uses it.
  if (found) await session.all(`DROP INDEX CONCURRENTLY ${name}`);
  await session.all(`CREATE INDEX CONCURRENTLY ${name} ON ${on}`);
}

async function refuseWithOlderNodes(tx: Query, migration: Migration): Promise<void> {
  if (migration.kind === "expand") return;
  const older = (await connectedSchemas(tx)).find((schema) => schema < migration.unusedSince);
  if (older !== undefined) throw new OlderNodes(migration, older);
}

async function recordMigration(tx: Query, migration: Migration, all: readonly Migration[]): Promise<void> {
  const { version, name } = migration;
  await writeSetting(tx, oldestSchemaSetting, String(oldestCompatible(all, version)));
  await writeSetting(tx, generationSetting, generationOf(all));
  await tx.all(`INSERT INTO migrations (version, name, applied_at) VALUES ($1, $2, $3)`, [version, name, Date.now()]);
}
