// The errors of Microsoft's two APIs.

import type { Answer, DocumentedError } from "../shared/standin.ts";
import { campaignError } from "./access.ts";

type Means = DocumentedError["means"];

const validation = (isWarning: boolean) => ({
  code: isWarning ? "ValidationWarning" : "ValidationError",
  message: "Some parameters did not pass validation.",
  details: [{ index: 0, propertyName: "data[0].userData.em", errorMessage: "'em' is not valid.", isWarning }],
});
const conversionsApi = (title: string, answer: Answer, means: Means): DocumentedError => ({
  title: `Conversions API ${title}`,
  answer,
  means,
});

/** Of one row, with HTTP 200. */
const row = (code: number, name: string, means: Means): DocumentedError => ({
  title: `offline ${code} ${name}`,
  answer: {
    status: 200,
    body: { PartialErrors: [{ Index: 0, Code: code, ErrorCode: name, Message: name, FieldPath: null }] },
  },
  means,
});
const whole = (status: number, code: number, name: string, means: Means): DocumentedError => ({
  title: `offline request ${code} ${name}`,
  answer: campaignError(status, code, name),
  means,
});

export const documentedErrors: readonly DocumentedError[] = [
  conversionsApi("400", { status: 400, body: { error: validation(false) } }, "reject"),
  conversionsApi("200 with an error", { status: 200, body: { eventsReceived: 0, error: validation(false) } }, "reject"),
  conversionsApi("200 with a warning", { status: 200, body: { eventsReceived: 1, error: validation(true) } }, "accept"),
  conversionsApi("401", { status: 401, body: { error: { code: "Unauthorized", message: "No access." } } }, "park"),
  conversionsApi("429", { status: 429, headers: { "retry-after": "1" }, body: "" }, "retry"),
  conversionsApi("500", { status: 500, body: "" }, "retry"),
  whole(401, 105, "InvalidCredentials", "park"),
  whole(403, 106, "UserIsNotAuthorized", "park"),
  whole(401, 109, "AuthenticationTokenExpired", "park"),
  whole(429, 117, "CallRateExceeded", "retry"),
  whole(500, 0, "InternalError", "retry"),
  row(5612, "OfflineConversionsApplyFailed", "retry"),
  row(5615, "OfflineConversionNotAcceptedForGoal", "retry"),
  // The relay accepts events up to five minutes ahead of its clock.
  row(5614, "OfflineConversionTimeInFuture", "retry"),
  row(5605, "OfflineConversionNameRequired", "wait"),
  row(5606, "OfflineConversionNameInvalid", "wait"),
  row(5613, "OfflineConversionNotEnabled", "wait"),
  ...[5603, 5604, 5607, 5608, 5609, 5610, 5611, 5616].map((code) => row(code, "Invalid", "reject")),
];
