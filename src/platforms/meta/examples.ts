// Example requests and responses of Meta, which serve as tests and as documentation.

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
  twice,
  unreadableSuccess,
  visitor,
  type Example,
  type ResponseExample,
} from "../example.ts";
import { accepted, platformBusy, rejected, retryLater, unauthorized } from "../shared/response.ts";
import { fullPerson, sampleConversion, sampleItems } from "../shared/sample.ts";
import { events } from "./request.ts";

const settings = {
  pixel_id: "1234567890123456",
  access_token: "EXAMPLE-TOKEN",
  test_event_code: "TEST12345",
};

function request(data: unknown[], more: Record<string, unknown> = {}): Example["request"] {
  return {
    method: "POST",
    url: "https://graph.facebook.com/v25.0/1234567890123456/events",
    headers: { "content-type": "application/json", authorization: "Bearer EXAMPLE-TOKEN" },
    body: { data, ...more },
  };
}

const event = { event_time: sampleSeconds, event_id: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901" };
const bare = { ...event, action_source: "system_generated", user_data: { em: [fullPerson.emailSha256] } };
const website = { ...event, action_source: "website", event_source_url: sampleBrowser.page };
const browser = { ...visitor, fbp: "fb.1.1794297600000.1098115397" };
const money = { value: 49.9, currency: "EUR", order_id: "A-1001" };
const example = exampleBuilder(settings, request);

export const examples: Example[] = [
  example("A purchase after a click on an ad, with everything known", clickedPurchase("fbclid", "IwAR0-Example_Click"), {
    event_name: "Purchase",
    ...website,
    user_data: {
      ...fullContact,
      ...browser,
      fbc: "fb.1.1794297600000.IwAR0-Example_Click",
    },
    custom_data: money,
  }),
  example("An order with its items", sampleConversion({ items: sampleItems }), {
    event_name: "Purchase",
    ...website,
    user_data: { em: [fullPerson.emailSha256], ...browser },
    custom_data: {
      ...money,
      contents: [
        { id: "SKU-1", quantity: 2, item_price: 9.95 },
        { id: "SKU-2", quantity: 1, item_price: 30 },
      ],
      content_ids: ["SKU-1", "SKU-2"],
      content_type: "product",
      num_items: 3,
    },
  }),
  example("The minimum: a lead with a hashed email", bareConversion(), { event_name: "Lead", ...bare }),
  example(
    "A stage of a lead in a CRM, for Conversion Leads",
    sampleConversion({ name: "MQL", value: null, orderId: null, clickIds: {}, browserIds: {}, leadId: "1234567890123456" }),
    {
      event_name: "qualified_lead",
      ...event,
      action_source: "system_generated",
      user_data: { em: [fullPerson.emailSha256], ...visitor, lead_id: "1234567890123456" },
      custom_data: { event_source: "crm", lead_event_source: "HubSpot" },
    },
    { conversion_leads: "on", crm_name: "HubSpot" },
  ),
  example("A purchase without a click id", sampleConversion({ clickIds: {} }), {
    event_name: "Purchase",
    ...website,
    user_data: { em: [fullPerson.emailSha256], ...browser },
    custom_data: money,
  }),
  example(
    "A test event shows on the page Test events",
    bareConversion({ mode: "test" }),
    { event_name: "Lead", ...bare },
    {},
    { test_event_code: "TEST12345" },
  ),
  example(
    "A chosen event name, and mapped fields: ids and locations are hashed",
    bareConversion({
      name: "Demo_Booked",
      utm: { utm_campaign: "autumn" },
      extra: { sku: "A7, B9", customer: "C-4711" },
    }),
    {
      event_name: "Schedule",
      ...bare,
      user_data: {
        em: [fullPerson.emailSha256],
        external_id: ["df7c3928d872173e00a919133e633b39f908409530cb82bce23ec773a99dcf58"],
        country: ["959a45d44e6fcf58361ed004681556fe50129f2109e817dec098c00c9e5d2578"],
      },
      custom_data: { content_name: "autumn", content_ids: ["A7", "B9"] },
    },
    {
      "event.demobooked": "Schedule",
      "map.custom_data.content_name": "utm_campaign",
      "map.custom_data.content_ids": "extra.sku",
      "map.user_data.external_id": "extra.customer",
      "map.user_data.country": "const:DE",
    },
  ),
  example(
    "Limited data use for every event",
    bareConversion(),
    {
      event_name: "Lead",
      ...bare,
      ...limitedDataUse,
    },
    { limited_data: "always" },
  ),
  example(
    "Two events in one request",
    [bareConversion(), bareConversion({ name: "Quiz Done", platformEventId: "second" })],
    [
      { event_name: "Lead", ...bare },
      { event_name: "Quiz Done", ...bare, event_id: "second" },
    ],
  ),
  ...standardExamples(events.standard, settings, (name) =>
    request([{ event_name: name, ...bare, custom_data: { value: 20, currency: "EUR" } }]),
  ),
];

const fault = (error: Record<string, unknown>) =>
  JSON.stringify({ error: { type: "OAuthException", fbtrace_id: "AExample", ...error } });

export const responses: readonly ResponseExample[] = [
  response("Accepted", 200, '{"events_received":2,"messages":[],"fbtrace_id":"AExample"}', twice(accepted)),
  response(
    "One event is too old, which fails the whole request",
    400,
    fault({
      message: "Invalid parameter",
      code: 100,
      error_subcode: 2804003,
      is_transient: false,
      error_user_msg: "The timestamp for this event is too far in the past.",
    }),
    twice(rejected("Meta error 100/2804003: The timestamp for this event is too far in the past.")),
  ),
  response(
    "The token has expired",
    400,
    fault({
      message: "Error validating access token: Session has expired.",
      code: 190,
      error_subcode: 463,
    }),
    unauthorized("Meta error 190/463: Error validating access token: Session has expired."),
  ),
  response(
    "The token may no longer write to the dataset",
    403,
    fault({ message: "(#200) Permissions error", code: 200 }),
    unauthorized("Meta error 200: (#200) Permissions error"),
  ),
  response(
    "The dataset does not exist, or the token may not see it",
    400,
    fault({ message: "Unsupported post request.", code: 100, error_subcode: 33 }),
    unauthorized("Meta error 100/33: Unsupported post request."),
  ),
  response(
    "The API version is retired: the events wait until another one is set",
    400,
    fault({ message: "(#2635) You are calling a deprecated version of the Ads API.", code: 2635 }),
    unauthorized("Meta error 2635: (#2635) You are calling a deprecated version of the Ads API.; correct api_version"),
  ),
  unreadableSuccess("{}"),
  response(
    "A temporary error at Meta",
    500,
    fault({ message: "An unknown error occurred", code: 1, is_transient: true }),
    platformBusy("Meta error 1: An unknown error occurred"),
  ),
  response(
    "Too many requests, with the minutes to wait in a header",
    400,
    fault({ message: "(#80003) There have been too many calls", code: 80003 }),
    platformBusy("Meta error 80003: (#80003) There have been too many calls", 180),
    {
      "x-business-use-case-usage":
        '{"1234567890123456":[{"type":"ads_management","call_count":100,"estimated_time_to_regain_access":3}]}',
    },
  ),
  response(
    "A proxy's web page",
    400,
    "<!DOCTYPE html><html><body>Sorry, something went wrong.</body></html>",
    retryLater("HTTP 400: a web page instead of an answer"),
  ),
];

export { quality } from "./qualityExamples.ts";
