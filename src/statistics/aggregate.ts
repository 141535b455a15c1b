// Adds hourly figures up to the sums of a report. Currencies are never added together.

import type { ConfirmationReason, ConfirmationState } from "../kernel/confirmation.ts";
import { deliveryStates, visitBuckets, type DeliveryState, type VisitBucket } from "../kernel/event.ts";
import { usualEventOf } from "../platforms/shared/eventNames.ts";
import type { ConfirmationCount } from "../store/confirmations/confirmations.ts";
import type { InboundCount } from "../store/statistics/inboundCounts.ts";
import type { Figure } from "../store/statistics/statistics.ts";
import { suspicious, type VisitCount } from "../store/statistics/traffic.ts";
import { partsOfOne, type Model } from "./models.ts";

type Money = { currency: string; value: number };
/** By currency, with the number of conversions that have a value in it. */
type Values = Map<string, { value: number; conversions: number }>;

type Valued = { conversions: number; values: Values };

/** The sums of one step of a chart. */
export type Sum = {
  conversions: number;
  /** Without refunds, which are no income. */
  values: Values;
  refunds: Values;
  duplicates: number;
  filtered: number;
  /** The filtered events that were filtered as bots. */
  botEvents: number;
  /** The conversions with at least one click id. */
  withClickId: number;
  /** Deliveries that were not skipped, and those of them that a platform accepted. */
  due: number;
  sent: number;
  visits: Record<VisitBucket, number>;
  /** The visits of people with evidence against them. */
  suspicious: number;
};

/** The sums of the whole range only. */
export type Details = {
  test: number;
  identified: number;
  withheld: number;
  events: Map<string, Valued>;
  /** In parts of a conversion: see `partsOfOne`. */
  sources: Map<string, Valued>;
  campaigns: Map<string, Valued>;
  /** The conversions that a platform accepted. */
  delivered: Map<string, Valued>;
  platforms: Map<string, Partial<Record<DeliveryState, number>>>;
  clickIds: Map<string, number>;
  removed: Map<string, { visits: number; events: number }>;
  /** By platform. */
  confirmations: Map<string, ConfirmationCount[]>;
};

export const emptySum = (): Sum => ({
  conversions: 0,
  values: new Map(),
  refunds: new Map(),
  duplicates: 0,
  filtered: 0,
  botEvents: 0,
  withClickId: 0,
  due: 0,
  sent: 0,
  visits: Object.fromEntries(visitBuckets.map((bucket) => [bucket, 0])) as Record<VisitBucket, number>,
  suspicious: 0,
});

export const emptyDetails = (): Details => ({
  test: 0,
  identified: 0,
  withheld: 0,
  events: new Map(),
  sources: new Map(),
  campaigns: new Map(),
  delivered: new Map(),
  platforms: new Map(),
  clickIds: new Map(),
  removed: new Map(),
  confirmations: new Map(),
});

const plus = (sums: Map<string, number>, name: string, n: number) => sums.set(name, (sums.get(name) ?? 0) + n);

function getOrCreate<Value>(map: Map<string, Value>, name: string, create: () => Value): Value {
  const known = map.get(name);
  if (known) return known;
  const value = create();
  map.set(name, value);
  return value;
}

/** Senders have several names for a refund. */
export const isRefund = (name: string) => usualEventOf(name) === "refund";

/** The reason of a filtered event whose person has only bot visits. Webhooks count these as removed, too. */
export const botReason = "only bot visits";

/** Far above any amount of money, and far below Infinity, which JSON cannot represent. */
const maxSum = 1e300;
export const cappedSum = (one: number, other: number) => Math.min(maxSum, one + other);

function addValue(values: Values, { currency, value, count }: Figure): void {
  if (!currency) return;
  const sum = getOrCreate(values, currency, () => ({ value: 0, conversions: 0 }));
  sum.value = cappedSum(sum.value, value);
  sum.conversions += count;
}

export function addFigure(sum: Sum, figure: Figure): void {
  const { kind, name, count } = figure;
  if (kind === "conversion") {
    sum.conversions += count;
    addValue(isRefund(name) ? sum.refunds : sum.values, figure);
  } else if (kind === "filtered") {
    sum.filtered += count;
    if (name === botReason) sum.botEvents += count;
  } else if (kind === "with click id") sum.withClickId += count;
  else if (kind === "delivery") {
    const { state } = readDeliveryName(name);
    if (state !== "skipped") sum.due += count;
    if (state === "sent") sum.sent += count;
  }
}

/** The figures of deliveries are named by platform and state. */
function readDeliveryName(name: string): { platform: string; state: DeliveryState | undefined } {
  const at = name.lastIndexOf(" ");
  return { platform: name.slice(0, at), state: deliveryStates.find((one) => one === name.slice(at + 1)) };
}

function addValued(sums: Map<string, Valued>, figure: Figure): void {
  const sum = getOrCreate(sums, figure.name, () => ({ conversions: 0, values: new Map() }));
  sum.conversions += figure.count;
  addValue(sum.values, figure);
}

export function addVisits(sum: Sum, { bucket, reason, visits }: VisitCount): void {
  sum.visits[bucket] += visits;
  if (reason === suspicious) sum.suspicious += visits;
}

export function addInbound(sum: Sum, { kind, count }: InboundCount): void {
  if (kind === "duplicate") sum.duplicates += count;
}

/** Sources and campaigns are counted in parts of a conversion, and hold those of the last touch and what the model moves. */
export function addFigureDetails(details: Details, figure: Figure, model: Model = "last"): void {
  const { kind, name, count } = figure;
  if (kind === `${model} source`) return addValued(details.sources, figure);
  if (kind === `${model} campaign`) return addValued(details.campaigns, figure);
  switch (kind) {
    case "conversion":
      return addValued(details.events, figure);
    case "source":
      return addValued(details.sources, { ...figure, count: count * partsOfOne });
    case "campaign":
      return addValued(details.campaigns, { ...figure, count: count * partsOfOne });
    case "delivered":
      return addValued(details.delivered, figure);
    case "delivery": {
      const { platform, state } = readDeliveryName(name);
      const states: Partial<Record<DeliveryState, number>> = getOrCreate(details.platforms, platform, () => ({}));
      if (state) states[state] = (states[state] ?? 0) + count;
      return;
    }
    case "filtered":
      getOrCreate(details.removed, name, () => ({ visits: 0, events: 0 })).events += count;
      return;
    case "click id":
      plus(details.clickIds, name, count);
      return;
    case "identified":
      details.identified += count;
      return;
    case "withheld":
      details.withheld += count;
      return;
    case "test":
      details.test += count;
      return;
    // Counted in each step, or moved by another model.
    case "with click id":
    case "first source":
    case "first campaign":
    case "linear source":
    case "linear campaign":
  }
}

export function addVisitDetails(details: Details, { bucket, reason, visits }: VisitCount): void {
  if (bucket === "bots") getOrCreate(details.removed, reason, () => ({ visits: 0, events: 0 })).visits += visits;
}

export function addConfirmations(details: Details, count: ConfirmationCount): void {
  getOrCreate(details.confirmations, count.platform, () => []).push(count);
}

/** Sums the confirmations of a platform. Of `sent` conversions, all of which were asked for, the others are unknown. */
export function sumConfirmations(counts: readonly ConfirmationCount[], sent: number | null) {
  const sumOf = (state: ConfirmationState) =>
    counts.filter((one) => one.state === state).reduce((sum, { count }) => sum + count, 0);
  const reasons = new Map<string, { state: ConfirmationState; reason: ConfirmationReason; conversions: number }>();
  for (const { state, reason, count } of counts)
    if (reason) getOrCreate(reasons, `${state} ${reason}`, () => ({ state, reason, conversions: 0 })).conversions += count;
  const [confirmed, notCounted] = [sumOf("confirmed"), sumOf("not counted")];
  return {
    confirmed,
    notCounted,
    unknown: sent === null ? sumOf("unknown") : Math.max(0, sent - confirmed - notCounted),
    reasons: [...reasons.values()].toSorted((one, other) => other.conversions - one.conversions),
  };
}

/**
 * Sorts the currency of most conversions first: values of two currencies cannot be compared. Rounds away the noise of
 * floating-point sums.
 */
export const moneyOf = (values: Values): Money[] =>
  [...values]
    .toSorted(([, one], [, other]) => other.conversions - one.conversions)
    .map(([currency, { value }]) => ({ currency, value: Math.round(value * 10_000) / 10_000 }));
