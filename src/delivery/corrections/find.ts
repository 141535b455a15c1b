// Finds the conversions that a refund or a cancellation leaves with less value, or none, or whose value was wrong. A conversion
// is corrected at every connection that was given it, unless the platform was given the refund itself.

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

/** Returns the corrections that follow from refund events of an order, of which the newest one is `source`. */
export async function findCorrections(context: Context, source: StoredEvent, now: number): Promise<NewCorrection[]> {
  const { orderId, id } = source;
  if (orderId === null || source.mode !== "live" || !isCounted(source)) return [];
  const events = await readOrder(context, orderId);
  return correctionsOf(context, events, valueLeft, { source: id, now });
}

/** Returns the corrections of an order to a value that the customer's own system shows. `value` is what is left, or right. */
export async function findOrderCorrections(
  context: Context,
  { orderId, value }: { orderId: string; value: number },
  now: number,
): Promise<NewCorrection[]> {
  const events = await readOrder(context, orderId);
  return correctionsOf(context, events, () => value, { source: "order list", now });
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
  return correctionsOf(context, events, () => value, { source: "order list", now });
}

async function readOrder({ store, site }: Context, orderId: string): Promise<StoredEvent[]> {
  const events = await store.events.list(site.id, { orderId, mode: "live", limit: maxEventsOfOrder });
  return events.length < maxEventsOfOrder ? events : [];
}

const isCounted = ({ status, releasedAt }: StoredEvent) => status === "accepted" || releasedAt !== null;
export const isRefund = ({ name }: Pick<StoredEvent, "name">) => usualEventOf(name) === "refund";

/** Steps on the way to an order, such as begin_checkout, happened and stay counted. */
const isOrder = ({ name }: StoredEvent) => {
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
  return conversions.flatMap((conversion) =>
    (deliveries.get(conversion.id) ?? [])
      .filter((delivery) => isGiven(delivery) && !takenBy.has(delivery.connectionId))
      .flatMap(({ connectionId, platform }): NewCorrection[] => {
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
const isGiven = ({ state }: Delivery) => state === "sent" || state === "queued" || state === "parked";

/** Null where the currencies differ. A refund without a value is one of the whole order. */
function valueLeft({ value, currency }: StoredEvent, refunds: readonly StoredEvent[]): number | null {
  if (value === null || refunds.some((one) => one.value === null)) return 0;
  if (refunds.some((one) => one.currency !== currency)) return null;
  const refunded = refunds.reduce((sum, one) => sum + Math.abs(one.value ?? 0), 0);
  // Amounts are rounded to what every currency can hold, so that 0.1 + 0.2 leaves nothing of 0.3.
  return Math.max(0, Math.round((value - refunded) * 1e4) / 1e4);
}

function cannotCorrect(platform: string): string | null {
  const known = platformOf(platform);
  return known?.corrections ? null : `${known?.name ?? platform} cannot take conversions back`;
}
