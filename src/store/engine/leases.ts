// Leases of work that one node at a time does for all sites. Each is one row under the empty site: its owner and its end.

import type { Database } from "./database.ts";

type LeaseName =
  | "alerts"
  | "backfills"
  | "backups"
  | "configuration"
  | "confirmations"
  | "corrections"
  | "purge"
  | "quality"
  | "reconciliations"
  | "statistics";

export function leaseStore(db: Database) {
  return {
    /**
     * Takes or extends a lease. Returns true for one node at a time, until that node releases it or its time is over. A
     * lease that ends more than three terms from now was written by a clock that runs ahead, and is taken over.
     */
    async acquire(name: LeaseName, owner: string, now: number, until: number): Promise<boolean> {
      const rows = await db.write((tx) =>
        tx.all(
          `INSERT INTO leases (site_id, name, owner, until) VALUES ('', $1, $2, $3)
           ON CONFLICT (site_id, name) DO UPDATE SET owner = excluded.owner, until = excluded.until
           WHERE leases.until <= $4 OR leases.until > $5 OR leases.owner = excluded.owner RETURNING owner`,
          [name, owner, until, now, now + 3 * (until - now)],
        ),
      );
      return rows.length > 0;
    },

    async release(name: LeaseName, owner: string): Promise<void> {
      await db.write((tx) =>
        tx.all(`DELETE FROM leases WHERE site_id = '' AND name = $1 AND owner = $2`, [name, owner]),
      );
    },
  };
}
