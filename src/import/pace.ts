// How much an import may put before the worker. Deliveries leave in the order in which they fall due, so what an import
// has waiting is what a live retry may have to wait for: about ten rounds of a connection's lanes, and never more than
// two thousand. First attempts of live events never come this way.

import { platformOf } from "../platforms/index.ts";
import type { Connection } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";

const most = 2000;
const least = 200;
const rounds = 10;

export type Room = { rows: number; fullest: Connection | null };

export function maxWaiting(connection: Connection): number {
  const platform = platformOf(connection.platform);
  return Math.min(most, Math.max(least, rounds * (platform?.lanes ?? 1) * (platform?.batch ?? 1)));
}

/** How many more rows every connection has room for, and which has the least. Paused ones park, and hold nothing up. */
export async function roomFor(
  store: Pick<Store, "imports">,
  connections: readonly Connection[],
  rows: number,
): Promise<Room> {
  const room: Room = { rows, fullest: null };
  for (const connection of connections) {
    if (connection.state !== "active") continue;
    const limit = maxWaiting(connection);
    const free = limit - (await store.imports.countQueued(connection.siteId, connection.id, limit));
    if (free < room.rows) Object.assign(room, { rows: free, fullest: connection });
  }
  return room;
}
