// What the documentation of TikTok shows, and its test compares: whole requests, answers and the guide.

import type { AnswerExample, Example, Guide } from "../platform.ts";
import { sampleConversion } from "../shared/sample.ts";
import {
  bareConversion,
  clickedAt,
  fullPerson,
  sampleBrowser,
  sampleSeconds,
  standardExamples,
  withheldConversion,
} from "../shared/socialSample.ts";

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

export const tiktokExamples = (standard: Readonly<Record<string, string>>): Example[] => [
  {
    title: "A purchase after a click on an ad, with everything known",
    settings,
    conversions: [
      sampleConversion({
        person: fullPerson,
        clickIds: { ttclid: { value: "E.C.P.Example_Click-1", seenAt: clickedAt } },
        browserIds: { _ttp: "2F7h37YkS1j57AYSKTI7IHhExample" },
      }),
    ],
    request: request([
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
    ]),
  },
  {
    title: "The least that is sent: a lead with a hashed email",
    settings,
    conversions: [bareConversion()],
    request: request([{ event: "Lead", ...bare }]),
  },
  {
    title: "A purchase without a click id",
    settings,
    conversions: [sampleConversion({ clickIds: {}, browserIds: {} })],
    request: request([
      {
        event: "Purchase",
        ...event,
        user: { email: fullPerson.emailSha256, phone: fullPerson.phoneSha256, ...visitor },
        properties,
        page,
      },
    ]),
  },
  {
    title: "After an opt-out, where the connection sends events of nobody",
    settings: { ...settings, without_person: "send" },
    conversions: [withheldConversion({ name: "purchase", value: 49.9, orderId: "A-1001" })],
    request: request([{ event: "Purchase", ...event, user: {}, properties, limited_data_use: true }]),
  },
  {
    title: "A test event goes to the page Test events",
    settings,
    conversions: [bareConversion({ mode: "test" })],
    request: request([{ event: "Lead", ...bare }], { test_event_code: "TEST12345" }),
  },
  {
    title: "A name that the connection chose, and mapped fields: ids are hashed",
    settings: {
      ...settings,
      "event.demobooked": "Schedule",
      "map.properties.description": "utm_campaign",
      "map.user.external_id": "extra.customer",
      "map.user.city": "extra.city",
    },
    conversions: [
      bareConversion({
        name: "Demo_Booked",
        utm: { utm_campaign: "autumn" },
        extra: { customer: "c-4711", city: "San Francisco" },
      }),
    ],
    request: request([
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
    ]),
  },
  {
    title: "Limited data use for every event",
    settings: { ...settings, limited_data: "always" },
    conversions: [bareConversion()],
    request: request([{ event: "Lead", ...bare, limited_data_use: true }]),
  },
  {
    title: "Two events in one request",
    settings,
    conversions: [bareConversion(), bareConversion({ name: "Quiz Done", platformEventId: "second" })],
    request: request([
      { event: "Lead", ...bare },
      { event: "Quiz Done", ...bare, event_id: "second" },
    ]),
  },
  ...standardExamples(standard, settings, (name) =>
    request([{ event: name, ...bare, properties: { value: 20, currency: "EUR" } }]),
  ),
];

const answer = (code: number, message: string, data: unknown = {}) =>
  JSON.stringify({ code, message, request_id: "202611150930000000000000000EXAMPLE", data });

export const tiktokAnswers: readonly AnswerExample[] = [
  {
    title: "Accepted",
    conversions: 2,
    status: 200,
    body: answer(0, "OK"),
    readings: [{ outcome: "accepted" }, { outcome: "accepted" }],
  },
  {
    title: "A parameter is wrong, said with HTTP 200, and the whole request is refused",
    conversions: 2,
    status: 200,
    body: answer(40002, "data.0.event_id: Not a valid string."),
    readings: [0, 1].map(() => ({
      outcome: "rejected",
      error: "TikTok error 40002: data.0.event_id: Not a valid string.",
    })),
  },
  {
    title: "The token is wrong or was revoked, said with HTTP 200",
    conversions: 1,
    status: 200,
    body: answer(40105, "Access token is incorrect or has been revoked."),
    readings: [
      {
        outcome: "unauthorized",
        error: "TikTok error 40105: Access token is incorrect or has been revoked.",
      },
    ],
  },
  {
    title: "The token has no permission for this pixel",
    conversions: 1,
    status: 200,
    body: answer(40001, "No permission to operate pixel."),
    readings: [{ outcome: "unauthorized", error: "TikTok error 40001: No permission to operate pixel." }],
  },
  {
    title: "Too many requests, said with HTTP 200",
    conversions: 1,
    status: 200,
    body: answer(40100, "Too many requests. Please retry in some time."),
    readings: [
      { outcome: "retry", error: "TikTok error 40100: Too many requests. Please retry in some time." },
    ],
  },
  {
    title: "A passing fault of TikTok, said with HTTP 200",
    conversions: 1,
    status: 200,
    body: answer(50002, "Internal service error."),
    readings: [{ outcome: "retry", error: "TikTok error 50002: Internal service error." }],
  },
  {
    title: "Partial success that names the event which failed",
    conversions: 2,
    status: 200,
    body: answer(20001, "Partial success", {
      failed_events: [{ order_in_batch: 1, error_code: 40002, error_message: "Invalid event_time." }],
    }),
    readings: [
      { outcome: "accepted" },
      { outcome: "rejected", error: "TikTok error 40002: Invalid event_time." },
    ],
  },
];

export const tiktokGuide: Guide = {
  credentials: [
    "Open TikTok Ads Manager as an admin or operator of the ad account, then Tools and Events Manager.",
    "Choose the pixel of your site and copy its id of letters and digits.",
    "Under Settings, Events API, generate an access token and copy it. It lives long.",
    "For test events: copy the code on the page Test events.",
  ],
  sends: [
    ["event", "the event, under TikTok's standard name or its own"],
    ["event_time", "the time of the conversion, in seconds"],
    ["event_id", "the event id; the same as the pixel's, so that TikTok counts the pair once"],
    ["user.email, phone", "email and phone (with country code and plus), each as SHA-256"],
    ["user.first_name, last_name", "names, each as SHA-256"],
    ["user.ttclid", "the ttclid of the click, as it was"],
    ["user.ttp", "the _ttp cookie"],
    ["user.ip, user_agent", "address and browser of the visit"],
    ["properties.value, currency, order_id", "value, currency and orderId"],
    ["page.url, referrer", "the page of the visit without its query, and the site before it"],
  ],
  notSent: [
    "UTM fields, unless you map them: TikTok has no field for them.",
    "Refunds: TikTok cannot take a purchase back.",
    "Events of apps, shops and CRMs: only web events are sent.",
    "Events whose own name is longer than 50 characters or kept by TikTok for itself; choose another name for them.",
  ],
  consent:
    "Events of people who refused are skipped as opted out, because nothing would be left to match. With the setting for events of nobody they go out without anything personal and with limited data use.",
  testMode:
    "Needs the test event code of the connection and shows on the page Test events. Test events never share a request with live ones.",
  limits: [
    "TikTok names no greatest age for web events; the one kept to is the cautious reading.",
    "One bad event has the whole request refused, so the batch is halved until it is found.",
    "A pixel that TikTok does not know, or does not let the token use, stops the connection until it is connected again; its events wait.",
    "The pixel's event and this one count once when event id and name are the same within 48 hours.",
    "Events under names of your own cannot be optimised for.",
  ],
};
