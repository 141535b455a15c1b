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
  const refunds = Map.groupBy(
    known.filter((one) => isRefund(one) && one.filterReasons.length === 0),
    ({ orderId }) => orderKey(orderId ?? ""),
  );
  const late = orders.flatMap(({ id, orderId }) => {
    const refund = refunds.get(orderKey(orderId ?? ""))?.findLast((one) => one.id < id);
    return refund ? [{ ...refund, lateId: id }] : [];
  });
  // Two refunds of one order lead to the same corrections.
  const given = new Map(live.filter(isRefund).map(({ id, orderId }) => [orderKey(orderId ?? ""), { id, orderId }]));
  const found: NewCorrection[] = [];
  for (const { id, orderId } of given.values()) {
    const all = await readOrder(context, orderId ?? "");
    found.push(...(await correctionsOf(context, all, valueLeft, { source: id, now })));
  }
  // What was there before stays as it is: its refund may have come in while the site's switch was off.
  for (const { id, orderId, lateId } of late.filter((one) => !given.has(orderKey(one.orderId ?? "")))) {
    const all = await readOrder(context, orderId ?? "");
    const some = all.filter((event) => event.id === lateId || isRefund(event));
    found.push(...(await correctionsOf(context, some, valueLeft, { source: id, now })));
  }
  return found;
}

/** Returns the corrections of an order to a value that the customer's own system shows. `value` is what is left, or right. */
export async function findOrderCorrections(
  context: Context,
  { orderId, value }: { orderId: string; value: number },
  now: number,
): Promise<NewCorrection[]> {
  const events = await readOrder(context, orderId);
  return correctionsOf(context, events, () => value, { source: orderListSource, now });
}

/** As `findOrderCorrections`, for the order of an event. An event without an order id is corrected alone. */
export async function findEventCorrections(
  context: Context,
  { eventId, value }: { eventId: string; value: number },
  now: number,
): Promise<NewCorrection[]> {
  const event = await context.store.events.get(context.site.id, eventId);
  if (!event || event === "damaged" || event.mode !== "live") return [];
  const events = event.orderId === null ? [event] : await readOrder(context, event.orderId);
  return correctionsOf(context, events, () => value, { source: orderListSource, now });
}

async function readOrder({ store, site }: Context, orderId: string): Promise<StoredEvent[]> {
  const events = await store.events.list(site.id, { orderId, mode: "live", limit: maxEventsOfOrder });
  return events.length < maxEventsOfOrder ? events : [];
}

/** What is left of a conversion's value, and what led to it: a refund event, or the customer's list. */
export type Left = { value: number; source: string };

/**
 * Returns what is left of conversions that are to be sent to a connection, where that is less than they were: a refunded order
 * never returns at full value. Refunds that the connection was given itself change nothing there.
 */
export async function findLeft(
  { store, site }: { store: Pick<Store, "corrections" | "orderCandidates">; site: Site },
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
  const others = conversions.filter(({ id }) => !left.has(id));
  const orderIds = others.flatMap(({ orderId }) => orderId ?? []);
  const found = await store.orderCandidates.byOrderIds(site.id, orderIds);
  const byOrder = Map.groupBy(found, ({ orderId }) => orderKey(orderId ?? ""));
  for (const { id, orderId, value, currency } of others) {
    const refunds = (orderId === null ? [] : (byOrder.get(orderKey(orderId)) ?? [])).filter(
      (one) =>
        isRefund(one) &&
        one.filterReasons.length === 0 &&
        !one.deliveries.some((delivery) => delivery.connectionId === connectionId && isGiven(delivery)),
    );
    const newest = refunds.at(-1);
    const rest = newest && valueLeft({ value, currency }, refunds);
    if (typeof rest === "number") left.set(id, { value: rest, source: newest?.id ?? "" });
  }
  return left;
}

const isCounted = ({ status, releasedAt }: StoredEvent) => status === "accepted" || releasedAt !== null;
export const isRefund = ({ name }: Pick<StoredEvent, "name">) => usualEventOf(name) === "refund";

/** Steps on the way to an order, such as begin_checkout, happened and stay counted. */
export const isOrder = ({ name }: Pick<StoredEvent, "name">) => {
  const usual = usualEventOf(name);
  return usual === null || usual === "purchase" || usual === "closed_won" || usual === "subscribe";
};

async function correctionsOf(
  { store, site }: Context,
  events: readonly StoredEvent[],
  leftOf: (conversion: StoredEvent, refunds: readonly StoredEvent[]) => number | null,
  { source, now }: { source: string; now: number },
): Promise<NewCorrection[]> {
  const refunds = events.filter((event) => isRefund(event) && isCounted(event));
  const conversions = events.filter((event) => isOrder(event) && isCounted(event) && !event.isErased);
  const deliveries = await store.deliveries.listByEvents(
    site.id,
    [...conversions, ...refunds].map(({ id }) => id),
  );
  const takenBy = new Set(refunds.flatMap(({ id }) => (deliveries.get(id) ?? []).filter(isGiven).map(connectionOf)));
  // What the list says is kept for a conversion that is not sent now: only this row says it to a later attempt.
  const isKept = (delivery: Delivery) =>
    mayHave(delivery) || (source === orderListSource && delivery.reason !== unselectedReason);
  return conversions.flatMap((conversion) =>
    (deliveries.get(conversion.id) ?? [])
      .filter((delivery) => isKept(delivery) && !takenBy.has(delivery.connectionId))
      .flatMap((delivery): NewCorrection[] => {
        const { connectionId, platform } = delivery;
        if (!site.connections.some(({ id }) => id === connectionId)) return [];
        const common = {
          siteId: site.id,
          eventId: conversion.id,
          connectionId,
          source,
          dueAt: now,
          updatedAt: now,
        };
        const left = leftOf(conversion, refunds);
        if (!mayHave(delivery)) return [{ ...common, value: left ?? 0, state: "nothing to correct", reason: notThere(platform) }];
        const cannot = left === null ? "the refund has another currency" : cannotCorrect(platform);
        return [
          cannot === null
            ? { ...common, value: left ?? 0, state: "waiting", reason: null }
            : { ...common, value: left ?? 0, state: "cannot be taken back", reason: cannot },
        ];
      }),
  );
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
