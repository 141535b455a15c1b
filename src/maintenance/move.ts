// Moving an installation from the embedded database to PostgreSQL, beside a running relay.
//
// Every table is cut into ranges of keys. A pass reads each range, compares its hash with what PostgreSQL holds, and writes
// those that differ: the first pass copies all, every later one what has changed since. What an earlier run has copied is
// read back from PostgreSQL once. When little changes any more, the embedded database is held still (store/maintenance/moveLock.ts), a last
// pass is made, everything is counted, and the file is marked for good: nothing can be accepted into it after the last look
// at it. Killed at any moment, the same command goes on where it was.

import type { DatabaseSync } from "node:sqlite";
import { Refusal } from "../kernel/refusal.ts";
import { lookInto, tableInUse } from "../store/maintenance/copyEmpty.ts";
import { openSource, type Size } from "../store/maintenance/copySource.ts";
import { openFilled, type Filled } from "../store/maintenance/copyTarget.ts";
import { readTable, type Table } from "../store/maintenance/copy.ts";
import type { Database } from "../store/engine/database.ts";
import { NewerSchema } from "../store/schema/compatibility.ts";
import { latestVersion, migrate } from "../store/schema/migrate.ts";
import { marksOn, type Marks } from "../store/maintenance/moveLock.ts";
import { takeSignDown } from "../store/maintenance/moveMarker.ts";
import { tablesAt } from "../store/schema/tables.ts";
import { makePass, type Pass, type PassParts } from "./movePass.ts";
import type { Aim, Progress } from "./moveProgress.ts";

export type MovePlan = {
  from: DatabaseSync;
  to: Database;
  /** How a person would name it. */
  target: string;
  progress: Progress;
  newId: () => string;
  /** Only what can be done beside a running relay. */
  prepareOnly: boolean;
  /** What was copied into another database is given up. */
  restart?: boolean;
  now: () => number;
  /** Tells a person how far it is. */
  say: (text: string) => void;
  size?: Size;
};

export type Move = {
  state: "prepared" | "moved";
  passes: number;
  tables: number;
  rows: number;
  /** How long nothing could be changed; null where nothing was held, or an earlier run did. */
  heldMs: number | null;
};

/** A move that dies sets nobody still for longer. */
const holdMs = 3000;
const renewMs = 500;
/** A pass that is this short leaves little for the last one. */
const shortPassMs = 2000;
const maxPasses = 6;
/** How often a long pass says where it is. */
const sayMs = 5000;
/** Four of them, there and back, are on their way at once: some hundred megabytes at the most. */
const usualSize: Size = { rows: 1000, bytes: 2_000_000 };
const maxHolds = 2;

export async function move(plan: MovePlan): Promise<Move> {
  const { from, to, progress } = plan;
  const marks = marksOn(from);
  const tables = tablesAt(latestVersion).map((name) => readTable(from, name));
  const before = marks.movedTo();
  if (before) return finishEarlier(plan, before, tables);

  const aim = await claimTarget(plan);
  const filled = await openFilled(to);
  await filled.begin(tables);
  const source = openSource(from, plan.size ?? usualSize);
  let passes = 0;
  const pass: Passing = (tick, isHeld) => {
    passes += 1;
    return makePass({ source, filled, progress, tables, tick, isHeld });
  };
  for (let holds = 1; ; holds += 1) {
    const place = await filled.place();
    const rows = await copyBeside(plan, pass);
    await filled.analyze(tables);
    if (plan.prepareOnly) return { state: "prepared", passes, tables: tables.length, rows, heldMs: null };
    plan.say("Now nothing can be changed for a moment: senders are answered 503, and try again.");
    const last = await lastPass(plan, { marks, filled, tables, pass, aim, place });
    if (last.differs === null) {
      await finish(plan, filled, tables);
      return { state: "moved", passes, tables: tables.length, rows: last.rows, heldMs: last.heldMs };
    }
    if (holds === maxHolds)
      throw new Refusal(
        "to",
        `${last.differs} Somebody else changes that database. Keep everybody away from it, and run the same command again; the relay goes on meanwhile.`,
      );
    plan.say(`${last.differs} Everything is compared once more.`);
    progress.doubt();
  }
}

type Passing = (tick: PassParts["tick"], isHeld: boolean) => Promise<Pass>;

/** The file was marked, and whoever did it came no further: PostgreSQL is whole, and does not say so yet. */
async function finishEarlier(plan: MovePlan, { move: id, target }: Aim, tables: Table[]): Promise<Move> {
  const { mover } = await lookInto(plan.to);
  if (mover === null || mover !== id)
    throw new Refusal(
      "database",
      `The embedded database was moved already, to ${target}; nothing is left to move.`,
    );
  const filled = await openFilled(plan.to);
  const rows = [...(await filled.count(tables)).values()].reduce((sum, one) => sum + one, 0);
  await finish(plan, filled, tables);
  return { state: "moved", passes: 0, tables: tables.length, rows, heldMs: null };
}

async function finish({ to, progress }: MovePlan, filled: Filled, tables: readonly Table[]): Promise<void> {
  await filled.end(tables);
  await takeSignDown(to);
  progress.remove();
}

/** The database must be empty, or be the one that this move has begun to fill. Nothing is given up before it is usable. */
async function claimTarget(plan: MovePlan): Promise<Aim> {
  const { to, progress, target } = plan;
  const found = await lookInto(to);
  if (found.version > latestVersion) throw new NewerSchema(found.version, latestVersion, null);
  const intended = progress.intended();
  if (intended && found.mover === intended.move) progress.begin(intended);
  const aim = progress.aim();
  if (aim && found.mover === aim.move) {
    await migrate(to, { move: aim.move });
    return aim;
  }
  if (found.mover !== null)
    throw new Refusal(
      "to",
      "Another move has begun to fill that database, or the notes of this one (cleancast.db.move) were lost. Give it an empty database.",
    );
  const inUse = await tableInUse(to, found);
  if (inUse !== null)
    throw new Refusal(
      "to",
      `There is data already in that database, in the table ${inUse}. A move needs an empty one.`,
    );
  if (aim && plan.restart !== true)
    throw new Refusal(
      "to",
      `This installation is being moved to ${aim.target}, and --to names a database that knows nothing of it. ` +
        "Go on with that one; or add --restart to give it up, and begin again with this one.",
    );
  const next = { move: plan.newId(), target };
  progress.intends(next);
  await migrate(to, { move: next.move });
  progress.begin(next);
  return next;
}

/** Passes beside whoever writes, until one of them is short. */
async function copyBeside({ say }: MovePlan, pass: Passing): Promise<number> {
  for (let n = 1; ; n += 1) {
    const startedAt = performance.now();
    let saidAt = startedAt;
    const { copied, total } = await pass((seen, table) => {
      if (performance.now() - saidAt < sayMs) return;
      saidAt = performance.now();
      say(`Pass ${n}: ${seen} rows so far, now ${table.name}.`);
    }, false);
    const ms = performance.now() - startedAt;
    say(`Pass ${n}: ${copied} of ${total} rows copied in ${(ms / 1000).toFixed(1)} s.`);
    if ((n > 1 && ms < shortPassMs) || copied === 0 || n === maxPasses) return total;
  }
}

/** What was found while nothing could be changed; `differs` says why the file was not marked. */
type Last = { heldMs: number; rows: number; differs: string | null };

/** Holds the embedded database still, copies the rest, counts, and marks it. */
async function lastPass(
  { now }: MovePlan,
  parts: { marks: Marks; filled: Filled; tables: readonly Table[]; pass: Passing; aim: Aim; place: string },
): Promise<Last> {
  const { marks, filled, tables, pass, aim, place } = parts;
  const startedAt = performance.now();
  let heldAt = 0;
  const tooLate = () =>
    new Refusal("database", "The last pass took too long and was given up; run the same command again.");
  const renew = () => {
    if (now() - heldAt < renewMs) return;
    if (!marks.hold(now() + holdMs, now())) throw tooLate();
    heldAt = now();
  };
  // Also while an answer is waited for. What was lost is found at the end.
  const renewing = setInterval(() => marks.hold(now() + holdMs, now()), renewMs);
  const ended = (rows: number, differs: string | null) => ({
    heldMs: performance.now() - startedAt,
    rows,
    differs,
  });
  try {
    renew();
    const { rows, total } = await pass(renew, true);
    const there = await filled.count(tables);
    for (const [name, here] of rows)
      if (here !== there.get(name))
        return ended(total, `The table ${name} has ${here} rows here and ${there.get(name)} in PostgreSQL.`);
    if ((await filled.place()) !== place)
      return ended(total, "Another server answers now, which may lack some of it.");
    if (!marks.finish(now(), aim)) throw tooLate();
    return ended(total, null);
  } finally {
    clearInterval(renewing);
    // The relay that runs goes on at once where the move did not come to its end.
    marks.release();
  }
}
