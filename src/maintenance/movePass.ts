// One pass over the embedded database: copies the ranges that PostgreSQL does not have.

import { hashOf, type Key, type Piece, type Table } from "../store/maintenance/copy.ts";
import type { Source } from "../store/maintenance/copySource.ts";
import { UniqueConflict, type CopyTarget } from "../store/maintenance/copyTarget.ts";
import type { Progress } from "./moveProgress.ts";

export type PassContext = {
  source: Source;
  target: CopyTarget;
  progress: Progress;
  tables: readonly Table[];
  /** Called for each range; `seen` is the number of rows so far. */
  onProgress: (seen: number, table: Table) => void;
  /** Writes are locked: a conflict now will not go away by itself. */
  isLocked: boolean;
};

export type Pass = { copied: number; total: number; rows: Map<string, number> };

const maxRangesInFlight = 4;

export async function makePass(context: PassContext): Promise<Pass> {
  const pass: Pass = { copied: 0, total: 0, rows: new Map() };
  for (const table of context.tables) await copyTable(context, table, pass);
  return pass;
}

async function copyTable(context: PassContext, table: Table, pass: Pass): Promise<void> {
  const { source, progress, onProgress } = context;
  const conflicting: HashedPiece[] = [];
  const inFlight = new Set<Promise<void>>();
  let seen = 0;
  for (const { range, rows, within } of source.pieces(table, progress.ends(table.name))) {
    onProgress(pass.total + seen, table);
    seen += rows.length;
    const piece = { range, rows, within, hash: hashOf(rows) };
    if (progress.statusOf(table.name, range, piece.hash) === "verified") continue;
    const copying = copyPiece(context, table, piece, pass)
      .catch((error: unknown) => {
        if (!(error instanceof UniqueConflict)) throw error;
        conflicting.push(piece);
      })
      .finally(() => inFlight.delete(copying));
    // The first failure is reported; the others must not end the process.
    copying.catch(() => {});
    inFlight.add(copying);
    if (inFlight.size >= maxRangesInFlight) await Promise.race(inFlight);
  }
  await Promise.all(inFlight);
  const [first, ...others] = conflicting;
  if (first) await fillTogether(context, table, [first, ...others]);
  pass.rows.set(table.name, seen);
  pass.total += seen;
}

type HashedPiece = Piece & { hash: string; within: Key | null };

async function copyPiece({ target, progress }: PassContext, table: Table, piece: HashedPiece, pass: Pass): Promise<void> {
  const { range, rows, hash, within } = piece;
  const isCopied = progress.statusOf(table.name, range, hash) === "recorded" && (await target.holds(table, piece));
  if (!isCopied) {
    pass.copied += rows.length;
    progress.invalidate(table.name, within);
    await target.fill(table, [piece]);
  }
  progress.record(table.name, range, hash);
}

/**
 * Writes ranges that conflicted with each other: a unique value has moved from a row of one to a row of another. All are
 * deleted before they are inserted. While a relay writes they may be of different moments; then the next pass copies them.
 */
async function fillTogether(
  { target, progress, isLocked }: PassContext,
  table: Table,
  conflicting: [HashedPiece, ...HashedPiece[]],
): Promise<void> {
  try {
    await target.fill(table, conflicting);
  } catch (error) {
    if (isLocked || !(error instanceof UniqueConflict)) throw error;
    return;
  }
  for (const { range, hash } of conflicting) progress.record(table.name, range, hash);
}
