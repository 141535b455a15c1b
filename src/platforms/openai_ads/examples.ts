// Example requests and responses of OpenAI Ads, which serve as tests and as documentation.

import {
  bareConversion,
  clickedPurchase,
  exampleBuilder,
  response,
  sampleBrowser,
  second,
  standardExamples,
  tooManyRequests,
  twice,
  unreadableSuccess,
  type Example,
  type ResponseExample,
} from "../example.ts";
import { accepted, rejected, retryLater, unauthorized } from "../shared/response.ts";
import { fullPerson, sampleConversion, sampleItems } from "../shared/sample.ts";
import { events } from "./request.ts";

const settings = { pixel_id: "2atj5meExamplePixel", api_key: "EXAMPLE-KEY" };

const request = (sent: unknown[], isTest = false): Example["request"] => ({
  method: "POST",
  url: "https://bzr.openai.com/v1/events?pid=2atj5meExamplePixel",
  headers: { "content-type": "application/json", authorization: "Bearer EXAMPLE-KEY" },
  body: { validate_only: isTest, events: sent },
});

const id = "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901";
const timestamp_ms = 1_794_648_600_000;
const email = fullPerson.emailSha256;
const bare = { id, timestamp_ms, action_source: "other", opt_out: false, user: { emails_sha256: [email] } };
const visited = { id, timestamp_ms, action_source: "web", source_url: sampleBrowser.page, opt_out: false };
const visitor = { ip_address: sampleBrowser.address, user_agent: sampleBrowser.userAgent };
const money = { amount: 4990, currency: "EUR" };
const lead = { ...bare, type: "lead_created", data: { type: "customer_action" } };
const dataTypes: Readonly<Record<string, string>> = {
  lead_created: "customer_action",
  registration_completed: "customer_action",
  appointment_scheduled: "customer_action",
  app_installed: "customer_action",
  app_opened: "customer_action",
  subscription_created: "plan_enrollment",
  trial_started: "plan_enrollment",
};
const example = exampleBuilder(settings, request);

export const examples: Example[] = [
  example(
    "A purchase after a click on an ad, with everything known",
    clickedPurchase("oppref", "gAAAAABo-Example_Click", { browserIds: { __obref: "ob_7d2c9f10aaaa" } }),
    {
      ...visited,
      type: "order_created",
      oppref: "gAAAAABo-Example_Click",
      user: {
        emails_sha256: [email],
        phone_numbers_sha256: [fullPerson.phoneDigitsSha256],
        first_names_sha256: [fullPerson.firstNameSha256],
        last_names_sha256: [fullPerson.lastNameSha256],
        ...visitor,
        obref: "ob_7d2c9f10aaaa",
      },
      data: { type: "contents", ...money },
    },
  ),
  example("An order with its items", bareConversion({ name: "purchase", value: 49.9, items: sampleItems }), {
    ...bare,
    type: "order_created",
    data: {
      type: "contents",
      ...money,
      contents: [
        { id: "SKU-1", name: "Mug", content_type: "product", quantity: 2, amount: 995, currency: "EUR" },
        { id: "SKU-2", content_type: "product", quantity: 1, amount: 3000, currency: "EUR" },
      ],
    },
  }),
  example("The minimum: a lead with a hashed email", bareConversion(), lead),
  example("A test event is only validated", bareConversion({ mode: "test" }), lead, {}, true),
  example(
    "A name that OpenAI does not have, and mapped fields",
    bareConversion({ name: "Quiz Done!", extra: { customer: "CUST-42", country: "de", city: "Berlin" } }),
    {
      ...bare,
      type: "custom",
      custom_event_name: "quiz_done",
      user: {
        emails_sha256: [email],
        // SHA-256 of CUST-42
        external_ids_sha256: ["6fd6ebd11fef5dc85e566ceb1db68632fedb601ac5ef53554960d7114c653b94"],
        countries: ["DE"],
        cities: ["Berlin"],
      },
      data: { type: "custom" },
    },
    {
      "map.user.external_ids_sha256": "extra.customer",
      "map.user.countries": "extra.country",
      "map.user.cities": "extra.city",
    },
  ),
  example(
    "A purchase without a click id",
    sampleConversion({ clickIds: {}, browserIds: {} }),
    {
      ...visited,
      type: "order_created",
      id: "A-1001",
      user: { emails_sha256: [email], ...visitor },
      data: { type: "contents", ...money },
    },
    { dedup_id: "order" },
  ),
  example(
    "An event without a page, of a site with its URL set, with limited data use",
    bareConversion(),
    { ...lead, action_source: "web", source_url: "https://shop.example.com/", opt_out: true },
    { site_url: "https://shop.example.com/", limited_data: "always" },
  ),
  example(
    "A sale by phone under a chosen name",
    bareConversion({ name: "Deal", value: 1500, currency: "JPY" }),
    {
      ...bare,
      type: "order_created",
      action_source: "phone_call",
      data: { type: "contents", amount: 1500, currency: "JPY" },
    },
    { action_source: "phone_call", "event.deal": "order_created" },
  ),
  example(
    "Two in one request; the cookies of the pixel stand for the click",
    [bareConversion(), bareConversion({ ...second, browserIds: { __oppref: "gAAAAABo%2BCookie" } })],
    [lead, { ...lead, id: second.platformEventId, oppref: "gAAAAABo%2BCookie" }],
  ),
  ...standardExamples(events.standard, settings, (type) =>
    request([
      {
        ...bare,
        type,
        action_source: type.startsWith("app_") ? "mobile_app" : bare.action_source,
        data: { type: dataTypes[type] ?? "contents", amount: 2000, currency: "EUR" },
      },
    ]),
  ),
];

const resent = retryLater("HTTP 400: rejected because of another event in the same request", 1);

export const responses: readonly ResponseExample[] = [
  response("Accepted: the body is not documented", 200, "", twice(accepted)),
  response("Accepted, with a count", 200, '{"accepted_events":2}', twice(accepted)),
  unreadableSuccess('{"accepted_ev'),
  response(
    "One invalid event fails the whole request",
    400,
    '{"error":{"message":"Invalid timestamp_ms"}}',
    twice(rejected("HTTP 400: Invalid timestamp_ms")),
  ),
  response("A rejection that names the event", 400, '{"error":{"message":"events[1].timestamp_ms is older than 7 days"}}', [
    resent,
    rejected("HTTP 400: events[1].timestamp_ms is older than 7 days"),
  ]),
  response(
    "The other form of an error",
    422,
    '{"error":"data.type does not match the event"}',
    rejected("HTTP 422: data.type does not match the event"),
  ),
  response(
    "The key is wrong, or of another API",
    401,
    '{"error":{"message":"Invalid API key"}}',
    unauthorized("HTTP 401: Invalid API key"),
  ),
  response("The key may not send for this pixel", 403, '{"error":"Forbidden"}', unauthorized("HTTP 403: Forbidden")),
  response(
    "No such pixel, or the account has no Conversions API",
    404,
    '{"error":{"message":"Not found"}}',
    unauthorized("HTTP 404: Not found; correct pixel_id"),
  ),
  response(
    "A 404 that may be a proxy's: the events wait",
    404,
    "<html><body>Not Found</body></html>",
    retryLater("HTTP 404; waits until pixel_id is corrected", 3600),
  ),
  tooManyRequests(15, '{"error":{"message":"Rate limit reached"}}', "Rate limit reached"),
  response("OpenAI is down", 503, "<html><body>upstream error</body></html>", retryLater("HTTP 503")),
];
