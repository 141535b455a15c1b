// The time of a person's request, for due times: when deliveries are due that are made due at once, and which leases have ended.

import type { Database, Query } from "../engine/database.ts";

/**
 * Returns `now`, or the time of the database where that is earlier. The clock of the node that a person uses may be ahead, and may
 * be corrected before this is written: then nothing would correct the row. It would also end the leases of deliveries that another
 * node is sending. The embedded database has the clock of its node.
 */
export async function readDueTime(
  { isServer, serverClock }: Pick<Database, "isServer" | "serverClock">,
  tx: Query,
  now: number,
): Promise<number> {
  if (!isServer) return Math.min(now, Date.now());
  const [row] = await tx.all(`SELECT ${serverClock} AS clock`);
  return Math.min(now, Math.round(Number(row?.clock)));
}
