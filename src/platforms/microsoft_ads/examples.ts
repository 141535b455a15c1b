// Example requests and responses of Microsoft Advertising, which serve as tests and as documentation.

import type { Conversion } from "../../kernel/event.ts";
import type { Example, ResponseExample } from "../platform.ts";
import { sampleConversion, sha256 } from "../shared/sample.ts";

const settings = { tag_id: "343000001", tag_token: "EXAMPLE-TAG-TOKEN" };
const withOffline = {
  ...settings,
  access_token: "EXAMPLE-TOKEN",
  developer_token: "EXAMPLE-DEVELOPER-TOKEN",
  account_id: "181000001",
  customer_id: "254000001",
  offline_goal: "Offline purchase",
};

/** As it often is in a URL, and as the Conversions API requires it. */
const msclkid = "dd4afcccb1c94a4cad9544dd7e5006ab";
const uuid = "dd4afccc-b1c9-4a4c-ad95-44dd7e5006ab";
const clicked = {
  clickIds: { msclkid: { value: msclkid, seenAt: Date.UTC(2026, 10, 10, 8, 0) } },
  browserIds: { _uetvid: "b171a9b06ce011ecafcd1b209be8601b" },
};
const userAgent =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";
const em = "ec81f3ac7b2b19675bab9d54cf416f9f18cff87c97da5cca82c0f0891bc40602";
const ph = "c59475d96e9f01d7d18d06cfad84dd02333207f02c0c2c5663ef2782cda0390e";

const contact = { em, ph, clientUserAgent: userAgent, clientIpAddress: "203.0.113.9" };
const purchase = {
  eventType: "custom",
  eventId: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
  eventName: "purchase",
  eventTime: 1794648600,
  eventSourceUrl: "https://shop.example.com/autumn",
  adStorageConsent: "G",
  userData: { msclkid: uuid, anonymousId: "b171a9b06ce011ecafcd1b209be8601b", ...contact },
  customData: { transactionId: "A-1001", value: 49.9, currency: "EUR" },
};

function example(
  title: string,
  given: Record<string, string>,
  conversions: Conversion[],
  data: unknown[] = [purchase],
): Example {
  return {
    title,
    settings: given,
    conversions,
    request: {
      method: "POST",
      url: "https://capi.uet.microsoft.com/v1/343000001/events",
      headers: { "content-type": "application/json", authorization: "Bearer EXAMPLE-TAG-TOKEN" },
      body: { data, continueOnValidationError: true, dataProvider: "Cleancast" },
    },
  };
}

function offlineExample(
  title: string,
  given: Record<string, string>,
  conversions: Conversion[],
  OfflineConversions: unknown[],
): Example {
  return {
    title,
    settings: given,
    conversions,
    request: {
      method: "POST",
      url: "https://campaign.api.bingads.microsoft.com/CampaignManagement/v13/OfflineConversions/Apply",
      headers: {
        "content-type": "application/json",
        authorization: "Bearer EXAMPLE-TOKEN",
        DeveloperToken: "EXAMPLE-DEVELOPER-TOKEN",
        CustomerAccountId: "181000001",
        CustomerId: "254000001",
      },
      body: { OfflineConversions },
    },
  };
}

const late = { ...clicked, time: Date.UTC(2026, 9, 20, 18, 45, 10) };
const latePurchase = {
  ConversionName: "Offline purchase",
  ConversionTime: "2026-10-20T18:45:10Z",
  ConversionValue: 49.9,
  ConversionCurrencyCode: "EUR",
  MicrosoftClickId: msclkid,
  HashedEmailAddress: em,
  HashedPhoneNumber: ph,
};

export const examples: readonly Example[] = [
  example("A purchase after an ad click", settings, [sampleConversion(clicked)]),
  example(
    "Only a hashed email and no value",
    settings,
    [
      sampleConversion({
        name: "lead",
        person: { emailSha256: sha256(em) },
        value: null,
        orderId: null,
        clickIds: {},
        browserIds: {},
        browser: null,
        consent: "unknown",
      }),
    ],
    [
      {
        eventType: "custom",
        eventId: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
        eventName: "lead",
        eventTime: 1794648600,
        userData: { em },
      },
    ],
  ),
  example(
    "No click id",
    settings,
    [sampleConversion({ clickIds: {} })],
    [{ ...purchase, userData: contact }],
  ),
  example(
    "A person who denied consent, with a click id",
    settings,
    [sampleConversion({ ...clicked, browserIds: {}, person: null, browser: null, consent: "denied" })],
    [
      {
        eventType: "custom",
        eventId: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
        eventName: "purchase",
        eventTime: 1794648600,
        adStorageConsent: "D",
        userData: { msclkid: uuid },
        customData: { transactionId: "A-1001", value: 49.9, currency: "EUR" },
      },
    ],
  ),
  ...["lead", "signup", "add_to_cart", "begin_checkout", "subscribe", "page_view"].map((name) =>
    example(
      `The event ${name} goes under its own name`,
      settings,
      [sampleConversion({ ...clicked, name })],
      [{ ...purchase, eventName: name }],
    ),
  ),
  example(
    "The event name of a goal, a category from a UTM field, and a click id as captured",
    {
      ...settings,
      msclkid_form: "as_captured",
      "event.purchase": "checkout_complete",
      "map.customData.eventCategory": "utm_campaign",
    },
    [sampleConversion(clicked)],
    [
      {
        ...purchase,
        eventName: "checkout_complete",
        userData: { ...purchase.userData, msclkid },
        customData: { ...purchase.customData, eventCategory: "autumn" },
      },
    ],
  ),
  example(
    "Two conversions in one request",
    settings,
    [
      sampleConversion(clicked),
      sampleConversion({
        ...clicked,
        platformEventId: "7d0b5c1e-90aa-8f32-a1c4-0d2f6b9e4410",
        orderId: "A-1002",
        value: 5,
      }),
    ],
    [
      purchase,
      {
        ...purchase,
        eventId: "7d0b5c1e-90aa-8f32-a1c4-0d2f6b9e4410",
        customData: { ...purchase.customData, transactionId: "A-1002", value: 5 },
      },
    ],
  ),
  offlineExample(
    "An event older than seven days is sent as an offline conversion",
    withOffline,
    [sampleConversion(late)],
    [latePurchase],
  ),
  offlineExample(
    "A late lead without click id and value, with its own goal",
    { ...withOffline, offline_goals: '{"lead":"Offline lead"}' },
    [
      sampleConversion({
        ...late,
        name: "Lead",
        clickIds: {},
        person: { emailSha256: sha256(em) },
        value: null,
      }),
    ],
    [
      {
        ConversionName: "Offline lead",
        ConversionTime: "2026-10-20T18:45:10Z",
        HashedEmailAddress: em,
      },
    ],
  ),
];

const validationError = (details: readonly Record<string, unknown>[], eventsReceived?: number) =>
  JSON.stringify({
    eventsReceived,
    error: {
      code: "ValidationError",
      message: "Some parameters are not valid.",
      details,
    },
  });

const rows = (...PartialErrors: readonly Record<string, unknown>[]) => JSON.stringify({ PartialErrors });

const accepted = { outcome: "accepted" } as const;

export const responses: readonly ResponseExample[] = [
  {
    title: "Accepted",
    conversions: 2,
    status: 200,
    body: '{"eventsReceived":2}',
    readings: [accepted, accepted],
  },
  {
    title: "One event is invalid, the others were accepted",
    conversions: 3,
    status: 200,
    body: validationError(
      [
        {
          index: 1,
          propertyName: "data[1].eventTime",
          errorMessage: "'eventTime' is too old.",
          isWarning: false,
        },
        { index: 2, propertyName: "data[2].userData.ph", errorMessage: "'ph' was removed.", isWarning: true },
      ],
      2,
    ),
    readings: [accepted, { outcome: "rejected", error: "HTTP 200: 'eventTime' is too old." }, accepted],
  },
  {
    title: "More events are missing than are named: the batch is halved and resent",
    conversions: 2,
    status: 200,
    body: '{"eventsReceived":1}',
    readings: [
      { outcome: "rejected", error: "Microsoft accepted 1 of 2 events and did not name the others" },
      { outcome: "rejected", error: "Microsoft accepted 1 of 2 events and did not name the others" },
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
    title: "No event is valid",
    conversions: 1,
    status: 400,
    body: validationError([
      { index: 0, propertyName: "data[0].eventName", errorMessage: "'eventName' is empty." },
    ]),
    readings: [{ outcome: "rejected", error: "HTTP 400: 'eventName' is empty." }],
  },
  {
    title: "The tag token is wrong",
    conversions: 1,
    status: 401,
    body: '{"error":{"code":"Unauthorized","message":"Not authorized."}}',
    readings: [{ outcome: "unauthorized", error: "HTTP 401: Not authorized." }],
  },
  {
    title: "Too many requests",
    conversions: 1,
    status: 429,
    headers: { "retry-after": "30" },
    body: "",
    readings: [{ outcome: "retry", error: "HTTP 429", retryAfterSeconds: 30 }],
  },
  {
    title: "Offline conversions: all accepted",
    conversions: 2,
    status: 200,
    body: rows(),
    readings: [accepted, accepted],
  },
  {
    title: "Offline conversions: some rows failed, each for its own reason",
    conversions: 4,
    status: 200,
    body: rows(
      { Index: 1, Code: 5604, ErrorCode: "OfflineConversionMicrosoftClickIdInvalid", Message: "Click id." },
      { Index: 3, Code: 5615, ErrorCode: "OfflineConversionNotAcceptedForGoal", Message: "Too new." },
    ),
    readings: [
      accepted,
      { outcome: "rejected", error: "5604 OfflineConversionMicrosoftClickIdInvalid Click id." },
      accepted,
      {
        outcome: "retry",
        error: "5615 OfflineConversionNotAcceptedForGoal Too new.",
        retryAfterSeconds: 7200,
      },
    ],
  },
  {
    title: "Offline conversions: an unknown goal stops only its own events, which wait for the setting",
    conversions: 2,
    status: 200,
    body: rows({ Index: 0, Code: 5606, ErrorCode: "OfflineConversionNameInvalid", Message: "Goal." }),
    readings: [
      {
        outcome: "retry",
        error: "5606 OfflineConversionNameInvalid Goal.; waits until offline_goal is corrected",
        retryAfterSeconds: 3600,
      },
      accepted,
    ],
  },
  {
    title: "Offline conversions: too many calls in a minute",
    conversions: 1,
    status: 400,
    body: '{"Errors":[{"Code":117,"ErrorCode":"CallRateExceeded","Message":"Slow down."}]}',
    readings: [{ outcome: "retry", error: "117 CallRateExceeded Slow down.", retryAfterSeconds: 60 }],
  },
  {
    title: "Offline conversions: the access token has expired",
    conversions: 1,
    status: 400,
    body: '{"Errors":[{"Code":109,"ErrorCode":"AuthenticationTokenExpired","Message":"Ended."}]}',
    readings: [{ outcome: "unauthorized", error: "109 AuthenticationTokenExpired Ended." }],
  },
  {
    title: "Offline conversions: an internal error of Microsoft",
    conversions: 1,
    status: 500,
    body: '{"Errors":[{"Code":0,"ErrorCode":"InternalError","Message":"Oh."}]}',
    readings: [{ outcome: "retry", error: "0 InternalError Oh." }],
  },
];
