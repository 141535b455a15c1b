// Claims let each event be accepted once. The event in a claim's row holds it until it expires.
//
// An event inserts one claim. With an order id, a live event claims its order event id. If that is taken by the same email,
// the event is a duplicate. If it is taken by another email, the event claims its duplicate key, and goes out under its own
// id. A filtered event claims the order event id too, and hands it over to the first event that is not filtered. All but the
// first insert is rare.

import { hash } from "node:crypto";
import type { Event, FilterReason, SeenId, Sha256 } from "../../kernel/event.ts";
import { orderEventIdOf } from "../../kernel/ids.ts";
import { orderKey } from "../../kernel/reconciliation.ts";
import { allByKeys, hasRows, rowStatement, type RowQuery, type RowStatement, type Value } from "../engine/database.ts";

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
  /** The sender's own id of the delivery, as `deliveryClaim` makes it: a repeat of it is a duplicate, whatever it carries. */
  delivery?: { claim: string; until: number } | null | undefined;
  /** The stage of a lead that the event reaches, as `stageClaim` makes it. */
  stage?: { claim: string; until: number } | null | undefined;
};

type Claimed = "duplicate" | "own id" | "order event id";

type Holder = { eventId: string; personRef: number; expiresAt: number };

const insertInto = `INSERT INTO dedup_claims (site_id, claim, event_id, person_ref, expires_at) VALUES {ROWS}`;
const shape = { columns: 5, key: { site_id: 0, claim: 1 } } as const;

/** An expired order event id is not taken at once: the event may hold its duplicate key, and is a duplicate then. */
const takeFree = rowStatement({
  ...shape,
  text: `${insertInto}
   ON CONFLICT (site_id, claim) DO UPDATE SET expires_at = excluded.expires_at
   WHERE dedup_claims.event_id = excluded.event_id`,
});

const takeExpired = rowStatement({
  ...shape,
  text: `${insertInto}
   ON CONFLICT (site_id, claim) DO UPDATE SET event_id = excluded.event_id, person_ref = excluded.person_ref,
     expires_at = excluded.expires_at
   WHERE dedup_claims.expires_at <= $1 OR dedup_claims.event_id = excluded.event_id`,
  first: 1,
});

/** The duplicate key of an event with an order id. */
export const orderClaim = (orderEventId: string, mode: string, personRef: number) => `${orderEventId} ${mode} ${personRef}`;

/** The order event id of the order of a claim; of a claim without an order something that is no other claim. */
export const orderOf = (claim: string) => claim.split(" ", 1)[0] as string;

/** The beginning of claims that are a sender's delivery ids. An event that turns out to be a duplicate keeps such a claim. */
export const deliveryMark = "in ";

/**
 * The claim of a sender's delivery id. `source` is the source that received it. The time of the delivery, where the sender gives one
 * that every repeat has, comes first: claims of one time are neighbours in the database, and few pages of it change with a commit.
 */
export const deliveryClaim = (source: string, mode: string, deliveryId: string, deliveredAt: string) =>
  `${deliveryMark}${deliveredAt}${hash("sha256", JSON.stringify([source, mode, deliveryId]), "base64url").slice(0, 27)}`;

/** The beginning of claims that are stages of leads. They are no duplicate keys: an event that does not get its own is only not sent. */
export const stageMark = "stage ";

/** The claim of a lead's stage. Deals of one lead may have order ids, and are then as many sales. */
export const stageClaim = (mode: string, leadId: string, stage: string, orderId: string | null) =>
  `${stageMark}${hash("sha256", JSON.stringify([mode, leadId, stage, orderId && orderKey(orderId)]), "base64url").slice(0, 27)}`;

/** Differs from order to order, so that claims do not tell which of them belong to one person, also after an erasure. */
export const personRefOf = (orderEventId: string, emailSha256: Sha256 | undefined) =>
  Number.parseInt(hash("sha256", `${orderEventId} ${emailSha256 ?? ""}`).slice(0, 13), 16);

type Keyed = Pick<Event, "mode" | "name" | "person" | "value" | "currency">;

/** What tells people apart who gave no email: the phone number, and the click ids that the sender named. */
type Clicks = Readonly<Record<string, SeenId>> | undefined;

/**
 * The duplicate key of an event without an order id; `eventTime` is as the sender gave it. Of two events with the same key
 * within the window, the second is a duplicate. The row that holds the key names the site.
 */
export function duplicateKey({ mode, name, person, value, currency }: Keyed, eventTime: number | null, clicks?: Clicks): string {
  const who = person.emailSha256 ?? [person.phoneSha256, Object.entries(clicks ?? {}).map(([id, seen]) => [id, seen.value])];
  // Platforms match event names regardless of case, so the key does too.
  const fields = [mode, name.trim().toLowerCase(), null, who, value, currency, eventTime];
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

/**
 * Claims for all events of a transaction. One that holds its claim already, because it was committed and the answer got lost,
 * holds it again.
 */
export async function claimAll(tx: RowQuery, items: readonly Claimant[]): Promise<Map<Claimant, Claimed>> {
  const now = Math.max(...items.map(({ event }) => event.receivedAt));
  const claimed = new Map<Claimant, Claimed>(items.map((item) => [item, "duplicate"]));
  const candidates = items.some(({ delivery }) => delivery) ? await claimDeliveries(tx, items, now) : items;
  const hold = (holders: Iterable<Claimant>, by: Claimed) => {
    for (const item of holders) claimed.set(item, by);
  };
  const withOrder = candidates.filter(({ orderEventId }) => orderEventId !== null);
  const withoutOrder = candidates.filter(({ orderEventId }) => orderEventId === null);
  hold(await insertClaims(tx, withOrder, { statement: takeFree, claimOf: wantedOrderEventId }), "order event id");
  hold(await insertClaims(tx, withoutOrder, { statement: takeExpired, claimOf: duplicateKeyOf, now }), "own id");

  const rivals: Rival[] = [];
  let undecided = withOrder.filter((item) => claimed.get(item) === "duplicate");
  // Of the events that want one expired claim the first takes it. The others are compared with that one in the next round.
  while (undecided.length > 0) {
    const compared = await compareWithHolders(tx, undecided, now);
    rivals.push(...compared.rivals);
    hold(compared.holding, "order event id");
    const holders = await insertClaims(tx, compared.unheld, { statement: takeExpired, claimOf: wantedOrderEventId, now });
    hold(holders, "order event id");
    undecided = compared.unheld.filter((item) => !holders.has(item));
  }
  if (rivals.length) await claimOwnIds(tx, items, { rivals, claimed, now });
  return claimed;
}

/** Claims delivery ids, and returns the events that hold theirs or have none. */
async function claimDeliveries(tx: RowQuery, items: readonly Claimant[], now: number): Promise<Claimant[]> {
  const withDelivery = items.filter(({ delivery }) => delivery);
  const claimOf = ({ delivery }: Claimant) => delivery?.claim ?? "";
  const untilOf = ({ delivery }: Claimant) => delivery?.until ?? 0;
  const holders = await insertClaims(tx, withDelivery, { statement: takeExpired, claimOf, untilOf, now });
  return items.filter((item) => !item.delivery || holders.has(item));
}

/** Claims stages, and returns the events whose stage another event has claimed before. */
export async function findRepeatedStages(tx: RowQuery, items: readonly Claimant[]): Promise<Set<Claimant>> {
  const withStage = items.filter(({ stage, filterReasons }) => stage && filterReasons.length === 0);
  if (withStage.length === 0) return new Set();
  const holders = await insertClaims(tx, withStage, {
    statement: takeExpired,
    claimOf: ({ stage }) => stage?.claim ?? "",
    untilOf: ({ stage }) => stage?.until ?? 0,
    now: Math.max(...withStage.map(({ event }) => event.receivedAt)),
  });
  return new Set(withStage.filter((item) => !holders.has(item)));
}

const wantedOrderEventId = ({ orderEventId }: Claimant) => orderEventId ?? "";
const duplicateKeyOf = ({ claim }: Claimant) => claim;

/** An event whose order event id another email's event holds. */
type Rival = { item: Claimant; holder: Holder };

/**
 * Finds rivals, events whose order event id nobody holds any more, and those that hold theirs already, because the transaction runs
 * again: the first event that wants an order event id need not be the one that got it. All others are duplicates.
 */
async function compareWithHolders(
  tx: RowQuery,
  items: readonly Claimant[],
  now: number,
): Promise<{ rivals: Rival[]; unheld: Claimant[]; holding: Claimant[] }> {
  const holders = await readHolders(tx, items);
  const holding: Claimant[] = [];
  const rivals: Rival[] = [];
  const unheld: Claimant[] = [];
  for (const item of items) {
    const holderOf = (claim: string) => {
      const holder = holders.get(keyOf(item, claim));
      return holder && holder.expiresAt > now ? holder : null;
    };
    const own = holderOf(item.claim);
    if (own && own.eventId !== item.event.id) continue;
    const holder = holderOf(wantedOrderEventId(item));
    if (holder?.eventId === item.event.id) holding.push(item);
    else if (!holder && !own) unheld.push(item);
    else if (!holder) rivals.push({ item, holder: own as Holder });
    else if (holder.personRef !== item.personRef) rivals.push({ item, holder });
  }
  return { rivals, unheld, holding };
}

/** Claims the duplicate keys of rivals. One that is not filtered takes the order event id from a holder that is. */
async function claimOwnIds(
  tx: RowQuery,
  items: readonly Claimant[],
  { rivals, claimed, now }: { rivals: readonly Rival[]; claimed: Map<Claimant, Claimed>; now: number },
): Promise<void> {
  const rivalItems = rivals.map(({ item }) => item);
  const holders = await insertClaims(tx, rivalItems, { statement: takeExpired, claimOf: duplicateKeyOf, now });
  const replaced = new Set<string>();
  for (const { item, holder } of rivals) {
    if (!holders.has(item)) continue;
    claimed.set(item, "own id");
    if (item.filterReasons.length || replaced.has(holder.eventId)) continue;
    if (!(await isFiltered(tx, items, item.event.siteId, holder.eventId))) continue;
    replaced.add(holder.eventId);
    claimed.set(item, "order event id");
    await handOver(tx, item, holder);
  }
}

/** `now` is the parameter of the statement that takes expired claims. */
type Insertion = {
  statement: RowStatement;
  claimOf: (item: Claimant) => string;
  untilOf?: (item: Claimant) => number;
  now?: number;
};

/** Inserts claims, and returns the events that hold theirs. Of equal claims in one call the first wins. */
async function insertClaims(
  tx: RowQuery,
  items: readonly Claimant[],
  { statement, claimOf, untilOf = ({ claimUntil }) => claimUntil, now }: Insertion,
): Promise<Set<Claimant>> {
  if (items.length === 0) return new Set();
  const first = new Map<string, Claimant>();
  for (const item of items) {
    const key = keyOf(item, claimOf(item));
    if (!first.has(key)) first.set(key, item);
  }
  // Sorted, so that two transactions that want the same claims cannot deadlock.
  const sorted = [...first].toSorted((one, other) => (one[0] < other[0] ? -1 : 1)).map(([, item]) => item);
  const rows = sorted.map((item) => claimRow(item, claimOf(item), untilOf(item)));
  const inserted = await tx.change(statement, rows, now === undefined ? [] : [now]);
  return new Set(sorted.filter((_item, i) => inserted[i]));
}

const keyOf = ({ event }: Claimant, claim: string) => `${event.siteId} ${claim}`;

const claimRow = ({ event, personRef }: Claimant, claim: string, until: number): Value[] => [
  event.siteId,
  claim,
  event.id,
  personRef,
  until,
];

async function readHolders(tx: RowQuery, items: readonly Claimant[]): Promise<Map<string, Holder>> {
  const holders = new Map<string, Holder>();
  for (const [siteId, ofSite] of Map.groupBy(items, ({ event }) => event.siteId)) {
    const claims = [...new Set(ofSite.flatMap((item) => [wantedOrderEventId(item), item.claim]))];
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
  return hasRows(tx.all(`SELECT id FROM events WHERE site_id = $1 AND id = $2 AND status = 'filtered'`, [siteId, eventId]));
}

/** The filtered event keeps its duplicate key. */
async function handOver(tx: RowQuery, item: Claimant, holder: Holder): Promise<void> {
  const { event, claimUntil, personRef } = item;
  const claim = wantedOrderEventId(item);
  await tx.all(
    `UPDATE dedup_claims SET event_id = $4, person_ref = $5, expires_at = $6
     WHERE site_id = $1 AND claim = $2 AND event_id = $3`,
    [event.siteId, claim, holder.eventId, event.id, personRef, claimUntil],
  );
  const kept = orderClaim(claim, event.mode, holder.personRef);
  const row = [event.siteId, kept, holder.eventId, holder.personRef, claimUntil];
  await tx.change(takeExpired, [row], [event.receivedAt]);
}

type ReleasedClaim = { siteId: string; eventId: string; claim: string; personRef?: number; until: number };

/** Claims an order event id, or a stage, for an event that is released. False when another event holds it. */
export async function claimReleased(
  tx: RowQuery,
  { siteId, eventId, claim, personRef = 0, until }: ReleasedClaim,
  now: number,
): Promise<boolean> {
  const [isTaken] = await tx.change(takeExpired, [[siteId, claim, eventId, personRef, until]], [now]);
  return isTaken ?? false;
}
