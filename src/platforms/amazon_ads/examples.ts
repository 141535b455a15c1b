// Example requests and responses of Amazon Ads, which serve as tests and as documentation.

import {
  bareConversion,
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

const settings = {
  advertiser_id: "5790000000000001",
  client_id: "amzn1.application-oa2-client.example",
  access_token: "EXAMPLE-TOKEN",
  country: "DE",
};

const request = (sent: unknown[], host = "https://advertising-api.amazon.com"): Example["request"] => ({
  method: "POST",
  url: `${host}/adsApi/v1/create/events`,
  headers: {
    "content-type": "application/json",
    accept: "application/json",
    authorization: "Bearer EXAMPLE-TOKEN",
    "amazon-ads-clientid": "amzn1.application-oa2-client.example",
    "amazon-ads-accountid": "5790000000000001",
  },
  body: { events: sent },
});

const description = (name: string, conversionType: string) => ({
  name,
  conversionType,
  eventSource: "WEBSITE",
  eventIngestionMethod: "SERVER_TO_SERVER",
});
const key = (type: string, value: string) => ({ type, values: [value] });
const granted = { amazonConsent: { amznAdStorage: "GRANTED", amznUserData: "GRANTED" } };
const event = {
  eventTime: "2026-11-14T09:30:00.000Z",
  countryCode: "DE",
  eventId: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
  consent: granted,
};
const bare = { ...event, matchKeys: [key("EMAIL", fullPerson.emailSha256)] };
const everyKey = [
  key("EMAIL", fullPerson.emailSha256),
  key("PHONE", fullPerson.phoneDigitsSha256),
  key("FIRST_NAME", fullPerson.firstNameSha256),
  key("LAST_NAME", fullPerson.lastNameSha256),
];
const lead = { ...bare, eventDescription: description("lead", "LEAD") };
const example = exampleBuilder(settings, request);

export const examples: Example[] = [
  example("A purchase with everything known", sampleConversion({ person: fullPerson }), {
    ...event,
    eventDescription: description("purchase", "OFF_AMAZON_PURCHASES"),
    matchKeys: everyKey,
    value: 49.9,
    currencyCode: "EUR",
  }),
  example("An order with its items", sampleConversion({ person: fullPerson, items: sampleItems }), {
    ...event,
    eventDescription: description("purchase", "OFF_AMAZON_PURCHASES"),
    matchKeys: everyKey,
    value: 49.9,
    currencyCode: "EUR",
    unitsSold: 3,
  }),
  example("The minimum: a lead with a hashed email", bareConversion(), lead),
  example(
    "In Europe, without a recorded decision: Amazon judges by the IP address",
    bareConversion({ consent: "unknown", browser: sampleBrowser }),
    { ...lead, consent: { geo: { ipAddress: sampleBrowser.address } } },
    { region: "eu" },
    "https://advertising-api-eu.amazon.com",
  ),
  example(
    "An own event in a data set, the order id as event id, and mapped fields",
    bareConversion({
      name: "Demo Booked",
      orderId: "A-1001",
      value: 20,
      extra: { city: "San José", country: "us", customer: "c-4711" },
    }),
    {
      ...event,
      eventDescription: {
        ...description("Demo Booked", "OTHER"),
        eventSource: "OFFLINE",
        dataSetName: "Crm_Events",
      },
      countryCode: "US",
      eventId: "A-1001",
      matchKeys: [
        key("EMAIL", fullPerson.emailSha256),
        // SHA-256 of sanjos
        key("CITY", "198b8f84621d272c3923d3c8bfcf48f0fa33b89dd5999aa72881414b6a551223"),
        key("MATCH_ID", "c-4711"),
      ],
    },
    {
      data_set: "Crm_Events",
      event_source: "OFFLINE",
      dedup_id: "order",
      "map.match.CITY": "extra.city",
      "map.match.MATCH_ID": "extra.customer",
      "map.countryCode": "extra.country",
    },
  ),
  example(
    "Two in one request: a purchase in a currency that Amazon does not take, and one with its items counted",
    [
      bareConversion({ name: "purchase", value: 20, currency: "CHF" }),
      bareConversion({ ...second, name: "Deal", value: 1500, currency: "JPY" }),
    ],
    [
      {
        ...bare,
        eventDescription: description("purchase", "OFF_AMAZON_PURCHASES"),
        unitsSold: 2,
      },
      {
        ...bare,
        eventDescription: description("Deal", "OFF_AMAZON_PURCHASES"),
        eventId: second.platformEventId,
        value: 1500,
        currencyCode: "JPY",
        unitsSold: 2,
      },
    ],
    { "event.deal": "OFF_AMAZON_PURCHASES", "map.unitsSold": "const:2" },
  ),
  ...standardExamples(events.standard, settings, () => request([])).map((one): Example => {
    const [conversion] = one.conversions;
    const name = conversion?.name ?? "";
    const type = events.standard[name] ?? "";
    const money = type === "OFF_AMAZON_PURCHASES" ? { value: 20, currencyCode: "EUR" } : {};
    return { ...one, request: request([{ ...bare, eventDescription: description(name, type), ...money }]) };
  }),
];

export const responses: readonly ResponseExample[] = [
  response("Accepted", 207, '{"success":[{"index":0,"event":{}},{"index":1,"event":{}}],"error":[]}', twice(accepted)),
  response(
    "Only the second of three was rejected",
    207,
    '{"success":[{"index":0},{"index":2}],"error":[{"index":1,"errors":[{"code":"INVALID_ARGUMENT","fieldLocation":"events[1].countryCode","message":"Invalid country code"}]}]}',
    [accepted, rejected("INVALID_ARGUMENT: Invalid country code (events[1].countryCode)"), accepted],
  ),
  response(
    "Counted from one, as the older API does",
    207,
    '{"success":[{"index":1}],"error":[{"index":2,"errors":[{"code":"INVALID_ARGUMENT","message":"No match key"}]}]}',
    [accepted, rejected("INVALID_ARGUMENT: No match key")],
  ),
  response(
    "An event that Amazon could not process now is retried, and so is one that the answer leaves out",
    207,
    '{"success":[{"index":0}],"error":[{"index":2,"errors":[{"code":"INTERNAL_ERROR","message":"Try again"}]}]}',
    [accepted, retryLater("Amazon's answer left this event out"), retryLater("INTERNAL_ERROR: Try again")],
  ),
  unreadableSuccess('{"success":[{"ind'),
  response(
    "The request is not valid",
    400,
    '{"code":"BAD_REQUEST","message":"events must not be empty"}',
    rejected("HTTP 400: events must not be empty"),
  ),
  response("The token has expired", 401, '{"message":"Unauthorized"}', unauthorized("HTTP 401: Unauthorized")),
  response(
    "The client has no access to the Ads API, or the user none to the advertiser",
    403,
    '{"message":"Insufficient permissions to process request"}',
    unauthorized("HTTP 403: Insufficient permissions to process request"),
  ),
  tooManyRequests(20, '{"code":"429","message":"Too Many Requests"}', "Too Many Requests"),
  response("Amazon is down", 503, "<html><body>upstream error</body></html>", retryLater("HTTP 503")),
];
