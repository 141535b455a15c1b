// Events and the claims that make each of them happen once.

import type { Attribution, DeliveryState, Event, FilterReason, Mode } from "../../kernel/event.ts";
import { columns } from "../schema/columns.ts";
import {
  chunks,
  list,
  rowStatement,
  type Database,
  type Row,
  type RowQuery,
  type Value,
} from "../engine/database.ts";
import { eventListStore, type EventFilter, type EventStatus } from "./eventList.ts";
import { gatherWhenBusy } from "../engine/adaptiveBatching.ts";
import { grouped } from "../engine/groupCommit.ts";
import type { Seal } from "../engine/seal.ts";
import { addTotals, toCounted } from "../outbound/totals.ts";

export type NewDelivery = {
  connectionId: string;
  platform: string;
  state: DeliveryState;
  reason: string | null;
};

export type NewEvent = {
  event: Event;
  attribution: Attribution;
  /** Empty for an accepted event. */
  filterReasons: FilterReason[];
  /** The duplicate key and how long it holds. */
  claim: string;
  claimUntil: number;
  /** The event id that a browser computes from event and order id; null where there is none. */
  orderEventId: string | null;
  deliveries: NewDelivery[];
  /** Lease of the deliveries that are tried at once. */
  owner: string;
  leaseUntil: number;
  /** When its sender is told to try again, if it is not accepted by then. */
  answerBy?: number;
};

export type Acceptance = { duplicate: true } | { duplicate: false; platformEventId: string };

export type StoredEvent = Event & {
  platformEventId: string;
  status: EventStatus;
  filterReasons: FilterReason[];
  attribution: Attribution;
  /** When somebody said of a filtered event that it is no bot's. */
  releasedAt: number | null;
};

const eventColumns = [
  "site_id", "id", "platform_event_id", "key_id", "mode", "status", "reasons", "name", "value", "currency", "order_id",
  "email_sha256", "time", "received_at", "person", "attribution", "extra",
]; // prettier-ignore
const deliveryColumns = [
  "site_id", "event_id", "connection_id", "platform", "state", "reason", "attempts", "due_at", "owner", "updated_at",
]; // prettier-ignore

const insertEvents = rowStatement({
  text: `INSERT INTO events (${eventColumns.join(",")}) VALUES {ROWS} ON CONFLICT DO NOTHING`,
  columns: eventColumns.length,
  key: { site_id: 0, id: 1 },
});
const insertDeliveries = rowStatement({
  text: `INSERT INTO deliveries (${deliveryColumns.join(",")}) VALUES {ROWS} ON CONFLICT DO NOTHING`,
  columns: deliveryColumns.length,
});
const takeClaims = rowStatement({
  text: `INSERT INTO dedup_claims (site_id, claim, event_id, expires_at) VALUES {ROWS}
   ON CONFLICT (site_id, claim) DO UPDATE SET event_id = excluded.event_id, expires_at = excluded.expires_at
   WHERE dedup_claims.expires_at <= $1 OR dedup_claims.event_id = excluded.event_id`,
  columns: 4,
  first: 1,
  key: { site_id: 0, claim: 1 },
});

export function eventStore(db: Database, seal: Seal, now: () => number = Date.now) {
  const accept = grouped<NewEvent, Acceptance>(
    (_group, items) => db.write((tx) => acceptAll(tx, seal, items)),
    {
      blamesData: db.blamesData,
      isLate: ({ answerBy = Infinity }) => answerBy < now(),
      // The way to a server and back is pause enough.
      ...(db.engine === "sqlite" && { gather: gatherWhenBusy() }),
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
        `SELECT ${columns.events} FROM events WHERE site_id = $1 AND id IN (${list(some.length, 1)})`,
        [siteId, ...some],
      );
      for (const row of rows) found.set(String(row.id), readable(row, seal));
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
      const [row] = await db.all(`SELECT ${columns.events} FROM events WHERE site_id = $1 AND id = $2`, [
        siteId,
        id,
      ]);
      return row ? eventOf(row, seal) : null;
    },

    /** One that can no longer be read is `damaged`: it must not hold up the others. */
    getMany,

    /** The event that was dispatched under an id which a browser could foretell. */
    async findIdByClaim(siteId: string, claim: string): Promise<string | null> {
      const [row] = await db.all(`SELECT event_id FROM dedup_claims WHERE site_id = $1 AND claim = $2`, [
        siteId,
        claim,
      ]);
      return row ? String(row.event_id) : null;
    },

    /** Whole events, newest first; `before` is the id of the last event of the page above. */
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

    /** How many different emails came with this order id, of its newest events: more than one hints at a placeholder. */
    async countEmailsOfOrder(siteId: string, orderId: string): Promise<number> {
      const [row] = await db.all(
        `SELECT COUNT(DISTINCT email_sha256) AS emails FROM (
           SELECT email_sha256 FROM events WHERE site_id = $1 AND order_id = $2 ORDER BY id DESC LIMIT 1000) AS newest`,
        [siteId, orderId],
      );
      return Number(row?.emails);
    },
  };
}

async function acceptAll(tx: RowQuery, seal: Seal, items: NewEvent[]): Promise<Acceptance[]> {
  const owners = await claimAll(tx, items);
  const owns = (item: NewEvent, claim: string) => owners.get(claimKey(item, claim)) === item;
  const accepted = items.filter((item) => owns(item, item.claim));
  // Another email under the same order id holds the order event id: this event goes out under its own.
  const platformEventId = (item: NewEvent) =>
    item.orderEventId && owns(item, item.orderEventId) ? item.orderEventId : item.event.id;

  const [written] = await Promise.all([
    tx.change(
      insertEvents,
      accepted.map((item) => eventValues(item, platformEventId(item), seal)),
    ),
    tx.change(insertDeliveries, accepted.flatMap(deliveryValues)),
  ]);
  await addTotals(tx, toCounted(accepted.filter((_item, i) => written[i])));
  return items.map((item) =>
    owns(item, item.claim)
      ? { duplicate: false, platformEventId: platformEventId(item) }
      : { duplicate: true },
  );
}

const claimKey = (item: NewEvent, claim: string) => `${item.event.siteId} ${claim}`;

/**
 * Takes each claim that is free or has run out, and returns who got it. Of equal claims in one call the first
 * wins. A claim that this very event holds already (its commit got lost on the way to us) is won again.
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
  // Sorted, so that two transactions that want the same claims cannot wait for each other in a circle.
  const keys = [...first.keys()].toSorted();
  const rows = keys.map((key): Value[] => {
    const { event, claimUntil } = first.get(key) as NewEvent;
    return [event.siteId, key.slice(event.siteId.length + 1), event.id, claimUntil];
  });
  const now = Math.max(...items.map(({ event }) => event.receivedAt));
  const taken = await tx.change(takeClaims, rows, [now]);
  keys.forEach((key, i) => taken[i] && owners.set(key, first.get(key) as NewEvent));
  return owners;
}

export const extraPlace = (siteId: string, id: string) => `event ${siteId} ${id}`;

function eventValues(
  { event, attribution, filterReasons }: NewEvent,
  platformEventId: string,
  seal: Seal,
): Value[] {
  const status: EventStatus = filterReasons.length ? "filtered" : "accepted";
  return [
    event.siteId,
    event.id,
    platformEventId,
    event.keyId,
    event.mode,
    status,
    filterReasons.length ? JSON.stringify(filterReasons) : null,
    event.name,
    event.value,
    event.currency,
    event.orderId,
    event.person.emailSha256,
    event.time,
    event.receivedAt,
    JSON.stringify(event.person),
    JSON.stringify(attribution),
    event.extra && seal.close(JSON.stringify(event.extra), extraPlace(event.siteId, event.id)),
  ];
}

function deliveryValues({ event, deliveries, owner, leaseUntil }: NewEvent): Value[][] {
  return deliveries.map((delivery) => {
    const tried = delivery.state === "queued";
    return [
      event.siteId,
      event.id,
      delivery.connectionId,
      delivery.platform,
      delivery.state,
      delivery.reason,
      0,
      tried ? leaseUntil : 0,
      tried ? owner : "",
      event.receivedAt,
    ];
  });
}

function readable(row: Row, seal: Seal): StoredEvent | "damaged" {
  try {
    return eventOf(row, seal);
  } catch {
    return "damaged";
  }
}

function eventOf(row: Row, seal: Seal): StoredEvent {
  const siteId = String(row.site_id);
  const id = String(row.id);
  return {
    id,
    siteId,
    platformEventId: String(row.platform_event_id),
    keyId: String(row.key_id),
    mode: row.mode as Mode,
    status: row.status as EventStatus,
    filterReasons: row.reasons === null ? [] : JSON.parse(String(row.reasons)),
    name: String(row.name),
    value: row.value as number | null,
    currency: String(row.currency),
    orderId: row.order_id as string | null,
    time: Number(row.time),
    receivedAt: Number(row.received_at),
    releasedAt: row.released_at === null ? null : Number(row.released_at),
    person: JSON.parse(String(row.person)),
    attribution: JSON.parse(String(row.attribution)),
    extra: row.extra === null ? null : JSON.parse(seal.open(String(row.extra), extraPlace(siteId, id))),
  };
}
