// Example requests and responses of AppLovin Axon, which serve as tests and as documentation.

import type { Conversion } from "../../kernel/event.ts";
import {
  bareConversion,
  clickedAt,
  exampleBuilder,
  response,
  sampleBrowser,
  second,
  tooManyRequests,
  twice,
  unreadableSuccess,
  visitor,
  type Example,
  type ResponseExample,
} from "../example.ts";
import { accepted, rejected, retryLater, unauthorized } from "../shared/response.ts";
import { fullPerson, sampleConversion, sampleItems } from "../shared/sample.ts";
import { events } from "./request.ts";

const settings = {
  event_key: "EXAMPLE-event-key",
  api_key: "EXAMPLE-CAPI-KEY",
  default_event: "generate_lead",
};

const request = (sent: unknown[]): Example["request"] => ({
  method: "POST",
  url: "https://b.applovin.com/v1/event?pixel_id=EXAMPLE-event-key",
  headers: { "content-type": "application/json", authorization: "EXAMPLE-CAPI-KEY" },
  body: { events: sent },
});

const clickIds = {
  aleid: { value: "ax-Example_Click-1", seenAt: clickedAt },
  alart: { value: "ax-Example_Visitor-1", seenAt: clickedAt },
};
const clicked = (changes: Partial<Conversion> = {}) =>
  sampleConversion({
    person: fullPerson,
    clickIds,
    browserIds: { _axwrt: "ax-7d2c9f10" },
    ...changes,
  });
/** A visitor with an email and nothing else. */
const visited = (changes: Partial<Conversion> = {}) => bareConversion({ browser: sampleBrowser, ...changes });

const event = {
  event_time: 1_794_648_600_000,
  event_source_url: sampleBrowser.page,
  dedupe_id: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
};
const identifiers = {
  aleid: "ax-Example_Click-1",
  alart: "ax-Example_Visitor-1",
  axwrt: "ax-7d2c9f10",
};
const full = {
  esi: "web",
  ...visitor,
  ...identifiers,
  email: fullPerson.emailSha256,
  phone: fullPerson.phoneDigitsSha256,
};
const bareUser = { esi: "web", ...visitor, email: fullPerson.emailSha256 };
const order = (value: number, currency = "EUR") => ({
  value,
  currency,
  items: [{ item_id: "order", item_name: "Order", price: value, quantity: 1 }],
});
const purchase = {
  name: "purchase",
  ...event,
  user_data: full,
  data: { ...order(49.9), transaction_id: "A-1001" },
};
const example = exampleBuilder(settings, request);

/** Views, carts, checkouts and purchases have items. */
function dataOf(name: string): unknown {
  if (name === "page_view") return null;
  if (name === "purchase") return { ...order(20), transaction_id: event.dedupe_id };
  return ["view_item", "add_to_cart", "begin_checkout"].includes(name) ? order(20) : { value: 20, currency: "EUR" };
}

export const examples: Example[] = [
  example("A purchase after a click on an ad, with everything known", clicked(), purchase),
  example("An order with its items", visited({ name: "purchase", items: sampleItems }), {
    ...event,
    name: "purchase",
    user_data: bareUser,
    data: {
      value: 49.9,
      currency: "EUR",
      items: [
        { item_id: "SKU-1", item_name: "Mug", item_brand: "North", price: 9.95, quantity: 2 },
        { item_id: "SKU-2", item_name: "SKU-2", price: 30, quantity: 1 },
      ],
      transaction_id: event.dedupe_id,
    },
  }),
  example("The minimum: a lead of a visitor with a hashed email", visited(), {
    name: "generate_lead",
    ...event,
    user_data: bareUser,
    data: {},
  }),
  example(
    "A pixel for lead generation: a lead without a value is worth what the connection says",
    visited({ clickIds }),
    {
      name: "generate_lead",
      ...event,
      user_data: {
        esi: "web",
        ...visitor,
        aleid: identifiers.aleid,
        alart: identifiers.alart,
        email: full.email,
      },
      data: { value: 25, currency: "EUR" },
    },
    { website: "leads", lead_value: "25" },
  ),
  example(
    "A restricted pixel for lead generation: no contact data, and only the origin of the page",
    clicked({ name: "lead", orderId: null }),
    {
      name: "generate_lead",
      ...event,
      event_source_url: "https://shop.example.com",
      user_data: { esi: "web", ...visitor, ...identifiers },
      data: { value: 49.9, currency: "EUR" },
    },
    { website: "restricted_leads" },
  ),
  example(
    "A chosen name, the order id as dedupe id, and mapped fields",
    clicked({
      name: "Deal",
      extra: { customer: "customer-4711", country: "us", zip: "94035-1234", tax: 4.5 },
    }),
    {
      ...purchase,
      dedupe_id: "A-1001",
      user_data: { ...full, user_id: "customer-4711", country_code: "US", zip: "94035" },
      data: { ...purchase.data, tax: 4.5 },
    },
    {
      dedup_id: "order",
      "event.deal": "purchase",
      "map.user_data.user_id": "extra.customer",
      "map.user_data.country_code": "extra.country",
      "map.user_data.zip": "extra.zip",
      "map.data.tax": "extra.tax",
    },
  ),
  example(
    "Two in one request; the pixel's cookies stand for the click",
    [clicked(), visited({ ...second, name: "signup", browserIds: { _axeid: "ax-Cookie", _axart: "ax-User" } })],
    [
      purchase,
      {
        name: "sign_up",
        ...event,
        dedupe_id: second.platformEventId,
        user_data: { esi: "web", ...visitor, aleid: "ax-Cookie", alart: "ax-User", email: full.email },
        data: {},
      },
    ],
  ),
  ...Object.entries(events.standard).map(([ours, name]) =>
    example(`The event ${ours} is sent as ${name}`, visited({ name: ours, value: 20 }), {
      name,
      ...event,
      user_data: bareUser,
      data: dataOf(name),
    }),
  ),
];

export const responses: readonly ResponseExample[] = [
  response("Accepted: the body is not documented", 200, "", twice(accepted)),
  unreadableSuccess('{"status":'),
  response(
    "One invalid event drops the whole request; the reason is in headers",
    400,
    "",
    twice(rejected("HTTP 400: INVALID_EVENT: event_time is missing")),
    { "x-al-error-code": "INVALID_EVENT", "x-al-error-message": "event_time is missing" },
  ),
  response(
    "A rejection that names the event",
    400,
    "",
    [
      retryLater("HTTP 400: rejected because of another event in the same request", 1),
      rejected("HTTP 400: events[1].user_data has no identifier"),
    ],
    { "x-al-error-message": "events[1].user_data has no identifier" },
  ),
  response("A wrong key", 401, "", unauthorized("HTTP 401: Authentication failed"), {
    "x-al-error-message": "Authentication failed",
  }),
  tooManyRequests(30),
  response("Axon is down", 503, "<html><body>upstream error</body></html>", retryLater("HTTP 503")),
];
