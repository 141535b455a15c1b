// requestStatus:retrieve of the Data Manager API: what became of the events of a request, as counts by reason.

import { accessError, dataManagerScope, findAction, googleError, type Destination } from "./access.ts";
import type { Answer, Call, Context } from "../shared/standin.ts";

/** Every reason of the API, without its prefix, as its client libraries list them. Checked 2026-11-15. */
export const processingErrors = [
  "UNSPECIFIED",
  "INVALID_CUSTOM_VARIABLE",
  "CUSTOM_VARIABLE_NOT_ENABLED",
  "EVENT_TOO_OLD",
  "DENIED_CONSENT",
  "NO_CONSENT",
  "UNKNOWN_CONSENT",
  "DUPLICATE_GCLID",
  "DUPLICATE_TRANSACTION_ID",
  "INVALID_GBRAID",
  "INVALID_GCLID",
  "INVALID_MERCHANT_ID",
  "INVALID_WBRAID",
  "INTERNAL_ERROR",
  "DESTINATION_ACCOUNT_ENHANCED_CONVERSIONS_TERMS_NOT_SIGNED",
  "INVALID_EVENT",
  "INSUFFICIENT_MATCHED_TRANSACTIONS",
  "INSUFFICIENT_TRANSACTIONS",
  "INVALID_FORMAT",
  "DECRYPTION_ERROR",
  "DEK_DECRYPTION_ERROR",
  "INVALID_WIP",
  "INVALID_KEK",
  "WIP_AUTH_FAILED",
  "KEK_PERMISSION_DENIED",
  "AWS_AUTH_FAILED",
  "USER_IDENTIFIER_DECRYPTION_ERROR",
  "OPERATING_ACCOUNT_MISMATCH_FOR_AD_IDENTIFIER",
  "ONE_PER_CLICK_CONVERSION_ACTION_NOT_PERMITTED_WITH_BRAID",
  "TOO_RECENT_CLICK",
  "CLICK_NOT_FOUND",
  "INVALID_CLICK",
  "INVALID_OPERATING_ACCOUNT_FOR_CLICK",
  "CONVERSION_PRECEDES_CLICK",
  "INVALID_AD_IDENTIFIERS",
  "INVALID_MOBILE_ID_FORMAT",
  "EVENT_ID_DECODE_ERROR",
  "EXTERNAL_ATTRIBUTION_DATA_MISSING",
  "ORIGINAL_CONVERSIONS_NOT_FOUND",
  "MATCH_ID_NOT_FOUND",
  "USER_ID_NOT_FOUND",
  "USER_ID_NOT_FOUND_FOR_MATCH_ID",
  "USER_ID_NOT_FOUND_FOR_GCLID",
  "USER_ID_NOT_FOUND_FOR_DCLID",
  "USER_ID_NOT_FOUND_FOR_IMPRESSION_ID",
] as const;

/** One reason has another prefix than the others. */
const toReason = (error: string) =>
  error === "OPERATING_ACCOUNT_MISMATCH_FOR_AD_IDENTIFIER" ? `PROCESSING_ERROR_${error}` : `PROCESSING_ERROR_REASON_${error}`;

/**
 * A click id of this form makes the stand-in process its event with that result: an error of the list above, a new one, or
 * one of the words below. Tests need results that no rule here can produce.
 */
const scripted = /^STANDIN-([A-Z_]+)$/;
/** The request is never decided; its status is not known; the counts of errors are left out, as Google may do. */
const neverDecided = "PROCESSING";
const unknownStatus = "REQUEST_STATUS_UNKNOWN";
const withoutCounts = "WITHOUT_COUNTS";

/** The click id of an event that counts, of which Google leaves a part out. */
export const warningClick = "STANDIN-WARNING";
const warning = "PROCESSING_WARNING_REASON_CART_DATA_ITEM_MERCHANT_PRODUCT_ID_MISSING";

export type IngestedEvent = {
  transactionId: string;
  adIdentifiers?: Record<string, string>;
};

type Result = { destination: Destination; errors: (string | null)[]; warned: number };
type Ingested = { at: number; results: Result[] };

const processingMs = 30 * 60_000;
/** Google gives no number; its older API said six hours for the same reason. */
const recentClickMs = 6 * 60 * 60_000;
const maxKept = 10_000;

/** A map that keeps its newest entries. */
function kept<Value>(context: Context, name: string) {
  const map = context.remember(name, () => new Map<string, Value>());
  return {
    get: (key: string) => map.get(key),
    set(key: string, value: Value) {
      const [oldest] = map.keys();
      if (map.size >= maxKept && oldest !== undefined) map.delete(oldest);
      map.set(key, value);
    },
  };
}

/** Keeps the results of a request that was accepted, as Google decides them later. */
export function keepIngested(
  requestId: string,
  events: readonly IngestedEvent[],
  destinations: readonly Destination[],
  context: Context,
): void {
  const results = destinations.map((destination) => ({
    destination,
    errors: events.map((event) => process(event, destination, context)),
    warned: events.filter(({ adIdentifiers }) => adIdentifiers?.gclid === warningClick).length,
  }));
  kept<Ingested>(context, "ingestions").set(requestId, { at: context.now(), results });
}

/** Returns the error of an event at a destination, or null where it counts. */
function process(event: IngestedEvent, destination: Destination, context: Context): string | null {
  const { gclid, gbraid, wbraid, dclid } = event.adIdentifiers ?? {};
  const clickId = gclid ?? gbraid ?? wbraid ?? dclid ?? "";
  const [, wanted = null] = clickId === warningClick ? [] : (scripted.exec(clickId) ?? []);
  const counted = kept<true>(context, "counted transactions");
  const transaction = `${destination.productDestinationId}/${event.transactionId}`;
  const { action } = findAction(destination);
  const isBraid = gbraid !== undefined || wbraid !== undefined;
  const clicks = kept<number>(context, "clicks");
  const firstSeenAt = clicks.get(clickId) ?? context.now();
  if (clickId) clicks.set(clickId, firstSeenAt);
  const error =
    isBraid && action?.countingType === "ONE_PER_CLICK"
      ? "ONE_PER_CLICK_CONVERSION_ACTION_NOT_PERMITTED_WITH_BRAID"
      : wanted === "TOO_RECENT_CLICK" && context.now() - firstSeenAt >= recentClickMs
        ? null
        : wanted;
  if (error !== null) return error;
  if (counted.get(transaction)) return "DUPLICATE_TRANSACTION_ID";
  counted.set(transaction, true);
  return null;
}

/** Answers with counts per destination, never with an index in the batch, and not finally in the first half hour. */
export function retrieveStatus(call: Call, context: Context, spendQuota: () => Answer | null): Answer {
  const fault = accessError(call, context, dataManagerScope) ?? spendQuota();
  if (fault) return fault;
  if (call.text !== "" || [...call.query.keys()].join() !== "requestId")
    return googleError(400, "INVALID_ARGUMENT", "The request takes a requestId and no body.");
  const ingested = kept<Ingested>(context, "ingestions").get(call.query.get("requestId") ?? "");
  if (!ingested)
    return googleError(400, "INVALID_ARGUMENT", "There was a problem with the request.", {
      requestId: `t-${context.nextId()}`,
      violations: [{ field: "request_id", description: "The request id is not valid.", reason: "INVALID_REQUEST_ID" }],
    });
  const isProcessing = context.now() - ingested.at < processingMs;
  const statuses = ingested.results.map((result) => describe(result, isProcessing));
  return { status: 200, body: { requestStatusPerDestination: statuses } };
}

function describe({ destination, errors, warned }: Result, isProcessing: boolean): unknown {
  const total = { destination, eventsIngestionStatus: { recordCount: String(errors.length) } };
  if (isProcessing || errors.includes(neverDecided)) return { ...total, requestStatus: "PROCESSING" };
  if (errors.includes(unknownStatus)) return { destination, requestStatus: unknownStatus };
  const failed = errors.filter((error) => error !== null);
  const requestStatus = failed.length === 0 ? "SUCCESS" : failed.length < errors.length ? "PARTIAL_SUCCESS" : "FAILED";
  const counts = Map.groupBy(failed, (error) => error);
  counts.delete(withoutCounts);
  const errorCounts = [...counts].map(([error, some]) => ({
    recordCount: String(some.length),
    reason: toReason(error),
  }));
  return {
    ...total,
    requestStatus,
    ...(failed.length ? { errorInfo: { errorCounts } } : {}),
    warningInfo: { warningCounts: warned ? [{ recordCount: String(warned), reason: warning }] : [] },
  };
}
