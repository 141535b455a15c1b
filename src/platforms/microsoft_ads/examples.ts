// Example requests and responses of Microsoft Advertising, which serve as tests and as documentation.

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
import { accepted, platformBusy, rejected, retryLater, unauthorized } from "../shared/response.ts";
import { fullPerson, sampleConversion, sampleItems, withheld } from "../shared/sample.ts";

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
  clickIds: { msclkid: { value: msclkid, seenAt: clickedAt } },
  browserIds: { _uetvid: "b171a9b06ce011ecafcd1b209be8601b" },
};
const { emailSha256: em, phoneSha256: ph } = fullPerson;

const contact = { em, ph, clientUserAgent: sampleBrowser.userAgent, clientIpAddress: sampleBrowser.address };
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

const request = (data: unknown[]): Example["request"] => ({
  method: "POST",
  url: "https://capi.uet.microsoft.com/v1/343000001/events",
  headers: { "content-type": "application/json", authorization: "Bearer EXAMPLE-TAG-TOKEN" },
  body: { data, continueOnValidationError: true, dataProvider: "Cleancast" },
});

const offlineRequest = (OfflineConversions: unknown[]): Example["request"] => ({
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
});

const example = exampleBuilder(settings, request);
const offlineExample = exampleBuilder(withOffline, offlineRequest);

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
  example("A purchase after an ad click", sampleConversion(clicked), purchase),
  example("An order with its items", sampleConversion({ ...clicked, items: sampleItems }), {
    ...purchase,
    customData: {
      ...purchase.customData,
      items: [
        { id: "SKU-1", name: "Mug", price: 9.95, quantity: 2 },
        { id: "SKU-2", price: 30, quantity: 1 },
      ],
      itemIds: ["SKU-1", "SKU-2"],
      pageType: "purchase",
    },
  }),
  example("Only a hashed email and no value", bareConversion({ consent: "unknown" }), {
    eventType: "custom",
    eventId: purchase.eventId,
    eventName: "lead",
    eventTime: purchase.eventTime,
    userData: { em },
  }),
  example("No click id", sampleConversion({ clickIds: {} }), { ...purchase, userData: contact }),
  example("A person who denied consent, with a click id", sampleConversion({ ...withheld, clickIds: clicked.clickIds }), {
    eventType: "custom",
    eventId: purchase.eventId,
    eventName: "purchase",
    eventTime: purchase.eventTime,
    adStorageConsent: "D",
    userData: { msclkid: uuid },
    customData: purchase.customData,
  }),
  ...["lead", "signup", "add_to_cart", "begin_checkout", "subscribe", "page_view"].map((name) =>
    example(`The event ${name} is sent under its own name`, sampleConversion({ ...clicked, name }), {
      ...purchase,
      eventName: name,
    }),
  ),
  example(
    "The event name of a goal, a category from a UTM field, and a click id as captured",
    sampleConversion(clicked),
    {
      ...purchase,
      eventName: "checkout_complete",
      userData: { ...purchase.userData, msclkid },
      customData: { ...purchase.customData, eventCategory: "autumn" },
    },
    {
      msclkid_form: "as_captured",
      "event.purchase": "checkout_complete",
      "map.customData.eventCategory": "utm_campaign",
    },
  ),
  example(
    "Two conversions in one request",
    [sampleConversion(clicked), sampleConversion({ ...clicked, ...second, value: 5 })],
    [
      purchase,
      {
        ...purchase,
        eventId: second.platformEventId,
        customData: { ...purchase.customData, transactionId: "A-1002", value: 5 },
      },
    ],
  ),
  offlineExample("An event older than seven days is sent as an offline conversion", sampleConversion(late), latePurchase),
  offlineExample(
    "A late lead without click id and value, with its own goal",
    bareConversion({ name: "Lead", time: late.time }),
    { ConversionName: "Offline lead", ConversionTime: "2026-10-20T18:45:10Z", HashedEmailAddress: em },
    { offline_goals: '{"lead":"Offline lead"}' },
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

export const responses: readonly ResponseExample[] = [
  response("Accepted", 200, '{"eventsReceived":2}', twice(accepted)),
  response(
    "One event is invalid, the others were accepted",
    200,
    validationError(
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
    [accepted, rejected("HTTP 200: 'eventTime' is too old."), accepted],
  ),
  response(
    "More events are missing than are named: the batch is halved and resent",
    200,
    '{"eventsReceived":1}',
    twice(rejected("Microsoft accepted 1 of 2 events and did not name the others")),
  ),
  unreadableSuccess("{}"),
  response(
    "No event is valid",
    400,
    validationError([{ index: 0, propertyName: "data[0].eventName", errorMessage: "'eventName' is empty." }]),
    rejected("HTTP 400: 'eventName' is empty."),
  ),
  response(
    "The tag token is wrong",
    401,
    '{"error":{"code":"Unauthorized","message":"Not authorized."}}',
    unauthorized("HTTP 401: Not authorized."),
  ),
  tooManyRequests(30),
  response("Offline conversions: all accepted", 200, rows(), twice(accepted)),
  response(
    "Offline conversions: some rows failed, each for its own reason",
    200,
    rows(
      { Index: 1, Code: 5604, ErrorCode: "OfflineConversionMicrosoftClickIdInvalid", Message: "Click id." },
      { Index: 3, Code: 5615, ErrorCode: "OfflineConversionNotAcceptedForGoal", Message: "Too new." },
    ),
    [
      accepted,
      rejected("5604 OfflineConversionMicrosoftClickIdInvalid Click id."),
      accepted,
      retryLater("5615 OfflineConversionNotAcceptedForGoal Too new.", 7200),
    ],
  ),
  response(
    "Offline conversions: an unknown goal stops only its own events, which wait for the setting",
    200,
    rows({ Index: 0, Code: 5606, ErrorCode: "OfflineConversionNameInvalid", Message: "Goal." }),
    [retryLater("5606 OfflineConversionNameInvalid Goal.; waits until offline_goal is corrected", 3600), accepted],
  ),
  response(
    "Offline conversions: too many calls in a minute",
    400,
    { Errors: [{ Code: 117, ErrorCode: "CallRateExceeded", Message: "Slow down." }] },
    platformBusy("117 CallRateExceeded Slow down.", 60),
  ),
  response(
    "Offline conversions: the access token has expired",
    400,
    { Errors: [{ Code: 109, ErrorCode: "AuthenticationTokenExpired", Message: "Ended." }] },
    unauthorized("109 AuthenticationTokenExpired Ended."),
  ),
  response(
    "Offline conversions: an internal error at Microsoft",
    500,
    { Errors: [{ Code: 0, ErrorCode: "InternalError", Message: "Oh." }] },
    retryLater("0 InternalError Oh."),
  ),
];

export { confirmations } from "./confirmationExamples.ts";
export { corrections } from "./correctionExamples.ts";
