// The time at which deliveries are due that a person makes due at once.

import type { Database, Query } from "../engine/database.ts";

/**
 * Returns `now`, or the database's time where that is earlier. The clock of the node that a person uses may be ahead, and may be
 * corrected before this is written: nothing would correct the row.
 */
export async function readDueTime(
  { isServer, serverClock }: Pick<Database, "isServer" | "serverClock">,
  tx: Query,
  now: number,
): Promise<number> {
  if (!isServer) return now;
  const [row] = await tx.all(`SELECT ${serverClock} AS clock`);
  return Math.min(now, Math.round(Number(row?.clock)));
}
