// Example requests and responses of Google Ads, which serve as tests and as documentation.

import type { Reading } from "../../kernel/event.ts";
import {
  bareConversion,
  clickedAt,
  exampleBuilder,
  response,
  sampleBrowser,
  second,
  twice,
  unreadableSuccess,
  type CorrectionExample,
  type Example,
  type ResponseExample,
} from "../example.ts";
import { accepted, rejected, retryLater, unauthorized } from "../shared/response.ts";
import { fullPerson, sampleConversion, sampleItems } from "../shared/sample.ts";

const settings = {
  customer_id: "123-456-7890",
  access_token: "EXAMPLE-TOKEN",
  conversion_action: "7700000001",
};
const withContact = { enhanced_conversions_for_leads: "on" };

const granted = { adUserData: "CONSENT_GRANTED", adPersonalization: "CONSENT_GRANTED" };
const contact = {
  userIdentifiers: [{ emailAddress: fullPerson.emailSha256 }, { phoneNumber: fullPerson.phoneSha256 }],
};

const landingPageDeviceInfo = { userAgent: sampleBrowser.userAgent };

const purchase = {
  eventTimestamp: "2026-11-14T09:30:00.000Z",
  transactionId: "A-1001",
  eventSource: "WEB",
  conversionValue: 49.9,
  currency: "EUR",
  adIdentifiers: { gclid: "EAIaIQobChMI-Example_1", landingPageDeviceInfo },
  consent: granted,
};

type Parts = { destination?: Record<string, unknown>; validateOnly?: boolean };

const request = (events: unknown[], { destination = {}, validateOnly = false }: Parts = {}): Example["request"] => ({
  method: "POST",
  url: "https://datamanager.googleapis.com/v1/events:ingest",
  headers: { "content-type": "application/json", authorization: "Bearer EXAMPLE-TOKEN" },
  body: {
    destinations: [
      {
        operatingAccount: { accountType: "GOOGLE_ADS", accountId: "1234567890" },
        productDestinationId: "7700000001",
        ...destination,
      },
    ],
    encoding: "HEX",
    events,
    validateOnly,
  },
});
const example = exampleBuilder(settings, request);

export const examples: readonly Example[] = [
  example("A purchase after an ad click", sampleConversion(), { ...purchase, userData: contact }, withContact),
  example(
    "An order with its items, of a Merchant Center account",
    sampleConversion({ items: sampleItems }),
    {
      ...purchase,
      cartData: {
        merchantId: "120000001",
        merchantFeedLabel: "DE",
        merchantFeedLanguageCode: "de",
        items: [
          { merchantProductId: "SKU-1", quantity: 2, unitPrice: 9.95 },
          { merchantProductId: "SKU-2", quantity: 1, unitPrice: 30 },
        ],
      },
    },
    { merchant_id: "120000001", feed_label: "DE", feed_language: "de" },
  ),
  example(
    "Only a hashed email and no value, with enhanced conversions for leads",
    bareConversion(),
    {
      eventTimestamp: purchase.eventTimestamp,
      transactionId: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
      eventSource: "WEB",
      userData: { userIdentifiers: [{ emailAddress: fullPerson.emailSha256 }] },
      consent: granted,
    },
    withContact,
  ),
  example("No contact hashes unless enhanced conversions for leads is on", sampleConversion(), purchase),
  example(
    "Without a click id, hashed contact data is sent if enhanced conversions for leads is on",
    sampleConversion({ clickIds: {}, browserIds: {} }),
    { ...purchase, adIdentifiers: undefined, userData: contact },
    withContact,
  ),
  example(
    "A wbraid is always sent without contact hashes",
    sampleConversion({
      clickIds: {
        wbraid: { value: "Cj8KCQ-wbraid", seenAt: Date.UTC(2026, 10, 10) },
        gbraid: { value: "0AAAA-gbraid", seenAt: Date.UTC(2026, 10, 11) },
      },
    }),
    { ...purchase, adIdentifiers: { wbraid: "Cj8KCQ-wbraid", landingPageDeviceInfo } },
    withContact,
  ),
  example("A person who denied consent, with a click id", sampleConversion({ consent: "denied", person: null }), {
    ...purchase,
    adIdentifiers: { gclid: "EAIaIQobChMI-Example_1" },
    consent: { adUserData: "CONSENT_DENIED", adPersonalization: "CONSENT_DENIED" },
  }),
  example("A test event is only validated", sampleConversion({ mode: "test" }), purchase, {}, { validateOnly: true }),
  example(
    "An account below a manager account",
    sampleConversion(),
    purchase,
    { login_customer_id: "987-654-3210" },
    { destination: { loginAccount: { accountType: "GOOGLE_ADS", accountId: "9876543210" } } },
  ),
  example(
    "Leads with their own conversion action, and the type of customer from an extra field",
    sampleConversion({ name: "Lead", extra: { customer: "NEW" } }),
    { ...purchase, eventSource: "PHONE", userProperties: { customerType: "NEW" } },
    {
      "event.lead": "7700000002",
      "map.userProperties.customerType": "extra.customer",
      event_source: "PHONE",
    },
    { destination: { productDestinationId: "7700000002" } },
  ),
  example(
    "The session of the ad click, and the visit with its IP address",
    sampleConversion({
      clickIds: {
        gclid: { value: "EAIaIQobChMI-Example_1", seenAt: clickedAt },
        gad_source: { value: "1", seenAt: clickedAt },
        gad_campaignid: { value: "17334012345", seenAt: clickedAt },
      },
    }),
    {
      ...purchase,
      adIdentifiers: {
        gclid: "EAIaIQobChMI-Example_1",
        // {"gad_source":"1","gad_campaignid":"17334012345","session_start_time_usec":"1794297600000000","landing_page_url": …}
        sessionAttributes:
          "eyJnYWRfc291cmNlIjoiMSIsImdhZF9jYW1wYWlnbmlkIjoiMTczMzQwMTIzNDUiLCJzZXNzaW9uX3N0YXJ0X3RpbWVfdXNlYyI6IjE3OTQyOTc2MDAwMDAwMDAiLCJsYW5kaW5nX3BhZ2VfdXJsIjoiaHR0cHM6Ly9zaG9wLmV4YW1wbGUuY29tL2F1dHVtbiIsImxhbmRpbmdfcGFnZV9yZWZlcnJlciI6Imh0dHBzOi8vd3d3Lmdvb2dsZS5jb20iLCJsYW5kaW5nX3BhZ2VfdXNlcl9hZ2VudCI6Ik1vemlsbGEvNS4wIChYMTE7IExpbnV4IHg4Nl82NCkgQXBwbGVXZWJLaXQvNTM3LjM2IChLSFRNTCwgbGlrZSBHZWNrbykgQ2hyb21lLzE0Mi4wLjAuMCBTYWZhcmkvNTM3LjM2In0",
        landingPageDeviceInfo: { ...landingPageDeviceInfo, ipAddress: sampleBrowser.address },
      },
    },
    { visit_data: "session_and_ip" },
  ),
  example(
    "Additional data for a conversion of the Google tag, by its order id, and a custom variable",
    sampleConversion({ orderId: "1001", utm: { utm_campaign: "autumn" } }),
    {
      ...purchase,
      transactionId: "1001",
      adIdentifiers: { gclid: "EAIaIQobChMI-Example_1" },
      userData: contact,
      customVariables: [{ variable: "campaign", value: "autumn" }],
    },
    {
      tag_conversions: "on",
      visit_data: "none",
      custom_variable_1: "campaign",
      "map.customVariables.1": "utm_campaign",
    },
  ),
  example(
    "Two conversions in one request; an order id of digits only is sent as given",
    [sampleConversion(), sampleConversion({ ...second, orderId: "1002", value: 5 })],
    [purchase, { ...purchase, transactionId: "1002", conversionValue: 5 }],
  ),
];

const failure = (
  title: string,
  code: number,
  status: string,
  message: string,
  read: Reading | Reading[],
  details: readonly Record<string, unknown>[] = [],
) => response(title, code, { error: { code, status, message, details } }, read);

const resent = retryLater("HTTP 400: rejected because of another event in the same request", 1);

const violation = (field: string, description: string, reason: string) => [
  {
    "@type": "type.googleapis.com/google.rpc.BadRequest",
    fieldViolations: [{ field, description, reason }],
  },
];

export const responses: readonly ResponseExample[] = [
  response("Accepted", 200, '{"requestId":"126365e1-16d0-4c81-9de9-f362711e250a"}', twice(accepted)),
  response(
    "Accepted, with a warning about an unused field",
    200,
    '{"requestId":"126365e1","fieldWarnings":[{"field":"events[0].cart_data","reason":"IGNORED","description":"not used"}]}',
    accepted,
  ),
  unreadableSuccess(""),
  failure(
    "One event is invalid: the others were not accepted either and are resent",
    400,
    "INVALID_ARGUMENT",
    "There was a problem with the request.",
    [resent, rejected("HTTP 400: The currency code is not supported. INVALID_CURRENCY_CODE"), resent],
    violation("events[1].currency", "The currency code is not supported.", "INVALID_CURRENCY_CODE"),
  ),
  failure(
    "An unknown conversion action: its events wait until the setting is corrected",
    400,
    "INVALID_ARGUMENT",
    "Conversion action ID is not valid.",
    twice(
      retryLater(
        "HTTP 400: Conversion action ID is not valid. INVALID_CONVERSION_ACTION_ID; waits until conversion_action is corrected",
        3600,
      ),
    ),
    violation("destinations[0].product_destination_id", "Conversion action ID is not valid.", "INVALID_CONVERSION_ACTION_ID"),
  ),
  failure(
    "A wrong conversion action that Google names on an event stops all events that use it",
    400,
    "INVALID_ARGUMENT",
    "There was a problem with the request.",
    twice(
      retryLater(
        "HTTP 400: The conversion action type is not valid. INVALID_CONVERSION_ACTION_TYPE; waits until conversion_action is corrected",
        3600,
      ),
    ),
    violation("events.events[0]", "The conversion action type is not valid.", "INVALID_CONVERSION_ACTION_TYPE"),
  ),
  failure(
    "A wrong conversion action, with a status of its own and no field",
    404,
    "NOT_FOUND",
    "The conversion action was not found.",
    retryLater(
      "HTTP 404: The conversion action was not found. INVALID_CONVERSION_ACTION_ID; waits until conversion_action is corrected",
      3600,
    ),
    [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "INVALID_CONVERSION_ACTION_ID",
      },
    ],
  ),
  failure(
    "A conversion action that is only some hours old: its events are retried every hour",
    400,
    "INVALID_ARGUMENT",
    "There was a problem with the request.",
    twice(retryLater("HTTP 400: The conversion action was created too recently. CONVERSION_ACTION_TOO_RECENTLY_CREATED", 3600)),
    violation("events.events[1]", "The conversion action was created too recently.", "CONVERSION_ACTION_TOO_RECENTLY_CREATED"),
  ),
  failure(
    "The manager account does not lead to the account: the connection waits until the setting is corrected",
    400,
    "INVALID_ARGUMENT",
    "There was a problem with the request.",
    twice(
      unauthorized("HTTP 400: The login account does not manage the operating account. OPERATING_ACCOUNT_LOGIN_ACCOUNT_MISMATCH"),
    ),
    violation(
      "events.events[0]",
      "The login account does not manage the operating account.",
      "OPERATING_ACCOUNT_LOGIN_ACCOUNT_MISMATCH",
    ),
  ),
  failure(
    "The account may not use the API: the connection waits until Google allows it",
    403,
    "PERMISSION_DENIED",
    "The account is not allowlisted.",
    unauthorized("HTTP 403: The account is not allowlisted. NOT_ALLOWLISTED"),
    [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "NOT_ALLOWLISTED" }],
  ),
  failure(
    "Enhanced conversions for leads is not enabled in the account: the events wait for it",
    400,
    "INVALID_ARGUMENT",
    "The account is not enabled.",
    unauthorized("HTTP 400: The account is not enabled. DESTINATION_ACCOUNT_NOT_ENABLED_ENHANCED_CONVERSIONS_FOR_LEADS"),
    [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "DESTINATION_ACCOUNT_NOT_ENABLED_ENHANCED_CONVERSIONS_FOR_LEADS",
      },
    ],
  ),
  failure(
    "The token has expired",
    401,
    "UNAUTHENTICATED",
    "Request had invalid authentication credentials.",
    unauthorized("HTTP 401: Request had invalid authentication credentials."),
  ),
  failure(
    "The signed-in user may not use the account",
    403,
    "PERMISSION_DENIED",
    "The caller does not have permission",
    unauthorized("HTTP 403: The caller does not have permission"),
  ),
  failure(
    "The quota of the Cloud project is used up",
    429,
    "RESOURCE_EXHAUSTED",
    "Quota exceeded",
    retryLater("HTTP 429: Quota exceeded", 37),
    [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "36.5s" }],
  ),
  failure(
    "Google is unavailable",
    503,
    "UNAVAILABLE",
    "The service is currently unavailable.",
    retryLater("HTTP 503: The service is currently unavailable."),
  ),
  failure("A temporary conflict", 409, "ABORTED", "Concurrent change", retryLater("HTTP 409: Concurrent change")),
];

export const corrections: readonly CorrectionExample[] = [
  {
    title: "Ten of an order of 49.90 were refunded",
    settings: {
      customer_id: "123-456-7890",
      access_token: "EXAMPLE-TOKEN",
      conversion_action: "7700000001",
    },
    correction: { conversion: sampleConversion(), value: 39.9, at: Date.UTC(2026, 10, 15) },
    request: {
      method: "POST",
      url: "https://datamanager.googleapis.com/v1/events:ingest",
      headers: { "content-type": "application/json", authorization: "Bearer EXAMPLE-TOKEN" },
      body: {
        destinations: [
          {
            operatingAccount: { accountType: "GOOGLE_ADS", accountId: "1234567890" },
            productDestinationId: "7700000001",
          },
        ],
        encoding: "HEX",
        events: [
          {
            eventTimestamp: "2026-11-14T09:30:00.000Z",
            transactionId: "A-1001",
            eventSource: "WEB",
            consent: { adUserData: "CONSENT_GRANTED", adPersonalization: "CONSENT_GRANTED" },
            adIdentifiers: { gclid: "EAIaIQobChMI-Example_1", landingPageDeviceInfo },
            conversionValue: 39.9,
            currency: "EUR",
          },
        ],
        validateOnly: false,
      },
    },
  },
];

export { confirmations } from "./confirmationExamples.ts";
