// Example requests and responses of Meta, which serve as tests and as documentation.

import type { Example, ResponseExample } from "../platform.ts";
import {
  bareConversion,
  clickedAt,
  fullPerson,
  sampleBrowser,
  sampleConversion,
  sampleSeconds,
  standardExamples,
} from "../shared/sample.ts";
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
const visitor = {
  client_ip_address: sampleBrowser.address,
  client_user_agent: sampleBrowser.userAgent,
  fbp: "fb.1.1794297600000.1098115397",
};
const money = { value: 49.9, currency: "EUR", order_id: "A-1001" };

export const examples: Example[] = [
  {
    title: "A purchase after a click on an ad, with everything known",
    settings,
    conversions: [
      sampleConversion({
        person: fullPerson,
        clickIds: { fbclid: { value: "IwAR0-Example_Click", seenAt: clickedAt } },
      }),
    ],
    request: request([
      {
        event_name: "Purchase",
        ...website,
        user_data: {
          em: [fullPerson.emailSha256],
          ph: [fullPerson.phoneDigitsSha256],
          fn: [fullPerson.firstNameSha256],
          ln: [fullPerson.lastNameSha256],
          ...visitor,
          fbc: "fb.1.1794297600000.IwAR0-Example_Click",
        },
        custom_data: money,
      },
    ]),
  },
  {
    title: "The minimum: a lead with a hashed email",
    settings,
    conversions: [bareConversion()],
    request: request([{ event_name: "Lead", ...bare }]),
  },
  {
    title: "A purchase without a click id",
    settings,
    conversions: [sampleConversion({ clickIds: {} })],
    request: request([
      {
        event_name: "Purchase",
        ...website,
        user_data: { em: [fullPerson.emailSha256], ...visitor },
        custom_data: money,
      },
    ]),
  },
  {
    title: "A test event goes to the page Test events",
    settings,
    conversions: [bareConversion({ mode: "test" })],
    request: request([{ event_name: "Lead", ...bare }], { test_event_code: "TEST12345" }),
  },
  {
    title: "A chosen event name, and mapped fields: ids and locations are hashed",
    settings: {
      ...settings,
      "event.demobooked": "Schedule",
      "map.custom_data.content_name": "utm_campaign",
      "map.custom_data.content_ids": "extra.sku",
      "map.user_data.external_id": "extra.customer",
      "map.user_data.country": "const:DE",
    },
    conversions: [
      bareConversion({
        name: "Demo_Booked",
        utm: { utm_campaign: "autumn" },
        extra: { sku: "A7, B9", customer: "C-4711" },
      }),
    ],
    request: request([
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
    ]),
  },
  {
    title: "Limited data use for every event",
    settings: { ...settings, limited_data: "always" },
    conversions: [bareConversion()],
    request: request([
      {
        event_name: "Lead",
        ...bare,
        data_processing_options: ["LDU"],
        data_processing_options_country: 1,
        data_processing_options_state: 1000,
      },
    ]),
  },
  {
    title: "Two events in one request",
    settings,
    conversions: [bareConversion(), bareConversion({ name: "Quiz Done", platformEventId: "second" })],
    request: request([
      { event_name: "Lead", ...bare },
      { event_name: "Quiz Done", ...bare, event_id: "second" },
    ]),
  },
  ...standardExamples(events.standard, settings, (name) =>
    request([{ event_name: name, ...bare, custom_data: { value: 20, currency: "EUR" } }]),
  ),
];

const fault = (error: Record<string, unknown>) =>
  JSON.stringify({ error: { type: "OAuthException", fbtrace_id: "AExample", ...error } });

export const responses: readonly ResponseExample[] = [
  {
    title: "Accepted",
    conversions: 2,
    status: 200,
    body: '{"events_received":2,"messages":[],"fbtrace_id":"AExample"}',
    readings: [{ outcome: "accepted" }, { outcome: "accepted" }],
  },
  {
    title: "One event is too old, which fails the whole request",
    conversions: 2,
    status: 400,
    body: fault({
      message: "Invalid parameter",
      code: 100,
      error_subcode: 2804003,
      is_transient: false,
      error_user_msg: "The timestamp for this event is too far in the past.",
    }),
    readings: [0, 1].map(() => ({
      outcome: "rejected",
      error: "Meta error 100/2804003: The timestamp for this event is too far in the past.",
    })),
  },
  {
    title: "The token has expired",
    conversions: 1,
    status: 400,
    body: fault({
      message: "Error validating access token: Session has expired.",
      code: 190,
      error_subcode: 463,
    }),
    readings: [
      {
        outcome: "unauthorized",
        error: "Meta error 190/463: Error validating access token: Session has expired.",
      },
    ],
  },
  {
    title: "The token may no longer write to the dataset",
    conversions: 1,
    status: 403,
    body: fault({ message: "(#200) Permissions error", code: 200 }),
    readings: [{ outcome: "unauthorized", error: "Meta error 200: (#200) Permissions error" }],
  },
  {
    title: "The dataset does not exist, or the token may not see it",
    conversions: 1,
    status: 400,
    body: fault({ message: "Unsupported post request.", code: 100, error_subcode: 33 }),
    readings: [{ outcome: "unauthorized", error: "Meta error 100/33: Unsupported post request." }],
  },
  {
    title: "The API version is retired: the events wait until another one is set",
    conversions: 1,
    status: 400,
    body: fault({ message: "(#2635) You are calling a deprecated version of the Ads API.", code: 2635 }),
    readings: [
      {
        outcome: "unauthorized",
        error:
          "Meta error 2635: (#2635) You are calling a deprecated version of the Ads API.; correct api_version",
      },
    ],
  },
  {
    title: "A success that cannot be read is retried",
    conversions: 1,
    status: 200,
    body: "{}",
    readings: [{ outcome: "retry", error: "HTTP 200: the answer could not be read" }],
  },
  {
    title: "A temporary error of Meta",
    conversions: 1,
    status: 500,
    body: fault({ message: "An unknown error occurred", code: 1, is_transient: true }),
    readings: [{ outcome: "retry", error: "Meta error 1: An unknown error occurred" }],
  },
  {
    title: "Too many requests, with the minutes to wait in a header",
    conversions: 1,
    status: 400,
    headers: {
      "x-business-use-case-usage":
        '{"1234567890123456":[{"type":"ads_management","call_count":100,"estimated_time_to_regain_access":3}]}',
    },
    body: fault({ message: "(#80003) There have been too many calls", code: 80003 }),
    readings: [
      {
        outcome: "retry",
        error: "Meta error 80003: (#80003) There have been too many calls",
        retryAfterSeconds: 180,
      },
    ],
  },
  {
    title: "A web page of a proxy",
    conversions: 1,
    status: 400,
    body: "<!DOCTYPE html><html><body>Sorry, something went wrong.</body></html>",
    readings: [{ outcome: "retry", error: "HTTP 400: a web page instead of an answer" }],
  },
];
