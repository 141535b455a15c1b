// Finds the connections of all sites that have queued or parked deliveries, or recent attempts. The cost grows with the number
// of those connections, neither with that of all connections nor with the backlog of one: the first entry of an index is
// enough, and the next connection begins behind the last entry of this one.
//
// Each subquery is one that PostgreSQL cannot turn into a join, in the order of the index. A planner with old statistics
// would otherwise scan the whole backlog.

import { yieldToEventLoop } from "../../kernel/deadline.ts";
import type { Database, Query, Row } from "../engine/database.ts";
import type { ConnectionKey } from "./delivery.ts";

const readConnectionKey = (row: Row): ConnectionKey => ({
  siteId: String(row.site_id),
  connectionId: String(row.connection_id),
});

export function dueConnectionStore(db: Database) {
  return {
    /** Returns the connections that have deliveries due, including removed ones. */
    async findDue(now: number): Promise<ConnectionKey[]> {
      if (await db.isSharded()) return scan(db.background, "state = 'queued' AND due_at <= $1", now);
      return skipScan(db.background, queued, now);
    },

    /** Returns the connections that have parked deliveries, including removed ones. */
    async findParked(): Promise<ConnectionKey[]> {
      return (await db.isSharded()) ? scan(db.background, "state = 'parked'") : skipScan(db.background, parked);
    },
  };
}

/** An index that begins with the site and the connection. */
type ConnectionIndex = {
  table: "deliveries" | "attempts";
  /** The condition of the index, about a row `d`. */
  condition: string;
  /** A condition on the next column of the index, with the parameter $2. */
  bound?: { column: string; is: "<=" | ">" };
};

export const queued: ConnectionIndex = {
  table: "deliveries",
  condition: "d.state = 'queued'",
  bound: { column: "due_at", is: "<=" },
};
const parked: ConnectionIndex = { table: "deliveries", condition: "d.state = 'parked'" };

/** The attempts whose texts are not purged yet. */
export const attemptsSince: ConnectionIndex = {
  table: "attempts",
  condition: "d.request <> '(removed)'",
  bound: { column: "started_at", is: ">" },
};

/** Sites per query: the embedded store shares its thread with the inbound endpoint. */
const sitesPerQuery = 100;

/** Lists the connections with rows in an index by skipping along it from one to the next. */
export async function skipScan(
  db: Query,
  { table, condition, bound }: ConnectionIndex,
  limit?: number,
): Promise<ConnectionKey[]> {
  const first = (column: string, where: string) =>
    `(SELECT d.${column} FROM ${table} AS d WHERE ${condition} AND ${where} ORDER BY d.${column} LIMIT 1)`;
  const ofConnection = "d.site_id = at_connection.site_id AND d.connection_id = at_connection.connection_id";
  const found = bound ? first(bound.column, `${ofConnection} AND d.${bound.column} ${bound.is} $2`) : "1";
  const keys: ConnectionKey[] = [];
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
       SELECT number, site_id, connection_id, ${found} AS found FROM at_connection WHERE connection_id IS NOT NULL`,
      limit === undefined ? [after] : [after, limit],
    );
    keys.push(...rows.filter((row) => row.found !== null).map(readConnectionKey));
    const last = rows.find((row) => Number(row.number) === sitesPerQuery);
    if (!last) return keys;
    after = String(last.site_id);
    await yieldToEventLoop();
  }
}

/** The same for one site, with an expression about the row `known` of each: also where the database is sharded. */
export const skipScanSite = (
  db: Query,
  siteId: string,
  { table, condition }: Pick<ConnectionIndex, "table" | "condition">,
  expression = "NULL",
): Promise<Row[]> => {
  const first = (after: string) =>
    `SELECT MIN(connection_id) AS id FROM ${table} AS d WHERE site_id = $1 AND ${condition} ${after}`;
  return db.all(
    `WITH RECURSIVE known AS (
       ${first("")} UNION ALL SELECT (${first("AND connection_id > known.id")}) FROM known WHERE known.id IS NOT NULL)
     SELECT id, ${expression} AS found FROM known WHERE id IS NOT NULL`,
    [siteId],
  );
};

/** A sharded database cannot skip along its index. Each machine scans its own rows. */
async function scan(db: Query, condition: string, limit?: number): Promise<ConnectionKey[]> {
  const rows = await db.all(
    `SELECT site_id, connection_id FROM deliveries WHERE ${condition} GROUP BY site_id, connection_id`,
    limit === undefined ? [] : [limit],
  );
  return rows.map(readConnectionKey);
}
