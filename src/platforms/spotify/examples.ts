// Example requests and responses of Spotify, which serve as tests and as documentation.

import {
  bareConversion,
  exampleBuilder,
  response,
  sampleBrowser,
  second,
  standardExamples,
  tooManyRequests,
  twice,
  unreadableSuccess,
  type Example,
  type ResponseExample,
} from "../example.ts";
import { accepted, rejected, retryLater, unauthorized } from "../shared/response.ts";
import { fullPerson, sampleConversion } from "../shared/sample.ts";
import { events } from "./request.ts";

const settings = { connection_id: "9eb0bb5f-0000-4000-8000-0123456789ab", access_token: "EXAMPLE-TOKEN" };

const request = (sent: unknown[]): Example["request"] => ({
  method: "POST",
  url: "https://capi.spotify.com/capi-direct/events/",
  headers: { "content-type": "application/json", authorization: "Bearer EXAMPLE-TOKEN" },
  body: { conversion_events: { capi_connection_id: settings.connection_id, events: sent } },
});

const event = {
  event_id: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
  event_time: "2026-11-14T09:30:00.000Z",
  action_source: "WEB",
  opt_out_targeting: false,
};
const hashed_emails = [fullPerson.emailSha256];
const bare = { ...event, user_data: { hashed_emails } };
const visited = { ...event, event_source_url: sampleBrowser.page };
const money = { currency: "EUR", amount: 49.9 };
const example = exampleBuilder(settings, request);

export const examples: Example[] = [
  example(
    "A purchase with everything known",
    sampleConversion({ person: fullPerson, browserIds: { __spdt: "sp7d2c9f10example" } }),
    {
      event_name: "PURCHASE",
      ...visited,
      user_data: {
        ip_address: sampleBrowser.address,
        device_id: "sp7d2c9f10example",
        hashed_emails,
        hashed_phone_number: fullPerson.phoneSha256,
      },
      event_details: money,
    },
  ),
  example("The minimum: a lead with a hashed email", bareConversion(), { event_name: "LEAD", ...bare }),
  example("An event without a Spotify name", bareConversion({ name: "Quiz Done" }), {
    event_name: "CUSTOM_EVENT_1",
    ...bare,
  }),
  example(
    "A chosen custom event of a shop, the order id as event id, and a mapped field",
    bareConversion({ name: "Demo Booked", orderId: "A-1001", value: 1500, currency: "JPY" }),
    {
      event_name: "CUSTOM_EVENT_3",
      ...bare,
      event_id: "A-1001",
      action_source: "OFFLINE",
      event_details: { currency: "JPY", amount: 1500, content_name: "Demo" },
    },
    {
      dedup_id: "order",
      action_source: "OFFLINE",
      "event.demobooked": "CUSTOM_EVENT_3",
      "map.event_details.content_name": "const:Demo",
    },
  ),
  example(
    "Limited data use, and the phone number without its plus sign",
    bareConversion({ person: fullPerson }),
    {
      event_name: "LEAD",
      ...event,
      opt_out_targeting: true,
      user_data: { hashed_emails, hashed_phone_number: fullPerson.phoneDigitsSha256 },
    },
    { limited_data: "always", phone_form: "digits" },
  ),
  example(
    "Two in one request",
    [bareConversion(), bareConversion({ ...second, name: "signup" })],
    [
      { event_name: "LEAD", ...bare },
      { event_name: "SIGN_UP", ...bare, event_id: second.platformEventId },
    ],
  ),
  ...standardExamples(events.standard, settings, (name) =>
    request([{ event_name: name, ...bare, event_details: { currency: "EUR", amount: 20 } }]),
  ),
];

export const responses: readonly ResponseExample[] = [
  response("Accepted", 200, '{"message":"SUCCESS"}', twice(accepted)),
  unreadableSuccess('{"message":"PARTIAL"}'),
  response(
    "The request is not valid, which fails all of it",
    400,
    '{"message":"content_category is not a valid taxonomy value"}',
    twice(rejected("HTTP 400: content_category is not a valid taxonomy value")),
  ),
  response(
    "The token is rejected",
    401,
    '{"error":{"status":401,"message":"Invalid access token"}}',
    unauthorized("HTTP 401: Invalid access token"),
  ),
  response("The connection belongs to another business", 403, '{"message":"Forbidden"}', unauthorized("HTTP 403: Forbidden")),
  tooManyRequests(10),
  response(
    "Spotify is down",
    503,
    '{"message":"Service unavailable","sp_trace_id":"a1b2c3"}',
    retryLater("HTTP 503: Service unavailable, sp_trace_id a1b2c3"),
  ),
];
