// Which connections have deliveries that wait for something, asked of all sites at once. What it costs grows with the number
// of connections and not with what waits for one of them: the first entry of an index says enough, and the next connection
// begins behind the last of this one.
//
// Each subquery is one that PostgreSQL cannot turn into a join, and the order that it asks for is that of the index. Where
// a planner has to guess how much waits (it counts now and then only), it otherwise goes through all of it.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { chunks, tuples, type Database, type Row } from "../engine/database.ts";
import type { ConnectionKey } from "./delivery.ts";

export type PendingState = "queued" | "parked";

const nameOf = ({ siteId, connectionId }: ConnectionKey) => `${siteId} ${connectionId}`;
const dueOf = (row: Row): ConnectionKey => ({
  siteId: String(row.site_id),
  connectionId: String(row.connection_id),
});

export function dueConnectionStore(db: Database) {
  /** Which of these connections have something due. */
  async function findDue(now: number, among: readonly ConnectionKey[]): Promise<ConnectionKey[]> {
    if (await db.isSharded()) return only(among, await goThrough(db, "queued", now));
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
      found.push(...rows.map(dueOf));
    }
    return found;
  }

  return {
    findDue,

    /** Which of these connections have something parked. */
    async findParked(among: readonly ConnectionKey[]): Promise<ConnectionKey[]> {
      const all = (await db.isSharded()) ? await goThrough(db, "parked") : await stepThrough(db, "parked");
      return only(among, all);
    },

    /** The connections that have something due, also those that nobody knows any more. */
    async findAllDue(now: number): Promise<ConnectionKey[]> {
      if (await db.isSharded()) return goThrough(db, "queued", now);
      return findDue(now, await stepThrough(db, "queued"));
    },
  };
}

function only(among: readonly ConnectionKey[], found: readonly ConnectionKey[]): ConnectionKey[] {
  const wanted = new Set(among.map(nameOf));
  return found.filter((one) => wanted.has(nameOf(one)));
}

/** So many sites at a time: the embedded store works on the thread that takes events in. */
const portion = 100;

/** All connections that have something in this state, each found by where the one before it ends. */
async function stepThrough(db: Database, state: PendingState): Promise<ConnectionKey[]> {
  const found: ConnectionKey[] = [];
  const first = (column: string, where: string) =>
    `(SELECT d.${column} FROM deliveries AS d WHERE d.state = '${state}' AND ${where} ORDER BY d.${column} LIMIT 1)`;
  for (let after = ""; ;) {
    const rows = await db.all(
      `WITH RECURSIVE at_site(number, site_id) AS (
         SELECT 1, ${first("site_id", "d.site_id > $1")}
         UNION ALL SELECT number + 1, ${first("site_id", "d.site_id > at_site.site_id")} FROM at_site
           WHERE site_id IS NOT NULL AND number < ${portion}),
       at_connection(number, site_id, connection_id) AS (
         SELECT number, site_id, ${first("connection_id", "d.site_id = at_site.site_id")} FROM at_site
         UNION ALL SELECT number, site_id,
           ${first("connection_id", "d.site_id = at_connection.site_id AND d.connection_id > at_connection.connection_id")}
           FROM at_connection WHERE connection_id IS NOT NULL)
       SELECT number, site_id, connection_id FROM at_connection WHERE connection_id IS NOT NULL`,
      [after],
    );
    found.push(...rows.map(dueOf));
    const last = rows.find((row) => Number(row.number) === portion);
    if (!last) return found;
    after = String(last.site_id);
    await yieldToEventLoop();
  }
}

/**
 * A sharded database can neither look up a list of sites nor follow one to the next. It goes through what is there, each
 * machine through its own part.
 */
async function goThrough(db: Database, state: PendingState, now?: number): Promise<ConnectionKey[]> {
  const rows = await db.all(
    `SELECT site_id, connection_id FROM deliveries
     WHERE state = '${state}'${now === undefined ? "" : " AND due_at <= $1"} GROUP BY site_id, connection_id`,
    now === undefined ? [] : [now],
  );
  return rows.map(dueOf);
}
