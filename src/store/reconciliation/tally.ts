// Counts the rows of a reconciliation. The tally is written with the rows of each step, so it must stay small, and it must be
// exactly the sum of the rows: `addRow` and `removeRow` are the only ways to change it.

import type { ConfirmationReason } from "../../kernel/confirmation.ts";
import { unselectedReason, type DeliveryState } from "../../kernel/event.ts";
import type { MatchKind, RowClass, RowConfirmation } from "../../kernel/reconciliation.ts";
import type { RunRow } from "./runs.ts";

export type ConnectionTally = {
  platform: string;
  /** Counted orders with a delivery to this connection whose event has a click id of the platform. */
  attributed: number;
  /** By state, then by reason; "" where there is none. */
  states: Partial<Record<DeliveryState, Record<string, number>>>;
  /** By currency: what the orders are worth that it accepted, and that it was due to get. */
  values: Record<string, { accepted: number; due: number }>;
  /** Accepted orders by what the platform said later, then by reason; "" where there is none. */
  confirmations: Partial<Record<RowConfirmation, Partial<Record<ConfirmationReason | "", number>>>>;
};

export const newConnectionTally = (platform: string): ConnectionTally => ({
  platform,
  attributed: 0,
  states: {},
  values: {},
  confirmations: {},
});

export type Tally = {
  classes: Partial<Record<RowClass, number>>;
  foundBy: Partial<Record<MatchKind, number>>;
  /** Orders that count: all but those that are not due. */
  orders: number;
  /** Of these: those whose event was received, and of these the filtered ones, by reason. */
  received: number;
  filtered: Record<string, number>;
  /** Of those that were not filtered: with a click id of any platform that it was planned for. */
  attributed: number;
  connections: Record<string, ConnectionTally>;
  /** By currency: the sum over counted orders of the list's values, and of ours. */
  values: Record<string, { listed: number; received: number }>;
  /** By currency: what the orders are worth that were never received. */
  missed: Record<string, number>;
};

export const newTally = (): Tally => ({
  classes: {},
  foundBy: {},
  orders: 0,
  received: 0,
  filtered: {},
  attributed: 0,
  connections: {},
  values: {},
  missed: {},
});

/** Reasons of platforms may contain anything; further ones are counted together. */
const maxReasons = 50;
export const otherReasons = "other reasons";

function plus<Name extends string>(counts: Partial<Record<Name, number>>, name: Name, n: number): void {
  const sum = (counts[name] ?? 0) + n;
  if (sum === 0) delete counts[name];
  else counts[name] = sum;
}

/** An order counts unless it is not due: it was never paid, and never received. */
export const isCounted = ({ class: one }: Pick<RunRow, "class">) => one !== "extra_here" && one !== "not_due";

export function addRow(tally: Tally, row: RunRow): void {
  addClass(tally, row, 1);
  if (!isCounted(row)) return;
  addValues(tally, row, 1);
  tally.orders += 1;
  if (row.eventId === null) return addMissed(tally, row, 1);
  tally.received += 1;
  if (row.filtered !== null) return plus(tally.filtered, row.filtered, 1);
  if (row.outcomes.some(({ attributed }) => attributed)) tally.attributed += 1;
  for (const { connectionId, platform, state, reason, attributed, confirmation } of row.outcomes) {
    const connection = (tally.connections[connectionId] ??= newConnectionTally(platform));
    if (attributed) connection.attributed += 1;
    const reasons = (connection.states[state] ??= {});
    plus(reasons, boundReason(reasons, reason ?? ""), 1);
    if (state !== "skipped") addWorth(connection, row, state === "sent");
    if (state !== "sent") continue;
    plus((connection.confirmations[confirmation?.state ?? "none"] ??= {}), confirmation?.reason ?? "", 1);
  }
}

/** Takes back a row without an event: only such rows change within a run. */
export function removeRow(tally: Tally, row: RunRow & { eventId: null }): void {
  addClass(tally, row, -1);
  if (!isCounted(row)) return;
  addValues(tally, row, -1);
  addMissed(tally, row, -1);
  tally.orders -= 1;
}

function addClass(tally: Tally, row: RunRow, n: number): void {
  plus(tally.classes, row.class, n);
  if (row.foundBy !== null) plus(tally.foundBy, row.foundBy, n);
}

/** What an order is worth: by the list, else by its event. */
function worthOf({ orderValue, orderCurrency, eventValue, eventCurrency }: RunRow): { currency: string; value: number } | null {
  const [value, currency] = orderValue === null ? [eventValue, eventCurrency] : [orderValue, orderCurrency];
  return value === null || currency === null ? null : { currency, value };
}

function addMissed(tally: Tally, row: RunRow, n: 1 | -1): void {
  const worth = worthOf(row);
  if (worth) tally.missed[worth.currency] = addMoney(tally.missed[worth.currency] ?? 0, n * worth.value);
}

function addWorth(connection: ConnectionTally, row: RunRow, isAccepted: boolean): void {
  const worth = worthOf(row);
  if (!worth) return;
  const sum = (connection.values[worth.currency] ??= { accepted: 0, due: 0 });
  sum.due = addMoney(sum.due, worth.value);
  if (isAccepted) sum.accepted = addMoney(sum.accepted, worth.value);
}

/** Whole ten-thousandths, so that floating-point noise does not add up over a million orders. */
const addMoney = (sum: number, value: number) => Math.round((sum + value) * 10_000) / 10_000;

function addValues(tally: Tally, row: RunRow, n: number): void {
  const add = (currency: string | null, name: "listed" | "received", value: number | null) => {
    if (currency === null || value === null) return;
    const sum = (tally.values[currency] ??= { listed: 0, received: 0 });
    sum[name] = addMoney(sum[name], n * value);
  };
  add(row.orderCurrency, "listed", row.orderValue);
  if (row.filtered === null) add(row.eventCurrency, "received", row.eventValue);
}

/** The reason under which an outcome is counted may be "other reasons". */
function boundReason(reasons: Record<string, number>, reason: string): string {
  if (Object.hasOwn(reasons, reason)) return reason;
  // A platform chooses the text; this one is no name for a count.
  const isUsable = reason !== "__proto__" && Object.keys(reasons).length < maxReasons;
  return isUsable ? reason : otherReasons;
}

const sumStates = ({ states }: ConnectionTally, name: DeliveryState) =>
  Object.values(states[name] ?? {}).reduce((sum, count) => sum + count, 0);

/** True for a connection that did not take the event: it would not have got what was never received either. */
export function isLeftOut({ states }: ConnectionTally): boolean {
  const reasons = Object.entries(states).flatMap(([state, counts]) => Object.keys(counts).map((reason) => [state, reason]));
  return reasons.length > 0 && reasons.every(([state, reason]) => state === "skipped" && reason === unselectedReason);
}

/**
 * Orders that a connection should have: those that it accepted, that wait or failed, and those that were never received. What was
 * skipped, filtered, or received before the connection existed, cannot apply.
 */
export function deliverableOf({ orders, received }: Pick<Tally, "orders" | "received">, connection: ConnectionTally): number {
  const due = (["sent", "queued", "parked", "rejected", "expired"] as const).map((state) => sumStates(connection, state));
  return due.reduce((sum, count) => sum + count, isLeftOut(connection) ? 0 : orders - received);
}

/** Accepted ÷ deliverable; null where nothing was deliverable. */
export function acceptedShareOf(tally: Pick<Tally, "orders" | "received">, connection: ConnectionTally): number | null {
  const deliverable = deliverableOf(tally, connection);
  return deliverable === 0 ? null : sumStates(connection, "sent") / deliverable;
}
