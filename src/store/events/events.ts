// Events and the claims that let each of them be accepted once.
//
// A claim is the fingerprint of an event, or the order event id under which it is dispatched. The event in the claim's row
// owns it until it expires.

import type { Attribution, Event, FilterReason } from "../../kernel/event.ts";
import { deliveryRow, insertDeliveries, type NewDelivery } from "../deliveries/delivery.ts";
import { chunks, list, rowStatement, type Database, type RowQuery, type Value } from "../engine/database.ts";
import { eventListStore, type EventFilter } from "./eventList.ts";
import { describeEvents, eventColumns, insertEvents, type StoredEvent } from "./eventRow.ts";
import { batchWhenBusy } from "../engine/adaptiveBatching.ts";
import { inGroups } from "../engine/groupCommit.ts";
import type { Seal } from "../engine/seal.ts";
import { addTotals, toCounted } from "../outbound/totals.ts";
import { markHours } from "../statistics/statistics.ts";

export type NewEvent = {
  event: Event;
  attribution: Attribution;
  /** Empty for an accepted event. */
  filterReasons: FilterReason[];
  /** The duplicate key and when it expires. */
  claim: string;
  claimUntil: number;
  /** Computed from event and order id, by browsers too; null without an order id. */
  orderEventId: string | null;
  deliveries: NewDelivery[];
  /** The lease of deliveries that are attempted at once. */
  owner: string;
  leaseUntil: number;
  /** The sender is asked to retry when the event is not accepted by then. */
  answerBy?: number;
};

export type Acceptance = { duplicate: true } | { duplicate: false; platformEventId: string };

export type Release = {
  siteId: string;
  eventId: string;
  attribution: Attribution;
  deliveries: readonly NewDelivery[];
  /** Becomes this event's when no other event holds it. */
  orderEventId: string | null;
  claimUntil: number;
  now: number;
};

const insertClaims = rowStatement({
  text: `INSERT INTO dedup_claims (site_id, claim, event_id, expires_at) VALUES {ROWS}
   ON CONFLICT (site_id, claim) DO UPDATE SET event_id = excluded.event_id, expires_at = excluded.expires_at
   WHERE dedup_claims.expires_at <= $1 OR dedup_claims.event_id = excluded.event_id`,
  columns: 4,
  first: 1,
  key: { site_id: 0, claim: 1 },
});

export function eventStore(db: Database, seal: Seal, now: () => number = Date.now) {
  const described = describeEvents(seal);
  const accept = inGroups<NewEvent, Acceptance>(
    (_group, items) => db.write((tx) => acceptAll(tx, described, items)),
    {
      isDataError: db.isDataError,
      isLate: ({ answerBy = Infinity }) => answerBy < now(),
      // A round trip to a server is batch window enough.
      ...(!db.isServer && { batchWindow: batchWhenBusy() }),
    },
  );
  const lists = eventListStore(db);

  async function getMany(
    siteId: string,
    ids: readonly string[],
  ): Promise<Map<string, StoredEvent | "damaged">> {
    const found = new Map<string, StoredEvent | "damaged">();
    for (const some of chunks(ids)) {
      const rows = await db.all(
        `SELECT ${eventColumns} FROM events WHERE site_id = $1 AND id IN (${list(some.length, 1)})`,
        [siteId, ...some],
      );
      for (const row of rows) {
        try {
          found.set(String(row.id), described.read(row));
        } catch {
          found.set(String(row.id), "damaged");
        }
      }
    }
    return found;
  }

  return {
    ...lists,

    /**
     * Claims the duplicate key and, if it was free, writes event and deliveries: one durable transaction, shared
     * with the events that arrive at the same moment. Nothing may be sent to a platform before it resolves.
     */
    accept: (item: NewEvent) => accept(db.commitGroup(item.event.siteId), item),

    async get(siteId: string, id: string): Promise<StoredEvent | null> {
      const [row] = await db.all(`SELECT ${eventColumns} FROM events WHERE site_id = $1 AND id = $2`, [
        siteId,
        id,
      ]);
      return row ? described.read(row) : null;
    },

    /** An event that can no longer be read is `damaged`: it must not hold up the others. */
    getMany,

    /** Finds the event that was dispatched under this order event id. */
    async findIdByClaim(siteId: string, claim: string): Promise<string | null> {
      const [row] = await db.all(`SELECT event_id FROM dedup_claims WHERE site_id = $1 AND claim = $2`, [
        siteId,
        claim,
      ]);
      return row ? String(row.event_id) : null;
    },

    /** Lists whole events, newest first; `before` is the id of the last event of the previous page. */
    async list(
      siteId: string,
      { before, limit, ...filter }: EventFilter & { before?: string; limit: number },
    ): Promise<StoredEvent[]> {
      const { events } = await lists.listPage(siteId, filter, { before: before ?? null, limit });
      const ids = events.map(({ id }) => id);
      const found = await getMany(siteId, ids);
      return ids.flatMap((id) => {
        const event = found.get(id);
        return event && event !== "damaged" ? [event] : [];
      });
    },

    /** Counts the emails among the newest events of an order; more than one hints at a placeholder. */
    async countEmailsOfOrder(siteId: string, orderId: string): Promise<number> {
      const [row] = await db.all(
        `SELECT COUNT(DISTINCT email_sha256) AS emails FROM (
           SELECT email_sha256 FROM events WHERE site_id = $1 AND order_id = $2 ORDER BY id DESC LIMIT 1000) AS newest`,
        [siteId, orderId],
      );
      return Number(row?.emails);
    },

    /** Accepts a filtered event after all, with deliveries that are due at once. False when it was not filtered. */
    release: (release: Release): Promise<boolean> => db.write((tx) => releaseEvent(tx, release)),
  };
}

async function acceptAll(
  tx: RowQuery,
  described: ReturnType<typeof describeEvents>,
  items: NewEvent[],
): Promise<Acceptance[]> {
  const owners = await claimAll(tx, items);
  const owns = (item: NewEvent, claim: string) => owners.get(claimKey(item, claim)) === item;
  const accepted = items.filter((item) => owns(item, item.claim));
  // Another email under the same order id holds the order event id: this event goes out under its own.
  const platformEventId = (item: NewEvent) =>
    item.orderEventId && owns(item, item.orderEventId) ? item.orderEventId : item.event.id;

  const [written] = await Promise.all([
    tx.change(
      insertEvents,
      accepted.map((item) => described.values(item, platformEventId(item))),
    ),
    tx.change(
      insertDeliveries,
      accepted.flatMap((item) => item.deliveries.map((delivery) => deliveryRow.values(delivery, item))),
    ),
  ]);
  await addTotals(tx, toCounted(accepted.filter((_item, i) => written[i])));
  return items.map((item) =>
    owns(item, item.claim)
      ? { duplicate: false, platformEventId: platformEventId(item) }
      : { duplicate: true },
  );
}

/** Rows are site, claim, event and expiry. Returns for each whether it was taken. */
const takeClaims = (tx: RowQuery, rows: readonly Value[][], now: number) =>
  tx.change(insertClaims, rows, [now]);

const claimKey = (item: NewEvent, claim: string) => `${item.event.siteId} ${claim}`;

/**
 * Takes each claim that is free or has expired, and returns its owner. Of equal claims in one call the first wins. An
 * event that holds a claim already, because it was committed and the answer got lost, wins it again.
 */
async function claimAll(tx: RowQuery, items: NewEvent[]): Promise<Map<string, NewEvent>> {
  const first = new Map<string, NewEvent>();
  for (const item of items) {
    const claims = [item.claim];
    // A filtered event is not dispatched, so it leaves the order event id to the one that will be.
    if (item.orderEventId && item.filterReasons.length === 0) claims.push(item.orderEventId);
    for (const claim of claims) {
      const key = claimKey(item, claim);
      if (!first.has(key)) first.set(key, item);
    }
  }
  const owners = new Map<string, NewEvent>();
  // Sorted, so that two transactions that want the same claims cannot deadlock.
  const keys = [...first.keys()].toSorted();
  const rows = keys.map((key): Value[] => {
    const { event, claimUntil } = first.get(key) as NewEvent;
    return [event.siteId, key.slice(event.siteId.length + 1), event.id, claimUntil];
  });
  const now = Math.max(...items.map(({ event }) => event.receivedAt));
  const taken = await takeClaims(tx, rows, now);
  keys.forEach((key, i) => taken[i] && owners.set(key, first.get(key) as NewEvent));
  return owners;
}

async function releaseEvent(tx: RowQuery, release: Release): Promise<boolean> {
  const { siteId, eventId, attribution, deliveries, orderEventId, claimUntil, now } = release;
  const [row] = await tx.all(
    `UPDATE events SET status = 'accepted', attribution = $3, released_at = $4
     WHERE site_id = $1 AND id = $2 AND status = 'filtered' AND email_sha256 <> '' RETURNING mode`,
    [siteId, eventId, JSON.stringify(attribution), now],
  );
  if (!row) return wasReleasedAt(tx, siteId, eventId, now);
  await markHours(tx, siteId, [eventId], now);
  // It is a conversion from now on. That it was removed once stays counted, because that was reported.
  if (row.mode === "live")
    await addTotals(tx, [{ siteId, writer: "release", conversions: 1, removedEvents: 0 }]);
  if (orderEventId) {
    const [isTaken] = await takeClaims(tx, [[siteId, orderEventId, eventId, claimUntil]], now);
    if (isTaken)
      await tx.all(`UPDATE events SET platform_event_id = $3 WHERE site_id = $1 AND id = $2`, [
        siteId,
        eventId,
        orderEventId,
      ]);
  }
  const origin = { event: { siteId, id: eventId, receivedAt: now }, owner: "", leaseUntil: now };
  await tx.change(
    insertDeliveries,
    deliveries.map((delivery) => deliveryRow.values(delivery, origin)),
  );
  return true;
}

/** A transaction that runs again, because its commit was not confirmed, finds everything written. */
async function wasReleasedAt(tx: RowQuery, siteId: string, eventId: string, now: number): Promise<boolean> {
  const rows = await tx.all(`SELECT id FROM events WHERE site_id = $1 AND id = $2 AND released_at = $3`, [
    siteId,
    eventId,
    now,
  ]);
  return rows.length > 0;
}
