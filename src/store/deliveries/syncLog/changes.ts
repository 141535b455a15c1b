// Requeues and cancels deliveries of the sync log, and purges the texts of old attempts. Each transaction changes one
// chunk, so that a million deliveries do not block the store.

import type { DeliveryState } from "../../../kernel/event.ts";
import { idAt } from "../../../kernel/ids.ts";
import { allByKeys, chunks, type Database, type Query, type RowQuery, type Value } from "../../engine/database.ts";
import { lockEvents } from "../../events/eventRow.ts";
import { moveCursor, readCursor } from "../../cursors.ts";
import { attemptsSince, skipScanSite } from "../dueConnections.ts";
import { readDueTime } from "../dueTime.ts";
import { deliveryRow, insertDeliveries, replayedReason } from "../delivery.ts";
import { deliverySource, readDeliveries } from "../readDeliveries.ts";
import { removeAnswers } from "../outcomes.ts";
import { markHours } from "../../statistics/statistics.ts";

/** The head of what was purged: answers of events below are gone. */
const purgedAnswers = "purged answers";

type Selection = [sql: string, params: Value[]];

/** Selects the answers from before `before` that are still there: of first attempts, and of later ones. */
export async function selectAnswers(db: Query, siteId: string, before: number): Promise<{ first: Selection; later: Selection }> {
  const head = await readCursor(db, siteId, purgedAnswers);
  const first = `SELECT number FROM outcomes WHERE site_id = $1 AND event_id >= $2 AND event_id < $3`;
  const later = `SELECT number FROM attempts WHERE site_id = $1 AND request <> '(removed)' AND started_at < $2`;
  return { first: [first, [siteId, head ?? "", idAt(before)]], later: [later, [siteId, before]] };
}

export type LogKey = { eventId: string; connectionId: string };

export function syncLogChangeStore(db: Database) {
  /** Makes transactions that change the deliveries of the event ids of each connection, in chunks. Returns how many they change. */
  async function inChunks(
    siteId: string,
    keys: readonly LogKey[],
    now: number,
    transactionOf: (connectionId: string, ids: readonly string[]) => (tx: RowQuery) => Promise<number>,
  ): Promise<number> {
    let changed = 0;
    // Before the change, so that the statistics follow even if this process dies.
    const ofAll = keys.map((key) => key.eventId);
    if (keys.length) await db.write((tx) => markHours(tx, siteId, ofAll, now));
    for (const [connectionId, some] of Map.groupBy(keys, (key) => key.connectionId)) {
      const ids = some.map((key) => key.eventId).toSorted();
      for (const chunk of chunks(ids)) changed += await db.write(transactionOf(connectionId, chunk));
    }
    return changed;
  }

  return {
    /** Makes deliveries in one of `states` due again, at once or at `dueAt`, unless their person was erased. */
    requeue(
      siteId: string,
      keys: readonly LogKey[],
      states: readonly DeliveryState[],
      now: number,
      { reason, dueAt }: { reason: string; dueAt: number } = { reason: replayedReason, dueAt: now },
    ): Promise<number> {
      return inChunks(siteId, keys, now, (connectionId, ids) => {
        /**
         * The last change of each delivery before. A transaction that runs again, because its commit was not confirmed, leaves those
         * alone that have changed since: they were queued, and may have been sent already.
         */
        const chosen = new Map<string, number>();
        return async (tx) => {
          const planned = await lockEvents(tx, db.forUpdate, siteId, ids, `id, received_at, ${deliverySource}`);
          // What was sent at once, was skipped by its plan, or has a damaged outcome, has no row yet.
          const deliveries = await readDeliveries(tx, siteId, planned);
          const wanted = [...deliveries.values()].flat().filter((one) => one.connectionId === connectionId);
          const ended = wanted.filter(({ state }) => ["sent", "skipped", "rejected"].includes(state));
          await tx.change(
            insertDeliveries,
            ended.map((one) => deliveryRow.values(one)),
          );
          const locked = await allByKeys(
            tx,
            `SELECT event_id, state, updated_at FROM deliveries
             WHERE site_id = $1 AND connection_id = $2 AND event_id IN ({KEYS})
               AND EXISTS (SELECT 1 FROM events WHERE events.site_id = $1 AND events.id = deliveries.event_id
                 AND events.email_ref IS NOT NULL)
             ORDER BY event_id ${db.forUpdate}`,
            [siteId, connectionId],
            ids,
          );
          const found = locked.filter((row) => states.some((state) => state === row.state));
          const unchanged = found.flatMap((row) => {
            const [eventId, updatedAt] = [String(row.event_id), Number(row.updated_at)];
            const before = chosen.get(eventId) ?? updatedAt;
            chosen.set(eventId, before);
            return before === updatedAt ? eventId : [];
          });
          const due = (await readDueTime(db, tx, now)) + dueAt - now;
          await allByKeys(
            tx,
            `UPDATE deliveries SET state = 'queued', reason = $4, due_at = $5, owner = '', updated_at = $3
             WHERE site_id = $1 AND connection_id = $2 AND event_id IN ({KEYS})`,
            [siteId, connectionId, now, reason, due],
            unchanged,
          );
          return chosen.size;
        };
      });
    },

    /** Ends queued and parked deliveries. A leased one is left alone: the platform may have it already. */
    async cancel(siteId: string, keys: readonly LogKey[], now: number): Promise<number> {
      const time = await readDueTime(db, db, now);
      return inChunks(siteId, keys, now, (connectionId, ids) => async (tx) => {
        // The last condition counts the rows again when the transaction runs twice, because its commit was not confirmed.
        const cancelled = await allByKeys(
          tx,
          `UPDATE deliveries SET state = 'skipped', reason = 'cancelled', owner = '', updated_at = $3
           WHERE site_id = $1 AND connection_id = $2 AND event_id IN ({KEYS})
             AND (state = 'parked' OR (state = 'queued' AND (owner = '' OR due_at <= $4))
               OR (state = 'skipped' AND reason = 'cancelled' AND updated_at = $3))
           RETURNING event_id`,
          [siteId, connectionId, now, time],
          ids,
        );
        return cancelled.length;
      });
    },

    /**
     * Removes request and response of attempts from before `before`, of about `max` deliveries of each connection. The
     * rest of the attempt stays. Returns how many attempts were changed.
     */
    async purge(siteId: string, before: number, max: number): Promise<number> {
      let removed = await purgeAnswers(siteId, before, max);
      for (const { id } of await skipScanSite(db, siteId, attemptsSince)) {
        const rows = await db.run(
          `WITH old AS MATERIALIZED (
             SELECT event_id FROM attempts
             WHERE site_id = $1 AND connection_id = $2 AND request <> '(removed)' AND started_at < $3
             ORDER BY started_at LIMIT $4)
           UPDATE attempts SET request = '(removed)', response = NULL
           WHERE site_id = $1 AND connection_id = $2 AND event_id IN (SELECT event_id FROM old)
             AND request <> '(removed)' AND started_at < $3
           RETURNING number`,
          [siteId, String(id), before, max],
        );
        removed += rows.length;
      }
      return removed;
    },
  };

  /** Removes answers from outcomes, in the order of events from where the last call ended. Returns how many rows it read. */
  function purgeAnswers(siteId: string, before: number, max: number): Promise<number> {
    const removeSome = async (tx: RowQuery) => {
      const head = await readCursor(tx, siteId, purgedAnswers);
      const columns = "event_id, number, results";
      const rows = await tx.all(
        `SELECT ${columns} FROM outcomes WHERE site_id = $1 AND event_id >= $2 AND event_id < $3
         ORDER BY event_id, number LIMIT $4`,
        [siteId, head ?? "", idAt(before), max],
      );
      const last = rows.at(-1);
      if (!last) return 0;
      // The last event may have more rows.
      const sql = `SELECT ${columns} FROM outcomes WHERE site_id = $1 AND event_id = $2`;
      const ofLast = await tx.all(sql, [siteId, String(last.event_id)]);
      await removeAnswers(tx, siteId, [...rows.filter((row) => row.event_id !== last.event_id), ...ofLast]);
      await moveCursor(tx, siteId, purgedAnswers, head, `${String(last.event_id)}0`);
      return rows.length;
    };
    return db.write(removeSome, { isBackground: true });
  }
}
