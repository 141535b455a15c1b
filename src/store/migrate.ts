import { setTimeout as sleep } from "node:timers/promises";
import type { Database, Query } from "./database.ts";
import { distribute, isCitus, oneAfterTheOther } from "./distribute.ts";
import type { Migration } from "./migration.ts";
import { hangSign, NotYetMoved, movingIn, whoMovesIn } from "./movingIn.ts";
import { migrations } from "./schema.ts";

export type MigrationReport = { from: number; to: number; applied: string[] };

export class NewerSchema extends Error {
  constructor(found: number, known: number) {
    super(
      `The database has schema ${found}, this version of Cleancast knows ${known}. ` +
        `Start the newer version again, or restore a backup taken before the upgrade.`,
    );
  }
}

export const latestVersion = migrations.at(-1)?.version ?? 0;

/**
 * Brings the schema up to date: each migration in a transaction of its own, safe beside other nodes. `to` stops at an
 * earlier version: a backup is written back into the tables that it was taken from. `move` is the one that fills this
 * database: nobody else may use it from before its first table on.
 */
export async function migrate(
  db: Database,
  to: number = latestVersion,
  move: string | null = null,
): Promise<MigrationReport> {
  const applied: string[] = [];
  for (let left = 50; ; left -= 1) {
    try {
      return await migrateOnce(db, to, move, applied);
    } catch (error) {
      // Another node was faster with the same table, and nothing made us wait for it.
      if (db.engine === "sqlite" || db.advisoryLocks || left === 0 || !isOthersWork(error)) throw error;
      await sleep(100);
    }
  }
}

/** Something of that name is there already, or no longer: SQLSTATE 42…, or a row in the catalogue of them. */
const isOthersWork = (error: unknown) =>
  error instanceof Error && "code" in error && /^(?:42...|23505|XX000)$/.test(String(error.code));

async function migrateOnce(
  db: Database,
  to: number,
  move: string | null,
  /** What this node did before another one got in its way. */
  applied: string[],
): Promise<MigrationReport> {
  await db.write(async (tx) => {
    await takeTurn(db, tx);
    await tx.all(
      `CREATE TABLE IF NOT EXISTS migrations (version integer NOT NULL PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL)`,
    );
    if (move !== null) await hangSign(tx, move, Date.now());
  });
  if ((await whoMovesIn(db)) !== move) throw new NotYetMoved();
  const from = await schemaVersion(db);
  if (from > latestVersion) throw new NewerSchema(from, latestVersion);

  for (const migration of migrations) {
    if (migration.version <= from || migration.version > to) continue;
    const done = await db.write(async (tx) => {
      await takeTurn(db, tx);
      if ((await schemaVersion(tx)) >= migration.version) return false;
      await apply(db, tx, migration);
      return true;
    });
    if (done) applied.push(migration.name);
  }
  return { from, to, applied };
}

export async function schemaVersion(db: Query): Promise<number> {
  const [row] = await db.all(`SELECT MAX(version) AS version FROM migrations WHERE version <> $1`, [
    movingIn,
  ]);
  return Number(row?.version ?? 0);
}

/** Two nodes that start at once take turns. Only comfort: who is too late finds the tables there, and looks again. */
async function takeTurn(db: Database, tx: Query): Promise<void> {
  if (db.advisoryLocks) await tx.all(`SELECT pg_advisory_xact_lock(7220415)`);
}

async function apply(db: Database, tx: Query, migration: Migration): Promise<void> {
  const compact = db.engine === "sqlite" ? "WITHOUT ROWID" : "";
  const isSpread = db.engine === "postgres" && (await isCitus(tx));
  if (isSpread) await tx.all(oneAfterTheOther);
  for (const statement of migration.statements) await tx.all(statement.replace("{COMPACT}", compact));
  if (isSpread) await distribute(tx, migration);
  await tx.all(`INSERT INTO migrations (version, name, applied_at) VALUES ($1, $2, $3)`, [
    migration.version,
    migration.name,
    Date.now(),
  ]);
}
