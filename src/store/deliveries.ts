// Deliveries, their leases and their attempts.
//
// A lease is not a column of its own: taking a delivery in hand moves its due time to the end of the lease and
// writes the owner. If the owner dies, the delivery simply falls due again. Whoever settles must still be owner.

import type { DeliveryState } from "../event.ts";
import { columns } from "./columns.ts";
import { rowStatement, type Database, type Query, type Row, type Value } from "./database.ts";
import { findConnections } from "./due.ts";
import { grouped } from "./group.ts";

export type DeliveryKey = { siteId: string; eventId: string; connectionId: string };

export type Attempt = {
  number: number;
  startedAt: number;
  durationMs: number;
  state: DeliveryState;
  reason: string | null;
  httpStatus: number | null;
  /** How many conversions the call carried. */
  batch: number;
  /** Redacted and bounded. */
  request: string;
  response: string | null;
};

export type Settlement = DeliveryKey & {
  owner: string;
  state: DeliveryState;
  reason: string | null;
  /** When a queued delivery is tried again. */
  dueAt: number;
  /** Attempts made so far. */
  attempts: number;
  at: number;
  /** null when the delivery was given back untried. */
  attempt: Attempt | null;
};

export type Delivery = DeliveryKey & {
  platform: string;
  state: DeliveryState;
  reason: string | null;
  attempts: number;
  dueAt: number;
  owner: string;
  updatedAt: number;
};

export type Due = { siteId: string; connectionId: string };

const attemptColumns = [
  "site_id", "event_id", "connection_id", "number", "started_at", "duration_ms", "state", "reason", "http_status",
  "batch", "request", "response",
]; // prettier-ignore

export function deliveryStore(db: Database) {
  const settle = grouped<Settlement, void>((_group, items) => settleAll(db, items), {
    blamesData: db.blamesData,
  });
  const havingSome = findConnections(db);

  return {
    /** Writes the outcome of an attempt; resolves when it is durable. A delivery that is no longer ours is left alone. */
    settle: (item: Settlement) => settle(db.commitGroup(item.siteId), item),

    /** Which of these connections have something due. Looks at one row of each; no locks: claiming decides. */
    due: (now: number, among: readonly Due[]) =>
      havingSome(among, `deliveries.state = 'queued' AND deliveries.due_at <= $1`, [now]),

    /** Which of these connections have something parked. */
    parked: (among: readonly Due[]) => havingSome(among, `deliveries.state = 'parked'`, []),

    /** The connections that have something due, also those that nobody knows any more. Looks at all that is due. */
    async allDue(now: number): Promise<Due[]> {
      const rows = await db.all(
        `SELECT site_id, connection_id FROM deliveries WHERE state = 'queued' AND due_at <= $1
         GROUP BY site_id, connection_id`,
        [now],
      );
      return rows.map((row) => ({ siteId: String(row.site_id), connectionId: String(row.connection_id) }));
    },

    /** Takes up to `limit` due deliveries of one connection in hand. Safe beside any number of nodes. */
    async claim(
      { siteId, connectionId }: Due,
      lease: { now: number; owner: string; until: number; limit: number },
    ): Promise<Delivery[]> {
      // The outer conditions repeat the inner ones: without them, engines that have no SKIP LOCKED hand one row
      // to two nodes. The MATERIALIZED keeps PostgreSQL from running the inner query, and its limit, again.
      const rows = await db.write((tx) =>
        tx.all(
          `WITH due AS MATERIALIZED (
             SELECT event_id FROM deliveries
             WHERE site_id = $1 AND connection_id = $2 AND state = 'queued' AND due_at <= $3
             ORDER BY due_at, event_id LIMIT $4 ${db.skipLocked})
           UPDATE deliveries SET owner = $5, due_at = $6, updated_at = $3
           WHERE site_id = $1 AND connection_id = $2 AND state = 'queued' AND due_at <= $3
             AND event_id IN (SELECT event_id FROM due)
           RETURNING ${columns.deliveries}`,
          [siteId, connectionId, lease.now, lease.limit, lease.owner, lease.until],
        ),
      );
      return rows.map(deliveryOf);
    },

    /** The embedded store has one node: what an earlier process had in hand when it died is due at once. */
    async reclaimAll(now: number): Promise<void> {
      await db.write((tx) =>
        tx.all(`UPDATE deliveries SET due_at = $1, owner = '' WHERE state = 'queued' AND owner <> ''`, [now]),
      );
    },

    /** Lets parked deliveries go: they are due at once. Returns how many. */
    async releaseParked(siteId: string, connectionId: string, now: number): Promise<number> {
      return inSteps(db, (tx) =>
        tx.all(
          `UPDATE deliveries SET state = 'queued', reason = NULL, owner = '', due_at = $3, updated_at = $3
           WHERE site_id = $1 AND connection_id = $2 AND state = 'parked' AND event_id IN (
             SELECT event_id FROM deliveries WHERE site_id = $1 AND connection_id = $2 AND state = 'parked' LIMIT ${step})
           RETURNING event_id`,
          [siteId, connectionId, now],
        ),
      );
    },

    /**
     * Whatever still waits for a connection ends as `state` with `reason`. What a node has in hand is left to its
     * settlement: it may be at the platform already.
     */
    async endWaiting(
      siteId: string,
      connectionId: string,
      state: DeliveryState,
      reason: string,
      now: number,
    ): Promise<void> {
      const waits = `state <> $3 AND (state = 'parked' OR (state = 'queued' AND (owner = '' OR due_at <= $5)))`;
      await inSteps(db, (tx) =>
        tx.all(
          `UPDATE deliveries SET state = $3, reason = $4, owner = '', updated_at = $5
           WHERE site_id = $1 AND connection_id = $2 AND ${waits} AND event_id IN (
             SELECT event_id FROM deliveries WHERE site_id = $1 AND connection_id = $2 AND ${waits} LIMIT ${step})
           RETURNING event_id`,
          [siteId, connectionId, state, reason, now],
        ),
      );
    },

    async ofEvent(siteId: string, eventId: string): Promise<Delivery[]> {
      const rows = await db.all(
        `SELECT ${columns.deliveries} FROM deliveries WHERE site_id = $1 AND event_id = $2 ORDER BY platform, connection_id`,
        [siteId, eventId],
      );
      return rows.map(deliveryOf);
    },

    async attemptsOfEvent(siteId: string, eventId: string): Promise<(Attempt & { connectionId: string })[]> {
      const rows = await db.all(
        `SELECT ${columns.attempts} FROM attempts WHERE site_id = $1 AND event_id = $2 ORDER BY connection_id, number`,
        [siteId, eventId],
      );
      return rows.map((row) => ({
        connectionId: String(row.connection_id),
        number: Number(row.number),
        startedAt: Number(row.started_at),
        durationMs: Number(row.duration_ms),
        state: row.state as DeliveryState,
        reason: row.reason as string | null,
        httpStatus: row.http_status as number | null,
        batch: Number(row.batch),
        request: String(row.request),
        response: row.response as string | null,
      }));
    },
  };
}

/** A backlog of any size is changed in steps that hold nobody up. */
const step = 1000;

async function inSteps(db: Database, change: (tx: Query) => Promise<Row[]>): Promise<number> {
  for (let changed = 0; ;) {
    const rows = await db.write(change);
    changed += rows.length;
    if (rows.length < step) return changed;
  }
}

const settleRows = rowStatement({
  text: `UPDATE deliveries SET state = v.column4, reason = v.column5, due_at = v.column6, attempts = v.column7,
     owner = '', updated_at = v.column8
   FROM (VALUES {ROWS}) AS v
   WHERE deliveries.site_id = $1 AND deliveries.event_id = v.column1
     AND deliveries.connection_id = v.column2 AND deliveries.owner = v.column3`,
  forOne: `UPDATE deliveries SET state = $5, reason = $6, due_at = $7, attempts = $8, owner = '', updated_at = $9
   WHERE site_id = $1 AND event_id = $2 AND connection_id = $3 AND owner = $4`,
  columns: 8,
  first: 1,
  types: ["text", "text", "text", "text", "text", "bigint", "integer", "bigint"],
  key: { event_id: 0, connection_id: 1 },
});
const insertAttempts = rowStatement({
  text: `INSERT INTO attempts (${attemptColumns.join(",")}) VALUES {ROWS} ON CONFLICT DO NOTHING`,
  columns: attemptColumns.length,
});

/**
 * What a platform has taken is not sent to it again because the database was away for a while. While it is away nobody
 * can take the delivery over, and nothing new comes: what waits here does not grow.
 */
const outageMs = 60_000;

async function settleAll(db: Database, items: Settlement[]): Promise<void[]> {
  const bySite = Map.groupBy(items, (item) => item.siteId);
  await db.write(async (tx) => {
    for (const siteId of [...bySite.keys()].toSorted()) {
      const settlements = (bySite.get(siteId) as Settlement[]).toSorted(byKey);
      const settled = await tx.change(settleRows, settlements.map(settlementValues), [siteId]);
      // Of a delivery that is no longer ours nothing is written: its person may have been erased meanwhile.
      const ours = settlements.filter((item, i) => item.attempt && settled[i]);
      await tx.change(insertAttempts, ours.map(attemptValues));
    }
  }, outageMs);
  return items.map(() => undefined);
}

const byKey = (a: Settlement, b: Settlement) =>
  a.eventId < b.eventId ? -1 : a.eventId > b.eventId ? 1 : a.connectionId < b.connectionId ? -1 : 1;

function settlementValues(item: Settlement): Value[] {
  return [
    item.eventId,
    item.connectionId,
    item.owner,
    item.state,
    item.reason,
    item.dueAt,
    item.attempts,
    item.at,
  ];
}

function attemptValues({ siteId, eventId, connectionId, attempt }: Settlement): Value[] {
  if (!attempt) return [];
  return [
    siteId,
    eventId,
    connectionId,
    attempt.number,
    attempt.startedAt,
    attempt.durationMs,
    attempt.state,
    attempt.reason,
    attempt.httpStatus,
    attempt.batch,
    attempt.request,
    attempt.response,
  ];
}

export function deliveryOf(row: Row): Delivery {
  return {
    siteId: String(row.site_id),
    eventId: String(row.event_id),
    connectionId: String(row.connection_id),
    platform: String(row.platform),
    state: row.state as DeliveryState,
    reason: row.reason as string | null,
    attempts: Number(row.attempts),
    dueAt: Number(row.due_at),
    owner: String(row.owner),
    updatedAt: Number(row.updated_at),
  };
}
