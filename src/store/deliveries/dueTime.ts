// Times for statements that change rows. They are read first and given as parameters: on a sharded database such a statement must not
// call the clock.

import type { Database, Query } from "../engine/database.ts";

type Clock = Pick<Database, "isServer" | "serverClock">;

/** The time by which leases end: the database's; `now` where it has no clock of its own. */
export async function readLeaseTime({ isServer, serverClock }: Clock, on: Query, now: number): Promise<number> {
  if (!isServer) return now;
  const [row] = await on.all(`SELECT ${serverClock} AS clock`);
  return Math.round(Number(row?.clock));
}

/**
 * The time of a person's request: when deliveries are due that are made due at once, and which leases have ended. It is `now`, or the
 * time of the database where that is earlier. The clock of the node that a person uses may be ahead, and may be corrected before this
 * is written: then nothing would correct the row. It would also end the leases of deliveries that another node is sending. The embedded
 * database has the clock of its node.
 */
export const readDueTime = async (clock: Clock, tx: Query, now: number): Promise<number> =>
  Math.min(now, await readLeaseTime(clock, tx, Date.now()));
