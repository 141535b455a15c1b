// Example requests and responses of LinkedIn, which serve as tests and as documentation.

import type { Conversion } from "../../kernel/event.ts";
import {
  bareConversion,
  clickedAt,
  exampleBuilder,
  response,
  second,
  tooManyRequests,
  twice,
  type Example,
  type ResponseExample,
} from "../example.ts";
import { nameSetting } from "../shared/eventNames.ts";
import { accepted, rejected, retryLater, unauthorized } from "../shared/response.ts";
import { fullPerson, sampleConversion } from "../shared/sample.ts";

const account = { access_token: "EXAMPLE-TOKEN", ad_account_id: "500123456" };
const settings = { ...account, default_rule: "555001" };
const clickId = "4a3b5c7d-1e2f-4a5b-8c6d-7e8f9a0b1c2d";
const clickIds = { li_fat_id: { value: clickId, seenAt: clickedAt } };

const sha256Email = { idType: "SHA256_EMAIL", idValue: fullPerson.emailSha256 };
const clicked = { idType: "LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID", idValue: clickId };

const purchase = {
  conversion: "urn:lla:llaPartnerConversion:555001",
  conversionHappenedAt: 1794648600000,
  eventId: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
  conversionValue: { currencyCode: "EUR", amount: "49.90" },
  user: { userIds: [sha256Email, clicked] },
};

const request = (elements: unknown[], version = "202609"): Example["request"] => ({
  method: "POST",
  url: "https://api.linkedin.com/rest/conversionEvents",
  headers: {
    "content-type": "application/json",
    authorization: "Bearer EXAMPLE-TOKEN",
    "linkedin-version": version,
    "x-restli-protocol-version": "2.0.0",
    "x-restli-method": "BATCH_CREATE",
  },
  body: { elements },
});

const clickedConversion = (changes: Partial<Conversion> = {}) => sampleConversion({ clickIds, ...changes });

/** Events for which LinkedIn has a type of rule; a request names only the rule. */
const usual = "purchase lead qualified_lead signup add_to_cart begin_checkout subscribe start_trial view_content contact".split(
  " ",
);

const example = exampleBuilder(settings, request);
const eventExample = exampleBuilder(account, request);

export const examples: readonly Example[] = [
  example("A purchase after a click on an ad", clickedConversion(), purchase),
  example(
    "A response to a lead gen form, and the customer's own id of the person",
    clickedConversion({ extra: { response: "abc-123", customer: "c-4711" } }),
    {
      ...purchase,
      user: { ...purchase.user, lead: "urn:li:leadGenFormResponse:abc-123", externalIds: ["c-4711"] },
    },
    { "map.user.lead": "extra.response", "map.user.externalIds": "extra.customer" },
  ),
  example("Only a hashed email, no value", bareConversion({ name: "purchase" }), {
    conversion: purchase.conversion,
    conversionHappenedAt: 1794648600000,
    eventId: purchase.eventId,
    user: { userIds: [sha256Email] },
  }),
  example(
    "No click id: the cookie of the Insight Tag is used",
    sampleConversion({ clickIds: {}, browserIds: { li_fat_id: clickId } }),
    purchase,
  ),
  example("Neither click id nor cookie", sampleConversion({ clickIds: {} }), {
    ...purchase,
    user: { userIds: [sha256Email] },
  }),
  example(
    "The order id as event id, and the visitor's IP address",
    clickedConversion(),
    {
      ...purchase,
      eventId: "A-1001",
      user: {
        userIds: [sha256Email, clicked, { idType: "PLAINTEXT_IP_ADDRESS", idValue: "203.0.113.9" }],
      },
    },
    { dedup_id: "order", ip_address: "plain", api_version: "202610" },
    "202610",
  ),
  example(
    "Leads with their own rule and a fixed value in Swiss francs",
    clickedConversion({ name: "Lead", value: null, orderId: null }),
    {
      ...purchase,
      conversion: "urn:lla:llaPartnerConversion:555002",
      conversionValue: { currencyCode: "CHF", amount: "120.00" },
    },
    {
      "event.lead": "urn:lla:llaPartnerConversion:555002",
      "map.conversionValue.amount": "const:120",
      "map.conversionValue.currencyCode": "const:CHF",
    },
  ),
  example(
    "Two in one request",
    [clickedConversion(), sampleConversion({ ...second, value: 5000, currency: "JPY", clickIds: {} })],
    [
      purchase,
      {
        ...purchase,
        eventId: second.platformEventId,
        conversionValue: { currencyCode: "JPY", amount: "5000" },
        user: { userIds: [sha256Email] },
      },
    ],
  ),
  ...usual.map((name, index) => {
    const rule = String(555001 + index);
    return eventExample(
      `The event ${name}`,
      clickedConversion({ name }),
      { ...purchase, conversion: `urn:lla:llaPartnerConversion:${rule}` },
      { [nameSetting(name)]: rule },
    );
  }),
];

const amountMissing = "ERROR :: /conversionValue/amount :: field is required but not found and has no default value";
const badUrn = "ERROR :: /conversion :: Invalid Urn format";
const resent = retryLater("HTTP 422: rejected because of another event in the same request", 1);
const waits = "waits until default_rule is corrected";

export const responses: readonly ResponseExample[] = [
  response("Accepted", 200, '{"elements":[{"status":201},{"status":201}]}', twice(accepted)),
  response(
    "An element with its own status",
    200,
    '{"elements":[{"status":201},{"status":400,"error":{"status":400,"message":"The rule is not of the type CONVERSIONS_API"}}]}',
    [accepted, retryLater(`HTTP 400: The rule is not of the type CONVERSIONS_API; ${waits}`, 3600)],
  ),
  response(
    "Errors with their indexes: no event was accepted",
    422,
    { message: `Index: 1, ${amountMissing}\n${badUrn}\n`, status: 422 },
    [resent, rejected(`HTTP 422: ${amountMissing} ${badUrn}`), resent],
  ),
  response("An error without an index", 422, { message: badUrn, status: 422 }, twice(rejected(`HTTP 422: ${badUrn}`))),
  response(
    "A rule that is not for the Conversions API",
    400,
    '{"message":"Conversion method must be CONVERSIONS_API","status":400}',
    retryLater(`HTTP 400: Conversion method must be CONVERSIONS_API; ${waits}`, 3600),
  ),
  response(
    "The token has expired",
    401,
    '{"status":401,"serviceErrorCode":65600,"message":"Invalid access token"}',
    unauthorized("HTTP 401: Invalid access token"),
  ),
  response(
    "The token was revoked",
    401,
    '{"status":401,"serviceErrorCode":65601,"message":"The token used in the request has been revoked by the user"}',
    unauthorized("HTTP 401: The token used in the request has been revoked by the user"),
  ),
  response(
    "No access to the ad account",
    403,
    '{"status":403,"serviceErrorCode":100,"message":"Not enough permissions to access: conversionEvents.BATCH_CREATE"}',
    unauthorized("HTTP 403: Not enough permissions to access: conversionEvents.BATCH_CREATE"),
  ),
  response(
    "The API version was retired",
    426,
    '{"status":426,"code":"NONEXISTENT_VERSION","message":"Requested version 20260901 is not active"}',
    unauthorized("HTTP 426: LinkedIn has retired the API version: Requested version 20260901 is not active"),
  ),
  response(
    "Temporarily locked",
    423,
    '{"status":423,"message":"Resource is locked"}',
    retryLater("HTTP 423: Resource is locked"),
  ),
  tooManyRequests(
    60,
    '{"status":429,"serviceErrorCode":101,"message":"Resource level throttle limit for calls to this resource is reached"}',
    "Resource level throttle limit for calls to this resource is reached",
  ),
  response("A gateway error", 503, "upstream connect error", twice(retryLater("HTTP 503: upstream connect error"))),
];
