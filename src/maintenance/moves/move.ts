// Moves an installation from the embedded database to PostgreSQL while a relay runs.
//
// All tables are copied in passes (store/copy/copy.ts). When passes are short, writes to the embedded database are locked
// (store/engine/sqlite/moveLock.ts), a last pass is made, and the lock becomes permanent: no write can come after the last pass. If the
// command is killed at any moment, running it again continues the move.

import type { DatabaseSync } from "node:sqlite";
import { Conflict } from "../../kernel/refusal.ts";
import { createCopy, type Copy, type PageSize } from "../../store/copy/copy.ts";
import { countRows, readTable, type Table } from "../../store/copy/rows.ts";
import {
  analyzeTables,
  findTableInUse,
  identifyServer,
  querySource,
  readTargetState,
} from "../../store/maintenance/installationMove.ts";
import type { Database } from "../../store/engine/database.ts";
import { createMoveLock, type MoveLock } from "../../store/engine/sqlite/moveLock.ts";
import { NewerSchema } from "../../store/schema/compatibility.ts";
import { isCitus, sequentialShardChanges } from "../../store/schema/distribute.ts";
import { latestVersion, migrate } from "../../store/schema/migrate.ts";
import { clearMoveMarker } from "../../store/schema/moveMarker.ts";
import { tablesAt } from "../../store/schema/tables.ts";
import { copyUntilShort } from "./copyPasses.ts";
import type { MoveId, Progress } from "./moveProgress.ts";

export type MovePlan = {
  from: DatabaseSync;
  to: Database;
  /** The name of the target for messages. */
  target: string;
  progress: Progress;
  newId: () => string;
  /** Stops before writes are locked. */
  prepareOnly: boolean;
  /** Discards what was copied into another database. */
  restart?: boolean;
  now: () => number;
  /** Reports progress to a person. */
  report: (text: string) => void;
  size?: PageSize;
};

export type Move = {
  state: "prepared" | "moved";
  passes: number;
  tables: number;
  rows: number;
  /** The time for which this run locked writes; null where it did not. */
  heldMs: number | null;
};

/** The lock of a move that dies expires after this time. */
const lockMs = 3000;
const renewMs = 500;
const maxLocks = 2;

export async function move(plan: MovePlan): Promise<Move> {
  const { from, to } = plan;
  const lock = createMoveLock(from);
  const before = lock.movedTo();
  if (before) return finishEarlier(plan, before);

  const id = await claimTarget(plan);
  const copy = await createInstallationCopy(plan);
  let passes = 0;
  for (let locks = 1; ; locks += 1) {
    const identity = await identifyServer(to);
    const { total, passes: made } = await copyUntilShort(copy, plan.report);
    passes += made;
    await analyzeTables(to, tables);
    if (plan.prepareOnly) return { state: "prepared", passes, tables: tables.length, rows: total, heldMs: null };
    plan.report("Writes are locked for a moment: senders get 503 and try again.");
    const last = await lastPass(plan, { lock, copy, id, identity });
    passes += 1;
    if (last.difference === null) {
      await finish(plan);
      return { state: "moved", passes, tables: tables.length, rows: last.rows, heldMs: last.heldMs };
    }
    if (locks === maxLocks)
      throw new Conflict(
        "to",
        `${last.difference} Another program changes that database. Stop it, and run the same command again; the relay keeps running.`,
      );
    plan.report(`${last.difference} All rows are compared once more.`);
    copy.forget();
  }
}

const tables = tablesAt(latestVersion);

async function createInstallationCopy({ from, to, size }: MovePlan): Promise<Copy> {
  const source = querySource(from);
  const isSharded = await isCitus(to);
  const all: Table[] = [];
  for (const name of tables) all.push(await readTable(source, name, null));
  return createCopy({
    from: { db: source, seal: null },
    to: { db: to, seal: null },
    tables: all,
    beforeWrite: async (tx) => isSharded && tx.all(sequentialShardChanges),
    ...(size && { size }),
  });
}

/** An earlier run locked the file for good and was then killed: PostgreSQL has all rows, and still has the marker. */
async function finishEarlier(plan: MovePlan, { move: id, target }: MoveId): Promise<Move> {
  const state = await readTargetState(plan.to);
  if (state.move === null || state.move !== id)
    throw new Conflict("database", `The embedded database was moved already, to ${target}; there is nothing left to move.`);
  let rows = 0;
  for (const name of tables) rows += await countRows(querySource(plan.from), { name, siteId: null });
  await finish(plan);
  return { state: "moved", passes: 0, tables: tables.length, rows, heldMs: null };
}

async function finish({ to, progress }: MovePlan): Promise<void> {
  await clearMoveMarker(to);
  progress.remove();
}

/**
 * Marks the target as that of this move. It must be empty, or be the one that this move has begun to fill. An earlier target
 * is given up only when the new one is usable.
 */
async function claimTarget(plan: MovePlan): Promise<MoveId> {
  const { to, progress, target } = plan;
  const found = await readTargetState(to);
  if (found.version > latestVersion) throw new NewerSchema(found.version, latestVersion, null);
  const intended = progress.intended();
  if (intended && found.move === intended.move) progress.begin(intended);
  const begun = progress.begun();
  if (begun && found.move === begun.move) {
    await migrate(to, { move: begun.move });
    return begun;
  }
  if (found.move !== null)
    throw new Conflict(
      "to",
      "Another move has begun to fill that database, or the progress file of this one (cleancast.db.move) was lost. Use an empty database.",
    );
  const inUse = await findTableInUse(to, found);
  if (inUse !== null)
    throw new Conflict("to", `That database already has data, in the table ${inUse}. A move needs an empty one.`);
  if (begun && plan.restart !== true)
    throw new Conflict(
      "to",
      `This installation is being moved to ${begun.target}, and --to names another database. ` +
        "Continue with that one, or add --restart to discard it and start again with this one.",
    );
  const next = { move: plan.newId(), target };
  progress.intend(next);
  await migrate(to, { move: next.move });
  progress.begin(next);
  return next;
}

/** The result of the pass with locked writes; `difference` says why the lock did not become permanent. */
type LastPass = { heldMs: number; rows: number; difference: string | null };

/** Locks writes to the embedded database, copies the rest, and makes the lock permanent. */
async function lastPass(
  { to, now }: MovePlan,
  { lock, copy, id, identity }: { lock: MoveLock; copy: Copy; id: MoveId; identity: string },
): Promise<LastPass> {
  const startedAt = performance.now();
  let renewedAt = 0;
  const tooLate = () => new Conflict("database", "The last pass took too long and was stopped; run the same command again.");
  const renew = () => {
    if (now() - renewedAt < renewMs) return;
    if (!lock.hold(now() + lockMs, now())) throw tooLate();
    renewedAt = now();
  };
  // The lock is also renewed while PostgreSQL is awaited. A lock that was lost is detected at the end.
  const renewing = setInterval(() => lock.hold(now() + lockMs, now()), renewMs);
  const result = (rows: number, difference: string | null) => ({
    heldMs: performance.now() - startedAt,
    rows,
    difference,
  });
  try {
    renew();
    const { total, differing } = await copy.pass({ onPage: renew, isLocked: true });
    const [first] = differing;
    if (first) return result(total, `The table ${first.table} has ${first.here} rows here and ${first.there} in PostgreSQL.`);
    if ((await identifyServer(to)) !== identity) return result(total, "Another server answers now, which may lack some rows.");
    if (!lock.finish(now(), id)) throw tooLate();
    return result(total, null);
  } finally {
    clearInterval(renewing);
    // Where the move did not finish, a running relay writes again at once.
    lock.release();
  }
}
