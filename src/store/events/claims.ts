// Claims let each event be accepted once. The event in a claim's row holds it until it expires.
//
// An event inserts one claim. With an order id, a live event claims its order event id. If that is taken by the same email,
// the event is a duplicate. If it is taken by another email, the event claims its duplicate key, and goes out under its own
// id. A filtered event claims the order event id too, and hands it over to the first event that is not filtered. All but the
// first insert is rare.

import { hash } from "node:crypto";
import type { Event, FilterReason, Sha256 } from "../../kernel/event.ts";
import { orderEventIdOf } from "../../kernel/ids.ts";
import { allByKeys, rowStatement, type RowQuery, type RowStatement, type Value } from "../engine/database.ts";

export type Claimant = {
  event: Event;
  filterReasons: readonly FilterReason[];
  /** The duplicate key and when it expires. */
  claim: string;
  claimUntil: number;
  /** Computed from event and order id, by browsers too; null without an order id and for test events. */
  orderEventId: string | null;
  /** Tells the people of an order apart; 0 without an order id. */
  personRef: number;
};

type Claimed = "duplicate" | "own id" | "order event id";

type Holder = { eventId: string; personRef: number; expiresAt: number };

const insertInto = `INSERT INTO dedup_claims (site_id, claim, event_id, person_ref, expires_at) VALUES {ROWS}`;
const shape = { columns: 5, key: { site_id: 0, claim: 1 } } as const;

/** An expired order event id is not taken at once: the event may hold its duplicate key, and is a duplicate then. */
const insertOrderEventIds = rowStatement({
  ...shape,
  text: `${insertInto}
   ON CONFLICT (site_id, claim) DO UPDATE SET expires_at = excluded.expires_at
   WHERE dedup_claims.event_id = excluded.event_id`,
});

const insertClaims = rowStatement({
  ...shape,
  text: `${insertInto}
   ON CONFLICT (site_id, claim) DO UPDATE SET event_id = excluded.event_id, person_ref = excluded.person_ref,
     expires_at = excluded.expires_at
   WHERE dedup_claims.expires_at <= $1 OR dedup_claims.event_id = excluded.event_id`,
  first: 1,
});

/** The duplicate key of an event with an order id. */
export const orderClaim = (orderEventId: string, mode: string, personRef: number) => `${orderEventId} ${mode} ${personRef}`;

/** Differs from order to order, so that claims do not tell which of them belong to one person, also after an erasure. */
export const personRefOf = (orderEventId: string, emailSha256: Sha256) =>
  Number.parseInt(hash("sha256", `${orderEventId} ${emailSha256}`).slice(0, 13), 16);

type Keyed = Pick<Event, "mode" | "name" | "person" | "value" | "currency">;

/**
 * The duplicate key of an event without an order id; `eventTime` is as the sender gave it. Of two events with the same key
 * within the window, the second is a duplicate. The row that holds the key names the site.
 */
export function duplicateKey({ mode, name, person, value, currency }: Keyed, eventTime: number | null): string {
  // Platforms match event names regardless of case, so the key does too.
  const fields = [mode, name.trim().toLowerCase(), null, person.emailSha256, value, currency, eventTime];
  return hash("sha256", JSON.stringify(fields), "base64url").slice(0, 27);
}

/** All claims that a stored event may have inserted. It is not stored if the sender gave the time. */
export function possibleClaims(
  event: Keyed & Pick<Event, "siteId" | "orderId" | "orderEventId" | "time">,
): Pick<Claimant, "personRef"> & { claims: string[] } {
  const ofOrder = orderEventIdOf(event);
  if (ofOrder === null) return { personRef: 0, claims: [duplicateKey(event, event.time), duplicateKey(event, null)] };
  const personRef = personRefOf(ofOrder, event.person.emailSha256);
  const own = orderClaim(ofOrder, event.mode, personRef);
  return { personRef, claims: event.mode === "live" ? [ofOrder, own] : [own] };
}

/** An event that holds its claim already, because it was committed and the answer got lost, holds it again. */
export async function claimAll(tx: RowQuery, items: readonly Claimant[]): Promise<Map<Claimant, Claimed>> {
  const now = Math.max(...items.map(({ event }) => event.receivedAt));
  const claimed = new Map<Claimant, Claimed>(items.map((item) => [item, "duplicate"]));
  const ofOrders = items.filter(({ orderEventId }) => orderEventId !== null);
  const holding = await insertFirst(tx, insertOrderEventIds, ofOrders, orderKeyOf, []);
  for (const item of holding) claimed.set(item, "order event id");
  const others = items.filter(({ orderEventId }) => orderEventId === null);
  for (const item of await insertFirst(tx, insertClaims, others, claimOf, [now])) claimed.set(item, "own id");
  const rivals: Rival[] = [];
  let waiting = ofOrders.filter((item) => !holding.has(item));
  // Each time, the first of those that want an expired claim takes it, and the others find it held.
  while (waiting.length > 0) {
    const judged = await judge(tx, waiting, now);
    rivals.push(...judged.rivals);
    const taken = await insertFirst(tx, insertClaims, judged.free, orderKeyOf, [now]);
    for (const item of taken) claimed.set(item, "order event id");
    waiting = judged.free.filter((item) => !taken.has(item));
  }
  if (rivals.length) await claimOwnIds(tx, items, rivals, claimed, now);
  return claimed;
}

const orderKeyOf = ({ orderEventId }: Claimant) => orderEventId ?? "";
const claimOf = ({ claim }: Claimant) => claim;

type Rival = { item: Claimant; holder: Holder };

/** Finds events whose order event id is held by another email's event, and those whose order event id is free. */
async function judge(tx: RowQuery, items: readonly Claimant[], now: number): Promise<{ rivals: Rival[]; free: Claimant[] }> {
  const holders = await readHolders(tx, items);
  const rivals: Rival[] = [];
  const free: Claimant[] = [];
  for (const item of items) {
    const live = (claim: string) => {
      const holder = holders.get(keyOf(item, claim));
      return holder && holder.expiresAt > now ? holder : null;
    };
    const own = live(item.claim);
    if (own && own.eventId !== item.event.id) continue;
    const holder = live(orderKeyOf(item));
    if (!holder && !own) free.push(item);
    else if (!holder) rivals.push({ item, holder: own as Holder });
    else if (holder.personRef !== item.personRef) rivals.push({ item, holder });
  }
  return { rivals, free };
}

/** Claims the duplicate keys of events whose order event id is held by another email's event. */
async function claimOwnIds(
  tx: RowQuery,
  items: readonly Claimant[],
  rivals: readonly Rival[],
  claimed: Map<Claimant, Claimed>,
  now: number,
): Promise<void> {
  const rivalItems = rivals.map(({ item }) => item);
  const holding = await insertFirst(tx, insertClaims, rivalItems, claimOf, [now]);
  const replaced = new Set<string>();
  for (const { item, holder } of rivals) {
    if (!holding.has(item)) continue;
    claimed.set(item, "own id");
    if (item.filterReasons.length || replaced.has(holder.eventId)) continue;
    if (!(await isFiltered(tx, items, item.event.siteId, holder.eventId))) continue;
    replaced.add(holder.eventId);
    claimed.set(item, "order event id");
    await handOver(tx, item, holder);
  }
}

/** Inserts the claims, and returns the events that hold theirs. Of equal claims in one call the first wins. */
async function insertFirst(
  tx: RowQuery,
  statement: RowStatement,
  items: readonly Claimant[],
  wantedBy: (item: Claimant) => string,
  params: Value[],
): Promise<Set<Claimant>> {
  if (items.length === 0) return new Set();
  const first = new Map<string, Claimant>();
  for (const item of items) {
    const key = keyOf(item, wantedBy(item));
    if (!first.has(key)) first.set(key, item);
  }
  // Sorted, so that two transactions that want the same claims cannot deadlock.
  const sorted = [...first].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, item]) => item);
  const rows = sorted.map((item) => claimRow(item, wantedBy(item)));
  const taken = await tx.change(statement, rows, params);
  return new Set(sorted.filter((_item, i) => taken[i]));
}

const keyOf = ({ event }: Claimant, claim: string) => `${event.siteId} ${claim}`;

const claimRow = ({ event, personRef, claimUntil }: Claimant, claim: string): Value[] => [
  event.siteId,
  claim,
  event.id,
  personRef,
  claimUntil,
];

async function readHolders(tx: RowQuery, items: readonly Claimant[]): Promise<Map<string, Holder>> {
  const holders = new Map<string, Holder>();
  for (const [siteId, ofSite] of Map.groupBy(items, ({ event }) => event.siteId)) {
    const claims = [...new Set(ofSite.flatMap((item) => [orderKeyOf(item), item.claim]))];
    const sql = `SELECT claim, event_id, person_ref, expires_at FROM dedup_claims
       WHERE site_id = $1 AND claim IN ({KEYS})`;
    for (const row of await allByKeys(tx, sql, [siteId], claims))
      holders.set(`${siteId} ${row.claim}`, {
        eventId: String(row.event_id),
        personRef: Number(row.person_ref),
        expiresAt: Number(row.expires_at),
      });
  }
  return holders;
}

/** The holder may be an event of the same transaction, whose row is not written yet. */
async function isFiltered(tx: RowQuery, items: readonly Claimant[], siteId: string, eventId: string): Promise<boolean> {
  const item = items.find(({ event }) => event.id === eventId);
  if (item) return item.filterReasons.length > 0;
  const rows = await tx.all(`SELECT id FROM events WHERE site_id = $1 AND id = $2 AND status = 'filtered'`, [siteId, eventId]);
  return rows.length > 0;
}

/** The filtered event keeps its duplicate key. */
async function handOver(tx: RowQuery, item: Claimant, holder: Holder): Promise<void> {
  const { event, claimUntil, personRef } = item;
  const claim = orderKeyOf(item);
  await tx.all(
    `UPDATE dedup_claims SET event_id = $4, person_ref = $5, expires_at = $6
     WHERE site_id = $1 AND claim = $2 AND event_id = $3`,
    [event.siteId, claim, holder.eventId, event.id, personRef, claimUntil],
  );
  const kept = orderClaim(claim, event.mode, holder.personRef);
  const row = [event.siteId, kept, holder.eventId, holder.personRef, claimUntil];
  await tx.change(insertClaims, [row], [event.receivedAt]);
}

/** Claims the order event id for an event that is released. False when another event holds it. */
export async function claimOrderEventId(
  tx: RowQuery,
  { siteId, eventId, orderEventId }: { siteId: string; eventId: string; orderEventId: string },
  ref: number,
  until: number,
  now: number,
): Promise<boolean> {
  const [isTaken] = await tx.change(insertClaims, [[siteId, orderEventId, eventId, ref, until]], [now]);
  return isTaken ?? false;
}
