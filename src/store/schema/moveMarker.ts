// The marker in a PostgreSQL database that a move is filling: a version that no schema will ever have, so that no relay, of
// this version or an older one, starts on half of the data.

import { insertRow, type Database, type Query } from "../engine/database.ts";

export const moveMarkerVersion = 2_147_483_647;

export class MoveUnfinished extends Error {
  constructor() {
    super(
      "DATABASE_URL names a database that 'cleancast move' is filling and has not finished: run the same move again, to its end.",
    );
  }
}

/** Returns the id of the move that fills this database; null where none does. */
export async function readMoveMarker(db: Query): Promise<string | null> {
  const [row] = await db.all(`SELECT name FROM migrations WHERE version = $1`, [moveMarkerVersion]);
  return row ? String(row.name) : null;
}

export async function writeMoveMarker(tx: Query, move: string, now: number): Promise<void> {
  const row = { version: moveMarkerVersion, name: move, applied_at: now };
  await insertRow(tx, "migrations", row, "ON CONFLICT (version) DO NOTHING");
}

export const clearMoveMarker = (db: Database) => db.run(`DELETE FROM migrations WHERE version = $1`, [moveMarkerVersion]);
