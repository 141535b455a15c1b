// Decides which events belong to an order, and what differs between the two. Pure: the store and the clock are elsewhere.

import { toConfirmation } from "../delivery/confirmations/describe.ts";
import { clickIds, clicksOf } from "../identity/clickIds.ts";
import { currencyDigits } from "../kernel/currency.ts";
import type { MatchKind, RowClass } from "../kernel/reconciliation.ts";
import { foldName, usualEventOf } from "../platforms/shared/eventNames.ts";
import type { Candidate, CandidateDelivery } from "../store/reconciliation/candidates.ts";
import type { Order } from "../store/reconciliation/orders.ts";
import type { RowOutcome, Run, RunRow } from "../store/reconciliation/runs.ts";

/** True for `Order Completed` where the event is `purchase`; names that are no usual event match without regard to case. */
export function isEventOf(name: string, event: string): boolean {
  const folded = (text: string) => foldName(usualEventOf(text) ?? text);
  return folded(name) === folded(event);
}

export type Found = { foundBy: MatchKind; events: readonly Candidate[] };

/** The events of an order, in every spelling of its id. */
export function foundById({ orderId }: Order, events: readonly Candidate[]): Found | null {
  if (events.length === 0) return null;
  return { foundBy: events.some((event) => event.orderId === orderId) ? "exact" : "other spelling", events };
}

/** Two amounts are equal within half a minor unit, and the tolerance in percent. */
export function isSameValue(listed: number | null, received: number | null, currency: string, tolerance: number): boolean {
  // A list without values says nothing about them. An event without one lacks what the order has.
  if (listed === null) return true;
  if (received === null) return false;
  const unit = 10 ** -currencyDigits(currency);
  const allowed = Math.max(unit / 2, (Math.abs(listed) * tolerance) / 100);
  // Floating-point noise must not make 0.10 differ from 0.1.
  return Math.abs(listed - received) <= allowed + unit * 1e-6;
}

function classOf(order: Order, event: Candidate | null, accepted: number, tolerance: number): RowClass {
  const isVoid = order.status === "refunded" || order.status === "cancelled";
  if (!event) return order.status === "paid" ? "missing_here" : "not_due";
  if (isVoid) return "status_changed";
  if (accepted > 1) return "duplicate";
  if (order.value !== null && event.currency !== order.currency) return "currency_differs";
  return isSameValue(order.value, event.value, order.currency, tolerance) ? "matched" : "value_differs";
}

const platformOfClickId = new Map(clickIds.map(({ name, platform }) => [name, platform]));

/** Only live events are compared. */
function confirmationOf(delivery: CandidateDelivery): RowOutcome["confirmation"] {
  if (delivery.state !== "sent") return null;
  const shown = toConfirmation({ ...delivery, mode: "live" }, delivery.confirmation);
  return shown && { state: shown.state, reason: shown.reason };
}

function describeEvent(event: Candidate | null) {
  const clicked = new Set(event && clicksOf(event.clickIds, event.cookies).map((name) => platformOfClickId.get(name)));
  return {
    eventId: event?.id ?? null,
    eventValue: event?.value ?? null,
    eventCurrency: event?.currency ?? null,
    filtered: event?.filterReasons[0]?.code ?? null,
    outcomes: (event?.deliveries ?? []).map((delivery) => ({
      ...delivery,
      confirmation: confirmationOf(delivery),
      attributed: clicked.has(delivery.platform),
    })),
  };
}

/** Makes the row of an order. The first accepted event stands for it; a filtered one only where there is no other. */
export function rowOfOrder(run: Run, order: Order, found: Found | null): RunRow {
  const events = found?.events ?? [];
  const accepted = events.filter(({ filterReasons }) => filterReasons.length === 0);
  const event = accepted[0] ?? events[0] ?? null;
  return {
    siteId: run.siteId,
    runId: run.id,
    id: order.id,
    orderId: order.orderId,
    class: classOf(order, event, accepted.length, run.tolerance),
    foundBy: found && event ? found.foundBy : null,
    events: accepted.length,
    time: order.time,
    orderValue: order.value,
    orderCurrency: order.currency,
    orderStatus: order.status,
    ...describeEvent(event),
  };
}

/** Makes the row of an event that no order has. */
export function rowOfEvent(run: Run, event: Candidate): RunRow {
  return {
    siteId: run.siteId,
    runId: run.id,
    id: `!${event.id}`,
    orderId: null,
    class: "extra_here",
    foundBy: null,
    events: event.filterReasons.length ? 0 : 1,
    time: event.time,
    orderValue: null,
    orderCurrency: null,
    orderStatus: null,
    ...describeEvent(event),
  };
}
