// The vocabulary of reconciliation: the customer's list of orders, compared with our events. Only vocabulary is imported here:
// the dashboard's pages use this file too.

import { confirmationStates } from "./confirmation.ts";

/** `pending`: the order may still be paid. A partial refund is `paid`: its value says what is left. */
export const orderStatuses = ["paid", "pending", "refunded", "cancelled"] as const;
export type OrderStatus = (typeof orderStatuses)[number];

/**
 * Every row of a reconciliation has exactly one class. The first four are orders that reached us, and differ in the order of
 * this list: a refunded order is `status_changed`, whatever its value. `not_due`: an order that is not paid, and was never
 * received. `extra_here`: an event of which the list has no order.
 */
export const rowClasses = [
  "matched",
  "value_differs",
  "currency_differs",
  "duplicate",
  "status_changed",
  "missing_here",
  "not_due",
  "extra_here",
] as const;
export type RowClass = (typeof rowClasses)[number];

/** The classes whose conversions can be corrected: taken back, or restated with the value of the list. */
export const correctedClasses = ["status_changed", "value_differs"] as const satisfies RowClass[];
export type CorrectedClass = (typeof correctedClasses)[number];

/**
 * How an order was found. `other spelling`: the event writes its order id in another case, or with a `#`. `weak`: by the email's
 * hash, the day and the value, because no order id agrees.
 */
export const matchKinds = ["exact", "other spelling", "weak"] as const;
export type MatchKind = (typeof matchKinds)[number];

export const runStates = ["running", "done", "cancelled"] as const;
export type RunState = (typeof runStates)[number];

/** What became of an order at a connection. `waiting` and `failed` stand for two states of a delivery each. */
export const rowStates = ["sent", "skipped", "queued", "parked", "rejected", "expired", "waiting", "failed", "none"] as const;
export type RowState = (typeof rowStates)[number];

/** Filters rows whose state or confirmation has no reason. */
export const noReason = "(none)" as const;

/** What the platform said later of an accepted order; `none` where it cannot be asked about it. */
export const rowConfirmations = [...confirmationStates, "none"] as const;
export type RowConfirmation = (typeof rowConfirmations)[number];

/** `confirmed` is there only for platforms that can be asked. */
export const funnelSteps = ["orders", "received", "not filtered", "attributed", "due", "accepted", "confirmed"] as const;

/** The longest window of a reconciliation. */
export const maxReconciledDays = 400;
/** Late senders and late platforms need this long: the days after are left out by default. */
export const defaultSettleHours = 48;
export const defaultReconciledDays = 30;

/**
 * The form in which order ids are compared: `#A-1001`, `a-1001` and ` A-1001 ` are one order, because two senders of one shop may
 * spell it differently. What people and platforms see is the sender's own spelling. The tag computes ids from it too.
 */
export function orderKey(orderId: string): string {
  const key = orderId.trim().toLowerCase();
  // An id of # alone stays what it is.
  return key.replace(/^#+\s*/, "") || key;
}

export const defaultReconciledEvent = "purchase";
/** The largest share, in percent, by which values may differ and still be equal. */
export const maxTolerance = 50;
/** Runs that are kept for each site, and for how long: each has a row per order. */
export const maxRuns = 10;
export const keepRunsDays = 30;
/** The largest list in one request; longer ones are sent in parts. */
export const maxUploadMiB = 8;
