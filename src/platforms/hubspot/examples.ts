// Example requests and responses of HubSpot, which serve as tests and as documentation.

import {
  bareConversion,
  exampleBuilder,
  response,
  sampleBrowser,
  second,
  tooManyRequests,
  twice,
  unreadableSuccess,
  type Example,
  type ResponseExample,
} from "../example.ts";
import type { Conversion } from "../../kernel/event.ts";
import { accepted, rejected, retryLater, unauthorized } from "../shared/response.ts";
import { fullPerson, sampleConversion } from "../shared/sample.ts";

const settings = { hub_id: "1234567", access_token: "pat-EXAMPLE-TOKEN", default_event: "pe1234567_conversion" };
const browserIds = { hubspotutk: "0123456789abcdef0123456789abcdef" };

function request(inputs: unknown[]): Example["request"] {
  return {
    method: "POST",
    url: "https://api.hubapi.com/events/2026-03/send/batch",
    headers: { "content-type": "application/json", authorization: "Bearer pat-EXAMPLE-TOKEN" },
    body: { inputs },
  };
}

const event = {
  eventName: "pe1234567_conversion",
  occurredAt: "2026-11-14T09:30:00.000Z",
  uuid: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
};
const visited = { ...event, utk: browserIds.hubspotutk };
const visit = {
  hs_utm_source: "newsletter",
  hs_utm_campaign: "autumn",
  hs_page_url: sampleBrowser.page,
  hs_referrer: sampleBrowser.referrer,
  hs_user_agent: sampleBrowser.userAgent,
};
const properties = { value_property: "value", currency_property: "currency", order_property: "order_id" };
const order = { value: "49.90", currency: "EUR", order_id: "A-1001" };

/** A lead of which only HubSpot's cookie is known. */
const known = (changes: Partial<Conversion> = {}) => bareConversion({ browserIds, ...changes });
const example = exampleBuilder(settings, request);

export const examples: Example[] = [
  example(
    "A purchase of a visitor with HubSpot's cookie, and properties for value, currency and order id",
    sampleConversion({ browserIds }),
    { ...visited, properties: { ...visit, ...order } },
    properties,
  ),
  example("The minimum: a lead with HubSpot's cookie", known(), visited),
  example(
    "A contact by its id in HubSpot, and mapped fields",
    bareConversion({ extra: { contact: 608051 } }),
    { ...event, objectId: "608051", properties: { hs_touchpoint_source: "SALES" } },
    { "map.objectId": "extra.contact", "map.properties.hs_touchpoint_source": "const:SALES" },
  ),
  example(
    "A contact by the hashed email, in a property that is the event's custom matching ID",
    bareConversion(),
    { ...event, properties: { email_sha256: fullPerson.emailSha256 } },
    { email_sha256_property: "email_sha256" },
  ),
  example(
    "An event of its own for deals, defined without HubSpot's properties",
    sampleConversion({ name: "closed_won", browserIds }),
    { ...visited, eventName: "pe1234567_deal_won", properties: { value: "49.90" } },
    { "event.closedwon": "pe1234567_deal_won", default_properties: "no", value_property: "value" },
  ),
  example("Two conversions in one request", [known(), known(second)], [visited, { ...visited, uuid: second.platformEventId }]),
];

const failure = (message: string, category: string, errors?: { message: string }[]) => ({
  status: "error",
  message,
  correlationId: "4f1c9f5e-0000-4000-8000-000000000001",
  category,
  ...(errors && { errors }),
});

export const responses: readonly ResponseExample[] = [
  response("Accepted", 204, "", twice(accepted)),
  unreadableSuccess('{"status":'),
  response(
    "One invalid event fails the whole request",
    400,
    failure("Invalid input", "VALIDATION_ERROR", [{ message: "Property values are limited to 256 characters" }]),
    twice(rejected("HTTP 400: Invalid input; Property values are limited to 256 characters")),
  ),
  response(
    "The custom event does not exist",
    404,
    failure("No event definition with the name pe1234567_conversion", "OBJECT_NOT_FOUND"),
    twice(
      retryLater(
        "HTTP 404: No event definition with the name pe1234567_conversion; waits until default_event is corrected",
        3600,
      ),
    ),
  ),
  response(
    "The token is not valid",
    401,
    failure("Authentication credentials not found", "INVALID_AUTHENTICATION"),
    unauthorized("HTTP 401: Authentication credentials not found"),
  ),
  response(
    "The app lacks the scope",
    403,
    failure("This app hasn't been granted all required scopes", "MISSING_SCOPES"),
    unauthorized("HTTP 403: This app hasn't been granted all required scopes"),
  ),
  tooManyRequests(
    10,
    JSON.stringify(failure("You have reached your ten_secondly_rolling limit.", "RATE_LIMITS")),
    "You have reached your ten_secondly_rolling limit.",
  ),
  response("HubSpot is down", 502, "<html><body>Bad Gateway</body></html>", retryLater("HTTP 502")),
];
