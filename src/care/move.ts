// Moving an installation from the embedded database to PostgreSQL, beside a running relay.
//
// Every table is cut into ranges of keys. A pass reads each range, compares its hash with what PostgreSQL was last given,
// and writes those that differ: the first pass copies all, every later one what has changed since. When little changes
// any more, the embedded database is held still (store/moved.ts), a last pass is made, everything is counted, and the file
// is marked for good: nothing can be accepted into it after the last look at it. Killed at any moment, the same command
// goes on where it was.

import type { DatabaseSync } from "node:sqlite";
import { Refusal } from "../sites/manage.ts";
import { hasData, hashOf, keyOf, openFilled, openSource, readTable, type Filled, type Key, type Range, type Source, type Table } from "../store/copy.ts"; // prettier-ignore
import type { Database } from "../store/database.ts";
import { latestVersion, migrate } from "../store/migrate.ts";
import { marksOn, type Marks } from "../store/moved.ts";
import { takeSignDown, whoMovesIn } from "../store/movingIn.ts";
import { tablesAt, versionIn } from "../store/tables.ts";
import type { Progress } from "./moveProgress.ts";

export type MovePlan = {
  from: DatabaseSync;
  to: Database;
  progress: Progress;
  /** Only what can be done beside a running relay. */
  prepareOnly: boolean;
  now: () => number;
  /** Tells a person how far it is. */
  say: (text: string) => void;
  /** Rows of a range. */
  rangeRows?: number;
};

export type Move = {
  state: "prepared" | "moved";
  passes: number;
  tables: number;
  rows: number;
  /** How long nothing could be changed. */
  heldMs: number;
};

type Pass = { copied: number; rows: Map<string, number> };

/** Ranges that are on their way at once. */
const together = 4;
/** A move that dies sets nobody still for longer. */
const holdMs = 3000;
const renewMs = 500;
/** A pass that is this short leaves little for the last one. */
const shortPassMs = 2000;
const mostPasses = 6;

export async function move(plan: MovePlan): Promise<Move> {
  const { from, to, progress, now, say } = plan;
  const marks = marksOn(from);
  const tables = tablesAt(latestVersion).map((name) => readTable(from, name));
  const filled = await claimTarget(plan, marks, tables);
  const source = openSource(from);
  let passes = 0;

  const pass = async (renew: () => void): Promise<Pass> => {
    passes += 1;
    const made: Pass = { copied: 0, rows: new Map() };
    for (const table of tables) await copyTable(plan, { source, filled, table, renew }, made);
    return made;
  };

  let heldMs = 0;
  if (!marks.isMoved()) {
    const total = await copyBeside(plan, pass);
    await filled.analyze(tables);
    if (plan.prepareOnly) return { state: "prepared", passes, tables: tables.length, rows: total, heldMs };
    heldMs = await lastPass({ marks, filled, tables, pass, now });
    say(`Nothing could be changed for ${(heldMs / 1000).toFixed(1)} s.`);
  }
  // From here on nothing can go wrong that the same command does not put right: the file is marked, PostgreSQL is whole.
  let rows = 0;
  for (const table of tables) rows += await filled.count(table);
  await filled.end(tables);
  await takeSignDown(to);
  progress.remove();
  return { state: "moved", passes, tables: tables.length, rows, heldMs };
}

/** The database must be empty, or be the one that this move has begun to fill. */
async function claimTarget({ to, progress }: MovePlan, marks: Marks, tables: Table[]): Promise<Filled> {
  const version = await versionIn(to);
  const mover = version === 0 ? null : await whoMovesIn(to);
  const isOurs = mover === progress.id();
  if (marks.isMoved() && !isOurs)
    throw new Refusal("database", "The embedded database was moved already; nothing is left to move.");
  if (mover !== null && !isOurs)
    throw new Refusal("to", "Another move has begun to fill that database. Give this one an empty database.");
  if (!isOurs && version !== 0 && (await hasData(to, version)))
    throw new Refusal("to", "There is data already in that database. A move needs an empty one.");
  // What was copied into another database, this one has not.
  if (!isOurs) progress.restart();
  await migrate(to, { move: progress.id() });
  const filled = await openFilled(to);
  await filled.begin(tables);
  return filled;
}

/** Passes beside whoever writes, until one of them is short. */
async function copyBeside({ say }: MovePlan, pass: (renew: () => void) => Promise<Pass>): Promise<number> {
  for (let n = 1; ; n += 1) {
    const startedAt = performance.now();
    const { copied, rows } = await pass(() => {});
    const ms = performance.now() - startedAt;
    const total = [...rows.values()].reduce((sum, one) => sum + one, 0);
    say(`Pass ${n}: ${copied} of ${total} rows copied in ${(ms / 1000).toFixed(1)} s.`);
    if ((n > 1 && ms < shortPassMs) || copied === 0 || n === mostPasses) return total;
  }
}

/** Holds the embedded database still, copies the rest, counts, and marks it. Returns how long it was held. */
async function lastPass(parts: {
  marks: Marks;
  filled: Filled;
  tables: readonly Table[];
  pass: (renew: () => void) => Promise<Pass>;
  now: () => number;
}): Promise<number> {
  const { marks, filled, tables, pass, now } = parts;
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
  try {
    renew();
    const { rows } = await pass(renew);
    for (const table of tables) {
      renew();
      const [here, there] = [rows.get(table.name) ?? 0, await filled.count(table)];
      if (here !== there) throw new Error(`${table.name} has ${here} rows here and ${there} in PostgreSQL`);
    }
    if (!marks.finish(now())) throw tooLate();
  } finally {
    clearInterval(renewing);
    // The relay that runs goes on at once where the move did not come to its end.
    marks.release();
  }
  return performance.now() - startedAt;
}

/** One table, range by range. A range that has grown is cut. */
async function copyTable(
  { progress, rangeRows = 1000 }: MovePlan,
  at: { source: Source; filled: Filled; table: Table; renew: () => void },
  made: Pass,
): Promise<void> {
  const { source, filled, table, renew } = at;
  const onTheirWay = new Set<Promise<void>>();
  let after: Key | null = null;
  let seen = 0;
  for (const end of progress.ends(table.name)) {
    for (let isWhole = false; !isWhole;) {
      renew();
      const found = source.read(table, { after, end }, 2 * rangeRows + 1);
      isWhole = found.length <= 2 * rangeRows;
      const rows = isWhole ? found : found.slice(0, rangeRows);
      const range: Range = { after, end: isWhole ? end : keyOf(table, rows.at(-1) as (typeof rows)[number]) };
      const hash = hashOf(rows);
      seen += rows.length;
      after = range.end;
      if (progress.holds(table.name, range, hash)) continue;
      made.copied += rows.length;
      progress.leaves(table.name, end);
      const filling = filled.fill(table, range, rows).then(() => {
        progress.arrived(table.name, range, hash);
        onTheirWay.delete(filling);
      });
      // The first that fails is told of; the others must not end the process.
      filling.catch(() => {});
      onTheirWay.add(filling);
      if (onTheirWay.size >= together) await Promise.race(onTheirWay);
    }
  }
  await Promise.all(onTheirWay);
  made.rows.set(table.name, seen);
}
