import { setTimeout as sleep } from "node:timers/promises";
import { errorCode } from "../../kernel/errorCode.ts";
import { minuteMs } from "../../kernel/time.ts";
import { applyMigration, MigrationLockTaken, schemaVersion, takeMigrationLock } from "./applyMigration.ts";
import { refuseIfTooOld } from "./compatibility.ts";
import type { MigratedDatabase } from "../engine/database.ts";
import { refuseUnreleased } from "./generation.ts";
import type { Migration } from "./migration.ts";
import { MoveUnfinished, readMoveMarker, writeMoveMarker } from "./moveMarker.ts";
import { migrations } from "./schema.ts";
import { columnsOf } from "./tables.ts";

/** `from` is more than `to` where a newer version has migrated, and this one can work with its schema. */
export type MigrationReport = { from: number; to: number; applied: string[] };

type MigrationOptions = {
  /** Stops at an earlier version: a backup is restored into the tables that it was taken from. */
  to?: number;
  /** The move that fills this database: no relay can start on it before the move is finished. */
  move?: string | null;
  /** All migrations, where they are not those of this version. */
  steps?: readonly Migration[];
  /** How long to try to lock a table that others use. */
  timeoutMs?: number;
};

export class SchemaBusy extends Error {
  constructor(timeoutMs: number) {
    super(
      `The schema could not be migrated: for ${Math.round(timeoutMs / 1000)} seconds another session held a lock on a table that has to ` +
        `be changed (a backup, a long query, a transaction that was left open). Nothing was changed, and running nodes ` +
        `keep working. Start again when that session has ended.`,
    );
  }
}

export const latestVersion = migrations.at(-1)?.version ?? 0;

const defaultTimeoutMs = minuteMs;
const lockPauseMs = 100;
/** In a pause, statements that waited for the table get through. Pauses grow, so that statements are delayed less often. */
const [minPauseMs, maxPauseMs] = [1000, 8000];

/** Brings the schema up to date, one migration at a time, while other nodes work on the database. */
export async function migrate(db: MigratedDatabase, options: MigrationOptions = {}): Promise<MigrationReport> {
  const { timeoutMs = defaultTimeoutMs } = options;
  const progress: Progress = { from: null, applied: [] };
  let busyMs = 0;
  let pauseMs = minPauseMs;
  for (let left = 50; ;) {
    const startedAt = performance.now();
    try {
      return await migrateOnce(db, options, progress);
    } catch (error) {
      if (error instanceof MigrationLockTaken) await sleep(lockPauseMs);
      else if (errorCode(error) === lockTimeout) {
        busyMs += performance.now() - startedAt + pauseMs;
        if (busyMs > timeoutMs) throw new SchemaBusy(timeoutMs);
        await sleep(pauseMs);
        pauseMs = Math.min(2 * pauseMs, maxPauseMs);
      } else {
        // Without advisory locks another node may have changed the same table first.
        if (!db.isServer || db.advisoryLocks || left === 0 || !isCollision(error)) throw error;
        left -= 1;
        await sleep(lockPauseMs);
      }
    }
  }
}

const lockTimeout = "55P03";

/** The name exists already, or no longer: SQLSTATE 42…, or a conflict in the catalogue. */
const isCollision = (error: unknown) => /^(?:42...|23505|XX000)$/.test(errorCode(error));

/** The version that this node found, and the migrations that it applied before another node interfered. */
type Progress = { from: number | null; applied: string[] };

async function migrateOnce(
  db: MigratedDatabase,
  { to = Infinity, move = null, steps = migrations }: MigrationOptions,
  progress: Progress,
): Promise<MigrationReport> {
  const known = steps.at(-1)?.version ?? 0;
  const last = Math.min(to, known);
  // Only a node with something to do takes the lock: a newer node may hold it for long while it builds an index.
  const hasTable = (await columnsOf(db, "migrations")).length > 0;
  if (!hasTable || move !== null) await createMigrations(db, move);
  if ((await readMoveMarker(db)) !== move) throw new MoveUnfinished();
  const from = await schemaVersion(db);
  await refuseUnreleased(db, from, steps);
  progress.from ??= from;
  if (from > known) await refuseIfTooOld(db, from, known);

  for (const migration of steps)
    if (migration.version > from && migration.version <= last && (await applyMigration(db, migration, steps)))
      progress.applied.push(migration.name);
  return { from: progress.from, to: last, applied: progress.applied };
}

/** Creates the table of migrations, with the marker of a move that is to fill the database. */
function createMigrations(db: MigratedDatabase, move: string | null): Promise<void> {
  return db.write(async (tx) => {
    await takeMigrationLock(db, tx);
    await tx.all(
      `CREATE TABLE IF NOT EXISTS migrations (version integer NOT NULL PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL)`,
    );
    if (move !== null) await writeMoveMarker(tx, move, Date.now());
  });
}
