import { setTimeout as sleep } from "node:timers/promises";
import { minuteMs } from "../../kernel/time.ts";
import { apply, OthersTurn, schemaVersion, takeTurn } from "./applyMigration.ts";
import { refuseIfTooOld } from "./compatibility.ts";
import type { Database } from "../engine/database.ts";
import type { Migration } from "./migration.ts";
import { hangSign, NotYetMoved, whoMovesIn } from "../maintenance/moveMarker.ts";
import { migrations } from "./schema.ts";
import { columnsOf } from "./tables.ts";

/** `from` is more than `to` where a newer version was here, and this one may work all the same. */
export type MigrationReport = { from: number; to: number; applied: string[] };

export type MigrationOptions = {
  /** Stops at an earlier version: a backup is written back into the tables that it was taken from. */
  to?: number;
  /** The one that fills this database: nobody else may use it from before its first table on. */
  move?: string | null;
  /** All that there are. */
  steps?: readonly Migration[];
  /** How long it is tried to get hold of a table that others use. */
  timeoutMs?: number;
};

export class SchemaBusy extends Error {
  constructor(timeoutMs: number) {
    super(
      `The schema could not be brought up to date: for ${Math.round(timeoutMs / 1000)} seconds somebody kept a table busy that has to be ` +
        `changed (a backup, a long query, a transaction that was left open). Nothing is half done, and nodes that run go on. ` +
        `Start again when it is over.`,
    );
  }
}

export const latestVersion = migrations.at(-1)?.version ?? 0;

const usualPatienceMs = minuteMs;
const turnPauseMs = 100;
/** Those who waited behind the table get through; the longer it takes, the less they are held up. */
const [minPauseMs, maxPauseMs] = [1000, 8000];

/** Brings the schema up to date: each migration by itself, safe beside other nodes. */
export async function migrate(db: Database, options: MigrationOptions = {}): Promise<MigrationReport> {
  const { timeoutMs = usualPatienceMs } = options;
  const progress: Progress = { from: null, applied: [] };
  let busyMs = 0;
  let pauseMs = minPauseMs;
  for (let left = 50; ;) {
    const startedAt = performance.now();
    try {
      return await migrateOnce(db, options, progress);
    } catch (error) {
      if (error instanceof OthersTurn) await sleep(turnPauseMs);
      else if (codeOf(error) === lockTimeout) {
        busyMs += performance.now() - startedAt + pauseMs;
        if (busyMs > timeoutMs) throw new SchemaBusy(timeoutMs);
        await sleep(pauseMs);
        pauseMs = Math.min(2 * pauseMs, maxPauseMs);
      } else {
        // Another node was faster with the same table, and nothing made us wait for it.
        if (db.engine === "sqlite" || db.advisoryLocks || left === 0 || !isOthersWork(error)) throw error;
        left -= 1;
        await sleep(turnPauseMs);
      }
    }
  }
}

const lockTimeout = "55P03";

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "");

/** Something of that name is there already, or no longer: SQLSTATE 42…, or a row in the catalogue of them. */
const isOthersWork = (error: unknown) => /^(?:42...|23505|XX000)$/.test(codeOf(error));

/** What this node found, and did before another one got in its way. */
type Progress = { from: number | null; applied: string[] };

async function migrateOnce(
  db: Database,
  { to = Infinity, move = null, steps = migrations }: MigrationOptions,
  progress: Progress,
): Promise<MigrationReport> {
  const known = steps.at(-1)?.version ?? 0;
  const last = Math.min(to, known);
  // Only who has something to do waits for the turn: a newer node may be at it for long, building an index.
  const isThere = (await columnsOf(db, "migrations")).length > 0;
  if (!isThere || move !== null) await begin(db, move);
  if ((await whoMovesIn(db)) !== move) throw new NotYetMoved();
  const from = await schemaVersion(db);
  progress.from ??= from;
  if (from > known) await refuseIfTooOld(db, from, known);

  for (const migration of steps)
    if (migration.version > from && migration.version <= last && (await apply(db, migration, steps)))
      progress.applied.push(migration.name);
  return { from: progress.from, to: last, applied: progress.applied };
}

/** The table of the schema's steps; and the sign of a move, where it is one. */
function begin(db: Database, move: string | null): Promise<void> {
  return db.write(async (tx) => {
    await takeTurn(db, tx);
    await tx.all(
      `CREATE TABLE IF NOT EXISTS migrations (version integer NOT NULL PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL)`,
    );
    if (move !== null) await hangSign(tx, move, Date.now());
  });
}
