// Example requests and responses of Klaviyo, which serve as tests and as documentation.

import {
  bareConversion,
  clickedAt,
  clickedPurchase,
  exampleBuilder,
  response,
  sampleBrowser,
  tooManyRequests,
  unreadableSuccess,
  type Example,
  type ResponseExample,
} from "../example.ts";
import type { Conversion } from "../../kernel/event.ts";
import { accepted, rejected, retryLater, unauthorized } from "../shared/response.ts";
import { fullPerson, sampleConversion, sampleItems } from "../shared/sample.ts";
import { events } from "./request.ts";

const settings = { account_id: "AbC123", api_key: "pk_EXAMPLE-KEY" };
const kx = "Example_kx-4711.AbC123";

function request([attributes]: unknown[]): Example["request"] {
  return {
    method: "POST",
    url: "https://a.klaviyo.com/api/events",
    headers: {
      "content-type": "application/vnd.api+json",
      authorization: "Klaviyo-API-Key pk_EXAMPLE-KEY",
      accept: "application/vnd.api+json",
      revision: "2026-07-15",
    },
    body: { data: { type: "event", attributes } },
  };
}

const event = (name: string, attributes: object = { _kx: kx }, profile: object = {}) => ({
  time: "2026-11-14T09:30:00.000Z",
  unique_id: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
  metric: { data: { type: "metric", attributes: { name } } },
  profile: { data: { type: "profile", ...profile, attributes } },
});
const money = { value: 49.9, value_currency: "EUR" };
const visit = { utm_source: "newsletter", utm_campaign: "autumn", page_url: sampleBrowser.page };

/** A lead of which only the link in a message is known. */
const known = (changes: Partial<Conversion> = {}) =>
  bareConversion({ clickIds: { _kx: { value: kx, seenAt: clickedAt } }, ...changes });
const example = exampleBuilder(settings, request);

export const examples: Example[] = [
  example("A purchase after a click in a message from Klaviyo", clickedPurchase("_kx", kx), {
    properties: { OrderId: "A-1001", ...visit },
    ...money,
    ...event("Placed Order"),
  }),
  example(
    "An order with its items, of a customer with an external ID",
    sampleConversion({ items: sampleItems, extra: { customer: "c-4711" } }),
    {
      properties: {
        OrderId: "A-1001",
        ...visit,
        ItemNames: ["Mug"],
        Categories: ["Kitchen"],
        Brands: ["North"],
        Items: [
          {
            ProductID: "SKU-1",
            ProductName: "Mug",
            Quantity: 2,
            ItemPrice: 9.95,
            RowTotal: 19.9,
            ProductCategories: ["Kitchen"],
            Brand: "North",
          },
          { ProductID: "SKU-2", Quantity: 1, ItemPrice: 30, RowTotal: 30 },
        ],
      },
      ...money,
      ...event("Placed Order", { external_id: "c-4711" }),
    },
    { "map.profile.external_id": "extra.customer" },
  ),
  example("The minimum: a lead with the id of a link", known(), { properties: {}, ...event("lead") }),
  example(
    "The hashed email as external ID",
    bareConversion(),
    { properties: {}, ...event("lead", { external_id: fullPerson.emailSha256 }) },
    { external_id: "email_sha256" },
  ),
  example(
    "A chosen name, the order id as unique id, and mapped fields",
    known({ name: "Demo Booked", orderId: "A-1001", extra: { profile: "01HPROFILE", stage: "Demo" } }),
    {
      properties: { OrderId: "A-1001", Stage: "Demo" },
      ...event("Booked a demo", { _kx: kx }, { id: "01HPROFILE" }),
      unique_id: "A-1001",
    },
    {
      dedup_id: "order",
      "event.demobooked": "Booked a demo",
      "map.profile.id": "extra.profile",
      "map.properties.Stage": "extra.stage",
    },
  ),
  example(
    "A late event, which triggers no flows",
    known(),
    { properties: {}, ...event("lead"), backfill: true },
    { flows_within_hours: "12" },
  ),
  ...Object.entries(events.standard).map(([ours, name]) =>
    example(`The event ${ours} is sent as ${name}`, known({ name: ours, value: 20 }), {
      properties: {},
      value: 20,
      value_currency: "EUR",
      ...event(name),
    }),
  ),
];

const failure = (status: number, code: string, title: string, detail: string, pointer = "/data/") => ({
  errors: [{ id: "4f1c9f5e-0000-4000-8000-000000000001", status, code, title, detail, source: { pointer } }],
});

export const responses: readonly ResponseExample[] = [
  response("Accepted", 202, "", accepted),
  unreadableSuccess('{"data":'),
  response(
    "The event is not valid",
    400,
    failure(400, "invalid", "Invalid input.", "Must be after the year 1990.", "/data/attributes/time"),
    rejected("HTTP 400: time: Must be after the year 1990."),
  ),
  response(
    "The key is wrong",
    401,
    failure(401, "not_authenticated", "Authentication credentials were not provided.", "Missing or invalid private key."),
    unauthorized("HTTP 401: Missing or invalid private key."),
  ),
  response(
    "The key may not write events",
    403,
    failure(403, "permission_denied", "You do not have permission to perform this action.", "Missing scope events:write."),
    unauthorized("HTTP 403: Missing scope events:write."),
  ),
  tooManyRequests(
    4,
    JSON.stringify(failure(429, "rate_limit_exceeded", "Too many requests.", "The request was throttled.")),
    "The request was throttled.",
  ),
  response("Klaviyo is down", 503, "<html><body>upstream error</body></html>", retryLater("HTTP 503")),
];
