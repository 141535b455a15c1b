// Claims, releases and ends the pending deliveries of one connection in steps, whose cost does not grow with the backlog.
//
// A step reads some keys along an index and then changes those rows by their keys. In a single statement PostgreSQL may
// scan the whole backlog for each row that it changes.

import { setTimeout as sleep } from "node:timers/promises";
import { threadShare } from "../../kernel/concurrency.ts";
import type { DeliveryState } from "../../kernel/event.ts";
import { allByKeys, type Database, type Row, type RowQuery, type Value } from "../engine/database.ts";
import { readDueTime } from "./dueTime.ts";
import { deliveryRow, type ConnectionKey, type Delivery } from "./delivery.ts";
import type { RowOwnership } from "./ownership.ts";

/** The relay pauses for as long as a step of the embedded store takes. */
const step = 100;

export function queuedDeliveryStore(db: Database) {
  return {
    /** Leases up to `limit` due deliveries of one connection. Safe with any number of nodes. */
    async claimDue(
      { siteId, connectionId }: ConnectionKey,
      { owner, at, dueAt }: RowOwnership,
      limit: number,
    ): Promise<Delivery[]> {
      const { changed } = await db.write(async (tx) => {
        const due = await tx.all(
          `SELECT event_id FROM deliveries
           WHERE site_id = $1 AND connection_id = $2 AND state = 'queued' AND due_at <= $3
           ORDER BY due_at LIMIT $4 ${db.skipLocked}`,
          [siteId, connectionId, at, limit],
        );
        // Without SKIP LOCKED two nodes may have read the same row: the second finds that its due time has moved.
        return changeEach(
          tx,
          due,
          [siteId, connectionId, at, owner, dueAt],
          `UPDATE deliveries SET owner = $4, due_at = $5, updated_at = $3
           WHERE site_id = $1 AND connection_id = $2 AND event_id IN ({KEYS})
             AND ${still("queued")} AND due_at <= $3
           RETURNING ${deliveryRow.list}`,
        );
      });
      return changed.map(deliveryRow.read);
    },

    /** Makes parked deliveries due at once. Returns how many, at least `max` where there are more. */
    releaseParked(siteId: string, connectionId: string, now: number, max = Infinity): Promise<number> {
      return inSteps(db, siteId, max, async (tx) => {
        const parked = await tx.all(allParked, [siteId, connectionId]);
        const dueAt = parked.length ? await readDueTime(db, tx, now) : now;
        return changeEach(
          tx,
          parked,
          [siteId, connectionId, now, dueAt],
          `UPDATE deliveries SET state = 'queued', reason = NULL, owner = '', due_at = $4, updated_at = $3
           WHERE site_id = $1 AND connection_id = $2 AND event_id IN ({KEYS}) AND ${still("parked")}
           RETURNING event_id`,
        );
      });
    },

    /** Makes deliveries due at once whose reason contains `text`, and that no node has claimed. Returns how many. */
    async hasten(siteId: string, connectionId: string, text: string, now: number): Promise<number> {
      const dueAt = await readDueTime(db, db, now);
      const hasten = (tx: RowQuery, waiting: Row[]) =>
        changeEach(
          tx,
          waiting,
          [siteId, connectionId, now, dueAt],
          `UPDATE deliveries SET due_at = $4, updated_at = $3
           WHERE site_id = $1 AND connection_id = $2 AND event_id IN ({KEYS}) AND ${still("queued")} AND owner = ''
           RETURNING event_id`,
        );
      let hastened = 0;
      // What is due by now, such as all that was just released, is not looked through.
      for (let after = { dueAt: dueAt + 1, eventId: "" }; ;) {
        const begunAt = performance.now();
        const rows = await db.all(
          `SELECT event_id, due_at, reason, updated_at FROM deliveries
           WHERE site_id = $1 AND connection_id = $2 AND state = 'queued' AND due_at >= $3
             AND (due_at > $3 OR event_id > $4)
           ORDER BY due_at, event_id LIMIT ${step}`,
          [siteId, connectionId, after.dueAt, after.eventId],
        );
        // One that fails again meanwhile is not hastened twice.
        const waiting = rows.filter((row) => String(row.reason ?? "").includes(text) && Number(row.updated_at) <= now);
        if (waiting.length > 0) {
          const { changed } = await threadShare.takeTurn(siteId, () => db.write((tx) => hasten(tx, waiting)));
          hastened += changed.length;
        }
        const last = rows.at(-1);
        if (!last || rows.length < step) return hastened;
        after = { dueAt: Number(last.due_at), eventId: String(last.event_id) };
        await sleep(performance.now() - begunAt);
      }
    },

    /**
     * Ends what is queued or parked for a connection as `state` with `reason`. A leased delivery is left to its
     * settlement, because the platform may have it already. Returns how many ended, at least `max` where there are more.
     */
    async endPending(
      { siteId, connectionId }: ConnectionKey,
      { state, reason }: { state: DeliveryState; reason: string },
      now: number,
      max = Infinity,
    ): Promise<number> {
      const time = await readDueTime(db, db, now);
      const end = async (tx: RowQuery, waiting: Row[]) =>
        changeEach(
          tx,
          waiting,
          [siteId, connectionId, now, state, reason, time],
          `UPDATE deliveries SET state = $4, reason = $5, owner = '', updated_at = $3
           WHERE site_id = $1 AND connection_id = $2 AND event_id IN ({KEYS})
             AND (${still("parked")} OR (${still("queued")} AND (owner = '' OR due_at <= $6)))
           RETURNING event_id`,
        );
      const ended = await inSteps(db, siteId, max, async (tx) =>
        end(
          tx,
          await tx.all(
            `SELECT event_id FROM deliveries
             WHERE site_id = $1 AND connection_id = $2 AND state = 'queued' AND (owner = '' OR due_at <= $3)
             ORDER BY due_at LIMIT ${step}`,
            [siteId, connectionId, time],
          ),
        ),
      );
      if (state === "parked" || ended >= max) return ended;
      const others = await inSteps(db, siteId, max - ended, async (tx) =>
        end(tx, await tx.all(allParked, [siteId, connectionId])),
      );
      return ended + others;
    },
  };
}

/** The two comparisons are an equality that can be sorted by, so the index of parked deliveries is the one that fits. */
const allParked = `SELECT event_id FROM deliveries
  WHERE site_id = $1 AND connection_id >= $2 AND connection_id <= $2 AND state = 'parked'
  ORDER BY connection_id LIMIT ${step}`;

/** An expression that no index on the state serves: the row is found by its key and then checked. */
const still = (state: "queued" | "parked") => `state || '' = '${state}'`;

/** The number of rows that a step read, and the rows that it changed. */
type Step = { found: number; changed: Row[] };

async function changeEach(tx: RowQuery, found: readonly Row[], params: readonly Value[], sql: string): Promise<Step> {
  // Sorted, so that two transactions that change the same rows cannot deadlock.
  const ids = found.map((row) => String(row.event_id)).toSorted();
  return { found: found.length, changed: await allByKeys(tx, sql, params, ids) };
}

/**
 * Runs steps until `max` rows are changed or none is left. Pauses after each for as long as it took. Those of several connections follow
 * each other: the embedded engine would put them into one long transaction.
 */
async function inSteps(db: Database, siteId: string, max: number, runStep: (tx: RowQuery) => Promise<Step>): Promise<number> {
  let tookMs = 0;
  const runOne = async () => {
    const begunAt = performance.now();
    const done = await db.write(runStep);
    tookMs = performance.now() - begunAt;
    return done;
  };
  for (let sum = 0; ;) {
    const { found, changed } = await (sum === 0 ? runOne() : threadShare.takeTurn(siteId, runOne));
    sum += changed.length;
    if (found < step || sum >= max) return sum;
    await sleep(tookMs);
  }
}
