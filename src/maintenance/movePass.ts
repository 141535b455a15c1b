// One look at everything in the embedded database: what PostgreSQL has not, it gets.

import { hashOf, type Key, type Piece, type Table } from "../store/maintenance/copy.ts";
import type { Source } from "../store/maintenance/copySource.ts";
import { Taken, type Filled } from "../store/maintenance/copyTarget.ts";
import type { Progress } from "./moveProgress.ts";

export type PassParts = {
  source: Source;
  filled: Filled;
  progress: Progress;
  tables: readonly Table[];
  /** Called again and again; `seen` rows were looked at so far. */
  tick: (seen: number, table: Table) => void;
  /** Nobody writes meanwhile: whatever does not fit then never will. */
  isHeld: boolean;
};

export type Pass = { copied: number; total: number; rows: Map<string, number> };

/** Ranges that are on their way at once. */
const together = 4;

export async function makePass(parts: PassParts): Promise<Pass> {
  const pass: Pass = { copied: 0, total: 0, rows: new Map() };
  for (const table of parts.tables) await copyTable(parts, table, pass);
  return pass;
}

async function copyTable(parts: PassParts, table: Table, pass: Pass): Promise<void> {
  const { source, progress, tick } = parts;
  const refused: Copied[] = [];
  const onTheirWay = new Set<Promise<void>>();
  let seen = 0;
  for (const { range, rows, within } of source.pieces(table, progress.ends(table.name))) {
    tick(pass.total + seen, table);
    seen += rows.length;
    const copied = { range, rows, within, hash: hashOf(rows) };
    if (progress.knows(table.name, range, copied.hash) === "sure") continue;
    const settling = settle(parts, table, copied, pass)
      .catch((error: unknown) => {
        if (!(error instanceof Taken)) throw error;
        refused.push(copied);
      })
      .finally(() => onTheirWay.delete(settling));
    // The first that fails is told of; the others must not end the process.
    settling.catch(() => {});
    onTheirWay.add(settling);
    if (onTheirWay.size >= together) await Promise.race(onTheirWay);
  }
  await Promise.all(onTheirWay);
  const [first, ...others] = refused;
  if (first) await fillTogether(parts, table, [first, ...others]);
  pass.rows.set(table.name, seen);
  pass.total += seen;
}

type Copied = Piece & { hash: string; within: Key | null };

async function settle(
  { filled, progress }: PassParts,
  table: Table,
  copied: Copied,
  pass: Pass,
): Promise<void> {
  const { range, rows, hash, within } = copied;
  const isThere =
    progress.knows(table.name, range, hash) === "remembered" && (await filled.holds(table, copied));
  if (!isThere) {
    pass.copied += rows.length;
    progress.leaves(table.name, within);
    await filled.fill(table, [copied]);
  }
  progress.arrived(table.name, range, hash);
}

/**
 * Ranges that stood in each other's way: a value that may be there once has gone from a row of one to a row of another. All of
 * them go first, and then come. Beside a relay they may have been read at moments that do not fit; the next pass sees.
 */
async function fillTogether(
  { filled, progress, isHeld }: PassParts,
  table: Table,
  refused: [Copied, ...Copied[]],
): Promise<void> {
  try {
    await filled.fill(table, refused);
  } catch (error) {
    if (isHeld || !(error instanceof Taken)) throw error;
    return;
  }
  for (const { range, hash } of refused) progress.arrived(table.name, range, hash);
}
