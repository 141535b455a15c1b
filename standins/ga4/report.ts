// runReport of the Google Analytics Data API, as far as it finds purchases by their transaction ids.

import { accessError, googleError } from "../google_ads/access.ts";
import { isObject, readJson } from "../shared/checks.ts";
import type { Answer, Call, Context } from "../shared/standin.ts";

export const readScope = "https://www.googleapis.com/auth/analytics.readonly";

/** Reports are complete after one to two days; here after one. */
const lagMs = 24 * 3_600_000;
const maxKept = 20_000;
/** A transaction id of this form never has a row of its own, as Google does with rare values. */
const hidden = /^STANDIN-HIDDEN/;

const purchases = (context: Context) => context.remember("purchases", () => new Map<string, number[]>());

export function keepPurchase(transactionId: string | null, context: Context): void {
  const kept = purchases(context);
  if (transactionId === null || kept.size >= maxKept) return;
  kept.set(transactionId, [...(kept.get(transactionId) ?? []), context.now()]);
}

export function runReport(call: Call, context: Context, propertyId: string): Answer {
  const fault = accessError(call, context, readScope);
  if (fault) return fault;
  if (call.params.property !== propertyId)
    return googleError(403, "PERMISSION_DENIED", "User does not have sufficient permissions for this property.");
  const read = readJson(call);
  const body = "value" in read && isObject(read.value) ? read.value : {};
  const values = idsOf(body);
  const [range] = Array.isArray(body.dateRanges) ? (body.dateRanges as unknown[]) : [];
  const isDay = (value: unknown) => typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value);
  const isRange = isObject(range) && isDay(range.startDate) && isDay(range.endDate);
  if (!values || !isRange || namesOf(body.dimensions) !== "transactionId" || namesOf(body.metrics) !== "ecommercePurchases")
    return googleError(400, "INVALID_ARGUMENT", "The report is not one that this stand-in knows.");
  const rows = values.flatMap((id) => {
    const ended = (purchases(context).get(id) ?? []).filter((at) => at <= context.now() - lagMs);
    return ended.length && !hidden.test(id)
      ? [{ dimensionValues: [{ value: id }], metricValues: [{ value: String(ended.length) }] }]
      : [];
  });
  return {
    status: 200,
    body: {
      dimensionHeaders: [{ name: "transactionId" }],
      metricHeaders: [{ name: "ecommercePurchases", type: "TYPE_INTEGER" }],
      ...(rows.length ? { rows } : {}),
      rowCount: rows.length,
      metadata: { currencyCode: "EUR", timeZone: "Europe/Berlin" },
      kind: "analyticsData#runReport",
    },
  };
}

const namesOf = (list: unknown) =>
  Array.isArray(list) ? list.map((one: unknown) => (isObject(one) ? String(one.name) : "")).join() : "";

/** The ids of the filter; null where the filter is not `transactionId` in a list. */
function idsOf({ dimensionFilter }: Record<string, unknown>): string[] | null {
  const filter = isObject(dimensionFilter) && isObject(dimensionFilter.filter) ? dimensionFilter.filter : {};
  const list = isObject(filter.inListFilter) ? filter.inListFilter.values : null;
  return filter.fieldName === "transactionId" && Array.isArray(list) && list.length > 0 ? list.map(String) : null;
}
