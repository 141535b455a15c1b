// Example requests and responses of LinkedIn, which serve as tests and as documentation.

import type { Conversion } from "../../kernel/event.ts";
import type { Example, ResponseExample } from "../platform.ts";
import { nameSetting } from "../shared/eventNames.ts";
import { sampleConversion, sha256 } from "../shared/sample.ts";

const email = "ec81f3ac7b2b19675bab9d54cf416f9f18cff87c97da5cca82c0f0891bc40602";
const settings = { access_token: "EXAMPLE-TOKEN", ad_account_id: "500123456", default_rule: "555001" };
const clickIds = {
  li_fat_id: { value: "4a3b5c7d-1e2f-4a5b-8c6d-7e8f9a0b1c2d", seenAt: Date.UTC(2026, 10, 10, 8, 0) },
};

const sha256Email = { idType: "SHA256_EMAIL", idValue: email };
const clicked = {
  idType: "LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID",
  idValue: "4a3b5c7d-1e2f-4a5b-8c6d-7e8f9a0b1c2d",
};

const purchase = {
  conversion: "urn:lla:llaPartnerConversion:555001",
  conversionHappenedAt: 1794648600000,
  eventId: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
  conversionValue: { currencyCode: "EUR", amount: "49.90" },
  user: { userIds: [sha256Email, clicked] },
};

const requestOf = (elements: unknown[], version = "202609"): Example["request"] => ({
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
const usual = [
  ["purchase", "555001"],
  ["lead", "555002"],
  ["qualified_lead", "555003"],
  ["signup", "555004"],
  ["add_to_cart", "555005"],
  ["begin_checkout", "555006"],
  ["subscribe", "555007"],
  ["start_trial", "555008"],
  ["view_content", "555009"],
  ["contact", "555010"],
] as const;

export const examples: readonly Example[] = [
  {
    title: "A purchase after a click on an ad",
    settings,
    conversions: [clickedConversion()],
    request: requestOf([purchase]),
  },
  {
    title: "Only a hashed email, no value",
    settings,
    conversions: [
      sampleConversion({
        value: null,
        orderId: null,
        person: { emailSha256: sha256(email) },
        browser: null,
        browserIds: {},
      }),
    ],
    request: requestOf([
      {
        conversion: purchase.conversion,
        conversionHappenedAt: 1794648600000,
        eventId: purchase.eventId,
        user: { userIds: [sha256Email] },
      },
    ]),
  },
  {
    title: "No click id: the cookie of the Insight Tag is used",
    settings,
    conversions: [
      sampleConversion({ clickIds: {}, browserIds: { li_fat_id: "4a3b5c7d-1e2f-4a5b-8c6d-7e8f9a0b1c2d" } }),
    ],
    request: requestOf([purchase]),
  },
  {
    title: "Neither click id nor cookie",
    settings,
    conversions: [sampleConversion({ clickIds: {} })],
    request: requestOf([{ ...purchase, user: { userIds: [sha256Email] } }]),
  },
  {
    title: "The order id as event id, and the visitor's IP address",
    settings: { ...settings, dedup_id: "order", ip_address: "plain", api_version: "202610" },
    conversions: [clickedConversion()],
    request: requestOf(
      [
        {
          ...purchase,
          eventId: "A-1001",
          user: {
            userIds: [sha256Email, clicked, { idType: "PLAINTEXT_IP_ADDRESS", idValue: "203.0.113.9" }],
          },
        },
      ],
      "202610",
    ),
  },
  {
    title: "Leads with their own rule and a fixed value in Swiss francs",
    settings: {
      ...settings,
      "event.lead": "urn:lla:llaPartnerConversion:555002",
      "map.conversionValue.amount": "const:120",
      "map.conversionValue.currencyCode": "const:CHF",
    },
    conversions: [clickedConversion({ name: "Lead", value: null, orderId: null })],
    request: requestOf([
      {
        ...purchase,
        conversion: "urn:lla:llaPartnerConversion:555002",
        conversionValue: { currencyCode: "CHF", amount: "120.00" },
      },
    ]),
  },
  {
    title: "Two in one request",
    settings,
    conversions: [
      clickedConversion(),
      sampleConversion({
        platformEventId: "7f9e1d02-55aa-8c33-b1e0-0a1b2c3d4e5f",
        orderId: "A-1002",
        value: 5000,
        currency: "JPY",
        clickIds: {},
      }),
    ],
    request: requestOf([
      purchase,
      {
        ...purchase,
        eventId: "7f9e1d02-55aa-8c33-b1e0-0a1b2c3d4e5f",
        conversionValue: { currencyCode: "JPY", amount: "5000" },
        user: { userIds: [sha256Email] },
      },
    ]),
  },
  ...usual.map(([name, rule]) => ({
    title: `The event ${name}`,
    settings: { access_token: "EXAMPLE-TOKEN", ad_account_id: "500123456", [nameSetting(name)]: rule },
    conversions: [clickedConversion({ name })],
    request: requestOf([{ ...purchase, conversion: `urn:lla:llaPartnerConversion:${rule}` }]),
  })),
];

const amountMissing =
  "ERROR :: /conversionValue/amount :: field is required but not found and has no default value";
const badUrn = "ERROR :: /conversion :: Invalid Urn format";
const resent = "HTTP 422: rejected because of another event in the same request";

const waits = "waits until default_rule is corrected";

export const responses: readonly ResponseExample[] = [
  {
    title: "Accepted",
    conversions: 2,
    status: 200,
    body: '{"elements":[{"status":201},{"status":201}]}',
    readings: [{ outcome: "accepted" }, { outcome: "accepted" }],
  },
  {
    title: "An element with its own status",
    conversions: 2,
    status: 200,
    body: '{"elements":[{"status":201},{"status":400,"error":{"status":400,"message":"The rule is not of the type CONVERSIONS_API"}}]}',
    readings: [
      { outcome: "accepted" },
      {
        outcome: "retry",
        error: `HTTP 400: The rule is not of the type CONVERSIONS_API; ${waits}`,
        retryAfterSeconds: 3600,
      },
    ],
  },
  {
    title: "Faults with their indexes: none was accepted",
    conversions: 3,
    status: 422,
    body: JSON.stringify({ message: `Index: 1, ${amountMissing}\n${badUrn}\n`, status: 422 }),
    readings: [
      { outcome: "retry", error: resent, retryAfterSeconds: 1 },
      { outcome: "rejected", error: `HTTP 422: ${amountMissing} ${badUrn}` },
      { outcome: "retry", error: resent, retryAfterSeconds: 1 },
    ],
  },
  {
    title: "A fault without an index",
    conversions: 2,
    status: 422,
    body: JSON.stringify({ message: badUrn, status: 422 }),
    readings: [
      { outcome: "rejected", error: `HTTP 422: ${badUrn}` },
      { outcome: "rejected", error: `HTTP 422: ${badUrn}` },
    ],
  },
  {
    title: "A rule that is not for the Conversions API",
    conversions: 1,
    status: 400,
    body: '{"message":"Conversion method must be CONVERSIONS_API","status":400}',
    readings: [
      {
        outcome: "retry",
        error: `HTTP 400: Conversion method must be CONVERSIONS_API; ${waits}`,
        retryAfterSeconds: 3600,
      },
    ],
  },
  {
    title: "The token has expired",
    conversions: 1,
    status: 401,
    body: '{"status":401,"serviceErrorCode":65600,"message":"Invalid access token"}',
    readings: [{ outcome: "unauthorized", error: "HTTP 401: Invalid access token" }],
  },
  {
    title: "The token was revoked",
    conversions: 1,
    status: 401,
    body: '{"status":401,"serviceErrorCode":65601,"message":"The token used in the request has been revoked by the user"}',
    readings: [
      {
        outcome: "unauthorized",
        error: "HTTP 401: The token used in the request has been revoked by the user",
      },
    ],
  },
  {
    title: "No access to the ad account",
    conversions: 1,
    status: 403,
    body: '{"status":403,"serviceErrorCode":100,"message":"Not enough permissions to access: conversionEvents.BATCH_CREATE"}',
    readings: [
      {
        outcome: "unauthorized",
        error: "HTTP 403: Not enough permissions to access: conversionEvents.BATCH_CREATE",
      },
    ],
  },
  {
    title: "The API version was retired",
    conversions: 1,
    status: 426,
    body: '{"status":426,"code":"NONEXISTENT_VERSION","message":"Requested version 20260901 is not active"}',
    readings: [
      {
        outcome: "unauthorized",
        error: "HTTP 426: LinkedIn has retired the API version: Requested version 20260901 is not active",
      },
    ],
  },
  {
    title: "Temporarily locked",
    conversions: 1,
    status: 423,
    body: '{"status":423,"message":"Resource is locked"}',
    readings: [{ outcome: "retry", error: "HTTP 423: Resource is locked" }],
  },
  {
    title: "Too many requests",
    conversions: 1,
    status: 429,
    headers: { "retry-after": "60" },
    body: '{"status":429,"serviceErrorCode":101,"message":"Resource level throttle limit for calls to this resource is reached"}',
    readings: [
      {
        outcome: "retry",
        error: "HTTP 429: Resource level throttle limit for calls to this resource is reached",
        retryAfterSeconds: 60,
      },
    ],
  },
  {
    title: "A gateway error",
    conversions: 2,
    status: 503,
    body: "upstream connect error",
    readings: [
      { outcome: "retry", error: "HTTP 503: upstream connect error" },
      { outcome: "retry", error: "HTTP 503: upstream connect error" },
    ],
  },
];
