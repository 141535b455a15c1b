// Finds the connections of all sites that have queued or parked deliveries. The cost grows with the number of connections
// and not with the backlog of one: the first entry of an index is enough, and the next connection begins behind the last
// entry of this one.
//
// Each subquery is one that PostgreSQL cannot turn into a join, in the order of the index. A planner with old statistics
// would otherwise scan the whole backlog.

import { yieldToEventLoop } from "../../kernel/deadline.ts";
import { chunks, tuples, type Database, type Row } from "../engine/database.ts";
import type { ConnectionKey } from "./delivery.ts";

type PendingState = "queued" | "parked";

const keyText = ({ siteId, connectionId }: ConnectionKey) => `${siteId} ${connectionId}`;
const readConnectionKey = (row: Row): ConnectionKey => ({
  siteId: String(row.site_id),
  connectionId: String(row.connection_id),
});

export function dueConnectionStore(db: Database) {
  /** Returns those of the given connections that have deliveries due. */
  async function findDue(now: number, among: readonly ConnectionKey[]): Promise<ConnectionKey[]> {
    if (await db.isSharded()) return only(among, await scan(db, "queued", now));
    const found: ConnectionKey[] = [];
    for (const some of chunks(among)) {
      const rows = await db.all(
        `SELECT v.column1 AS site_id, v.column2 AS connection_id
         FROM (VALUES ${tuples(some.length, 2, 1, ["text", "text"])}) AS v
         WHERE (SELECT due_at FROM deliveries WHERE deliveries.site_id = v.column1
           AND deliveries.connection_id = v.column2 AND state = 'queued' AND due_at <= $1
           ORDER BY due_at LIMIT 1) IS NOT NULL`,
        [now, ...some.flatMap(({ siteId, connectionId }) => [siteId, connectionId])],
      );
      found.push(...rows.map(readConnectionKey));
    }
    return found;
  }

  return {
    findDue,

    /** Returns those of the given connections that have parked deliveries. */
    async findParked(among: readonly ConnectionKey[]): Promise<ConnectionKey[]> {
      const all = (await db.isSharded()) ? await scan(db, "parked") : await skipScan(db, "parked");
      return only(among, all);
    },

    /** Returns all connections that have queued deliveries, including removed ones. */
    async findQueued(): Promise<ConnectionKey[]> {
      return (await db.isSharded()) ? scan(db, "queued") : skipScan(db, "queued");
    },

    /** Returns all connections that have deliveries due, including removed ones. */
    async findAllDue(now: number): Promise<ConnectionKey[]> {
      if (await db.isSharded()) return scan(db, "queued", now);
      return findDue(now, await skipScan(db, "queued"));
    },
  };
}

function only(among: readonly ConnectionKey[], found: readonly ConnectionKey[]): ConnectionKey[] {
  const wanted = new Set(among.map(keyText));
  return found.filter((one) => wanted.has(keyText(one)));
}

/** Sites per query: the embedded store shares its thread with the inbound endpoint. */
const sitesPerQuery = 100;

/** Lists the connections with deliveries in this state by skipping along the index from one to the next. */
async function skipScan(db: Database, state: PendingState): Promise<ConnectionKey[]> {
  const found: ConnectionKey[] = [];
  const first = (column: string, where: string) =>
    `(SELECT d.${column} FROM deliveries AS d WHERE d.state = '${state}' AND ${where} ORDER BY d.${column} LIMIT 1)`;
  for (let after = ""; ;) {
    const rows = await db.all(
      `WITH RECURSIVE at_site(number, site_id) AS (
         SELECT 1, ${first("site_id", "d.site_id > $1")}
         UNION ALL SELECT number + 1, ${first("site_id", "d.site_id > at_site.site_id")} FROM at_site
           WHERE site_id IS NOT NULL AND number < ${sitesPerQuery}),
       at_connection(number, site_id, connection_id) AS (
         SELECT number, site_id, ${first("connection_id", "d.site_id = at_site.site_id")} FROM at_site
         UNION ALL SELECT number, site_id,
           ${first("connection_id", "d.site_id = at_connection.site_id AND d.connection_id > at_connection.connection_id")}
           FROM at_connection WHERE connection_id IS NOT NULL)
       SELECT number, site_id, connection_id FROM at_connection WHERE connection_id IS NOT NULL`,
      [after],
    );
    found.push(...rows.map(readConnectionKey));
    const last = rows.find((row) => Number(row.number) === sitesPerQuery);
    if (!last) return found;
    after = String(last.site_id);
    await yieldToEventLoop();
  }
}

/** A sharded database can neither join a list of sites nor skip along its index. Each machine scans its own rows. */
async function scan(db: Database, state: PendingState, now?: number): Promise<ConnectionKey[]> {
  const rows = await db.all(
    `SELECT site_id, connection_id FROM deliveries
     WHERE state = '${state}'${now === undefined ? "" : " AND due_at <= $1"} GROUP BY site_id, connection_id`,
    now === undefined ? [] : [now],
  );
  return rows.map(readConnectionKey);
}
