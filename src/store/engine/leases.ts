// Leases of work that one node at a time does, for one site or, under the empty site, for all. Each is one row: its owner and its
// end.

import type { Database } from "./database.ts";

type LeaseName =
  | "alerts"
  | "backfills"
  | "backups"
  | "configuration"
  | "confirmations"
  | "corrections"
  | "data exports"
  | "export"
  | "lookUps"
  | "quality"
  | "reconciliations"
  | "weekly reports";

type Lease = { siteId: string; name: string; owner: string };

/** A lease that ends more than three terms from now was written by a clock that ran ahead, and is void. */
export const latestEnd = (now: number, until: number) => now + 3 * (until - now);

/** Takes or extends a lease. Returns true for one node at a time, until that node releases it or its time is over. */
export async function acquireLease(db: Database, { siteId, name, owner }: Lease, now: number, until: number): Promise<boolean> {
  const rows = await db.run(
    `INSERT INTO leases (site_id, name, owner, until) VALUES ($1, $2, $3, $4)
     ON CONFLICT (site_id, name) DO UPDATE SET owner = excluded.owner, until = excluded.until
     WHERE leases.until <= $5 OR leases.until > $6 OR leases.owner = excluded.owner RETURNING owner`,
    [siteId, name, owner, until, now, latestEnd(now, until)],
  );
  return rows.length > 0;
}

export async function releaseLease(db: Database, { siteId, name, owner }: Lease): Promise<void> {
  await db.run(`DELETE FROM leases WHERE site_id = $1 AND name = $2 AND owner = $3`, [siteId, name, owner]);
}

/** The leases of work for all sites. */
export function leaseStore(db: Database) {
  return {
    acquire: (name: LeaseName, owner: string, now: number, until: number) =>
      acquireLease(db, { siteId: "", name, owner }, now, until),
    release: (name: LeaseName, owner: string) => releaseLease(db, { siteId: "", name, owner }),

    /** For the embedded store, which has one relay: leases of an earlier process are void. Those of commands are not. */
    async releaseAll(now: number): Promise<void> {
      await db.run(`UPDATE leases SET until = $1 WHERE site_id = '' AND until > $1 AND owner NOT LIKE 'command line %'`, [now]);
    },
  };
}
