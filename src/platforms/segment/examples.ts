// Example requests and responses of Segment, which serve as tests and as documentation.

import type { Conversion } from "../../kernel/event.ts";
import {
  bareConversion,
  response,
  sampleBrowser,
  second,
  tooManyRequests,
  twice,
  type Example,
  type ResponseExample,
} from "../example.ts";
import { accepted, rejected, retryLater, unauthorized } from "../shared/response.ts";
import { fullPerson, sampleConversion, sampleItems, withheld } from "../shared/sample.ts";

const settings = { source: "acme/website", write_key: "EXAMPLE-WRITE-KEY" };
const eventId = "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901";
const { emailSha256: em, phoneSha256: phone } = fullPerson;

const order = { event_id: eventId, order_id: "A-1001" };
const money = { total: 49.9, revenue: 49.9, currency: "EUR" };
const gclid = { gclid: "EAIaIQobChMI-Example_1" };
const context = {
  campaign: { source: "newsletter", name: "autumn" },
  traits: {
    email_sha256: em,
    phone_sha256: phone,
  },
  ip: sampleBrowser.address,
  userAgent: sampleBrowser.userAgent,
  page: { url: sampleBrowser.page, referrer: sampleBrowser.referrer },
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

const products = [
  { product_id: "SKU-1", name: "Mug", category: "Kitchen", brand: "North", price: 9.95, quantity: 2 },
  { product_id: "SKU-2", price: 30, quantity: 1 },
];
const returned = { id: "SKU-1", price: 9.95, quantity: 1 };
const product = { product_id: "SKU-1", price: 9.95, quantity: 1 };

const standard = [
  ["lead", "Lead Captured"],
  ["generate_lead", "Lead Captured"],
  ["signup", "Signed Up"],
  ["login", "Signed In"],
  ["start_trial", "Trial Started"],
  ["search", "Products Searched"],
  ["view_item", "Product Viewed"],
  ["view_item_list", "Product List Viewed"],
  ["select_item", "Product Clicked"],
  ["view_promotion", "Promotion Viewed"],
  ["select_promotion", "Promotion Clicked"],
  ["add_to_wishlist", "Product Added to Wishlist"],
  ["add_to_cart", "Product Added"],
  ["remove_from_cart", "Product Removed"],
  ["view_cart", "Cart Viewed"],
  ["begin_checkout", "Checkout Started"],
  ["add_payment_info", "Payment Info Entered"],
  ["share", "Product Shared"],
] as const;

export const examples: readonly Example[] = [
  example("A purchase after an ad click", [{}], [purchase]),
  example(
    "An order with its items",
    [{ items: sampleItems }],
    [{ ...purchase, properties: { ...purchase.properties, products } }],
  ),
  example(
    "A refund of some items, and one product that was added",
    [
      { name: "refund", value: 9.95, items: [returned] },
      { ...second, name: "add_to_cart", orderId: null, value: null, items: [returned] },
    ],
    [
      {
        ...purchase,
        event: "Order Refunded",
        properties: { ...order, total: 9.95, currency: "EUR", ...gclid, products: [product] },
      },
      {
        ...purchase,
        messageId: `cc_de2829b15090:${second.platformEventId}`,
        event: "Product Added",
        properties: { event_id: second.platformEventId, ...gclid, ...product },
      },
    ],
  ),
  example(
    "Only a hashed email and no value",
    [bareConversion({ consent: "unknown" })],
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
    [withheld],
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
  example("A workspace in the European Union", [{}], [{ ...purchase, messageId: `cc_1b9864021a56:${eventId}` }], {
    given: { region: "eu" },
    at: "https://events.eu1.segmentapis.com",
  }),
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
    [{}, second],
    [
      purchase,
      {
        ...purchase,
        messageId: `cc_de2829b15090:${second.platformEventId}`,
        properties: { ...purchase.properties, event_id: second.platformEventId, order_id: "A-1002" },
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
  response("Accepted", 200, '{"success":true}', twice(accepted)),
  response("Accepted by RudderStack, which answers with one word", 200, "OK", accepted),
  response(
    "The request is not JSON, or too large",
    400,
    '{"success":false,"message":"Exceed payload limit"}',
    twice(rejected("HTTP 400: Exceed payload limit")),
  ),
  response("An error in the body, with HTTP 200", 200, '{"success":false,"code":"no_user_anon_id"}', rejected("no_user_anon_id")),
  response("RudderStack does not know the write key", 401, "Failed to read write key", unauthorized("HTTP 401: not authorised")),
  tooManyRequests(5),
  response("Too many requests, with a time to wait in another header", 429, "", retryLater("HTTP 429", 20), {
    "x-ratelimit-reset": "20",
  }),
  response("Segment is unavailable", 503, "", retryLater("HTTP 503")),
];
