// Example requests and responses of Nextdoor, which serve as tests and as documentation.

import {
  bareConversion,
  clickedPurchase,
  exampleBuilder,
  response,
  sampleBrowser,
  sampleSeconds,
  standardExamples,
  tooManyRequests,
  unreadableSuccess,
  visitor,
  type Example,
  type ResponseExample,
} from "../example.ts";
import { accepted, rejected, retryLater, unauthorized } from "../shared/response.ts";
import { fullPerson, sampleConversion, sampleItems } from "../shared/sample.ts";
import { events } from "./request.ts";

const settings = { data_source_id: "fe411d2f-0000-4000-8000-0123456789ab", access_token: "EXAMPLE-TOKEN" };

function request([event]: unknown[]): Example["request"] {
  return {
    method: "POST",
    url: "https://ads.nextdoor.com/v2/api/conversions/track",
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      authorization: "Bearer EXAMPLE-TOKEN",
    },
    body: event,
  };
}

const event = {
  event_id: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
  event_time_epoch: sampleSeconds,
  data_source_id: settings.data_source_id,
};
const customer = { email: fullPerson.emailSha256 };
const bare = { ...event, action_source: "system_generated", customer };
const visited = { ...event, action_source: "website", action_source_url: sampleBrowser.page };
const custom = { order_value: "EUR49.90", order_id: "A-1001" };
const example = exampleBuilder(settings, request);

export const examples: Example[] = [
  example("A purchase after a click on an ad, with everything known", clickedPurchase("ndclid", "nd-Example_Click-1"), {
    event_name: "purchase",
    ...visited,
    customer: {
      ...customer,
      first_name: fullPerson.firstNameSha256,
      last_name: fullPerson.lastNameSha256,
      click_id: "nd-Example_Click-1",
      ...visitor,
    },
    custom,
  }),
  example("An order with its items", sampleConversion({ clickIds: {}, browserIds: {}, items: sampleItems }), {
    event_name: "purchase",
    ...visited,
    customer: { ...customer, ...visitor },
    custom: {
      ...custom,
      product_context: [
        { id: "SKU-1", quantity: 2, item_price: 9.95 },
        { id: "SKU-2", quantity: 1, item_price: 30 },
      ],
    },
  }),
  example("The minimum: a lead with a hashed email", bareConversion(), { event_name: "lead", ...bare }),
  example("A purchase without a click id", sampleConversion({ clickIds: {}, browserIds: {} }), {
    event_name: "purchase",
    ...visited,
    customer: { ...customer, ...visitor },
    custom,
  }),
  example("A test event", bareConversion({ mode: "test" }), {
    event_name: "lead",
    ...bare,
    test_event: "true",
  }),
  example("An event without a Nextdoor name", bareConversion({ name: "Quiz Done" }), {
    event_name: "custom_conversion_1",
    ...bare,
  }),
  example(
    "A chosen custom conversion, the order id as event id, and mapped fields",
    bareConversion({ name: "Demo Booked", orderId: "A-1001", extra: { customer: "c-4711", city: "Austin" } }),
    {
      event_name: "custom_conversion_4",
      ...bare,
      event_id: "A-1001",
      customer: {
        ...customer,
        // SHA-256 of c-4711, and of austin
        external_id: "df7c3928d872173e00a919133e633b39f908409530cb82bce23ec773a99dcf58",
        city: "c7c1319276e936c8d64f1d5ed80cd8a0cf54e6dea7b0125533eb4163e03a2c11",
      },
      custom: { order_id: "A-1001" },
    },
    {
      dedup_id: "order",
      "event.demobooked": "custom_conversion_4",
      "map.customer.external_id": "extra.customer",
      "map.customer.city": "extra.city",
    },
  ),
  example(
    "A sale by phone, with the phone number, a partner id and limited data use",
    bareConversion({ name: "purchase", value: 1500, currency: "JPY", person: fullPerson }),
    {
      event_name: "purchase",
      ...event,
      action_source: "phone_call",
      partner_id: "acme",
      restricted_data_usage: 1,
      customer: {
        ...customer,
        phone_number: fullPerson.phoneSha256,
        first_name: fullPerson.firstNameSha256,
        last_name: fullPerson.lastNameSha256,
      },
      custom: { order_value: "JPY1500" },
    },
    { action_source: "phone_call", phone_form: "plus", partner_id: "acme", limited_data: "always" },
  ),
  example(
    "An event without a page, of a site with its URL set",
    bareConversion(),
    { event_name: "lead", ...visited, action_source_url: "https://shop.example.com/", customer },
    { site_url: "https://shop.example.com/" },
  ),
  ...standardExamples(events.standard, settings, (name) =>
    request([{ event_name: name, ...bare, custom: { order_value: "EUR20.00" } }]),
  ),
];

export const responses: readonly ResponseExample[] = [
  response("Accepted: the body is not documented", 200, "", accepted),
  response("Accepted, with a body", 200, '{"message":"ok"}', accepted),
  unreadableSuccess('{"mess'),
  response(
    "The event is not valid",
    400,
    '{"message":"action_source_url is not on a verified domain"}',
    rejected("HTTP 400: action_source_url is not on a verified domain"),
  ),
  response("The token is rejected", 401, '{"error":"Unauthorized"}', unauthorized("HTTP 401: Unauthorized")),
  response(
    "The token may not use this pixel",
    403,
    '{"errors":[{"message":"No access to the data source"}]}',
    unauthorized("HTTP 403: No access to the data source"),
  ),
  tooManyRequests(12, "Too Many Requests", "Too Many Requests"),
  response("Nextdoor is down", 502, "<html><body>Bad Gateway</body></html>", retryLater("HTTP 502")),
];
