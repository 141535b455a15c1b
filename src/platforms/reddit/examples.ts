// Example requests and responses of Reddit, which serve as tests and as documentation.

import type { Conversion } from "../../kernel/event.ts";
import type { Example, ResponseExample } from "../platform.ts";
import { sampleConversion, sha256, withheld } from "../shared/sample.ts";

const email = "ec81f3ac7b2b19675bab9d54cf416f9f18cff87c97da5cca82c0f0891bc40602";
const phone = "c59475d96e9f01d7d18d06cfad84dd02333207f02c0c2c5663ef2782cda0390e";
const userAgent =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";
const settings = { access_token: "EXAMPLE-TOKEN", pixel_id: "a2_example123", test_id: "t2_example_test" };
const click = "3184742045291813272";
const clickIds = { rdt_cid: { value: click, seenAt: Date.UTC(2026, 10, 10, 8, 0) } };
const browserIds = { _rdt_uuid: "1794297600000.b8f7eb7d-b357-437b-8bd3-e1c8166c7132" };

const user = {
  email,
  phone_number: phone,
  uuid: "b8f7eb7d-b357-437b-8bd3-e1c8166c7132",
  ip_address: "203.0.113.9",
  user_agent: userAgent,
};
const conversionId = "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901";
const purchase = {
  event_at: 1794648600000,
  action_source: "WEBSITE",
  event_source_url: "https://shop.example.com/autumn",
  type: { tracking_type: "PURCHASE" },
  click_id: click,
  user,
  metadata: { conversion_id: conversionId, value: 49.9, currency: "EUR" },
};

const requestOf = (events: unknown[], more: Record<string, unknown> = {}): Example["request"] => ({
  method: "POST",
  url: "https://ads-api.reddit.com/api/v3/pixels/a2_example123/conversion_events",
  headers: {
    "content-type": "application/json",
    authorization: "Bearer EXAMPLE-TOKEN",
    "user-agent": "cleancast/1",
  },
  body: { data: { ...more, events } },
});

const clicked = (changes: Partial<Conversion> = {}) => sampleConversion({ clickIds, browserIds, ...changes });

const standard = [
  ["purchase", "PURCHASE"],
  ["lead", "LEAD"],
  ["signup", "SIGN_UP"],
  ["sign_up", "SIGN_UP"],
  ["complete_registration", "SIGN_UP"],
  ["add_to_cart", "ADD_TO_CART"],
  ["add_to_wishlist", "ADD_TO_WISHLIST"],
] as const;
/** Reddit accepts no value with these. */
const withoutValue = [
  ["search", "SEARCH"],
  ["view_content", "VIEW_CONTENT"],
  ["view_item", "VIEW_CONTENT"],
  ["page_view", "PAGE_VISIT"],
  ["page_visit", "PAGE_VISIT"],
] as const;
const custom = ["begin_checkout", "initiate_checkout", "add_payment_info", "subscribe", "Start Trial"];

const example = (name: string, event: unknown): Example => ({
  title: `The event ${name}`,
  settings,
  conversions: [clicked({ name })],
  request: requestOf([event]),
});

export const examples: readonly Example[] = [
  {
    title: "A purchase after a click on an ad",
    settings,
    conversions: [clicked()],
    request: requestOf([purchase]),
  },
  {
    title: "Only a hashed email, no value",
    settings,
    conversions: [
      sampleConversion({
        value: null,
        orderId: null,
        person: { emailSha256: sha256(email) },
        clickIds: {},
        browserIds: {},
        browser: null,
      }),
    ],
    request: requestOf([
      {
        event_at: 1794648600000,
        action_source: "WEBSITE",
        type: { tracking_type: "PURCHASE" },
        user: { email },
        metadata: { conversion_id: conversionId },
      },
    ]),
  },
  {
    title: "After an opt-out, if the connection sends events without match keys",
    settings: { ...settings, unmatched: "send", limited_data_region: "US-CA" },
    conversions: [sampleConversion(withheld)],
    request: requestOf([
      {
        event_at: 1794648600000,
        action_source: "WEBSITE",
        type: { tracking_type: "PURCHASE" },
        user: { data_processing_options: { modes: ["LDU"], country: "US", region: "US-CA" } },
        metadata: { conversion_id: conversionId, value: 49.9, currency: "EUR" },
      },
    ]),
  },
  {
    title: "Without a click id",
    settings,
    conversions: [clicked({ clickIds: {} })],
    request: requestOf([
      {
        event_at: purchase.event_at,
        action_source: "WEBSITE",
        event_source_url: purchase.event_source_url,
        type: purchase.type,
        user,
        metadata: purchase.metadata,
      },
    ]),
  },
  {
    title: "A test event shows up in Event Testing",
    settings,
    conversions: [clicked({ mode: "test" })],
    request: requestOf([purchase], { test_id: "t2_example_test" }),
  },
  {
    title: "A chosen name, the order id as conversion id, and mapped fields",
    settings: {
      ...settings,
      dedup_id: "order",
      limited_data: "always",
      "event.booking": "PURCHASE",
      "map.metadata.item_count": "extra.seats",
      "map.user.external_id": "extra.customer",
    },
    conversions: [clicked({ name: "Booking", extra: { seats: "2", customer: "customer12345" } })],
    request: requestOf([
      {
        ...purchase,
        user: {
          ...user,
          data_processing_options: { modes: ["LDU"] },
          // SHA-256 of customer12345
          external_id: "a4cc2fc5adf58a029291c1514d273989113a1d05e1d753c1d0c3a848af7109cc",
        },
        metadata: { conversion_id: "A-1001", value: 49.9, currency: "EUR", item_count: 2 },
      },
    ]),
  },
  {
    title: "A sale in a shop: contact data only",
    settings: { ...settings, action_source: "PHYSICAL_STORE" },
    conversions: [clicked()],
    request: requestOf([
      {
        event_at: purchase.event_at,
        action_source: "PHYSICAL_STORE",
        type: purchase.type,
        user: { email, phone_number: phone },
        metadata: purchase.metadata,
      },
    ]),
  },
  {
    title: "Two in one request",
    settings,
    conversions: [
      clicked(),
      clicked({
        platformEventId: "7f9e1d02-55aa-8c33-b1e0-0a1b2c3d4e5f",
        orderId: "A-1002",
        name: "Newsletter",
        value: 5000,
        currency: "JPY",
      }),
    ],
    request: requestOf([
      purchase,
      {
        ...purchase,
        type: { tracking_type: "CUSTOM", custom_event_name: "Newsletter" },
        metadata: { conversion_id: "7f9e1d02-55aa-8c33-b1e0-0a1b2c3d4e5f", value: 5000, currency: "JPY" },
      },
    ]),
  },
  ...standard.map(([name, type]) => example(name, { ...purchase, type: { tracking_type: type } })),
  ...withoutValue.map(([name, type]) =>
    example(name, {
      ...purchase,
      type: { tracking_type: type },
      metadata: { conversion_id: conversionId },
    }),
  ),
  ...custom.map((name) =>
    example(name, { ...purchase, type: { tracking_type: "CUSTOM", custom_event_name: name } }),
  ),
];

const resent = "HTTP 400: rejected because of another event in the same request";

const rejectedTwice = (error: string) =>
  Array.from({ length: 2 }, () => ({ outcome: "rejected" as const, error }));

export const responses: readonly ResponseExample[] = [
  {
    title: "Accepted",
    conversions: 2,
    status: 200,
    body: '{"data":{"message":"Successfully processed 2 conversion events."}}',
    readings: [{ outcome: "accepted" }, { outcome: "accepted" }],
  },
  {
    title: "One invalid event fails the whole request",
    conversions: 2,
    status: 400,
    body: '{"error":{"code":400,"message":"There were 1 invalid conversion events. None were processed."}}',
    readings: rejectedTwice("HTTP 400: There were 1 invalid conversion events. None were processed."),
  },
  {
    title: "A rejection that names the event",
    conversions: 3,
    status: 400,
    body: '{"error":{"code":400,"message":"invalid request","fields":[{"field":"data.events[2].event_at","message":"older than 7 days"}]}}',
    readings: [
      { outcome: "retry", error: resent, retryAfterSeconds: 1 },
      { outcome: "retry", error: resent, retryAfterSeconds: 1 },
      { outcome: "rejected", error: "HTTP 400: data.events[2].event_at: older than 7 days" },
    ],
  },
  {
    title: "A success that left an event out",
    conversions: 1,
    status: 200,
    body: '{"data":{"message":"Successfully processed 0 conversion events.","invalid_events":[{"error_message":"event_at is too old"}]}}',
    readings: [{ outcome: "rejected", error: "HTTP 200: event_at is too old" }],
  },
  {
    title: "A success that left one of two out without naming it: both are resent separately",
    conversions: 2,
    status: 200,
    body: '{"data":{"message":"Successfully processed 1 conversion events.","invalid_events":[{"error_message":"event_at is too old"}]}}',
    readings: rejectedTwice("HTTP 200: event_at is too old"),
  },
  {
    title: "A success that cannot be read is retried",
    conversions: 1,
    status: 200,
    body: '{"data":{"message":"Successfully proc',
    readings: [{ outcome: "retry", error: "HTTP 200: the answer could not be read" }],
  },
  {
    title: "The second error format",
    conversions: 1,
    status: 400,
    body: '{"success":false,"error":{"reason":"BAD_REQUEST","explanation":"unknown field test_mode"}}',
    readings: [{ outcome: "rejected", error: "HTTP 400: BAD_REQUEST: unknown field test_mode" }],
  },
  {
    title: "The second error format with HTTP 200",
    conversions: 2,
    status: 200,
    body: '{"success":false,"error":{"reason":"BAD_REQUEST","explanation":"unknown field test_mode"}}',
    readings: rejectedTwice("HTTP 400: BAD_REQUEST: unknown field test_mode"),
  },
  {
    title: "The third error format, a bare text: the token is rejected",
    conversions: 1,
    status: 401,
    body: "Authorization Required",
    readings: [{ outcome: "unauthorized", error: "HTTP 401: Authorization Required" }],
  },
  {
    title: "The token is rejected, in the second error format",
    conversions: 1,
    status: 401,
    body: '{"success":false,"error":{"reason":"UNAUTHORIZED","explanation":"This server could not verify that you are authorized."}}',
    readings: [
      {
        outcome: "unauthorized",
        error: "HTTP 401: UNAUTHORIZED: This server could not verify that you are authorized.",
      },
    ],
  },
  {
    title: "No permission for the pixel",
    conversions: 1,
    status: 403,
    body: '{"error":{"code":403,"message":"You\'re not authorized to post conversions to Pixel ID a2_example123."}}',
    readings: [
      {
        outcome: "unauthorized",
        error: "HTTP 403: You're not authorized to post conversions to Pixel ID a2_example123.",
      },
    ],
  },
  {
    title: "No such pixel",
    conversions: 1,
    status: 404,
    body: '"Not Found"',
    readings: [{ outcome: "unauthorized", error: "HTTP 404: Not Found; correct pixel_id" }],
  },
  {
    title: "Too many requests",
    conversions: 1,
    status: 429,
    headers: { "retry-after": "10" },
    body: '{"error":{"code":429,"message":"Too many requests/events within timeframe."}}',
    readings: [
      {
        outcome: "retry",
        error: "HTTP 429: Too many requests/events within timeframe.",
        retryAfterSeconds: 10,
      },
    ],
  },
  {
    title: "Reddit is down",
    conversions: 1,
    status: 503,
    body: "<html><body>upstream error</body></html>",
    readings: [{ outcome: "retry", error: "HTTP 503" }],
  },
];
