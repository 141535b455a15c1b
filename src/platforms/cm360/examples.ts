// Example requests and responses of Campaign Manager 360, which serve as tests and as documentation.

import {
  clickedAt,
  exampleBuilder,
  response,
  second,
  twice,
  unreadableSuccess,
  type Example,
  type ResponseExample,
} from "../example.ts";
import { accepted, rejected, retryLater, unauthorized } from "../shared/response.ts";
import { sampleConversion } from "../shared/sample.ts";

const settings = {
  floodlight_configuration: "8765432",
  access_token: "EXAMPLE-TOKEN",
  activity: "4400001",
};

const clicked = { clickIds: { dclid: { value: "CLjExample_dclid-1", seenAt: clickedAt } } };
const granted = { adUserData: "CONSENT_GRANTED", adPersonalization: "CONSENT_GRANTED" };

const purchase = {
  eventTimestamp: "2026-11-14T09:30:00.000Z",
  transactionId: "A-1001",
  eventSource: "WEB",
  conversionValue: 49.9,
  currency: "EUR",
  adIdentifiers: { dclid: "CLjExample_dclid-1" },
  consent: granted,
};

type Parts = { activities?: string[]; validateOnly?: boolean };

const request = (events: unknown[], { activities = ["4400001"], validateOnly = false }: Parts = {}): Example["request"] => ({
  method: "POST",
  url: "https://datamanager.googleapis.com/v1/events:ingest",
  headers: { "content-type": "application/json", authorization: "Bearer EXAMPLE-TOKEN" },
  body: {
    destinations: activities.map((productDestinationId) => ({
      operatingAccount: { accountType: "FLOODLIGHT_CONFIG", accountId: "8765432" },
      productDestinationId,
    })),
    events,
    validateOnly,
  },
});
const example = exampleBuilder(settings, request);

export const examples: readonly Example[] = [
  example("A purchase after a click on a display ad", sampleConversion(clicked), purchase),
  example("A purchase after a click on a search ad", sampleConversion(), {
    ...purchase,
    adIdentifiers: { gclid: "EAIaIQobChMI-Example_1" },
  }),
  example(
    "A phone call without a value, with its own two activities",
    sampleConversion({ ...clicked, name: "Lead", value: null, orderId: null, consent: "unknown" }),
    {
      ...purchase,
      transactionId: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
      eventSource: "PHONE",
      conversionValue: undefined,
      currency: undefined,
      consent: undefined,
    },
    { "event.lead": "4400002,4400003", event_source: "PHONE" },
    { activities: ["4400002", "4400003"] },
  ),
  example("A test event is only validated", sampleConversion({ ...clicked, mode: "test" }), purchase, {}, { validateOnly: true }),
  example(
    "Two conversions in one request; an order id of digits only is sent as given",
    [sampleConversion(clicked), sampleConversion({ ...clicked, ...second, orderId: "1002", value: 5 })],
    [purchase, { ...purchase, transactionId: "1002", conversionValue: 5 }],
  ),
];

const failure = (code: number, status: string, message: string, details: readonly object[] = []) => ({
  error: { code, status, message, details },
});
const violation = (field: string, description: string, reason: string) => ({
  "@type": "type.googleapis.com/google.rpc.BadRequest",
  fieldViolations: [{ field, description, reason }],
});
const problem = "There was a problem with the request.";
const resent = retryLater("HTTP 400: rejected because of another event in the same request", 1);

export const responses: readonly ResponseExample[] = [
  response("Accepted", 200, '{"requestId":"126365e1-16d0-4c81-9de9-f362711e250a"}', twice(accepted)),
  unreadableSuccess(""),
  response(
    "One event is invalid: the others were not accepted either and are resent",
    400,
    failure(400, "INVALID_ARGUMENT", problem, [
      violation("events[1].event_timestamp", "The time is not valid.", "EVENT_TIME_INVALID"),
    ]),
    [resent, rejected("HTTP 400: The time is not valid. EVENT_TIME_INVALID")],
  ),
  response(
    "An unknown activity: its events wait until the setting is corrected",
    400,
    failure(400, "INVALID_ARGUMENT", problem, [
      violation("destinations[0].product_destination_id", "The id is not valid.", "INVALID_ARGUMENT"),
    ]),
    twice(retryLater("HTTP 400: The id is not valid. INVALID_ARGUMENT; waits until activity is corrected", 3600)),
  ),
  response(
    "The user profile may not insert offline conversions: the connection waits",
    403,
    failure(403, "PERMISSION_DENIED", "The caller does not have permission"),
    unauthorized("HTTP 403: The caller does not have permission"),
  ),
  response(
    "The login account is another one: the connection waits",
    400,
    failure(400, "INVALID_ARGUMENT", problem, [
      violation("destinations[0]", "The accounts differ.", "OPERATING_ACCOUNT_LOGIN_ACCOUNT_MISMATCH"),
    ]),
    unauthorized("HTTP 400: The accounts differ. OPERATING_ACCOUNT_LOGIN_ACCOUNT_MISMATCH"),
  ),
  response(
    "The quota of the Cloud project is used up",
    429,
    failure(429, "RESOURCE_EXHAUSTED", "Quota exceeded", [
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "36.5s" },
    ]),
    retryLater("HTTP 429: Quota exceeded", 37),
  ),
];

export { confirmations } from "./confirmationExamples.ts";
