// Which connections have deliveries that wait for something, asked of all sites at once.

import { chunks, tuples, type Database, type Row, type Value } from "./database.ts";
import type { Due } from "./deliveries.ts";

type Find = (among: readonly Due[], condition: string, params: readonly Value[]) => Promise<Due[]>;

export function findConnections(db: Database): Find {
  let isSharded: boolean | undefined;
  return async (among, condition, params) => {
    isSharded ??= await db.isSharded();
    return isSharded ? goThrough(db, among, condition, params) : lookUp(db, among, condition, params);
  };
}

/** A backlog of a hundred thousand is found by its first row. */
async function lookUp(db: Database, ...[among, condition, params]: Parameters<Find>): Promise<Due[]> {
  const found: Due[] = [];
  for (const some of chunks(among)) {
    const rows = await db.all(
      `SELECT v.column1 AS site_id, v.column2 AS connection_id
       FROM (VALUES ${tuples(some.length, 2, params.length, ["text", "text"])}) AS v
       WHERE EXISTS (SELECT 1 FROM deliveries WHERE deliveries.site_id = v.column1
         AND deliveries.connection_id = v.column2 AND ${condition})`,
      [...params, ...some.flatMap(({ siteId, connectionId }) => [siteId, connectionId])],
    );
    found.push(...rows.map(dueOf));
  }
  return found;
}

/**
 * A sharded database cannot look up a list of sites row by row. It goes through what is there, each machine through its
 * own part.
 */
async function goThrough(db: Database, ...[among, condition, params]: Parameters<Find>): Promise<Due[]> {
  const nameOf = ({ siteId, connectionId }: Due) => `${siteId} ${connectionId}`;
  const wanted = new Set(among.map(nameOf));
  const rows = await db.all(
    `SELECT site_id, connection_id FROM deliveries WHERE ${condition} GROUP BY site_id, connection_id`,
    params,
  );
  return rows.map(dueOf).filter((one) => wanted.has(nameOf(one)));
}

const dueOf = (row: Row): Due => ({ siteId: String(row.site_id), connectionId: String(row.connection_id) });
