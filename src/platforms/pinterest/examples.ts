// Example requests and responses of Pinterest, which serve as tests and as documentation.

import {
  bareConversion,
  clickedPurchase,
  exampleBuilder,
  fullContact,
  response,
  sampleBrowser,
  sampleSeconds,
  standardExamples,
  tooManyRequests,
  twice,
  visitor,
  type Example,
  type ResponseExample,
} from "../example.ts";
import { accepted, rejected, retryLater, unauthorized } from "../shared/response.ts";
import { fullPerson, sampleConversion, sampleItems } from "../shared/sample.ts";
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
const money = { value: "49.90", currency: "EUR", order_id: "A-1001" };
const example = exampleBuilder(settings, request);

export const examples: Example[] = [
  example("A purchase after a click on an ad, with everything known", clickedPurchase("epik", "dj0yJnU9Example_Click-1"), {
    event_name: "checkout",
    ...visited,
    user_data: {
      ...fullContact,
      ...visitor,
      click_id: "dj0yJnU9Example_Click-1",
    },
    custom_data: money,
  }),
  example("An order with its items", bareConversion({ name: "purchase", value: 49.9, items: sampleItems }), {
    event_name: "checkout",
    ...bare,
    custom_data: {
      value: "49.90",
      currency: "EUR",
      contents: [
        {
          id: "SKU-1",
          item_name: "Mug",
          item_category: "Kitchen",
          item_brand: "North",
          item_price: "9.95",
          quantity: 2,
        },
        { id: "SKU-2", item_price: "30.00", quantity: 1 },
      ],
      content_ids: ["SKU-1", "SKU-2"],
      num_items: 3,
    },
  }),
  example("The minimum: a lead with a hashed email", bareConversion(), { event_name: "lead", ...bare }),
  example("A purchase without a click id", sampleConversion({ clickIds: {}, browserIds: {} }), {
    event_name: "checkout",
    ...visited,
    user_data: { em: [fullPerson.emailSha256], ...visitor },
    custom_data: money,
  }),
  example("A test event is only validated", bareConversion({ mode: "test" }), { event_name: "lead", ...bare }, {}, "?test=true"),
  example(
    "A chosen event name, and mapped fields: ids and locations are hashed",
    bareConversion({
      name: "Demo_Booked",
      extra: { sku: "A7,B9", count: 2, customer: "c-4711", city: "Berlin" },
    }),
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
    {
      "event.demobooked": "schedule",
      "map.custom_data.content_ids": "extra.sku",
      "map.custom_data.num_items": "extra.count",
      "map.user_data.external_id": "extra.customer",
      "map.user_data.ct": "extra.city",
    },
  ),
  example(
    "Limited data processing for every event",
    bareConversion(),
    { event_name: "lead", ...bare, custom_data: { opt_out_type: "LDP" } },
    { limited_data: "always" },
  ),
  example(
    "Two events in one request; one without a Pinterest name is sent as custom",
    [bareConversion(), bareConversion({ name: "Quiz Done", platformEventId: "second" })],
    [
      { event_name: "lead", ...bare },
      { event_name: "custom", ...bare, event_id: "second" },
    ],
  ),
  ...standardExamples(events.standard, settings, (name) =>
    request([{ event_name: name, ...bare, custom_data: { value: "20.00", currency: "EUR" } }]),
  ),
];

const processed = { status: "processed", error_message: "", warning_message: "" };

export const responses: readonly ResponseExample[] = [
  response(
    "Accepted",
    200,
    {
      num_events_received: 2,
      num_events_processed: 2,
      events: [processed, { ...processed, warning_message: "The event is older than one hour." }],
    },
    twice(accepted),
  ),
  response(
    "Only the second of three events failed",
    422,
    {
      num_events_received: 3,
      num_events_processed: 2,
      events: [processed, { status: "failed", error_message: "event_time is not valid" }, processed],
    },
    [accepted, rejected("event_time is not valid"), accepted],
  ),
  response(
    "The list of failed events may be in the details of an error",
    422,
    {
      code: 422,
      message: "Not all events were successfully processed.",
      details: {
        num_events_received: 2,
        num_events_processed: 1,
        events: [processed, { status: "failed", error_message: "event_time is not valid" }],
      },
    },
    [accepted, rejected("event_time is not valid")],
  ),
  response(
    "Without a list the events are sent separately until the bad one is found",
    422,
    { code: 422, message: "Not all events were successfully processed.", details: { failed: 1 } },
    twice(rejected('HTTP 422: code 422 Not all events were successfully processed. {"failed":1}')),
  ),
  response(
    "The request does not match the schema, which fails all of it",
    400,
    '{"code":4196,"message":"Invalid conversion events request."}',
    twice(rejected("HTTP 400: code 4196 Invalid conversion events request.")),
  ),
  response(
    "The token is wrong or has expired",
    401,
    '{"code":2,"message":"Authentication failed."}',
    unauthorized("HTTP 401: code 2 Authentication failed."),
  ),
  response(
    "The token may not write to this ad account",
    403,
    '{"code":29,"message":"You are not permitted to access that resource."}',
    unauthorized("HTTP 403: code 29 You are not permitted to access that resource."),
  ),
  tooManyRequests(20, '{"code":8,"message":"This request exceeded a rate limit."}', "code 8 This request exceeded a rate limit."),
  response(
    "Pinterest has throttled the service",
    503,
    '{"code":4197,"message":"The service is being ramped down."}',
    retryLater("HTTP 503: code 4197 The service is being ramped down."),
  ),
];

export { quality } from "./qualityExamples.ts";
