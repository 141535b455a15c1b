// What alerts are decided by. Each question looks at a bounded number of rows: it is asked every minute.

import type { DeliveryState } from "../../kernel/event.ts";
import type { Database } from "../engine/database.ts";

/** More than this many are not counted. */
const maxAttempts = 1000;
const maxWaiting = 100_000;

export type QueueLength = { count: number; isAtLeast: boolean; oldestDueAt: number | null };
export type HourOfUse = { hour: number; uses: number; lastUsedAt: number };

export function alertFacts(db: Database) {
  return {
    /** How the newest attempts of a connection since `since` ended. */
    async countAttempts(
      siteId: string,
      connectionId: string,
      since: number,
    ): Promise<Partial<Record<DeliveryState, number>>> {
      const rows = await db.all(
        `SELECT state, COUNT(*) AS n FROM (
           SELECT state FROM attempts
           WHERE site_id = $1 AND connection_id = $2 AND request <> '(removed)' AND started_at > $3
           ORDER BY started_at DESC LIMIT $4) AS newest
         GROUP BY state`,
        [siteId, connectionId, since, maxAttempts],
      );
      return Object.fromEntries(rows.map((row) => [String(row.state), Number(row.n)]));
    },

    /** How many deliveries wait for a connection, and since when the oldest could have gone. */
    async measureQueue(siteId: string, connectionId: string): Promise<QueueLength> {
      const [row] = await db.all(
        `SELECT COUNT(*) AS n, MIN(due_at) AS oldest FROM (
           SELECT due_at FROM deliveries WHERE site_id = $1 AND connection_id = $2 AND state = 'queued'
           ORDER BY due_at LIMIT $3) AS waiting`,
        [siteId, connectionId, maxWaiting],
      );
      const count = Number(row?.n);
      const oldest = row?.oldest ?? null;
      return { count, isAtLeast: count >= maxWaiting, oldestDueAt: oldest === null ? null : Number(oldest) };
    },

    /** How often a key was used, by hour. */
    async listKeyUses(siteId: string, keyId: string, fromHour: number): Promise<HourOfUse[]> {
      const rows = await db.all(
        `SELECT hour, uses, last_used_at FROM key_uses WHERE site_id = $1 AND key_id = $2 AND hour >= $3`,
        [siteId, keyId, fromHour],
      );
      return rows.map((row) => ({
        hour: Number(row.hour),
        uses: Number(row.uses),
        lastUsedAt: Number(row.last_used_at),
      }));
    },
  };
}
