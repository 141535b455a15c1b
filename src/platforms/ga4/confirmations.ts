// Confirmations of purchases: the Data API is asked for their transaction ids, a day later and more. A purchase that is in the
// report is confirmed. One that is not may be hidden by thresholds or gathered in the row "(other)", so it is unknown.

import { dayMs, hourMs } from "../../kernel/time.ts";
import type { Confirmation } from "../../kernel/confirmation.ts";
import type { ConfirmationQuestion, Confirmations, ConfirmationStep, PlatformResponse } from "../platform.ts";
import { eventNameOf } from "../shared/eventNames.ts";
import { at, listAt, textAt } from "../shared/json.ts";
import { parseBody, readStatus, unreadable } from "../shared/response.ts";
import { bearer } from "../shared/settings.ts";
import { isoTime } from "../shared/values.ts";
import { events, transactionOf } from "./request.ts";

/** Checked 2026-11-15. */
const dataApi = "https://analyticsdata.googleapis.com/v1beta";

/** Purchases are up to three days old when they are sent, and days are those of the property's time zone. */
const daysBefore = 4;

const confirmed: Confirmation = { state: "confirmed", reason: null, detail: null };

export const confirmations: Confirmations = {
  coversAll: false,
  // Reports are complete after 24 to 48 hours.
  askAfterMinutes: [25, 49, 73].map((hours) => hours * 60),
  // No reason is temporary.
  retryAfterMinutes: 24 * 60,
  perMinute: 10,
  subjectOf(conversion, settings) {
    const isAsked = settings.property_id && settings.access_token;
    // Google reports transactions of purchases only.
    const isPurchase = eventNameOf(conversion, settings, events) === "purchase";
    return isAsked && isPurchase ? isoTime(conversion.acceptedAt).slice(0, 13) : null;
  },
  keyOf: transactionOf,
  toRequest(subject, settings, keys) {
    const startedAt = Date.parse(`${subject}:00:00Z`);
    const values = [...new Set(keys.filter((key) => key !== null))];
    return {
      method: "POST",
      url: `${dataApi}/properties/${settings.property_id ?? ""}:runReport`,
      headers: { "content-type": "application/json", ...bearer(settings) },
      body: JSON.stringify({
        dateRanges: [{ startDate: dayOf(startedAt - daysBefore * dayMs), endDate: dayOf(startedAt + hourMs + dayMs) }],
        dimensions: [{ name: "transactionId" }],
        metrics: [{ name: "ecommercePurchases" }],
        dimensionFilter: {
          filter: { fieldName: "transactionId", inListFilter: { values, caseSensitive: true } },
        },
        limit: String(values.length),
      }),
    };
  },
  read,
};

const dayOf = (ms: number) => isoTime(ms).slice(0, 10);

function read(response: PlatformResponse, { keys }: ConfirmationQuestion, now: number): ConfirmationStep {
  const body = parseBody(response);
  const reading = readStatus(response, now, textAt(body, "error", "message"));
  if (reading.kind !== "accepted") return reading;
  if (typeof body !== "object" || body === null || Array.isArray(body)) return unreadable(response, now);
  const counted = new Set(
    listAt(body, "rows")
      .filter((row) => Number(textAt(row, "metricValues", 0, "value")) > 0)
      .map((row) => at(row, "dimensionValues", 0, "value")),
  );
  return {
    kind: "answered",
    confirmations: keys.map((key) => (key !== null && counted.has(key) ? confirmed : null)),
  };
}
