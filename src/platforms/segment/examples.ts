// Example requests and responses of Segment, which serve as tests and as documentation.

import type { Conversion } from "../../kernel/event.ts";
import type { Example, ResponseExample } from "../platform.ts";
import { sampleConversion, sha256 } from "../shared/sample.ts";

const settings = { source: "acme/website", write_key: "EXAMPLE-WRITE-KEY" };
const eventId = "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901";
const em = "ec81f3ac7b2b19675bab9d54cf416f9f18cff87c97da5cca82c0f0891bc40602";

const order = { event_id: eventId, order_id: "A-1001" };
const money = { total: 49.9, revenue: 49.9, currency: "EUR" };
const gclid = { gclid: "EAIaIQobChMI-Example_1" };
const context = {
  campaign: { source: "newsletter", name: "autumn" },
  traits: {
    email_sha256: em,
    phone_sha256: "c59475d96e9f01d7d18d06cfad84dd02333207f02c0c2c5663ef2782cda0390e",
  },
  ip: "203.0.113.9",
  userAgent:
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
  page: { url: "https://shop.example.com/autumn", referrer: "https://www.google.com" },
};
const purchase = {
  type: "track",
  messageId: `cc_de2829b15090:${eventId}`,
  anonymousId: "cc_a1a4e06dc07161d7634e1b31cbc06096",
  event: "Order Completed",
  timestamp: "2026-11-14T09:30:00.000Z",
  properties: { ...order, ...money, ...gclid },
  context,
};

function example(
  title: string,
  changes: Partial<Conversion>[],
  batch: unknown[],
  { given = {}, at = "https://api.segment.io" }: { given?: Record<string, string>; at?: string } = {},
): Example {
  return {
    title,
    settings: { ...settings, ...given },
    conversions: changes.map(sampleConversion),
    request: {
      method: "POST",
      url: `${at}/v1/batch`,
      headers: {
        "content-type": "application/json",
        authorization: "Basic RVhBTVBMRS1XUklURS1LRVk6",
      },
      body: { batch, sentAt: "2026-11-15T09:30:00.000Z" },
    },
  };
}

const standard = [
  ["lead", "Lead Captured"],
  ["signup", "Signed Up"],
  ["sign_up", "Signed Up"],
  ["complete_registration", "Signed Up"],
  ["start_trial", "Trial Started"],
  ["search", "Products Searched"],
  ["view_content", "Product Viewed"],
  ["add_to_wishlist", "Product Added to Wishlist"],
  ["add_to_cart", "Product Added"],
  ["begin_checkout", "Checkout Started"],
  ["initiate_checkout", "Checkout Started"],
  ["add_payment_info", "Payment Info Entered"],
] as const;

export const examples: readonly Example[] = [
  example("A purchase after an ad click", [{}], [purchase]),
  example(
    "Only a hashed email and no value",
    [
      {
        name: "lead",
        person: { emailSha256: sha256(em) },
        value: null,
        orderId: null,
        clickIds: {},
        utm: {},
        browser: null,
        consent: "unknown",
      },
    ],
    [
      {
        ...purchase,
        event: "Lead Captured",
        properties: { event_id: eventId },
        context: { traits: { email_sha256: em } },
      },
    ],
  ),
  example(
    "A person who denied consent: no personal data, and consent denied for every destination",
    [{ person: null, clickIds: {}, browserIds: {}, utm: {}, browser: null, consent: "denied" }],
    [
      {
        ...purchase,
        anonymousId: `cc_${eventId}`,
        properties: { ...order, ...money },
        context: { consent: { categoryPreferences: {} } },
      },
    ],
  ),
  example(
    "Consent for the categories of the workspace",
    [{}],
    [
      {
        ...purchase,
        context: { ...context, consent: { categoryPreferences: { C0002: true, C0004: true } } },
      },
    ],
    { given: { consent_categories: "C0002, C0004" } },
  ),
  example("No click id", [{ clickIds: {} }], [{ ...purchase, properties: { ...order, ...money } }]),
  example(
    "A workspace in the European Union",
    [{}],
    [{ ...purchase, messageId: `cc_1b9864021a56:${eventId}` }],
    {
      given: { region: "eu" },
      at: "https://events.eu1.segmentapis.com",
    },
  ),
  example("RudderStack", [{}], [{ ...purchase, messageId: `cc_1267cc7b65b9:${eventId}` }], {
    given: { base_url: "https://example.dataplane.rudderstack.com/" },
    at: "https://example.dataplane.rudderstack.com",
  }),
  example(
    "A chosen event name, your own user id, and a mapped property",
    [{ name: "Demo Booked", extra: { user: "u_42" } }],
    [
      {
        ...purchase,
        anonymousId: undefined,
        userId: "u_42",
        event: "Demo Requested",
        properties: { ...order, value: 49.9, currency: "EUR", ...gclid, label: "autumn" },
      },
    ],
    {
      given: {
        "event.demobooked": "Demo Requested",
        "map.userId": "extra.user",
        "map.properties.label": "utm_campaign",
      },
    },
  ),
  example(
    "Two conversions in one request",
    [{}, { platformEventId: "7d0b5c1e-90aa-8f32-a1c4-0d2f6b9e4410", orderId: "A-1002" }],
    [
      purchase,
      {
        ...purchase,
        messageId: "cc_de2829b15090:7d0b5c1e-90aa-8f32-a1c4-0d2f6b9e4410",
        properties: {
          ...purchase.properties,
          event_id: "7d0b5c1e-90aa-8f32-a1c4-0d2f6b9e4410",
          order_id: "A-1002",
        },
      },
    ],
  ),
  example(
    "The event refund: its total is not revenue",
    [{ name: "refund" }],
    [
      {
        ...purchase,
        event: "Order Refunded",
        properties: { ...order, total: 49.9, currency: "EUR", ...gclid },
      },
    ],
  ),
  ...standard.map(([name, theirs]) =>
    example(
      `The event ${name}`,
      [{ name }],
      [{ ...purchase, event: theirs, properties: { ...order, value: 49.9, currency: "EUR", ...gclid } }],
    ),
  ),
];

export const responses: readonly ResponseExample[] = [
  {
    title: "Accepted, as nearly everything is",
    conversions: 2,
    status: 200,
    body: '{"success":true}',
    readings: [{ outcome: "accepted" }, { outcome: "accepted" }],
  },
  {
    title: "RudderStack accepts with one word",
    conversions: 1,
    status: 200,
    body: "OK",
    readings: [{ outcome: "accepted" }],
  },
  {
    title: "The request is not JSON, or too large",
    conversions: 2,
    status: 400,
    body: '{"success":false,"message":"Exceed payload limit"}',
    readings: [
      { outcome: "rejected", error: "HTTP 400: Exceed payload limit" },
      { outcome: "rejected", error: "HTTP 400: Exceed payload limit" },
    ],
  },
  {
    title: "The body says that it failed, with HTTP 200",
    conversions: 1,
    status: 200,
    body: '{"success":false,"code":"no_user_anon_id"}',
    readings: [{ outcome: "rejected", error: "no_user_anon_id" }],
  },
  {
    title: "RudderStack does not know the write key",
    conversions: 1,
    status: 401,
    body: "Failed to read write key",
    readings: [{ outcome: "unauthorized", error: "HTTP 401: not authorised" }],
  },
  {
    title: "Too many requests",
    conversions: 1,
    status: 429,
    headers: { "retry-after": "5" },
    body: "",
    readings: [{ outcome: "retry", error: "HTTP 429", retryAfterSeconds: 5 }],
  },
  {
    title: "Too many requests, with a time to wait in another header",
    conversions: 1,
    status: 429,
    headers: { "x-ratelimit-reset": "20" },
    body: "",
    readings: [{ outcome: "retry", error: "HTTP 429", retryAfterSeconds: 20 }],
  },
  {
    title: "Segment is unavailable",
    conversions: 1,
    status: 503,
    body: "",
    readings: [{ outcome: "retry", error: "HTTP 503" }],
  },
];
