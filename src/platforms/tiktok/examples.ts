// Example requests and responses of TikTok, which serve as tests and as documentation.

import {
  bareConversion,
  clickedPurchase,
  exampleBuilder,
  response,
  sampleBrowser,
  sampleSeconds,
  standardExamples,
  twice,
  withheldConversion,
  type Example,
  type ResponseExample,
} from "../example.ts";
import { accepted, platformBusy, rejected, unauthorized } from "../shared/response.ts";
import { fullPerson, sampleConversion, sampleItems } from "../shared/sample.ts";
import { events } from "./request.ts";

const settings = {
  pixel_code: "C0EXAMPLEPIXEL",
  access_token: "EXAMPLE-TOKEN",
  test_event_code: "TEST12345",
};

function request(data: unknown[], more: Record<string, unknown> = {}): Example["request"] {
  return {
    method: "POST",
    url: "https://business-api.tiktok.com/open_api/v1.3/event/track/",
    headers: { "content-type": "application/json", "access-token": "EXAMPLE-TOKEN" },
    body: { event_source: "web", event_source_id: "C0EXAMPLEPIXEL", data, ...more },
  };
}

const event = { event_time: sampleSeconds, event_id: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901" };
const bare = { ...event, user: { email: fullPerson.emailSha256 } };
const visitor = { ip: sampleBrowser.address, user_agent: sampleBrowser.userAgent };
const page = { url: sampleBrowser.page, referrer: sampleBrowser.referrer };
const properties = { value: 49.9, currency: "EUR", order_id: "A-1001" };
const example = exampleBuilder(settings, request);

export const examples: Example[] = [
  example(
    "A purchase after a click on an ad, with everything known",
    clickedPurchase("ttclid", "E.C.P.Example_Click-1", {
      browserIds: { _ttp: "2F7h37YkS1j57AYSKTI7IHhExample" },
    }),
    {
      event: "Purchase",
      ...event,
      user: {
        email: fullPerson.emailSha256,
        phone: fullPerson.phoneSha256,
        first_name: fullPerson.firstNameSha256,
        last_name: fullPerson.lastNameSha256,
        ttclid: "E.C.P.Example_Click-1",
        ttp: "2F7h37YkS1j57AYSKTI7IHhExample",
        ...visitor,
      },
      properties,
      page,
    },
  ),
  example(
    "A stage of a lead in a CRM",
    sampleConversion({ name: "qualified_lead", value: null, orderId: null, browserIds: {}, extra: { tiktok: "7351234567890" } }),
    {
      event: "qualified_lead",
      ...event,
      user: { email: fullPerson.emailSha256, phone: fullPerson.phoneSha256, ...visitor },
      lead: { lead_id: "7351234567890", lead_event_source: "HubSpot" },
    },
    { event_source: "crm", crm_name: "HubSpot", "map.lead.lead_id": "extra.tiktok" },
    { event_source: "crm" },
  ),
  example("An order with its items", bareConversion({ name: "purchase", value: 49.9, items: sampleItems }), {
    event: "Purchase",
    ...bare,
    properties: {
      value: 49.9,
      currency: "EUR",
      contents: [
        {
          content_id: "SKU-1",
          content_name: "Mug",
          content_category: "Kitchen",
          brand: "North",
          price: 9.95,
          quantity: 2,
        },
        { content_id: "SKU-2", price: 30, quantity: 1 },
      ],
      content_ids: ["SKU-1", "SKU-2"],
      content_type: "product",
    },
  }),
  example("The minimum: a lead with a hashed email", bareConversion(), { event: "Lead", ...bare }),
  example("A purchase without a click id", sampleConversion({ clickIds: {}, browserIds: {} }), {
    event: "Purchase",
    ...event,
    user: { email: fullPerson.emailSha256, phone: fullPerson.phoneSha256, ...visitor },
    properties,
    page,
  }),
  example(
    "After an opt-out, if the connection sends events without match keys",
    withheldConversion({ name: "purchase", value: 49.9, orderId: "A-1001" }),
    { event: "Purchase", ...event, user: {}, properties, limited_data_use: true },
    { without_person: "send" },
  ),
  example(
    "A test event shows on the page Test events",
    bareConversion({ mode: "test" }),
    { event: "Lead", ...bare },
    {},
    { test_event_code: "TEST12345" },
  ),
  example(
    "A chosen event name, and mapped fields: ids are hashed",
    bareConversion({
      name: "Demo_Booked",
      utm: { utm_campaign: "autumn" },
      extra: { customer: "c-4711", city: "San Francisco" },
    }),
    {
      event: "Schedule",
      ...event,
      user: {
        email: fullPerson.emailSha256,
        external_id: "df7c3928d872173e00a919133e633b39f908409530cb82bce23ec773a99dcf58",
        city: "sanfrancisco",
      },
      properties: { description: "autumn" },
    },
    {
      "event.demobooked": "Schedule",
      "map.properties.description": "utm_campaign",
      "map.user.external_id": "extra.customer",
      "map.user.city": "extra.city",
    },
  ),
  example(
    "Limited data use for every event",
    bareConversion(),
    { event: "Lead", ...bare, limited_data_use: true },
    { limited_data: "always" },
  ),
  example(
    "Two events in one request",
    [bareConversion(), bareConversion({ name: "Quiz Done", platformEventId: "second" })],
    [
      { event: "Lead", ...bare },
      { event: "Quiz Done", ...bare, event_id: "second" },
    ],
  ),
  ...standardExamples(events.standard, settings, (name) =>
    request([{ event: name, ...bare, properties: { value: 20, currency: "EUR" } }]),
  ),
];

const answer = (code: number, message: string, data: unknown = {}) =>
  JSON.stringify({ code, message, request_id: "202611150930000000000000000EXAMPLE", data });

export const responses: readonly ResponseExample[] = [
  response("Accepted", 200, answer(0, "OK"), twice(accepted)),
  response(
    "A wrong parameter, with HTTP 200, fails the whole request",
    200,
    answer(40002, "data.0.event_id: Not a valid string."),
    twice(rejected("TikTok error 40002: data.0.event_id: Not a valid string.")),
  ),
  response(
    "The token is wrong or was revoked, with HTTP 200",
    200,
    answer(40105, "Access token is incorrect or has been revoked."),
    unauthorized("TikTok error 40105: Access token is incorrect or has been revoked."),
  ),
  response(
    "The token has no permission for this pixel",
    200,
    answer(40001, "No permission to operate pixel."),
    unauthorized("TikTok error 40001: No permission to operate pixel."),
  ),
  response(
    "Too many requests, with HTTP 200",
    200,
    answer(40100, "Too many requests. Please retry in some time."),
    platformBusy("TikTok error 40100: Too many requests. Please retry in some time."),
  ),
  response(
    "A temporary error at TikTok, with HTTP 200",
    200,
    answer(50002, "Internal service error."),
    platformBusy("TikTok error 50002: Internal service error."),
  ),
  response(
    "A temporary error outside of the usual range, with HTTP 200",
    200,
    answer(60001, "Service is busy."),
    platformBusy("TikTok error 60001: Service is busy."),
  ),
  response(
    "Partial success that names the event which failed",
    200,
    answer(20001, "Partial success", {
      failed_events: [{ order_in_batch: 1, error_code: 40002, error_message: "Invalid event_time." }],
    }),
    [accepted, rejected("TikTok error 40002: Invalid event_time.")],
  ),
];
