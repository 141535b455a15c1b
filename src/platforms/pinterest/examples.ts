// Example requests and responses of Pinterest, which serve as tests and as documentation.

import type { Example, ResponseExample } from "../platform.ts";
import {
  bareConversion,
  clickedAt,
  fullPerson,
  sampleBrowser,
  sampleConversion,
  sampleSeconds,
  standardExamples,
} from "../shared/sample.ts";
import { events } from "./request.ts";

const settings = { ad_account_id: "549755885175", access_token: "EXAMPLE-TOKEN" };

function request(data: unknown[], query = ""): Example["request"] {
  return {
    method: "POST",
    url: `https://api.pinterest.com/v5/ad_accounts/549755885175/events${query}`,
    headers: { "content-type": "application/json", authorization: "Bearer EXAMPLE-TOKEN" },
    body: { data },
  };
}

const event = {
  action_source: "web",
  event_time: sampleSeconds,
  event_id: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
  opt_out: false,
};
const bare = { ...event, user_data: { em: [fullPerson.emailSha256] } };
const visited = { ...event, event_source_url: sampleBrowser.page };
const visitor = { client_ip_address: sampleBrowser.address, client_user_agent: sampleBrowser.userAgent };
const money = { value: "49.90", currency: "EUR", order_id: "A-1001" };

export const examples: Example[] = [
  {
    title: "A purchase after a click on an ad, with everything known",
    settings,
    conversions: [
      sampleConversion({
        person: fullPerson,
        clickIds: { epik: { value: "dj0yJnU9Example_Click-1", seenAt: clickedAt } },
      }),
    ],
    request: request([
      {
        event_name: "checkout",
        ...visited,
        user_data: {
          em: [fullPerson.emailSha256],
          ph: [fullPerson.phoneDigitsSha256],
          fn: [fullPerson.firstNameSha256],
          ln: [fullPerson.lastNameSha256],
          ...visitor,
          click_id: "dj0yJnU9Example_Click-1",
        },
        custom_data: money,
      },
    ]),
  },
  {
    title: "The minimum: a lead with a hashed email",
    settings,
    conversions: [bareConversion()],
    request: request([{ event_name: "lead", ...bare }]),
  },
  {
    title: "A purchase without a click id",
    settings,
    conversions: [sampleConversion({ clickIds: {}, browserIds: {} })],
    request: request([
      {
        event_name: "checkout",
        ...visited,
        user_data: { em: [fullPerson.emailSha256], ...visitor },
        custom_data: money,
      },
    ]),
  },
  {
    title: "A test event is only validated",
    settings,
    conversions: [bareConversion({ mode: "test" })],
    request: request([{ event_name: "lead", ...bare }], "?test=true"),
  },
  {
    title: "A chosen event name, and mapped fields: ids and locations are hashed",
    settings: {
      ...settings,
      "event.demobooked": "schedule",
      "map.custom_data.content_ids": "extra.sku",
      "map.custom_data.num_items": "extra.count",
      "map.user_data.external_id": "extra.customer",
      "map.user_data.ct": "extra.city",
    },
    conversions: [
      bareConversion({
        name: "Demo_Booked",
        extra: { sku: "A7,B9", count: 2, customer: "c-4711", city: "Berlin" },
      }),
    ],
    request: request([
      {
        event_name: "schedule",
        ...bare,
        user_data: {
          em: [fullPerson.emailSha256],
          external_id: ["df7c3928d872173e00a919133e633b39f908409530cb82bce23ec773a99dcf58"],
          ct: ["fb38a93fd89e1a5fc7852a5d7109e321d23a721a1899292273ac5a21dc4db378"],
        },
        custom_data: { content_ids: ["A7", "B9"], num_items: 2 },
      },
    ]),
  },
  {
    title: "Limited data processing for every event",
    settings: { ...settings, limited_data: "always" },
    conversions: [bareConversion()],
    request: request([{ event_name: "lead", ...bare, custom_data: { opt_out_type: "LDP" } }]),
  },
  {
    title: "Two events in one request; one without a Pinterest name is sent as custom",
    settings,
    conversions: [bareConversion(), bareConversion({ name: "Quiz Done", platformEventId: "second" })],
    request: request([
      { event_name: "lead", ...bare },
      { event_name: "custom", ...bare, event_id: "second" },
    ]),
  },
  ...standardExamples(events.standard, settings, (name) =>
    request([{ event_name: name, ...bare, custom_data: { value: "20.00", currency: "EUR" } }]),
  ),
];

const processed = { status: "processed", error_message: "", warning_message: "" };

export const responses: readonly ResponseExample[] = [
  {
    title: "Accepted",
    conversions: 2,
    status: 200,
    body: JSON.stringify({
      num_events_received: 2,
      num_events_processed: 2,
      events: [processed, { ...processed, warning_message: "The event is older than one hour." }],
    }),
    readings: [{ outcome: "accepted" }, { outcome: "accepted" }],
  },
  {
    title: "Only the second of three events failed",
    conversions: 3,
    status: 422,
    body: JSON.stringify({
      num_events_received: 3,
      num_events_processed: 2,
      events: [processed, { status: "failed", error_message: "event_time is not valid" }, processed],
    }),
    readings: [
      { outcome: "accepted" },
      { outcome: "rejected", error: "event_time is not valid" },
      { outcome: "accepted" },
    ],
  },
  {
    title: "The request does not match the schema, which fails all of it",
    conversions: 2,
    status: 400,
    body: '{"code":4196,"message":"Invalid conversion events request."}',
    readings: [0, 1].map(() => ({
      outcome: "rejected",
      error: "HTTP 400: code 4196 Invalid conversion events request.",
    })),
  },
  {
    title: "The token is wrong or has expired",
    conversions: 1,
    status: 401,
    body: '{"code":2,"message":"Authentication failed."}',
    readings: [{ outcome: "unauthorized", error: "HTTP 401: code 2 Authentication failed." }],
  },
  {
    title: "The token may not write to this ad account",
    conversions: 1,
    status: 403,
    body: '{"code":29,"message":"You are not permitted to access that resource."}',
    readings: [
      { outcome: "unauthorized", error: "HTTP 403: code 29 You are not permitted to access that resource." },
    ],
  },
  {
    title: "Too many requests",
    conversions: 1,
    status: 429,
    headers: { "retry-after": "20" },
    body: '{"code":8,"message":"This request exceeded a rate limit."}',
    readings: [
      {
        outcome: "retry",
        error: "HTTP 429: code 8 This request exceeded a rate limit.",
        retryAfterSeconds: 20,
      },
    ],
  },
  {
    title: "Pinterest has throttled the service",
    conversions: 1,
    status: 503,
    body: '{"code":4197,"message":"The service is being ramped down."}',
    readings: [{ outcome: "retry", error: "HTTP 503: code 4197 The service is being ramped down." }],
  },
];
