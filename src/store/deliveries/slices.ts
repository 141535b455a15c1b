// The leases of slices of sites, each under the empty site like other leases. See delivery/slices.ts.

import { clockOr, list, tuples, type Database } from "../engine/database.ts";
import { latestEnd } from "../engine/leases.ts";

const prefix = "slice ";

export function sliceStore(db: Database) {
  const clock = clockOr(db, 1);
  return {
    divide: (siteIds: Iterable<string>) => db.divideSites(siteIds),

    /** Returns who holds each slice, and the number of nodes that live. A lease that begins now ends at `until`. */
    async readHolders(now: number, until: number): Promise<{ holders: Map<string, string>; nodes: number }> {
      const [held, nodes] = await Promise.all([
        db.all(`SELECT name, owner FROM leases WHERE site_id = '' AND name >= $1 AND name < $2 AND until > $3 AND until <= $4`, [
          prefix,
          `${prefix}~`,
          now,
          latestEnd(now, until),
        ]),
        // The machine that has this row also wrote its end, by its own clock.
        db.all(`SELECT COUNT(*) AS n FROM nodes WHERE site_id = '' AND ${clock} < until`, [now]),
      ]);
      return {
        holders: new Map(held.map((row) => [String(row.name).slice(prefix.length), String(row.owner)])),
        nodes: Number(nodes[0]?.n),
      };
    },

    /** Takes or extends slices. Returns those that the node holds afterwards. */
    async acquire(names: readonly string[], owner: string, now: number, until: number): Promise<string[]> {
      if (names.length === 0) return [];
      const rows = await db.run(
        `INSERT INTO leases (site_id, name, owner, until) VALUES ${tuples(names.length, 4, 2)}
         ON CONFLICT (site_id, name) DO UPDATE SET owner = excluded.owner, until = excluded.until
         WHERE leases.until <= $1 OR leases.until > $2 OR leases.owner = excluded.owner RETURNING name`,
        [now, latestEnd(now, until), ...names.flatMap((name) => ["", prefix + name, owner, until])],
      );
      return rows.map((row) => String(row.name).slice(prefix.length));
    },

    /** Leaves slices, or all that a node holds, to other nodes. */
    async release(owner: string, names?: readonly string[]): Promise<void> {
      if (names?.length === 0) return;
      await db.write((tx) =>
        names
          ? tx.all(`DELETE FROM leases WHERE site_id = '' AND owner = $1 AND name IN (${list(names.length, 1)})`, [
              owner,
              ...names.map((name) => prefix + name),
            ])
          : tx.all(`DELETE FROM leases WHERE site_id = '' AND owner = $1 AND name >= $2 AND name < $3`, [
              owner,
              prefix,
              `${prefix}~`,
            ]),
      );
    },
  };
}
