// Accepts events, and finds them again.

import type { Attribution, Event, FilterReason, Sha256 } from "../../kernel/event.ts";
import { idAt, timeOfId } from "../../kernel/ids.ts";
import { orderKey } from "../../kernel/reconciliation.ts";
import { hourMs, maxSkewMs } from "../../kernel/time.ts";
import { lowerEventCursors } from "../cursors.ts";
import { insertDeliveries, type NewDelivery } from "../deliveries/delivery.ts";
import { ownedByAny, type StoredOwnership } from "../deliveries/ownership.ts";
import type { nodeStore } from "../deliveries/nodes.ts";
import { readDueTime } from "../deliveries/dueTime.ts";
import { tryRead } from "../damagedRows.ts";
import { allByKeys, hasRows, type Database, type Row, type RowQuery } from "../engine/database.ts";
import { claimAll, claimReleased, findRepeatedStages, personRefOf, type Claimant } from "./claims.ts";
import { eventListStore, type EventFilter } from "./eventList.ts";
import { describeEvents, eventColumns, insertEvents, type StoredEvent } from "./eventRow.ts";
import { packAttribution } from "../people/personCodec.ts";
import { deliveryRows, deliverySourceOf } from "../deliveries/plan.ts";
import { batchWhenBusy } from "../engine/adaptiveBatching.ts";
import { groupsFor, inGroups } from "../engine/groupCommit.ts";
import type { Seal } from "../engine/seal.ts";
import { writeRefs, type SenderRef } from "../sources/senderRefs.ts";
import { reopenExport } from "../export/dataExports.ts";
import { addTotals, toCounted } from "../outbound/totals.ts";
import { closedAfterMs, markHours, markLateHours } from "../statistics/statistics.ts";

export type NewEvent = Claimant & {
  event: Event;
  attribution: Attribution;
  /** Empty for an accepted event. */
  filterReasons: FilterReason[];
  deliveries: readonly NewDelivery[];
  /** Who attempts the deliveries first. */
  ownership: StoredOwnership;
  /** The sender is asked to retry when the event is not accepted by then. */
  answerBy?: number;
  /** Events with the same object were handed in together. A server commits them together. */
  batch?: object | null;
  /** What the request taught about its sender's ids; written also where the event is a duplicate. */
  refs?: readonly SenderRef[] | undefined;
  stage?: Stage | null | undefined;
};

/** `repeated` are the deliveries of an event whose stage another event has reached before. */
type Stage = NonNullable<Claimant["stage"]> & { repeated: readonly NewDelivery[] };

type OwnNodes = Pick<ReturnType<typeof nodeStore>, "mayLackRows" | "restoreRows">;

/** `isRepeated`: the event has the deliveries of a repeated stage. */
export type Acceptance = { duplicate: true } | { duplicate: false; platformEventId: string; isRepeated?: true };

type Release = {
  siteId: string;
  eventId: string;
  attribution: Attribution;
  deliveries: readonly NewDelivery[];
  /** Becomes this event's when no other event holds it. */
  orderEventId: string | null;
  claimUntil: number;
  stage?: Stage | null;
  now: number;
};

type EventStoreOptions = {
  seal: Seal;
  /** Throws where the encryption key is wrong: then no event is damaged, and none must be taken for it. */
  refuseWrongKey: () => Promise<void>;
  /** The owners of events. */
  nodes: OwnNodes;
  now?: () => number;
};

export function eventStore(db: Database, { seal, refuseWrongKey, nodes, now = Date.now }: EventStoreOptions) {
  const described = describeEvents(seal);
  const accept = inGroups<NewEvent, Acceptance>((_group, items) => db.write((tx) => acceptAll(tx, described, items, nodes)), {
    ...groupsFor(db),
    siteOf: ({ event }) => event.siteId,
    isLate: ({ answerBy = Infinity }) => answerBy < now(),
    ...(db.isServer
      ? { isBound: ({ batch }, before) => Boolean(batch) && batch === before.batch }
      : // A round trip to a server is batch window enough.
        { batchWindow: batchWhenBusy() }),
  });
  const lists = eventListStore(db);

  async function getMany(siteId: string, ids: readonly string[]): Promise<Map<string, StoredEvent | "damaged">> {
    const found = new Map<string, StoredEvent | "damaged">();
    const sql = `SELECT ${eventColumns} FROM events WHERE site_id = $1 AND id IN ({KEYS})`;
    for (const row of await allByKeys(db, sql, [siteId], ids)) found.set(String(row.id), readEvent(row));
    if (found.values().some((event) => event === "damaged")) await refuseWrongKey();
    return found;
  }

  const readEvent = (row: Row): StoredEvent | "damaged" => tryRead(() => described.read(row)) ?? "damaged";

  return {
    ...lists,

    /**
     * Claims the duplicate key and, if it was free, writes event and deliveries: one durable transaction, shared
     * with the events that arrive at the same moment. Nothing may be sent to a platform before it resolves.
     */
    accept: (item: NewEvent) => accept(db.commitGroup(item.event.siteId), item),

    /** An event that can no longer be read is `damaged`: it must not hold up the others. */
    getMany,

    get: async (siteId: string, id: string): Promise<StoredEvent | "damaged" | null> =>
      (await getMany(siteId, [id])).get(id) ?? null,

    /** Finds the event that was dispatched under this order event id. */
    async findIdByClaim(siteId: string, claim: string): Promise<string | null> {
      const [row] = await db.all(`SELECT event_id FROM dedup_claims WHERE site_id = $1 AND claim = $2`, [siteId, claim]);
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

    /** Lists events in the order of their ids, after `after` and before `end`. One that can no longer be read is `damaged`. */
    async listRange(
      siteId: string,
      after: string,
      end: string,
      limit: number,
    ): Promise<{ id: string; event: StoredEvent | "damaged" }[]> {
      const rows = await db.all(
        `SELECT ${eventColumns} FROM events WHERE site_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT $4`,
        [siteId, after, end, limit],
      );
      return rows.map((row) => ({ id: String(row.id), event: readEvent(row) }));
    },

    /** Counts the emails among the newest events of an order; more than one hints at a placeholder. */
    async countEmailsOfOrder(siteId: string, orderId: string): Promise<number> {
      const [row] = await db.all(
        `SELECT COUNT(DISTINCT email_ref) AS emails FROM (
           SELECT email_ref FROM events WHERE site_id = $1 AND order_key = $2 ORDER BY id DESC LIMIT 1000) AS newest`,
        [siteId, orderKey(orderId)],
      );
      return Number(row?.emails);
    },

    /** Accepts a filtered event after all, and returns its deliveries, which are due at once. Null when it was not filtered. */
    release: (release: Release): Promise<readonly NewDelivery[] | null> =>
      db.write(async (tx) => releaseEvent(tx, release, await readDueTime(db, tx, release.now))),
  };
}

async function acceptAll(
  tx: RowQuery,
  described: ReturnType<typeof describeEvents>,
  items: NewEvent[],
  nodes: OwnNodes,
): Promise<Acceptance[]> {
  const claimed = await claimAll(tx, items);
  if (nodes.mayLackRows()) await nodes.restoreRows(tx);
  if (items.some(({ refs }) => refs))
    await writeRefs(
      tx,
      items.flatMap((item) => (claimed.get(item) === "duplicate" ? (item.refs ?? []) : refsToEvent(item))),
    );
  const accepted = items.filter((item) => claimed.get(item) !== "duplicate");
  const repeated = await findRepeatedStages(tx, accepted);
  const usesOrderEventId = (item: NewEvent) => claimed.get(item) === "order event id";
  const [written] = await Promise.all([
    tx.change(
      insertEvents,
      accepted.map((item) => described.values(asRepeated(item), usesOrderEventId(item))),
    ),
    tx.change(
      insertDeliveries,
      accepted.map(asRepeated).flatMap(({ event, deliveries, ownership }) => deliveryRows(event, deliveries, ownership)),
    ),
  ]);
  await addTotals(tx, toCounted(accepted.filter((_item, i) => written[i])));
  await markLate(tx, accepted);
  return items.map((item) =>
    claimed.get(item) === "duplicate"
      ? { duplicate: true }
      : {
          duplicate: false,
          platformEventId: usesOrderEventId(item) && item.orderEventId ? item.orderEventId : item.event.id,
          ...(repeated.has(item) && { isRepeated: true }),
        },
  );

  /** Nothing of a repeated stage is attempted, so no node owns it. */
  function asRepeated(item: NewEvent): NewEvent {
    if (!item.stage || !repeated.has(item)) return item;
    return { ...item, deliveries: item.stage.repeated, ownership: ownedByAny(item.ownership.at) };
  }
}

/** The person of a stored event need not be written a second time. */
const refsToEvent = ({ event, refs = [] }: NewEvent): SenderRef[] =>
  refs.map((ref) => (ref.person === null ? ref : { ...ref, eventId: event.id, person: null }));

/** `ownership.at` is the time of receipt by the clock that all nodes share. */
async function markLate(tx: RowQuery, items: readonly NewEvent[]): Promise<void> {
  const late = items.filter(({ event, ownership }) => ownership.at - timeOfId(event.id) > closedAfterMs);
  for (const [siteId, ofSite] of Map.groupBy(late, ({ event }) => event.siteId)) {
    const now = Math.max(...ofSite.map(({ ownership }) => ownership.at));
    const ids = ofSite.map(({ event }) => event.id);
    await markLateHours(tx, siteId, ids, now);
    await reopenExport(tx, siteId, Math.floor(Math.min(...ids.map(timeOfId)) / hourMs) * hourMs);
  }
  const behind = items.filter(({ event, ownership }) => {
    const at = timeOfId(event.id);
    // The id of an imported event has the time of its conversion: that is no reason to read again what came in since.
    return at < ownership.at - maxSkewMs && at >= event.receivedAt;
  });
  for (const [siteId, ofSite] of Map.groupBy(behind, ({ event }) => event.siteId))
    await lowerEventCursors(tx, siteId, idAt(Math.min(...ofSite.map(({ event }) => timeOfId(event.id)))));
}

async function releaseEvent(tx: RowQuery, release: Release, dueAt: number): Promise<readonly NewDelivery[] | null> {
  const { siteId, eventId, attribution, orderEventId, claimUntil, stage = null, now } = release;
  const isRepeated = stage !== null && !(await claimReleased(tx, { siteId, eventId, ...stage }, now));
  const deliveries = isRepeated ? stage.repeated : release.deliveries;
  const ownership = ownedByAny(dueAt, now);
  const [row] = await tx.all(
    `UPDATE events SET status = 'accepted', attribution = $3, released_at = $4, plan = $5
     WHERE site_id = $1 AND id = $2 AND status = 'filtered' AND email_ref IS NOT NULL RETURNING mode, SUBSTR(person, 1, 64) AS email`,
    [siteId, eventId, packAttribution(attribution), now, deliverySourceOf.plan({ deliveries, ownership })],
  );
  if (!row) return (await wasReleasedAt(tx, siteId, eventId, now)) ? deliveries : null;
  await markHours(tx, siteId, [eventId], now);
  // It is a conversion from now on. That it was removed once stays counted, because that was reported.
  if (row.mode === "live") await addTotals(tx, [{ siteId, writer: "release", conversions: 1, removedEvents: 0 }]);
  const usesOrderEventId =
    orderEventId !== null &&
    (await claimReleased(
      tx,
      {
        siteId,
        eventId,
        claim: orderEventId,
        personRef: personRefOf(orderEventId, String(row.email) as Sha256),
        until: claimUntil,
      },
      now,
    ));
  const sql = `UPDATE events SET uses_order_event_id = $3 WHERE site_id = $1 AND id = $2`;
  await tx.all(sql, [siteId, eventId, usesOrderEventId ? 1 : 0]);
  await tx.change(insertDeliveries, deliveryRows({ siteId, id: eventId }, deliveries, ownership));
  return deliveries;
}

/** A transaction that runs again, because its commit was not confirmed, finds everything written. */
async function wasReleasedAt(tx: RowQuery, siteId: string, eventId: string, now: number): Promise<boolean> {
  return hasRows(tx.all(`SELECT id FROM events WHERE site_id = $1 AND id = $2 AND released_at = $3`, [siteId, eventId, now]));
}
