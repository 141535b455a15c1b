// Example requests and responses of Quora, which serve as tests and as documentation.

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
  type Example,
  type ResponseExample,
} from "../example.ts";
import { accepted, rejected, retryLater, unauthorized } from "../shared/response.ts";
import { fullPerson, sampleConversion } from "../shared/sample.ts";
import { events } from "./request.ts";

const settings = { account_id: "1234567890", access_token: "EXAMPLE-TOKEN", currency: "EUR" };

const request = (data: unknown[]): Example["request"] => ({
  method: "POST",
  url: "https://api.quora.com/ads/v0/conversions",
  headers: { "content-type": "application/json", authorization: "Bearer EXAMPLE-TOKEN" },
  body: { account_id: 1_234_567_890, data },
});

const click_id = "Example_Click|4711|0";
const clickIds = { qclid: { value: click_id, seenAt: clickedAt } };
/** Only the click is known. */
const clicked = (changes: Partial<Conversion> = {}) => bareConversion({ clickIds, ...changes });

const conversion = {
  timestamp: 1_794_648_600_000_000,
  click_id,
  event_id: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
};
const lead = { conversion: { event_name: "GenerateLead", ...conversion }, user: {} };
const visitor = {
  user: { ip: sampleBrowser.address },
  device: { user_agent: sampleBrowser.userAgent, referer: sampleBrowser.referrer },
};
const example = exampleBuilder(settings, request);

export const examples: Example[] = [
  example("A purchase after a click on an ad: contact data is not sent", sampleConversion({ person: fullPerson, clickIds }), {
    conversion: { event_name: "Purchase", ...conversion, value: 49.9 },
    ...visitor,
  }),
  example("The minimum: a lead after a click", clicked(), lead),
  example(
    "A value in another currency than the account's is left out",
    clicked({ name: "purchase", value: 1500, currency: "JPY" }),
    { conversion: { event_name: "Purchase", ...conversion }, user: {} },
  ),
  example(
    "Without a click id, with the visitor's address and browser; and mapped fields",
    sampleConversion({
      name: "Quiz Done",
      clickIds: {},
      value: null,
      extra: { country: "DE", city: "Berlin" },
    }),
    {
      conversion: {
        event_name: "Generic",
        timestamp: conversion.timestamp,
        event_id: conversion.event_id,
      },
      user: { ...visitor.user, country: "DE", city: "Berlin" },
      device: { ...visitor.device, language: "de-DE" },
    },
    {
      "map.user.country": "extra.country",
      "map.user.city": "extra.city",
      "map.device.language": "const:de-DE",
    },
  ),
  example(
    "Two in one request: a chosen name with the order id as event id, and the pixel's cookie as click id",
    [
      clicked({ name: "Demo Booked", orderId: "A-1001" }),
      bareConversion({ ...second, browserIds: { quora_qclid: "Cookie|1|0" } }),
    ],
    [
      { conversion: { event_name: "CompleteRegistration", ...conversion, event_id: "A-1001" }, user: {} },
      {
        conversion: { ...lead.conversion, click_id: "Cookie|1|0", event_id: "A-1002" },
        user: {},
      },
    ],
    { dedup_id: "order", "event.demobooked": "CompleteRegistration" },
  ),
  ...Object.entries(events.standard).map(([ours, name]) =>
    example(`The event ${ours} is sent as ${name}`, clicked({ name: ours, value: 20 }), {
      conversion: { event_name: name, ...conversion, value: 20 },
      user: {},
    }),
  ),
];

export const responses: readonly ResponseExample[] = [
  response(
    "Accepted",
    200,
    '{"events_received":2,"events_errored":0,"events":[{"index":0,"status":"OK"},{"index":1,"status":"OK"}]}',
    twice(accepted),
  ),
  response(
    "Only the second of three was rejected; those that the list leaves out were accepted",
    200,
    '{"events_received":3,"events_errored":1,"events":[{"index":1,"status":"ERROR","error_code":"INVALID_TIMESTAMP","error_message":"timestamp is in the future"}]}',
    [accepted, rejected("INVALID_TIMESTAMP: timestamp is in the future"), accepted],
  ),
  response(
    "Errors that are counted and not listed: both are sent again separately",
    200,
    '{"events_received":2,"events_errored":1,"events":[]}',
    twice(rejected("Quora did not name all of the events that it rejected: 1")),
  ),
  unreadableSuccess('{"events_recei'),
  response(
    "The request is not valid",
    400,
    '{"error":{"message":"account_id is missing"}}',
    rejected("HTTP 400: account_id is missing"),
  ),
  response("The token is rejected", 401, '{"message":"Unauthorized"}', unauthorized("HTTP 401: Unauthorized")),
  response("The token belongs to another account", 403, '{"message":"Forbidden"}', unauthorized("HTTP 403: Forbidden")),
  response("The account is locked for a moment", 423, "", retryLater("HTTP 423")),
  tooManyRequests(10),
  response("Quora is down", 503, "<html><body>upstream error</body></html>", retryLater("HTTP 503")),
];
