// Example requests and responses of Snapchat, which serve as tests and as documentation.

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

const settings = { pixel_id: "a1b2c3d4-0000-4000-8000-00000000beef", access_token: "EXAMPLE-TOKEN" };

function request(data: unknown[], path = "events"): Example["request"] {
  return {
    method: "POST",
    url: `https://tr.snapchat.com/v3/a1b2c3d4-0000-4000-8000-00000000beef/${path}`,
    headers: { "content-type": "application/json" },
    secretQuery: { access_token: "EXAMPLE-TOKEN" },
    body: { data },
  };
}

const event = { event_time: sampleSeconds, event_id: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901" };
const bare = { ...event, action_source: "OFFLINE", user_data: { em: [fullPerson.emailSha256] } };
const web = { ...event, action_source: "WEB", event_source_url: sampleBrowser.page };
const visitor = { client_ip_address: sampleBrowser.address, client_user_agent: sampleBrowser.userAgent };
const money = { value: 49.9, currency: "EUR", order_id: "A-1001" };

export const examples: Example[] = [
  {
    title: "A purchase after a click on an ad, with everything known",
    settings,
    conversions: [
      sampleConversion({
        person: fullPerson,
        clickIds: { ScCid: { value: "Example-Sc_Click.1", seenAt: clickedAt } },
        browserIds: { _scid: "6a1de2a7-c901-4000-8000-000000000001" },
      }),
    ],
    request: request([
      {
        event_name: "PURCHASE",
        ...web,
        user_data: {
          em: [fullPerson.emailSha256],
          ph: [fullPerson.phoneDigitsSha256],
          fn: [fullPerson.firstNameSha256],
          ln: [fullPerson.lastNameSha256],
          ...visitor,
          sc_click_id: "Example-Sc_Click.1",
          sc_cookie1: "6a1de2a7-c901-4000-8000-000000000001",
        },
        custom_data: money,
      },
    ]),
  },
  {
    title: "The minimum: a lead with a hashed email",
    settings,
    conversions: [bareConversion()],
    request: request([{ event_name: "SIGN_UP", ...bare }]),
  },
  {
    title: "The same with the site URL in the connection",
    settings: { ...settings, site_url: "https://shop.example.com/" },
    conversions: [bareConversion()],
    request: request([
      {
        event_name: "SIGN_UP",
        ...bare,
        action_source: "WEB",
        event_source_url: "https://shop.example.com/",
      },
    ]),
  },
  {
    title: "A purchase without a click id",
    settings,
    conversions: [sampleConversion({ clickIds: {}, browserIds: {} })],
    request: request([
      {
        event_name: "PURCHASE",
        ...web,
        user_data: { em: [fullPerson.emailSha256], ...visitor },
        custom_data: money,
      },
    ]),
  },
  {
    title: "A test event is only validated",
    settings,
    conversions: [bareConversion({ mode: "test" })],
    request: request([{ event_name: "SIGN_UP", ...bare }], "events/validate"),
  },
  {
    title: "A chosen event name, and mapped fields: ids and locations are hashed",
    settings: {
      ...settings,
      "event.demobooked": "CUSTOM_EVENT_1",
      "map.custom_data.content_ids": "extra.sku",
      "map.custom_data.num_items": "extra.count",
      "map.user_data.external_id": "extra.customer",
      "map.user_data.zp": "extra.zip",
    },
    conversions: [
      bareConversion({
        name: "Demo_Booked",
        extra: { sku: "A7,B9", count: 2, customer: "c-4711", zip: "94035-1234" },
      }),
    ],
    request: request([
      {
        event_name: "CUSTOM_EVENT_1",
        ...bare,
        user_data: {
          em: [fullPerson.emailSha256],
          external_id: ["df7c3928d872173e00a919133e633b39f908409530cb82bce23ec773a99dcf58"],
          zp: ["1794327a4d443904421f5ca1f3d72d0a62ba2f0770d80755ec2220fc0efb052e"],
        },
        custom_data: { content_ids: ["A7", "B9"], num_items: 2 },
      },
    ]),
  },
  {
    title: "Limited data use for every event",
    settings: { ...settings, limited_data: "always" },
    conversions: [bareConversion()],
    request: request([
      {
        event_name: "SIGN_UP",
        ...bare,
        data_processing_options: ["LDU"],
        data_processing_options_country: 1,
        data_processing_options_state: 1000,
      },
    ]),
  },
  {
    title: "Two events in one request",
    settings,
    conversions: [bareConversion(), bareConversion({ name: "search", platformEventId: "second" })],
    request: request([
      { event_name: "SIGN_UP", ...bare },
      { event_name: "SEARCH", ...bare, event_id: "second" },
    ]),
  },
  ...standardExamples(events.standard, settings, (name) =>
    request([{ event_name: name, ...bare, custom_data: { value: 20, currency: "EUR" } }]),
  ),
];

export const responses: readonly ResponseExample[] = [
  {
    title: "Accepted",
    conversions: 2,
    status: 200,
    body: '{"status":"VALID"}',
    readings: [{ outcome: "accepted" }, { outcome: "accepted" }],
  },
  {
    title: "No match keys: the whole request fails",
    conversions: 2,
    status: 400,
    body: '{"status":"INVALID","reason":"Insufficient PII","errors":{"codes":["E4"],"error_msgs":["Event 1 has no identifiers"]}}',
    readings: [0, 1].map(() => ({
      outcome: "rejected",
      error: "HTTP 400: Insufficient PII; Event 1 has no identifiers",
    })),
  },
  {
    title: "Invalid, with HTTP 200",
    conversions: 1,
    status: 200,
    body: '{"status":"INVALID","error_msgs":["currency is not supported"]}',
    readings: [{ outcome: "rejected", error: "Snapchat answered INVALID: currency is not supported" }],
  },
  {
    title: "A success without the status VALID is retried",
    conversions: 1,
    status: 200,
    body: "{}",
    readings: [{ outcome: "retry", error: "HTTP 200: the answer could not be read" }],
  },
  {
    title: "The token is wrong, with HTTP 400",
    conversions: 1,
    status: 400,
    body: '{"status":"INVALID","reason":"Invalid access token"}',
    readings: [{ outcome: "unauthorized", error: "HTTP 400: Invalid access token" }],
  },
  {
    title: "The token has expired",
    conversions: 1,
    status: 401,
    body: '{"status":"INVALID","reason":"Unauthorized"}',
    readings: [{ outcome: "unauthorized", error: "HTTP 401: Unauthorized" }],
  },
  {
    title: "Too many requests",
    conversions: 1,
    status: 429,
    headers: { "retry-after": "30" },
    body: '{"status":"INVALID","reason":"Rate limit exceeded"}',
    readings: [{ outcome: "retry", error: "HTTP 429: Rate limit exceeded", retryAfterSeconds: 30 }],
  },
  {
    title: "A temporary error of Snapchat",
    conversions: 1,
    status: 503,
    body: "",
    readings: [{ outcome: "retry", error: "HTTP 503" }],
  },
];
