// Deliveries, their leases and their attempts.
//
// A lease is not a column of its own: claiming a delivery moves its due time to the end of the lease and writes the
// owner. If the owner dies, the delivery falls due again. Only the owner can settle it.

import { rowStatement, type Database, type Value } from "../engine/database.ts";
import { attemptRow, insertAttempts, type ConnectionKey, type Delivery, type Settlement } from "./delivery.ts";
import { dueConnectionStore } from "./dueConnections.ts";
import { groupsFor, inGroups } from "../engine/groupCommit.ts";
import { isOpen, readDeliveriesOf, readSentAttempts, type StoredAttempt } from "./readDeliveries.ts";
import { outcomeStore, settleOptions } from "./outcomes.ts";
import { queuedDeliveryStore } from "./queued.ts";

export function deliveryStore(db: Database) {
  const settle = inGroups<Settlement, void>((_group, items) => settleAll(db, items), {
    ...groupsFor(db),
    siteOf: ({ siteId }) => siteId,
  });

  return {
    ...dueConnectionStore(db),
    ...queuedDeliveryStore(db),
    ...outcomeStore(db),

    /** Writes a settlement and resolves when it is committed. Does nothing unless `owner` holds the lease. */
    settle: (item: Settlement) => settle(db.commitGroup(item.siteId), item),

    /** For the embedded store, which has one node: leases of an earlier process are void, so their deliveries are due. */
    async releaseLeases(now: number): Promise<void> {
      const sql = `UPDATE deliveries SET due_at = $1, owner = '', updated_at = $1 WHERE state = 'queued' AND owner <> ''`;
      await db.run(sql, [now]);
    },

    /** Who owns the queued deliveries of events to a connection, by event. */
    async findOwners(
      { siteId, connectionId }: ConnectionKey,
      eventIds: readonly string[],
    ): Promise<Map<string, { by: "node" | "row"; owner: string }>> {
      const deliveries = [...(await readDeliveriesOf(db, siteId, eventIds)).values()].flat();
      const queued = deliveries.filter((one) => one.connectionId === connectionId && one.state === "queued");
      return new Map(queued.map((one) => [one.eventId, { by: isOpen(one) ? "node" : "row", owner: one.owner }]));
    },

    /** The deliveries of events, by event, ordered by platform and connection. */
    listByEvents: (siteId: string, eventIds: readonly string[]): Promise<Map<string, Delivery[]>> =>
      readDeliveriesOf(db, siteId, eventIds),

    listByEvent: async (siteId: string, eventId: string): Promise<Delivery[]> =>
      (await readDeliveriesOf(db, siteId, [eventId])).get(eventId) ?? [],

    /** The attempts of an event, ordered by connection and number. */
    async listAttempts(siteId: string, eventId: string): Promise<StoredAttempt[]> {
      const rows = await db.all(`SELECT ${attemptRow.list} FROM attempts WHERE site_id = $1 AND event_id = $2`, [
        siteId,
        eventId,
      ]);
      const stored = rows.map((row): StoredAttempt => {
        const { siteId: _site, eventId: _event, ...attempt } = attemptRow.read(row);
        return { ...attempt, settings: "" };
      });
      const sent = await readSentAttempts(db, siteId, eventId);
      return [...sent, ...stored].toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
    },
  };
}

/**
 * The event ids appear twice on purpose. PostgreSQL estimates zero rows for a site that is newer than its statistics, and
 * then prefers one scan over all its deliveries to index look-ups, which takes seconds with a backlog.
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
async function settleAll(db: Database, items: Settlement[]): Promise<void[]> {
  const bySite = Map.groupBy(items, (item) => item.siteId);
  await db.write(async (tx) => {
    for (const siteId of [...bySite.keys()].toSorted()) {
      const settlements = (bySite.get(siteId) as Settlement[]).toSorted(byKey);
      const settled = await tx.change(settleRows, settlements.map(settlementValues), [siteId]);
      // Nothing is written of a delivery that another node owns by now: its person may have been erased meanwhile.
      const attempts = settlements.flatMap((item, i) =>
        item.attempt && settled[i] ? [attemptRow.values({ ...item, ...item.attempt })] : [],
      );
      await tx.change(insertAttempts, attempts);
    }
  }, settleOptions);
  return items.map(() => undefined);
}

const orderOf = ({ connectionId, number }: StoredAttempt) => `${connectionId} ${10 ** 9 + number}`;

const byKey = (a: Settlement, b: Settlement) =>
  a.eventId < b.eventId ? -1 : a.eventId > b.eventId ? 1 : a.connectionId < b.connectionId ? -1 : 1;

function settlementValues(item: Settlement): Value[] {
  return [item.eventId, item.connectionId, item.owner, item.state, item.reason, item.dueAt, item.attempts, item.at];
}
