// Finds the conversions that a refund or a cancellation leaves with less value, or none, or whose value was wrong. A conversion
// is corrected at every connection that was given it, unless the platform was given the refund itself.

import { orderListSource } from "../../kernel/correction.ts";
import { unselectedReason } from "../../kernel/event.ts";
import { orderKey } from "../../kernel/reconciliation.ts";
import { say } from "../../kernel/messages/message.ts";
import { platformOf } from "../../platforms/index.ts";
import { usualEventOf } from "../../platforms/shared/eventNames.ts";
import type { Site } from "../../sites/directory.ts";
import type { NewCorrection } from "../../store/corrections/corrections.ts";
import type { Delivery } from "../../store/deliveries/delivery.ts";
import type { StoredEvent } from "../../store/events/eventRow.ts";
import type { CandidateHead } from "../../store/reconciliation/candidates.ts";
import type { Store } from "../../store/store.ts";

/** Events of one order that are looked at. An order with more is a placeholder such as `test`. */
const maxEventsOfOrder = 50;

type Context = { store: Pick<Store, "deliveries" | "events">; site: Site };
type Money = Pick<StoredEvent, "value" | "currency">;

/**
 * Returns the corrections that follow from events of a site: refunds, and orders whose refund arrived before them, as it may where
 * two systems of a customer send them.
 */
export async function findCorrections(
  context: Context & { store: Pick<Store, "orderCandidates"> },
  events: readonly StoredEvent[],
  now: number,
): Promise<NewCorrection[]> {
  const live = events.filter((event) => event.mode === "live" && event.orderId !== null && isCounted(event));
  const orders = live.filter((event) => isOrder(event));
  const known = await context.store.orderCandidates.headsByOrderIds(
    context.site.id,
    orders.flatMap(({ orderId }) => orderId ?? []),
  );
  const refunded = new Set(known.filter(isCountedRefund).map(({ orderId }) => orderKey(orderId ?? "")));
  const found: NewCorrection[] = [];
  for (const [key, some] of Map.groupBy([...live.filter(isRefund), ...orders], ({ orderId }) => orderKey(orderId ?? ""))) {
    if (!refunded.has(key) && !some.some(isRefund)) continue;
    const isNew = new Set(some.map(({ id }) => id));
    const all = await readOrder(context, some[0]?.orderId ?? "");
    // What was there before stays as it is: its refund may have come in while the site's switch was off.
    const isReason = (refund: StoredEvent, { id }: StoredEvent) => isNew.has(refund.id) || (isNew.has(id) && refund.id < id);
    found.push(...(await correctionsOf(context, refundChanges(all, isReason), now)));
  }
  return found;
}

/** Returns the corrections of an order to a value that the customer's own system shows. `value` is what is left, or right. */
export async function findOrderCorrections(
  context: Context,
  { orderId, value }: { orderId: string; value: number },
  now: number,
): Promise<NewCorrection[]> {
  const all = await readOrder(context, orderId);
  return correctionsOf(context, listChanges(all, all, value), now);
}

/**
 * As `findOrderCorrections`, for the order of an event, without the conversions of other persons. An event without an order id is
 * corrected alone.
 */
export async function findEventCorrections(
  context: Context,
  { eventId, value }: { eventId: string; value: number },
  now: number,
): Promise<NewCorrection[]> {
  const event = await context.store.events.get(context.site.id, eventId);
  if (!event || event === "damaged" || event.mode !== "live") return [];
  const all = event.orderId === null ? [event] : await readOrder(context, event.orderId);
  const some = all.filter((one) => isSamePerson(one, event));
  return correctionsOf(context, listChanges(some, all, value), now);
}

/** The events of an order, the oldest first. */
async function readOrder({ store, site }: Pick<Context, "site"> & { store: Pick<Store, "events"> }, orderId: string) {
  const events = await store.events.list(site.id, { orderId, mode: "live", limit: maxEventsOfOrder });
  return events.length < maxEventsOfOrder ? events.toReversed() : [];
}

/** What is left of a conversion's value, and what led to it: a refund event, or the customer's list. */
export type Left = { value: number; source: string };

/**
 * Returns what is left of conversions that are to be sent to a connection, where that is less than they were: a refunded order
 * never returns at full value. Refunds that the connection was given itself change nothing there.
 */
export async function findLeft(
  { store, site }: { store: Pick<Store, "corrections" | "deliveries" | "events" | "orderCandidates">; site: Site },
  connectionId: string,
  events: readonly StoredEvent[],
): Promise<Map<string, Left>> {
  const left = new Map<string, Left>();
  const conversions = site.settings.corrections ? events.filter((event) => event.mode === "live" && isOrder(event)) : [];
  if (conversions.length === 0) return left;
  const rows = await store.corrections.listByEvents(
    site.id,
    conversions.map(({ id }) => id),
  );
  // No event says what the list said.
  for (const row of rows) if (row.connectionId === connectionId && row.source === orderListSource) left.set(row.eventId, row);
  const others = conversions.filter(({ id, orderId }) => orderId !== null && !left.has(id));
  const byOrder = Map.groupBy(others, ({ orderId }) => orderKey(orderId ?? ""));
  const known = await store.orderCandidates.headsByOrderIds(
    site.id,
    others.flatMap(({ orderId }) => orderId ?? []),
  );
  const refunded = new Map(known.filter(isCountedRefund).map(({ orderId }) => [orderKey(orderId ?? ""), orderId ?? ""]));
  for (const [key, orderId] of refunded) {
    const all = await readOrder({ store, site }, orderId);
    const deliveries = await store.deliveries.listByEvents(
      site.id,
      all.filter(isRefund).map(({ id }) => id),
    );
    const isTaken = ({ id }: StoredEvent) =>
      (deliveries.get(id) ?? []).some((delivery) => delivery.connectionId === connectionId && isGiven(delivery));
    for (const conversion of byOrder.get(key) ?? []) {
      const refunds = refundsOf(conversion, all).filter((refund) => !isTaken(refund));
      const newest = refunds.at(-1);
      const rest = newest && valueLeft(conversion, refunds);
      if (typeof rest === "number") left.set(conversion.id, { value: rest, source: newest?.id ?? "" });
    }
  }
  return left;
}

const isCounted = ({ status, releasedAt }: StoredEvent) => status === "accepted" || releasedAt !== null;
export const isRefund = ({ name }: Pick<StoredEvent, "name">) => usualEventOf(name) === "refund";
const isCountedRefund = (one: CandidateHead) => isRefund(one) && one.filterReasons.length === 0;

/** Steps on the way to an order, such as begin_checkout, happened and stay counted. */
export const isOrder = ({ name }: Pick<StoredEvent, "name">) => {
  const usual = usualEventOf(name);
  return usual === null || usual === "purchase" || usual === "closed_won" || usual === "subscribe";
};

type Owner = Pick<StoredEvent, "person" | "isErased">;

/** Null where the sender gave no email. An erased person is another one than each that is known. */
const personOf = ({ person, isErased }: Owner) => (isErased ? "" : (person.emailSha256 ?? null));

function isSamePerson(one: Owner, other: Owner): boolean {
  const [first, second] = [personOf(one), personOf(other)];
  return first === second || first === null || second === null;
}

/**
 * The refunds of a conversion, of all events of its order. Several persons with one order id are several sales, and each refund is
 * of its own person's. One person may give two emails: where all conversions are of one person, every refund is of them.
 */
function refundsOf(conversion: Owner, all: readonly StoredEvent[]): StoredEvent[] {
  const refunds = all.filter((event) => isRefund(event) && isCounted(event));
  const persons = new Set(all.filter((event) => isOrder(event) && isCounted(event)).flatMap((event) => personOf(event) ?? []));
  return persons.size <= 1 ? refunds : refunds.filter((refund) => isSamePerson(refund, conversion));
}

/** A conversion with its refunds, and what is left of it; null where that cannot be told. */
type Change = { conversion: StoredEvent; refunds: readonly StoredEvent[]; left: number | null; source: string };

/** The changes of the conversions of an order with a refund for which `isReason` holds. */
const refundChanges = (
  all: readonly StoredEvent[],
  isReason: (refund: StoredEvent, conversion: StoredEvent) => boolean,
): Change[] =>
  all.filter(isOrder).flatMap((conversion) => {
    const refunds = refundsOf(conversion, all);
    const reason = refunds.findLast((refund) => isReason(refund, conversion));
    return reason ? [{ conversion, refunds, left: valueLeft(conversion, refunds), source: reason.id }] : [];
  });

const listChanges = (conversions: readonly StoredEvent[], all: readonly StoredEvent[], value: number): Change[] =>
  conversions
    .filter(isOrder)
    .map((conversion) => ({ conversion, refunds: refundsOf(conversion, all), left: value, source: orderListSource }));

async function correctionsOf({ store, site }: Context, changes: readonly Change[], now: number): Promise<NewCorrection[]> {
  const counted = changes.filter(({ conversion }) => isCounted(conversion) && !conversion.isErased);
  const ids = new Set(counted.flatMap(({ conversion, refunds }) => [conversion.id, ...refunds.map(({ id }) => id)]));
  const deliveries = await store.deliveries.listByEvents(site.id, [...ids]);
  return counted.flatMap(({ conversion, refunds, left, source }) => {
    const takenBy = new Set(refunds.flatMap(({ id }) => (deliveries.get(id) ?? []).filter(isGiven).map(connectionOf)));
    // What the list says is kept for a conversion that is not sent now: only this row says it to a later attempt.
    const isKept = (delivery: Delivery) =>
      mayHave(delivery) || (source === orderListSource && delivery.reason !== unselectedReason);
    return (deliveries.get(conversion.id) ?? [])
      .filter((delivery) => isKept(delivery) && !takenBy.has(delivery.connectionId))
      .flatMap((delivery): NewCorrection[] => {
        const { connectionId, platform } = delivery;
        if (!site.connections.some(({ id }) => id === connectionId)) return [];
        const common = { siteId: site.id, eventId: conversion.id, connectionId, source, dueAt: now, updatedAt: now };
        const value = left ?? 0;
        if (!mayHave(delivery)) return [{ ...common, value, state: "nothing to correct", reason: notThere(platform) }];
        const cannot = left === null ? "the refund has another currency" : cannotCorrect(platform);
        return [{ ...common, value, state: cannot === null ? "waiting" : "cannot be taken back", reason: cannot }];
      });
  });
}

const connectionOf = ({ connectionId }: Delivery) => connectionId;
/** The platform has it, or will have it. */
const isGiven = ({ state }: Pick<Delivery, "state">) => state === "sent" || state === "queued" || state === "parked";

/** It may have been accepted before it was sent again and refused. */
const mayHave = (delivery: Delivery) => isGiven(delivery) || delivery.attempts > 0;

/** Null where the currencies differ. A refund without a value is one of the whole order. */
function valueLeft({ value, currency }: Money, refunds: readonly Money[]): number | null {
  if (value === null || refunds.some((one) => one.value === null)) return 0;
  if (refunds.some((one) => one.currency !== currency)) return null;
  const refunded = refunds.reduce((sum, one) => sum + Math.abs(one.value ?? 0), 0);
  // Amounts are rounded to what every currency can hold, so that 0.1 + 0.2 leaves nothing of 0.3.
  return Math.max(0, Math.round((value - refunded) * 1e4) / 1e4);
}

/** Says that a platform does not have a conversion. */
export const notThere = (platform: string) => say("platform_lacks_conversion", { platform: nameOf(platform) });

export const nameOf = (platform: string) => platformOf(platform)?.name ?? platform;

const cannotCorrect = (platform: string): string | null => (platformOf(platform)?.corrections ? null : cannotTakeBack(platform));

export const cannotTakeBack = (platform: string) => say("cannot_take_back", { platform: nameOf(platform) });
