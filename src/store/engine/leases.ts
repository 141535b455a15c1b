// Turns: what one node at a time does for all sites. Each is one row, under the empty site: who has it, and until when.

import type { Database } from "./database.ts";

export function turnStore(db: Database, table: "alert_turns" | "purge_turns" | "statistics_turns") {
  return {
    /**
     * True for one node at a time, until it is given back or its time is over. One that ends more than three turns from
     * now was written by a clock that runs ahead: nobody waits for that.
     */
    async takeTurn(owner: string, now: number, until: number): Promise<boolean> {
      const rows = await db.write((tx) =>
        tx.all(
          `INSERT INTO ${table} (site_id, owner, until) VALUES ('', $1, $2)
           ON CONFLICT (site_id) DO UPDATE SET owner = excluded.owner, until = excluded.until
           WHERE ${table}.until <= $3 OR ${table}.until > $4 OR ${table}.owner = excluded.owner RETURNING owner`,
          [owner, until, now, now + 3 * (until - now)],
        ),
      );
      return rows.length > 0;
    },

    async giveTurnBack(owner: string): Promise<void> {
      await db.write((tx) => tx.all(`DELETE FROM ${table} WHERE site_id = '' AND owner = $1`, [owner]));
    },
  };
}
