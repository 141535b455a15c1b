// Confirmations of the Data Manager API: requestStatus:retrieve. Google answers for each destination of a request with counts
// by reason, and never says which event has which.

import type { ConfirmationReason, ConfirmationState } from "../../../kernel/confirmation.ts";
import type { ConfirmationQuestion, Confirmations, ConfirmationStep, PlatformResponse } from "../../platform.ts";
import {
  answered,
  combineCounts,
  describeCounts,
  readCount,
  undecidable,
  type Decided,
  type ReasonCount,
} from "../confirmations.ts";
import { dataManager } from "./request.ts";
import { at, listAt, parseJson, textAt } from "../json.ts";
import { parseBody, readStatus, shorten, unreadable } from "../response.ts";
import { bearer } from "../settings.ts";

const minutesOfHours = (hours: number) => hours * 60;

/** `destination` is the platform's word for where a conversion goes. */
export const dataManagerConfirmations = (destination: string): Confirmations => ({
  coversAll: true,
  // Google asks to wait half an hour, and names no maximum. Conversions that are undecided after two days stay so.
  askAfterMinutes: [30, ...[1, 2, 4, 8, 24, 48].map(minutesOfHours)],
  // Google gives no number for a click that is too new; the Google Ads API says six hours for the same reason.
  retryAfterMinutes: minutesOfHours(6),
  // Google allows 100,000 calls a day to a Cloud project, probably these included: at most 28,800 of them are spent here.
  perMinute: 20,
  subjectOf: ({ answer }) => textAt(parseJson(answer), "requestId") || null,
  toRequest: (subject, settings) => ({
    method: "GET",
    url: `${dataManager}/requestStatus:retrieve?requestId=${encodeURIComponent(subject)}`,
    headers: bearer(settings),
    body: "",
  }),
  read: (response, question, now) => read(destination, response, question, now),
});

function read(
  destination: string,
  response: PlatformResponse,
  { conversions }: ConfirmationQuestion,
  now: number,
): ConfirmationStep {
  const body = parseBody(response);
  const reading = readStatus(response, now, textAt(body, "error", "message"));
  if (reading.kind !== "accepted") return reading;
  const destinations = listAt(body, "requestStatusPerDestination");
  if (destinations.length === 0) return unreadable(response, now);
  const found = destinations.map((one) => readDestination(one, conversions));
  // A conversion goes to every destination, so the answer is final when the last of them has decided.
  if (found.some((one) => one === null)) return answered(null, conversions);
  const decided = found.filter((one) => one !== null);
  const worst = order.flatMap((state) => decided.filter(({ common }) => common.state === state))[0] ?? null;
  if (!worst || decided.length === 1) return answered(worst, conversions);
  const place = textAt(destinations[decided.indexOf(worst)], "destination", "productDestinationId");
  const { detail } = worst.common;
  const named = detail === null ? null : `${destination} ${place}: ${detail}`;
  return answered({ ...worst, common: { ...worst.common, detail: named } }, conversions);
}

/** A conversion that does not count at one of its destinations is reported as such, so that it is looked into. */
const order: readonly ConfirmationState[] = ["not counted", "unknown", "confirmed"];

/** Returns null while Google processes the request. */
function readDestination(one: unknown, conversions: number): Decided | null {
  const status = textAt(one, "requestStatus");
  // The guide says FAILURE in its text, and the API FAILED.
  const isFailed = status === "FAILED" || status === "FAILURE";
  if (!isFailed && status !== "SUCCESS" && status !== "PARTIAL_SUCCESS") return null;
  const errors = listAt(one, "errorInfo", "errorCounts").map(toReasonCount);
  const failed = errors.reduce((sum, { count }) => sum + count, 0);
  const total = readCount(at(one, "eventsIngestionStatus", "recordCount")) ?? conversions;
  const counted = total - failed;
  const isOdd =
    total < conversions ||
    counted < 0 ||
    errors.some(({ count }) => count === 0) ||
    // Google may leave out counts. What they do not cover is then neither counted nor lost.
    (counted > 0 && (isFailed || (status === "PARTIAL_SUCCESS" && failed === 0)));
  if (!isOdd) return withWarnings(combineCounts(errors, { counted, total, conversions }), one, total);
  const found = total < conversions ? `for ${total} of ${conversions}` : "without counts";
  return undecidable(describeCounts(errors, total) || `${status} ${found}`);
}

/** A conversion that counts may have a part that Google left out, such as its items. */
function withWarnings(decided: Decided, one: unknown, total: number): Decided {
  const warnings = listAt(one, "warningInfo", "warningCounts").map(toReasonCount);
  if (warnings.length === 0 || decided.common.detail !== null) return decided;
  return { ...decided, common: { ...decided.common, detail: shorten(`warnings: ${describeCounts(warnings, total)}`) } };
}

function toReasonCount(one: unknown): ReasonCount {
  // One reason comes without REASON in its name.
  const code = textAt(one, "reason").replace(/^PROCESSING_(?:ERROR|WARNING)_(?:REASON_)?/, "");
  return {
    code: shorten(code),
    reason: reasons.get(code) ?? "other",
    count: readCount(at(one, "recordCount")) ?? 0,
  };
}

/** Google's reasons, without their prefix. Checked 2026-11-15. One that is not here reads as `other`. */
const codes: readonly (readonly [reason: ConfirmationReason, codes: readonly string[]])[] = [
  ["duplicate", ["DUPLICATE_TRANSACTION_ID", "DUPLICATE_GCLID"]],
  ["click too new", ["TOO_RECENT_CLICK"]],
  // Google takes conversions of a new action only after some hours.
  ["platform error", ["INTERNAL_ERROR", "DESTINATION_TOO_RECENTLY_CREATED"]],
  [
    "no ad click",
    ["CLICK_NOT_FOUND", "INVALID_CLICK", "INVALID_OPERATING_ACCOUNT_FOR_CLICK", "OPERATING_ACCOUNT_MISMATCH_FOR_AD_IDENTIFIER"],
  ],
  ["consent", ["DENIED_CONSENT", "NO_CONSENT", "UNKNOWN_CONSENT"]],
  ["too old", ["EVENT_TOO_OLD"]],
  [
    "bad id",
    [
      "INVALID_GCLID",
      "INVALID_GBRAID",
      "INVALID_WBRAID",
      "INVALID_AD_IDENTIFIERS",
      "INVALID_MOBILE_ID_FORMAT",
      "EVENT_ID_DECODE_ERROR",
      "ONE_PER_CLICK_CONVERSION_ACTION_NOT_PERMITTED_WITH_BRAID",
      "MATCH_ID_NOT_FOUND",
      "USER_ID_NOT_FOUND",
      "USER_ID_NOT_FOUND_FOR_MATCH_ID",
      "USER_ID_NOT_FOUND_FOR_GCLID",
      "USER_ID_NOT_FOUND_FOR_DCLID",
      "USER_ID_NOT_FOUND_FOR_IMPRESSION_ID",
    ],
  ],
  ["bad data", ["INVALID_EVENT", "INVALID_FORMAT", "ORIGINAL_CONVERSIONS_NOT_FOUND", "CONVERSION_PRECEDES_CLICK"]],
  [
    "settings",
    [
      "DESTINATION_ACCOUNT_ENHANCED_CONVERSIONS_TERMS_NOT_SIGNED",
      "EXTERNAL_ATTRIBUTION_DATA_MISSING",
      "INVALID_CUSTOM_VARIABLE",
      "CUSTOM_VARIABLE_NOT_ENABLED",
      "INVALID_MERCHANT_ID",
      "INSUFFICIENT_TRANSACTIONS",
      "INSUFFICIENT_MATCHED_TRANSACTIONS",
      "DECRYPTION_ERROR",
      "DEK_DECRYPTION_ERROR",
      "INVALID_WIP",
      "INVALID_KEK",
      "WIP_AUTH_FAILED",
      "KEK_PERMISSION_DENIED",
      "AWS_AUTH_FAILED",
      "USER_IDENTIFIER_DECRYPTION_ERROR",
    ],
  ],
];
const reasons = new Map(codes.flatMap(([reason, some]) => some.map((code) => [code, reason] as const)));
