// What is done to the waiting deliveries of one connection, some at a time: taken in hand, released, ended. However many
// there are, a step costs what it changes.
//
// So that it does, a step first looks where they begin, along an index, and then changes those it has seen by their keys.
// In one statement PostgreSQL may do it the other way round: go through all that waits for each that it changes.

import { setTimeout as sleep } from "node:timers/promises";
import type { DeliveryState } from "../../kernel/event.ts";
import { chunks, list, type Database, type Row, type RowQuery, type Value } from "../engine/database.ts";
import { deliveryColumns, deliveryRow, type ConnectionKey, type Delivery } from "./delivery.ts";

/** In the embedded store the relay waits for as long as a step takes. */
const step = 100;

export function queuedDeliveryStore(db: Database) {
  return {
    /** Takes up to `limit` due deliveries of one connection in hand. Safe beside any number of nodes. */
    async claimDue(
      { siteId, connectionId }: ConnectionKey,
      lease: { now: number; owner: string; until: number; limit: number },
    ): Promise<Delivery[]> {
      const { changed } = await db.write(async (tx) => {
        const due = await tx.all(
          `SELECT event_id FROM deliveries
           WHERE site_id = $1 AND connection_id = $2 AND state = 'queued' AND due_at <= $3
           ORDER BY due_at LIMIT $4 ${db.skipLocked}`,
          [siteId, connectionId, lease.now, lease.limit],
        );
        // Engines that have no SKIP LOCKED may have handed a row to two nodes by now: the second finds that it moved.
        return changeEach(tx, due, [siteId, connectionId, lease.now, lease.owner, lease.until], (ids) => {
          return `UPDATE deliveries SET owner = $4, due_at = $5, updated_at = $3
             WHERE site_id = $1 AND connection_id = $2 AND event_id IN (${ids})
               AND ${still("queued")} AND due_at <= $3
             RETURNING ${deliveryColumns}`;
        });
      });
      return changed.map(deliveryRow.read);
    },

    /** Lets parked deliveries go: they are due at once. Returns how many, at least `most` where there are more. */
    releaseParked(siteId: string, connectionId: string, now: number, most = Infinity): Promise<number> {
      return inSteps(db, most, async (tx) => {
        const parked = await tx.all(allParked, [siteId, connectionId]);
        return changeEach(tx, parked, [siteId, connectionId, now], (ids) => {
          return `UPDATE deliveries SET state = 'queued', reason = NULL, owner = '', due_at = $3, updated_at = $3
             WHERE site_id = $1 AND connection_id = $2 AND event_id IN (${ids}) AND ${still("parked")}
             RETURNING event_id`;
        });
      });
    },

    /**
     * Whatever still waits for a connection ends as `state` with `reason`. What a node has in hand is left to its
     * settlement: it may be at the platform already. Returns how many ended, at least `most` where there are more.
     */
    async endPending(
      { siteId, connectionId }: ConnectionKey,
      { state, reason }: { state: DeliveryState; reason: string },
      now: number,
      most = Infinity,
    ): Promise<number> {
      const end = async (tx: RowQuery, waiting: Row[]) =>
        changeEach(tx, waiting, [siteId, connectionId, now, state, reason], (ids) => {
          return `UPDATE deliveries SET state = $4, reason = $5, owner = '', updated_at = $3
             WHERE site_id = $1 AND connection_id = $2 AND event_id IN (${ids})
               AND (${still("parked")} OR (${still("queued")} AND (owner = '' OR due_at <= $3)))
             RETURNING event_id`;
        });
      const ended = await inSteps(db, most, async (tx) =>
        end(
          tx,
          await tx.all(
            `SELECT event_id FROM deliveries
             WHERE site_id = $1 AND connection_id = $2 AND state = 'queued' AND (owner = '' OR due_at <= $3)
             ORDER BY due_at LIMIT ${step}`,
            [siteId, connectionId, now],
          ),
        ),
      );
      if (state === "parked" || ended >= most) return ended;
      const others = await inSteps(db, most - ended, async (tx) =>
        end(tx, await tx.all(allParked, [siteId, connectionId])),
      );
      return ended + others;
    },
  };
}

/** The two comparisons are an equality that can be sorted by: the index of what is parked is the one that fits. */
const allParked = `SELECT event_id FROM deliveries
  WHERE site_id = $1 AND connection_id >= $2 AND connection_id <= $2 AND state = 'parked'
  ORDER BY connection_id LIMIT ${step}`;

/** Written so that no index of what waits fits: the row is found by its key, and then looked at. */
const still = (state: "queued" | "parked") => `state || '' = '${state}'`;

/** What waits is looked up, then changed. */
type Step = { found: number; changed: Row[] };

async function changeEach(
  tx: RowQuery,
  found: readonly Row[],
  params: readonly Value[],
  text: (ids: string) => string,
): Promise<Step> {
  // In the order of their keys, so that two who change the same rows cannot wait for each other in a circle.
  const ids = found.map((row) => String(row.event_id)).toSorted();
  const changed: Row[] = [];
  for (const some of chunks(ids))
    changed.push(...(await tx.all(text(list(some.length, params.length)), [...params, ...some])));
  return { found: found.length, changed };
}

/** A backlog of any size is changed in steps that hold nobody up; after each, others have as much time as it took. */
async function inSteps(db: Database, most: number, take: (tx: RowQuery) => Promise<Step>): Promise<number> {
  for (let sum = 0; ;) {
    const begunAt = performance.now();
    const { found, changed } = await db.write(take);
    sum += changed.length;
    if (found < step || sum >= most) return sum;
    await sleep(performance.now() - begunAt);
  }
}
