// Claims let each event be accepted once. The event in a claim's row holds it until it expires.
//
// An event inserts one claim. With an order id, a live event claims its order event id. If that is taken by the same email,
// the event is a duplicate. If it is taken by another email, the event claims its duplicate key, and goes out under its own
// id. A filtered event claims the order event id too, and hands it over to the first event that is not filtered. All but the
// first insert is rare.

import type { Event, FilterReason } from "../../kernel/event.ts";
import { chunks, list, rowStatement, type RowQuery, type Value } from "../engine/database.ts";
import { emailRef } from "./eventRow.ts";

export type Claimant = {
  event: Event;
  filterReasons: readonly FilterReason[];
  /** The duplicate key and when it expires. */
  claim: string;
  claimUntil: number;
  /** Computed from event and order id, by browsers too; null without an order id and for test events. */
  orderEventId: string | null;
};

export type Claimed = "duplicate" | "own id" | "order event id";

type Holder = { eventId: string; emailRef: number };

const insertClaims = rowStatement({
  text: `INSERT INTO dedup_claims (site_id, claim, event_id, email_ref, expires_at) VALUES {ROWS}
   ON CONFLICT (site_id, claim) DO UPDATE SET event_id = excluded.event_id, email_ref = excluded.email_ref,
     expires_at = excluded.expires_at
   WHERE dedup_claims.expires_at <= $1 OR dedup_claims.event_id = excluded.event_id`,
  columns: 5,
  first: 1,
  key: { site_id: 0, claim: 1 },
});

/** The duplicate key of an event with an order id. */
export const orderClaim = (orderEventId: string, mode: string, ref: number) =>
  `${orderEventId} ${mode} ${ref}`;

/** An event that holds its claim already, because it was committed and the answer got lost, holds it again. */
export async function claimAll(tx: RowQuery, items: readonly Claimant[]): Promise<Map<Claimant, Claimed>> {
  const claimed = new Map<Claimant, Claimed>();
  const now = Math.max(...items.map(({ event }) => event.receivedAt));
  const holding = await insertFirst(tx, items, (item) => item.orderEventId ?? item.claim, now);
  const rivals: { item: Claimant; holder: Holder }[] = [];
  let holders: Map<string, Holder> | null = null;
  for (const item of items) {
    if (holding.has(item)) {
      claimed.set(item, item.orderEventId ? "order event id" : "own id");
      continue;
    }
    claimed.set(item, "duplicate");
    if (!item.orderEventId) continue;
    holders ??= await readHolders(tx, items);
    const holder = holders.get(keyOf(item, item.orderEventId));
    if (holder && holder.emailRef !== emailRef(item.event.person.emailSha256)) rivals.push({ item, holder });
  }
  if (rivals.length) await claimOwnIds(tx, items, rivals, claimed, now);
  return claimed;
}

/** Claims the duplicate keys of events whose order event id is held by another email's event. */
async function claimOwnIds(
  tx: RowQuery,
  items: readonly Claimant[],
  rivals: readonly { item: Claimant; holder: Holder }[],
  claimed: Map<Claimant, Claimed>,
  now: number,
): Promise<void> {
  const holding = await insertFirst(
    tx,
    rivals.map(({ item }) => item),
    (item) => item.claim,
    now,
  );
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
  items: readonly Claimant[],
  claimOf: (item: Claimant) => string,
  now: number,
): Promise<Set<Claimant>> {
  const first = new Map<string, Claimant>();
  for (const item of items) {
    const key = keyOf(item, claimOf(item));
    if (!first.has(key)) first.set(key, item);
  }
  // Sorted, so that two transactions that want the same claims cannot deadlock.
  const sorted = [...first].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, item]) => item);
  const rows = sorted.map((item) => claimRow(item, claimOf(item)));
  const taken = await tx.change(insertClaims, rows, [now]);
  return new Set(sorted.filter((_item, i) => taken[i]));
}

const keyOf = ({ event }: Claimant, claim: string) => `${event.siteId} ${claim}`;

const claimRow = ({ event, claimUntil }: Claimant, claim: string): Value[] => [
  event.siteId,
  claim,
  event.id,
  emailRef(event.person.emailSha256),
  claimUntil,
];

async function readHolders(tx: RowQuery, items: readonly Claimant[]): Promise<Map<string, Holder>> {
  const holders = new Map<string, Holder>();
  for (const [siteId, ofSite] of Map.groupBy(items, ({ event }) => event.siteId)) {
    const claims = [...new Set(ofSite.flatMap(({ orderEventId }) => orderEventId ?? []))];
    for (const some of chunks(claims)) {
      const rows = await tx.all(
        `SELECT claim, event_id, email_ref FROM dedup_claims WHERE site_id = $1 AND claim IN (${list(some.length, 1)})`,
        [siteId, ...some],
      );
      for (const row of rows)
        holders.set(`${siteId} ${row.claim}`, {
          eventId: String(row.event_id),
          emailRef: Number(row.email_ref),
        });
    }
  }
  return holders;
}

/** The holder may be an event of the same transaction, whose row is not written yet. */
async function isFiltered(
  tx: RowQuery,
  items: readonly Claimant[],
  siteId: string,
  eventId: string,
): Promise<boolean> {
  const item = items.find(({ event }) => event.id === eventId);
  if (item) return item.filterReasons.length > 0;
  const rows = await tx.all(`SELECT id FROM events WHERE site_id = $1 AND id = $2 AND status = 'filtered'`, [
    siteId,
    eventId,
  ]);
  return rows.length > 0;
}

/** The filtered event keeps its duplicate key. */
async function handOver(tx: RowQuery, item: Claimant, { eventId, emailRef: ref }: Holder): Promise<void> {
  const { event, orderEventId, claimUntil } = item;
  const claim = orderEventId ?? "";
  await tx.all(
    `UPDATE dedup_claims SET event_id = $4, email_ref = $5, expires_at = $6
     WHERE site_id = $1 AND claim = $2 AND event_id = $3`,
    [event.siteId, claim, eventId, event.id, emailRef(event.person.emailSha256), claimUntil],
  );
  await tx.change(
    insertClaims,
    [[event.siteId, orderClaim(claim, event.mode, ref), eventId, ref, claimUntil]],
    [event.receivedAt],
  );
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
