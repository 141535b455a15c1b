// Example responses of requestStatus:retrieve, which serve as tests and as documentation.

import type { Confirmation, CountedAs } from "../../kernel/confirmation.ts";
import type { ConfirmationExample, ConfirmationExamples } from "../example.ts";
import { rejected, retryLater, unauthorized } from "../shared/response.ts";

const request: ConfirmationExamples["request"] = {
  conversion: { name: "purchase", acceptedAt: 0, answer: '{"requestId":"t-EXAMPLE/1"}' },
  subject: "t-EXAMPLE/1",
  settings: { customer_id: "123-456-7890", access_token: "EXAMPLE-TOKEN", conversion_action: "7700000001" },
  request: {
    method: "GET",
    url: "https://datamanager.googleapis.com/v1/requestStatus:retrieve?requestId=t-EXAMPLE%2F1",
    headers: { authorization: "Bearer EXAMPLE-TOKEN" },
    body: "",
  },
};

type Status = {
  action?: string;
  status: string;
  total?: number | null;
  errors?: readonly (readonly [reason: string, count: number | string])[];
};

const destinationOf = ({ action = "7700000001", status, total = null, errors = [] }: Status) => ({
  destination: {
    operatingAccount: { accountType: "GOOGLE_ADS", accountId: "1234567890" },
    productDestinationId: action,
  },
  requestStatus: status,
  ...(total === null ? {} : { eventsIngestionStatus: { recordCount: String(total) } }),
  ...(errors.length
    ? {
        errorInfo: {
          errorCounts: errors.map(([reason, count]) => ({
            recordCount: String(count),
            reason: reason.startsWith("PROCESSING_") ? reason : `PROCESSING_ERROR_REASON_${reason}`,
          })),
        },
      }
    : {}),
});

/** All conversions of a request read alike. */
function example(
  title: string,
  statuses: readonly Status[],
  conversions: number,
  one: Confirmation | null,
  tally?: CountedAs[],
): ConfirmationExample {
  return {
    title,
    conversions,
    status: 200,
    body: JSON.stringify({ requestStatusPerDestination: statuses.map(destinationOf) }),
    reading: {
      kind: "answered",
      confirmations: Array.from({ length: conversions }, () => one),
      ...(tally ? { tally } : {}),
    },
  };
}

const confirmed: Confirmation = { state: "confirmed", reason: null, detail: null };
const unknown = (detail: string): Confirmation => ({ state: "unknown", reason: "other", detail });

const warned = {
  ...destinationOf({ status: "SUCCESS", total: 2 }),
  warningInfo: {
    warningCounts: [{ recordCount: "1", reason: "PROCESSING_WARNING_REASON_CART_DATA_ITEM_MERCHANT_PRODUCT_ID_MISSING" }],
  },
};

const responses: ConfirmationExamples["responses"] = [
  example("every conversion counts", [{ status: "SUCCESS", total: 2 }], 2, confirmed),
  {
    ...example("every conversion counts, and Google left a part out", [], 2, {
      ...confirmed,
      detail: "warnings: 1 of 2: CART_DATA_ITEM_MERCHANT_PRODUCT_ID_MISSING",
    }),
    body: JSON.stringify({ requestStatusPerDestination: [warned] }),
  },
  example("Google processes the request", [{ status: "PROCESSING", total: 2 }], 2, null),
  example("the status is unknown to Google", [{ status: "REQUEST_STATUS_UNKNOWN" }], 1, null),
  example("a status that this version does not know", [{ status: "SOMETHING_NEW", total: 1 }], 1, null),
  example("no conversion has a click", [{ status: "FAILED", total: 2, errors: [["CLICK_NOT_FOUND", 2]] }], 2, {
    state: "not counted",
    reason: "no ad click",
    detail: "2 of 2: CLICK_NOT_FOUND",
  }),
  example(
    "a reason without REASON in its name, and the status as the guide writes it",
    [
      {
        status: "FAILURE",
        total: 1,
        errors: [["PROCESSING_ERROR_OPERATING_ACCOUNT_MISMATCH_FOR_AD_IDENTIFIER", 1]],
      },
    ],
    1,
    {
      state: "not counted",
      reason: "no ad click",
      detail: "1 of 1: OPERATING_ACCOUNT_MISMATCH_FOR_AD_IDENTIFIER",
    },
  ),
  example(
    "the click is too new: the conversion is sent again",
    [{ status: "FAILED", total: 1, errors: [["TOO_RECENT_CLICK", 1]] }],
    1,
    {
      state: "not counted",
      reason: "click too new",
      detail: "1 of 1: TOO_RECENT_CLICK",
      isTemporary: true,
    },
  ),
  example("Google had every conversion already", [{ status: "FAILED", total: 2, errors: [["DUPLICATE_TRANSACTION_ID", 2]] }], 2, {
    state: "confirmed",
    reason: "duplicate",
    detail: "2 of 2: DUPLICATE_TRANSACTION_ID",
  }),
  example(
    "Google had some conversions already and counts the others",
    [{ status: "PARTIAL_SUCCESS", total: 3, errors: [["DUPLICATE_GCLID", 1]] }],
    3,
    { state: "confirmed", reason: "duplicate", detail: "1 of 3: DUPLICATE_GCLID" },
  ),
  example(
    "some conversions count, and Google does not say which",
    [{ status: "PARTIAL_SUCCESS", total: 3, errors: [["CLICK_NOT_FOUND", 1]] }],
    3,
    { state: "unknown", reason: "several reasons", detail: "1 of 3: CLICK_NOT_FOUND" },
    [
      { state: "not counted", reason: "no ad click" },
      { state: "confirmed", reason: null },
      { state: "confirmed", reason: null },
    ],
  ),
  example(
    "Google counted more conversions than are asked for, so its counts are not ours",
    [{ status: "PARTIAL_SUCCESS", total: 3, errors: [["CLICK_NOT_FOUND", 1]] }],
    2,
    { state: "unknown", reason: "several reasons", detail: "1 of 3: CLICK_NOT_FOUND" },
  ),
  example(
    "no conversion counts, for two reasons, one of them temporary",
    [
      {
        status: "FAILED",
        total: 3,
        errors: [
          ["DENIED_CONSENT", 1],
          ["INTERNAL_ERROR", 2],
        ],
      },
    ],
    3,
    {
      state: "not counted",
      reason: "several reasons",
      detail: "1 of 3: DENIED_CONSENT, 2 of 3: INTERNAL_ERROR",
      isTemporary: true,
    },
    [
      { state: "not counted", reason: "consent" },
      { state: "not counted", reason: "platform error" },
      { state: "not counted", reason: "platform error" },
    ],
  ),
  example(
    "a reason that this version does not know",
    [{ status: "FAILED", total: 1, errors: [["SOMETHING_NEW", 1]] }],
    1,
    unknown("1 of 1: SOMETHING_NEW"),
  ),
  example("failed without counts", [{ status: "FAILED", total: 1 }], 1, unknown("FAILED without counts")),
  example(
    "partly counted without counts",
    [{ status: "PARTIAL_SUCCESS", total: 2 }],
    2,
    unknown("PARTIAL_SUCCESS without counts"),
  ),
  example(
    "more errors than records",
    [{ status: "FAILED", total: 1, errors: [["NO_CONSENT", 5]] }],
    1,
    unknown("5 of 1: NO_CONSENT"),
  ),
  example("fewer records than conversions", [{ status: "SUCCESS", total: 1 }], 2, unknown("SUCCESS for 1 of 2")),
  example(
    "a count that is none",
    [{ status: "FAILED", total: 1, errors: [["NO_CONSENT", "many"]] }],
    1,
    unknown("0 of 1: NO_CONSENT"),
  ),
  example(
    "two conversion actions, and the conversion counts in one of them",
    [
      { status: "SUCCESS", total: 1 },
      { action: "7700000002", status: "FAILED", total: 1, errors: [["EVENT_TOO_OLD", 1]] },
    ],
    1,
    {
      state: "not counted",
      reason: "too old",
      detail: "conversion action 7700000002: 1 of 1: EVENT_TOO_OLD",
    },
  ),
  example(
    "two conversion actions, and Google has decided on one of them",
    [
      { status: "SUCCESS", total: 1 },
      { action: "7700000002", status: "PROCESSING", total: 1 },
    ],
    1,
    null,
  ),
  {
    title: "the request id is not known, or no longer",
    conversions: 1,
    status: 400,
    body: JSON.stringify({
      error: { code: 400, status: "INVALID_ARGUMENT", message: "The request id is not valid." },
    }),
    reading: rejected("HTTP 400: The request id is not valid."),
  },
  {
    title: "the token is not valid",
    conversions: 1,
    status: 401,
    body: JSON.stringify({ error: { code: 401, message: "Request had invalid credentials." } }),
    reading: unauthorized("HTTP 401: Request had invalid credentials."),
  },
  {
    title: "the quota is spent",
    conversions: 1,
    status: 429,
    headers: { "retry-after": "30" },
    body: JSON.stringify({ error: { code: 429, message: "Quota exceeded." } }),
    reading: retryLater("HTTP 429: Quota exceeded.", 30),
  },
  {
    title: "a success with another body",
    conversions: 1,
    status: 200,
    body: "<html>",
    reading: retryLater("HTTP 200: the answer could not be read"),
  },
];

export const confirmations: ConfirmationExamples = { request, responses };
