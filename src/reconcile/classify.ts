// Decides which events belong to an order, and what differs between the two. Pure: the store and the clock are elsewhere.

import { toConfirmation } from "../delivery/confirmations/describe.ts";
import { clickIds } from "../identity/clickIds.ts";
import { currencyDigits } from "../kernel/currency.ts";
import { foldOrderId, type MatchKind, type RowClass } from "../kernel/reconciliation.ts";
import { foldName, usualEventOf } from "../platforms/shared/eventNames.ts";
import type { Candidate, CandidateDelivery } from "../store/reconciliation/candidates.ts";
import { orderIdOf, type Order } from "../store/reconciliation/orders.ts";
import type { RowOutcome, Run, RunRow } from "../store/reconciliation/runs.ts";

/** True for `Order Completed` where the event is `purchase`; names that are no usual event match without regard to case. */
export function isEventOf(name: string, event: string): boolean {
  const folded = (text: string) => foldName(usualEventOf(text) ?? text);
  return folded(name) === folded(event);
}

/**
 * The spellings under which an event may have an order id: as listed, without `#` or with it, in lower or in upper case. An
 * event in another mixed case is found when events are read.
 */
export function spellingsOf(orderId: string): string[] {
  const trimmed = orderId.trim();
  const bare = trimmed.replace(/^#+\s*/, "");
  const cases = [trimmed, bare, `#${bare}`].flatMap((one) => [one, one.toLowerCase(), one.toUpperCase()]);
  return [...new Set([orderId, ...cases])].filter((one) => one !== "" && one !== "#");
}

/** null where the ids are of different orders. */
export function compareOrderIds(listed: string, received: string): MatchKind | null {
  if (listed === received) return "exact";
  const folded = (text: string) => text.trim().toLowerCase();
  if (folded(listed) === folded(received)) return "folded";
  return foldOrderId(listed) === foldOrderId(received) ? "without #" : null;
}

const strength: readonly MatchKind[] = ["exact", "folded", "without #", "weak"];

export type Found = { foundBy: MatchKind; events: readonly Candidate[] };

/** Chooses the events of an order: an exact match outweighs all others, because ids may differ in case alone. */
export function chooseEvents(order: Order, candidates: readonly Candidate[]): Found | null {
  const orderId = orderIdOf(order);
  if (orderId === null) return null;
  const compared = candidates.map((event) => ({
    event,
    kind: event.orderId === null ? null : compareOrderIds(orderId, event.orderId),
  }));
  for (const foundBy of strength) {
    const events = compared.filter(({ kind }) => kind === foundBy).map(({ event }) => event);
    if (events.length) return { foundBy, events };
  }
  return null;
}

/** Two amounts are equal within half a minor unit, and the tolerance in percent. */
export function isSameValue(listed: number | null, received: number | null, currency: string, tolerance: number): boolean {
  // A list or an event without a value says nothing about it.
  if (listed === null || received === null) return listed === received;
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
  if (event.currency !== order.currency) return "currency_differs";
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
  return {
    eventId: event?.id ?? null,
    eventValue: event?.value ?? null,
    eventCurrency: event?.currency ?? null,
    filtered: event?.filterReasons[0]?.code ?? null,
    outcomes: (event?.deliveries ?? []).map((delivery) => ({
      ...delivery,
      confirmation: confirmationOf(delivery),
      attributed: event?.clickIds.some((name) => platformOfClickId.get(name) === delivery.platform) ?? false,
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
