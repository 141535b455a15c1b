// Example requests and responses of Snapchat, which serve as tests and as documentation.

import {
  bareConversion,
  clickedPurchase,
  exampleBuilder,
  fullContact,
  limitedDataUse,
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
const money = { value: 49.9, currency: "EUR", order_id: "A-1001" };
const example = exampleBuilder(settings, request);

export const examples: Example[] = [
  example(
    "A purchase after a click on an ad, with everything known",
    clickedPurchase("ScCid", "Example-Sc_Click.1", {
      browserIds: { _scid: "6a1de2a7-c901-4000-8000-000000000001" },
    }),
    {
      event_name: "PURCHASE",
      ...web,
      user_data: {
        ...fullContact,
        ...visitor,
        sc_click_id: "Example-Sc_Click.1",
        sc_cookie1: "6a1de2a7-c901-4000-8000-000000000001",
      },
      custom_data: money,
    },
  ),
  example("An order with its items", bareConversion({ name: "purchase", value: 49.9, items: sampleItems }), {
    event_name: "PURCHASE",
    ...bare,
    custom_data: {
      value: 49.9,
      currency: "EUR",
      contents: [
        { id: "SKU-1", quantity: 2, item_price: 9.95, brand: "North" },
        { id: "SKU-2", quantity: 1, item_price: 30 },
      ],
      content_ids: ["SKU-1", "SKU-2"],
      num_items: 3,
    },
  }),
  example("The minimum: a lead with a hashed email", bareConversion(), { event_name: "SIGN_UP", ...bare }),
  example(
    "The same with the site URL in the connection",
    bareConversion(),
    {
      event_name: "SIGN_UP",
      ...bare,
      action_source: "WEB",
      event_source_url: "https://shop.example.com/",
    },
    { site_url: "https://shop.example.com/" },
  ),
  example("A purchase without a click id", sampleConversion({ clickIds: {}, browserIds: {} }), {
    event_name: "PURCHASE",
    ...web,
    user_data: { em: [fullPerson.emailSha256], ...visitor },
    custom_data: money,
  }),
  example(
    "A test event is only validated",
    bareConversion({ mode: "test" }),
    { event_name: "SIGN_UP", ...bare },
    {},
    "events/validate",
  ),
  example(
    "A chosen event name, and mapped fields: ids and locations are hashed",
    bareConversion({
      name: "Demo_Booked",
      extra: { sku: "A7,B9", count: 2, customer: "c-4711", zip: "94035-1234" },
    }),
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
    {
      "event.demobooked": "CUSTOM_EVENT_1",
      "map.custom_data.content_ids": "extra.sku",
      "map.custom_data.num_items": "extra.count",
      "map.user_data.external_id": "extra.customer",
      "map.user_data.zp": "extra.zip",
    },
  ),
  example(
    "Limited data use for every event",
    bareConversion(),
    {
      event_name: "SIGN_UP",
      ...bare,
      ...limitedDataUse,
    },
    { limited_data: "always" },
  ),
  example(
    "Two events in one request",
    [bareConversion(), bareConversion({ name: "search", platformEventId: "second" })],
    [
      { event_name: "SIGN_UP", ...bare },
      { event_name: "SEARCH", ...bare, event_id: "second" },
    ],
  ),
  ...standardExamples(events.standard, settings, (name) =>
    request([{ event_name: name, ...bare, custom_data: { value: 20, currency: "EUR" } }]),
  ),
];

export const responses: readonly ResponseExample[] = [
  response("Accepted", 200, '{"status":"VALID"}', twice(accepted)),
  response(
    "No match keys: the whole request fails",
    400,
    '{"status":"INVALID","reason":"Insufficient PII","errors":{"codes":["E4"],"error_msgs":["Event 1 has no identifiers"]}}',
    twice(rejected("HTTP 400: Insufficient PII; Event 1 has no identifiers")),
  ),
  response(
    "Invalid, with HTTP 200",
    200,
    '{"status":"INVALID","error_msgs":["currency is not supported"]}',
    rejected("Snapchat answered INVALID: currency is not supported"),
  ),
  response(
    "A test event that Snapchat would not count, in a response that is valid as a whole",
    200,
    {
      status: "VALID",
      test_event: true,
      event_logs: [
        { event: 0, status: "VALID", errors: {}, warnings: ["event_id is missing"] },
        { event: 1, status: "INVALID", errors: { codes: ["E7"], error_msgs: ["currency is not supported"] } },
      ],
    },
    [accepted, rejected("Snapchat answered INVALID: currency is not supported; E7")],
  ),
  response("A success without the status VALID is retried", 200, "{}", retryLater("HTTP 200: the answer could not be read")),
  response(
    "The token is wrong, with HTTP 400",
    400,
    '{"status":"INVALID","reason":"Invalid access token"}',
    unauthorized("HTTP 400: Invalid access token"),
  ),
  response("The token has expired", 401, '{"status":"INVALID","reason":"Unauthorized"}', unauthorized("HTTP 401: Unauthorized")),
  tooManyRequests(30, '{"status":"INVALID","reason":"Rate limit exceeded"}', "Rate limit exceeded"),
  response("A temporary error at Snapchat", 503, "", retryLater("HTTP 503")),
];

export { quality } from "./qualityExamples.ts";
