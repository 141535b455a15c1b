// Moves an installation from the embedded database to PostgreSQL while a relay runs.
//
// Every table is cut into ranges of keys. A pass reads each range, compares its hash with the copy in PostgreSQL, and writes
// those that differ: the first pass copies everything, every later one the changes since. Ranges that an earlier run has
// copied are read back from PostgreSQL once. When passes are short, writes to the embedded database are locked
// (store/engine/sqlite/moveLock.ts), a last pass is made, all rows are counted, and the lock becomes permanent: no write can
// come after the last pass. If the command is killed at any moment, running it again continues the move.

import type { DatabaseSync } from "node:sqlite";
import { Conflict } from "../kernel/refusal.ts";
import { createSource, type PieceSize } from "../store/maintenance/copySource.ts";
import { findTableInUse, createCopyTarget, readTargetState, type CopyTarget } from "../store/maintenance/copyTarget.ts";
import { readTable, type Table } from "../store/maintenance/copy.ts";
import type { Database } from "../store/engine/database.ts";
import { NewerSchema } from "../store/schema/compatibility.ts";
import { latestVersion, migrate } from "../store/schema/migrate.ts";
import { createMoveLock, type MoveLock } from "../store/engine/sqlite/moveLock.ts";
import { clearMoveMarker } from "../store/schema/moveMarker.ts";
import { tablesAt } from "../store/schema/tables.ts";
import { makePass, type Pass, type PassContext } from "./movePass.ts";
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
  size?: PieceSize;
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
/** After a pass as short as this, little is left for the last one. */
const shortPassMs = 2000;
const maxPasses = 6;
/** The interval at which a long pass reports its progress. */
const reportMs = 5000;
/** Four pieces are copied at once, each held twice: at most some hundred megabytes. */
const defaultSize: PieceSize = { rows: 1000, bytes: 2_000_000 };
const maxLocks = 2;

export async function move(plan: MovePlan): Promise<Move> {
  const { from, to, progress } = plan;
  const lock = createMoveLock(from);
  const tables = tablesAt(latestVersion).map((name) => readTable(from, name));
  const before = lock.movedTo();
  if (before) return finishEarlier(plan, before, tables);

  const id = await claimTarget(plan);
  const target = await createCopyTarget(to);
  await target.createIndexes(tables);
  const source = createSource(from, plan.size ?? defaultSize);
  let passes = 0;
  const pass: RunPass = (onProgress, isLocked) => {
    passes += 1;
    return makePass({ source, target, progress, tables, onProgress, isLocked });
  };
  for (let locks = 1; ; locks += 1) {
    const identity = await target.identify();
    const rows = await copyUnlocked(plan, pass);
    await target.analyze(tables);
    if (plan.prepareOnly) return { state: "prepared", passes, tables: tables.length, rows, heldMs: null };
    plan.report("Writes are locked for a moment: senders get 503 and try again.");
    const last = await lastPass(plan, { lock, target, tables, pass, id, identity });
    if (last.difference === null) {
      await finish(plan, target, tables);
      return { state: "moved", passes, tables: tables.length, rows: last.rows, heldMs: last.heldMs };
    }
    if (locks === maxLocks)
      throw new Conflict(
        "to",
        `${last.difference} Another program changes that database. Stop it, and run the same command again; the relay keeps running.`,
      );
    plan.report(`${last.difference} All rows are compared once more.`);
    progress.unverifyAll();
  }
}

type RunPass = (onProgress: PassContext["onProgress"], isLocked: boolean) => Promise<Pass>;

/** An earlier run locked the file for good and was then killed: PostgreSQL has all rows, and still has the marker. */
async function finishEarlier(plan: MovePlan, { move: id, target }: MoveId, tables: Table[]): Promise<Move> {
  const state = await readTargetState(plan.to);
  if (state.move === null || state.move !== id)
    throw new Conflict("database", `The embedded database was moved already, to ${target}; there is nothing left to move.`);
  const copied = await createCopyTarget(plan.to);
  const rows = [...(await copied.count(tables)).values()].reduce((sum, one) => sum + one, 0);
  await finish(plan, copied, tables);
  return { state: "moved", passes: 0, tables: tables.length, rows, heldMs: null };
}

async function finish({ to, progress }: MovePlan, target: CopyTarget, tables: readonly Table[]): Promise<void> {
  await target.dropIndexes(tables);
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

/** Makes passes while a relay writes, until one of them is short. */
async function copyUnlocked({ report }: MovePlan, pass: RunPass): Promise<number> {
  for (let n = 1; ; n += 1) {
    const startedAt = performance.now();
    let reportedAt = startedAt;
    const { copied, total } = await pass((seen, table) => {
      if (performance.now() - reportedAt < reportMs) return;
      reportedAt = performance.now();
      report(`Pass ${n}: ${seen} rows so far, now ${table.name}.`);
    }, false);
    const ms = performance.now() - startedAt;
    report(`Pass ${n}: ${copied} of ${total} rows copied in ${(ms / 1000).toFixed(1)} s.`);
    if ((n > 1 && ms < shortPassMs) || copied === 0 || n === maxPasses) return total;
  }
}

/** The result of the pass with locked writes; `difference` says why the lock did not become permanent. */
type LastPass = { heldMs: number; rows: number; difference: string | null };

/** Locks writes to the embedded database, copies the rest, counts, and makes the lock permanent. */
async function lastPass(
  { now }: MovePlan,
  context: {
    lock: MoveLock;
    target: CopyTarget;
    tables: readonly Table[];
    pass: RunPass;
    id: MoveId;
    identity: string;
  },
): Promise<LastPass> {
  const { lock, target, tables, pass, id, identity } = context;
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
    const { rows, total } = await pass(renew, true);
    const counts = await target.count(tables);
    for (const [name, here] of rows)
      if (here !== counts.get(name))
        return result(total, `The table ${name} has ${here} rows here and ${counts.get(name)} in PostgreSQL.`);
    if ((await target.identify()) !== identity) return result(total, "Another server answers now, which may lack some rows.");
    if (!lock.finish(now(), id)) throw tooLate();
    return result(total, null);
  } finally {
    clearInterval(renewing);
    // Where the move did not finish, a running relay writes again at once.
    lock.release();
  }
}
