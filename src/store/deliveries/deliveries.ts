// Deliveries, their leases and their attempts.
//
// A lease is not a column of its own: taking a delivery in hand moves its due time to the end of the lease and
// writes the owner. If the owner dies, the delivery simply falls due again. Whoever settles must still be owner.

import type { DeliveryState } from "../../kernel/event.ts";
import { rowStatement, type Database, type Value } from "../engine/database.ts";
import {
  attemptRow,
  deliveryColumns,
  deliveryRow,
  insertAttempts,
  type Attempt,
  type Delivery,
  type DeliveryKey,
} from "./delivery.ts";
import { dueConnectionStore } from "./dueConnections.ts";
import { grouped } from "../engine/groupCommit.ts";
import { queuedDeliveryStore } from "./queued.ts";

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

export function deliveryStore(db: Database) {
  const settle = grouped<Settlement, void>((_group, items) => settleAll(db, items), {
    blamesData: db.blamesData,
  });

  return {
    ...dueConnectionStore(db),
    ...queuedDeliveryStore(db),

    /** Writes the outcome of an attempt; resolves when it is committed. A delivery that is no longer ours is left alone. */
    settle: (item: Settlement) => settle(db.commitGroup(item.siteId), item),

    /** The embedded store has one node: what an earlier process had in hand when it died is due at once. */
    async releaseLeases(now: number): Promise<void> {
      await db.write((tx) =>
        tx.all(`UPDATE deliveries SET due_at = $1, owner = '' WHERE state = 'queued' AND owner <> ''`, [now]),
      );
    },

    async listByEvent(siteId: string, eventId: string): Promise<Delivery[]> {
      const rows = await db.all(
        `SELECT ${deliveryColumns} FROM deliveries WHERE site_id = $1 AND event_id = $2 ORDER BY platform, connection_id`,
        [siteId, eventId],
      );
      return rows.map(deliveryRow.read);
    },

    async listAttempts(siteId: string, eventId: string): Promise<(Attempt & { connectionId: string })[]> {
      const rows = await db.all(
        `SELECT ${attemptRow.columns.join(", ")} FROM attempts WHERE site_id = $1 AND event_id = $2 ORDER BY connection_id, number`,
        [siteId, eventId],
      );
      return rows.map((row) => {
        const { siteId: _site, eventId: _event, ...attempt } = attemptRow.read(row);
        return attempt;
      });
    },
  };
}

/**
 * The events are named twice. Of a site that came after PostgreSQL last counted its rows it believes that there are none, and
 * would rather read all of them once than look for each: seconds, beside a backlog. So it must not be left to the join.
 */
const settleRows = rowStatement({
  text: `WITH v AS MATERIALIZED (VALUES {ROWS})
   UPDATE deliveries SET state = v.column4, reason = v.column5, due_at = v.column6, attempts = v.column7,
     owner = '', updated_at = v.column8
   FROM v
   WHERE deliveries.site_id = $1 AND deliveries.event_id IN ({FIRSTS}) AND deliveries.event_id = v.column1
     AND deliveries.connection_id = v.column2 AND deliveries.owner = v.column3`,
  forOne: `UPDATE deliveries SET state = $5, reason = $6, due_at = $7, attempts = $8, owner = '', updated_at = $9
   WHERE site_id = $1 AND event_id = $2 AND connection_id = $3 AND owner = $4`,
  columns: 8,
  first: 1,
  types: ["text", "text", "text", "text", "text", "bigint", "integer", "bigint"],
  key: { event_id: 0, connection_id: 1 },
});
/**
 * What a platform has taken is not sent to it again because the database was away for a while. While it is away nobody
 * can take the delivery over, and nothing new comes: what waits here does not grow. Only a power cut has it sent again,
 * which platforms know by its id.
 */
const manner = { timeoutMs: 60_000, isRepeatable: true };

async function settleAll(db: Database, items: Settlement[]): Promise<void[]> {
  const bySite = Map.groupBy(items, (item) => item.siteId);
  await db.write(async (tx) => {
    for (const siteId of [...bySite.keys()].toSorted()) {
      const settlements = (bySite.get(siteId) as Settlement[]).toSorted(byKey);
      const settled = await tx.change(settleRows, settlements.map(settlementValues), [siteId]);
      // Nothing is written of a delivery that another node owns by now: its person may have been erased meanwhile.
      const attempts = settlements.flatMap((item, i) =>
        item.attempt && settled[i] ? [attemptRow.values(item, item.attempt)] : [],
      );
      await tx.change(insertAttempts, attempts);
    }
  }, manner);
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
