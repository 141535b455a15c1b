// Finds the conversions that a refund or a cancellation leaves with less value, or none. A conversion is corrected at every
// connection that was given it, unless the platform was given the refund itself.

import { platformOf } from "../../platforms/index.ts";
import { usualEventOf } from "../../platforms/shared/eventNames.ts";
import type { Site } from "../../sites/directory.ts";
import type { NewCorrection } from "../../store/corrections/corrections.ts";
import type { Delivery } from "../../store/deliveries/delivery.ts";
import type { StoredEvent } from "../../store/events/eventRow.ts";
import type { Store } from "../../store/store.ts";

/** Events of one order that are looked at. An order with more is a placeholder such as `test`. */
const maxEventsOfOrder = 50;

type Context = { store: Pick<Store, "events">; site: Site };

/** A refund of an order. `value` is null where all of it was refunded. */
type Refund = { id: string; value: number | null; currency: string };

/** Returns the corrections that follow from refund events of an order, of which the newest one is `source`. */
export async function findCorrections(
  context: Context,
  source: StoredEvent,
  now: number,
): Promise<NewCorrection[]> {
  const { orderId, id } = source;
  if (orderId === null || source.mode !== "live" || !isCounted(source)) return [];
  const events = await readOrder(context, orderId);
  const refunds = events
    .filter((event) => isRefund(event) && isCounted(event))
    .map((event) => ({ id: event.id, value: event.value, currency: event.currency }));
  return correctionsOf(context, events, refunds, { source: id, now });
}

/** Returns the corrections of an order that the customer's own list shows as refunded or cancelled. `value` is what is left. */
export async function findOrderCorrections(
  context: Context,
  { orderId, value }: { orderId: string; value: number },
  now: number,
): Promise<NewCorrection[]> {
  const events = await readOrder(context, orderId);
  const found = await correctionsOf(context, events, [], { source: "order list", now });
  return found.map((one) => ({ ...one, value }));
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
  refunds: readonly Refund[],
  { source, now }: { source: string; now: number },
): Promise<NewCorrection[]> {
  const conversions = events.filter(
    (event) => isOrder(event) && isCounted(event) && event.person.emailSha256,
  );
  const deliveries = await store.events.listDeliveries(
    site.id,
    [...conversions, ...refunds].map(({ id }) => id),
  );
  const takenBy = new Set(
    refunds.flatMap(({ id }) => (deliveries.get(id) ?? []).filter(isGiven).map(connectionOf)),
  );
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
        const left = valueLeft(conversion, refunds);
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
function valueLeft({ value, currency }: StoredEvent, refunds: readonly Refund[]): number | null {
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
