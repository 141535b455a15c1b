// Example requests and responses of X, which serve as tests and as documentation.

import type { Conversion } from "../../kernel/event.ts";
import type { Example, ResponseExample } from "../platform.ts";
import { nameSetting } from "../shared/eventNames.ts";
import { sampleConversion, sha256 } from "../shared/sample.ts";

const email = "ec81f3ac7b2b19675bab9d54cf416f9f18cff87c97da5cca82c0f0891bc40602";
const phone = "c59475d96e9f01d7d18d06cfad84dd02333207f02c0c2c5663ef2782cda0390e";
const userAgent =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";
const settings = { pixel_id: "o8z6j", access_token: "EXAMPLE-TOKEN", default_event: "tw-o8z6j-o87ne" };
const twclid = "2-Example5c3g6Nq1kYd0";
const clickIds = { twclid: { value: twclid, seenAt: Date.UTC(2026, 10, 10, 8, 0) } };

const contact = [
  { hashed_email: email },
  { hashed_phone_number: phone },
  { ip_address: "203.0.113.9", user_agent: userAgent },
];
const purchase = {
  conversion_time: "2026-11-14T09:30:00.000Z",
  event_id: "tw-o8z6j-o87ne",
  conversion_id: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
  identifiers: [{ twclid }, ...contact],
  value: "49.90",
  price_currency: "EUR",
};

const pixelToken = { "x-pixel-token": "EXAMPLE-TOKEN" };
const requestOf = (
  conversions: unknown[],
  authorisation: Record<string, string> = pixelToken,
): Example["request"] => ({
  method: "POST",
  url: "https://ads-api.x.com/12/measurement/conversions/o8z6j",
  headers: { "content-type": "application/json", ...authorisation },
  body: { conversions },
});

const clicked = (changes: Partial<Conversion> = {}) => sampleConversion({ clickIds, ...changes });

/** Events for which X has a type of tag; a request names only the tag. */
const usual = [
  ["purchase", "tw-o8z6j-o87n1"],
  ["lead", "tw-o8z6j-o87n2"],
  ["signup", "tw-o8z6j-o87n3"],
  ["add_to_cart", "tw-o8z6j-o87n4"],
  ["begin_checkout", "tw-o8z6j-o87n5"],
  ["add_payment_info", "tw-o8z6j-o87n6"],
  ["subscribe", "tw-o8z6j-o87n7"],
  ["start_trial", "tw-o8z6j-o87n8"],
  ["search", "tw-o8z6j-o87n9"],
  ["view_content", "tw-o8z6j-o87na"],
  ["page_view", "tw-o8z6j-o87nb"],
] as const;

export const examples: readonly Example[] = [
  {
    title: "A purchase after a click on an ad",
    settings,
    conversions: [clicked()],
    request: requestOf([purchase]),
  },
  {
    title: "Signed with OAuth 1.0a where there is no pixel token (signed on 15 November 2026, 9:30 UTC)",
    settings: {
      pixel_id: "o8z6j",
      default_event: "o87ne",
      consumer_key: "EXAMPLE-CONSUMER-KEY",
      consumer_secret: "EXAMPLE-CONSUMER-SECRET",
      oauth_token: "EXAMPLE-OAUTH-TOKEN",
      oauth_token_secret: "EXAMPLE-OAUTH-TOKEN-SECRET",
    },
    conversions: [clicked()],
    request: requestOf([{ ...purchase, event_id: "o87ne" }], {
      authorization:
        'OAuth oauth_consumer_key="EXAMPLE-CONSUMER-KEY", oauth_nonce="fccae94493b1f6b787d7ec1bb57ff3be", ' +
        'oauth_signature_method="HMAC-SHA1", oauth_timestamp="1794735000", oauth_token="EXAMPLE-OAUTH-TOKEN", ' +
        'oauth_version="1.0", oauth_signature="2kO%2BAzFPHis40nE2SOiYeBZF0Mw%3D"',
    }),
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
        conversion_time: purchase.conversion_time,
        event_id: purchase.event_id,
        conversion_id: purchase.conversion_id,
        identifiers: [{ hashed_email: email }],
      },
    ]),
  },
  {
    title: "No click id: the pixel's cookie is used",
    settings,
    conversions: [
      sampleConversion({
        clickIds: {},
        browserIds: { _twclid: `{"pixelVersion":"2.3.30","timestamp":1794297600000,"twclid":"${twclid}"}` },
      }),
    ],
    request: requestOf([purchase]),
  },
  {
    title: "Neither click id nor cookie",
    settings,
    conversions: [sampleConversion({ clickIds: {} })],
    request: requestOf([{ ...purchase, identifiers: contact }]),
  },
  {
    title: "Sign-ups with their own tag, the order id as conversion id, and mapped fields",
    settings: {
      ...settings,
      dedup_id: "order",
      "event.signup": "tw-o8z6j-pfq41",
      "map.number_items": "extra.seats",
      "map.description": "utm_campaign",
    },
    conversions: [clicked({ name: "SignUp", extra: { seats: 3 } })],
    request: requestOf([
      {
        ...purchase,
        event_id: "tw-o8z6j-pfq41",
        conversion_id: "A-1001",
        number_items: 3,
        description: "autumn",
      },
    ]),
  },
  {
    title: "Two in one request",
    settings,
    conversions: [
      clicked(),
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
        conversion_id: "7f9e1d02-55aa-8c33-b1e0-0a1b2c3d4e5f",
        identifiers: contact,
        value: "5000.00",
        price_currency: "JPY",
      },
    ]),
  },
  ...usual.map(([name, tag]) => ({
    title: `The event ${name}`,
    settings: { pixel_id: "o8z6j", access_token: "EXAMPLE-TOKEN", [nameSetting(name)]: tag },
    conversions: [clicked({ name })],
    request: requestOf([{ ...purchase, event_id: tag }]),
  })),
];

const resent = "HTTP 400: rejected because of another event in the same request";
const badHash = "hashed_email is not a valid SHA-256 hash";

export const responses: readonly ResponseExample[] = [
  {
    title: "Accepted",
    conversions: 2,
    status: 200,
    body: '{"request":{"params":{}},"data":{"conversions_processed":2,"debug_id":"ff16fe2b-2ae5-4b0c-a2cc-6c3a9a6e1f10"}}',
    readings: [{ outcome: "accepted" }, { outcome: "accepted" }],
  },
  {
    title: "A fault that names no conversion: none was accepted",
    conversions: 2,
    status: 400,
    body: JSON.stringify({
      errors: [{ code: "INVALID_PARAMETER", message: badHash, parameter: "hashed_email" }],
    }),
    readings: [
      { outcome: "rejected", error: `HTTP 400: INVALID_PARAMETER: ${badHash} (hashed_email)` },
      { outcome: "rejected", error: `HTTP 400: INVALID_PARAMETER: ${badHash} (hashed_email)` },
    ],
  },
  {
    title: "Every fault with its index",
    conversions: 3,
    status: 400,
    body: JSON.stringify({
      errors: [
        { code: "INVALID_PARAMETER", message: badHash, parameter: "conversions[1].identifiers" },
        { code: "MISSING_PARAMETER", message: "event_id is required", parameter: "conversions[1].event_id" },
      ],
    }),
    readings: [
      { outcome: "retry", error: resent, retryAfterSeconds: 1 },
      {
        outcome: "rejected",
        error:
          `HTTP 400: INVALID_PARAMETER: ${badHash} (conversions[1].identifiers); ` +
          "MISSING_PARAMETER: event_id is required (conversions[1].event_id)",
      },
      { outcome: "retry", error: resent, retryAfterSeconds: 1 },
    ],
  },
  {
    title: "Two faults, one of them without an index: none can be resent alone",
    conversions: 2,
    status: 400,
    body: JSON.stringify({
      errors: [
        { code: "INVALID_PARAMETER", message: badHash, parameter: "conversions[0].identifiers" },
        { code: "MISSING_PARAMETER", message: "At least one user identifier must be provided" },
      ],
    }),
    readings: Array.from({ length: 2 }, () => ({
      outcome: "rejected",
      error:
        `HTTP 400: INVALID_PARAMETER: ${badHash} (conversions[0].identifiers); ` +
        "MISSING_PARAMETER: At least one user identifier must be provided",
    })),
  },
  {
    title: "An event tag that X does not know",
    conversions: 1,
    status: 404,
    body: '{"errors":[{"code":"WEB_EVENT_TAG_NOT_FOUND","message":"Event ID was not found","parameter":"event_id"}]}',
    readings: [
      {
        outcome: "retry",
        error:
          "HTTP 404: WEB_EVENT_TAG_NOT_FOUND: Event ID was not found (event_id); waits until default_event is corrected",
        retryAfterSeconds: 3600,
      },
    ],
  },
  {
    title: "The token is rejected",
    conversions: 1,
    status: 401,
    body: '{"errors":[{"code":"UNAUTHORIZED_ACCESS","message":"This request is not properly authenticated"}]}',
    readings: [
      {
        outcome: "unauthorized",
        error: "HTTP 401: UNAUTHORIZED_ACCESS: This request is not properly authenticated",
      },
    ],
  },
  {
    title: "The app has no access",
    conversions: 1,
    status: 403,
    body: '{"errors":[{"code":"UNAUTHORIZED_CLIENT_APPLICATION","message":"The client application making this request does not have access to Ads API"}]}',
    readings: [
      {
        outcome: "unauthorized",
        error:
          "HTTP 403: UNAUTHORIZED_CLIENT_APPLICATION: The client application making this request does not have access to Ads API",
      },
    ],
  },
  {
    title: "Too many requests, with a time to wait",
    conversions: 1,
    status: 429,
    headers: { "retry-after": "300", "x-rate-limit-reset": "1" },
    body: '{"errors":[{"code":"TOO_MANY_REQUESTS","message":"Rate limit exceeded"}]}',
    readings: [
      {
        outcome: "retry",
        error: "HTTP 429: TOO_MANY_REQUESTS: Rate limit exceeded",
        retryAfterSeconds: 300,
      },
    ],
  },
  {
    title: "Temporarily locked",
    conversions: 1,
    status: 423,
    body: '{"errors":[{"code":"LOCKED","message":"Try again"}]}',
    readings: [{ outcome: "retry", error: "HTTP 423: LOCKED: Try again" }],
  },
  {
    title: "X is down",
    conversions: 2,
    status: 503,
    body: '{"errors":[{"code":"SERVICE_UNAVAILABLE","message":"Over capacity"}]}',
    readings: Array.from({ length: 2 }, () => ({
      outcome: "retry",
      error: "HTTP 503: SERVICE_UNAVAILABLE: Over capacity",
    })),
  },
];
