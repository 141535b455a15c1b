// Example requests and responses of X, which serve as tests and as documentation.

import type { Conversion } from "../../kernel/event.ts";
import {
  bareConversion,
  clickedAt,
  exampleBuilder,
  response,
  sampleBrowser,
  second,
  twice,
  type Example,
  type ResponseExample,
} from "../example.ts";
import { nameSetting } from "../shared/eventNames.ts";
import { accepted, rejected, retryLater, unauthorized } from "../shared/response.ts";
import { fullPerson, sampleConversion, sampleItems } from "../shared/sample.ts";

const pixel = { pixel_id: "o8z6j", access_token: "EXAMPLE-TOKEN" };
const settings = { ...pixel, default_event: "tw-o8z6j-o87ne" };
const twclid = "2-Example5c3g6Nq1kYd0";
const clickIds = { twclid: { value: twclid, seenAt: clickedAt } };

const contact = [
  { hashed_email: fullPerson.emailSha256 },
  { hashed_phone_number: fullPerson.phoneSha256 },
  { ip_address: sampleBrowser.address, user_agent: sampleBrowser.userAgent },
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
const request = (conversions: unknown[], authorisation: Record<string, string> = pixelToken): Example["request"] => ({
  method: "POST",
  url: "https://ads-api.x.com/12/measurement/conversions/o8z6j",
  headers: { "content-type": "application/json", ...authorisation },
  body: { conversions },
});

const clicked = (changes: Partial<Conversion> = {}) => sampleConversion({ clickIds, ...changes });

/** Events for which X has a type of tag; a request names only the tag. */
const usual =
  "purchase lead signup add_to_cart begin_checkout add_payment_info subscribe start_trial search view_content page_view".split(
    " ",
  );

const example = exampleBuilder(settings, request);
const eventExample = exampleBuilder(pixel, request);

export const examples: readonly Example[] = [
  example("A purchase after a click on an ad", clicked(), purchase),
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
    request: request([{ ...purchase, event_id: "o87ne" }], {
      authorization:
        'OAuth oauth_consumer_key="EXAMPLE-CONSUMER-KEY", oauth_nonce="fccae94493b1f6b787d7ec1bb57ff3be", ' +
        'oauth_signature_method="HMAC-SHA1", oauth_timestamp="1794735000", oauth_token="EXAMPLE-OAUTH-TOKEN", ' +
        'oauth_version="1.0", oauth_signature="2kO%2BAzFPHis40nE2SOiYeBZF0Mw%3D"',
    }),
  },
  example("An order with its items", clicked({ items: sampleItems }), {
    ...purchase,
    contents: [
      { content_id: "SKU-1", content_name: "Mug", content_price: 9.95, num_items: 2 },
      { content_id: "SKU-2", content_price: 30, num_items: 1 },
    ],
    number_items: 3,
  }),
  example("Only a hashed email, no value", bareConversion({ name: "purchase" }), {
    conversion_time: purchase.conversion_time,
    event_id: purchase.event_id,
    conversion_id: purchase.conversion_id,
    identifiers: contact.slice(0, 1),
  }),
  example(
    "No click id: the pixel's cookie is used",
    sampleConversion({
      clickIds: {},
      browserIds: { _twclid: `{"pixelVersion":"2.3.30","timestamp":1794297600000,"twclid":"${twclid}"}` },
    }),
    purchase,
  ),
  example("Neither click id nor cookie", sampleConversion({ clickIds: {} }), {
    ...purchase,
    identifiers: contact,
  }),
  example(
    "Sign-ups with their own tag, the order id as conversion id, and mapped fields",
    clicked({ name: "SignUp", extra: { seats: 3 } }),
    {
      ...purchase,
      event_id: "tw-o8z6j-pfq41",
      conversion_id: "A-1001",
      number_items: 3,
      description: "autumn",
    },
    {
      dedup_id: "order",
      "event.signup": "tw-o8z6j-pfq41",
      "map.number_items": "extra.seats",
      "map.description": "utm_campaign",
    },
  ),
  example(
    "Two in one request",
    [clicked(), sampleConversion({ ...second, value: 5000, currency: "JPY", clickIds: {} })],
    [
      purchase,
      {
        ...purchase,
        conversion_id: second.platformEventId,
        identifiers: contact,
        value: "5000.00",
        price_currency: "JPY",
      },
    ],
  ),
  ...usual.map((name, index) => {
    const tag = `tw-o8z6j-o87n${(index + 1).toString(36)}`;
    return eventExample(`The event ${name}`, clicked({ name }), { ...purchase, event_id: tag }, { [nameSetting(name)]: tag });
  }),
];

const resent = retryLater("HTTP 400: rejected because of another event in the same request", 1);
const badHash = "hashed_email is not a valid SHA-256 hash";

export const responses: readonly ResponseExample[] = [
  response(
    "Accepted",
    200,
    '{"request":{"params":{}},"data":{"conversions_processed":2,"debug_id":"ff16fe2b-2ae5-4b0c-a2cc-6c3a9a6e1f10"}}',
    twice(accepted),
  ),
  response(
    "An error that names no conversion: none was accepted",
    400,
    {
      errors: [{ code: "INVALID_PARAMETER", message: badHash, parameter: "hashed_email" }],
    },
    twice(rejected(`HTTP 400: INVALID_PARAMETER: ${badHash} (hashed_email)`)),
  ),
  response(
    "Every error with its index",
    400,
    {
      errors: [
        { code: "INVALID_PARAMETER", message: badHash, parameter: "conversions[1].identifiers" },
        { code: "MISSING_PARAMETER", message: "event_id is required", parameter: "conversions[1].event_id" },
      ],
    },
    [
      resent,
      rejected(
        `HTTP 400: INVALID_PARAMETER: ${badHash} (conversions[1].identifiers); ` +
          "MISSING_PARAMETER: event_id is required (conversions[1].event_id)",
      ),
      resent,
    ],
  ),
  response(
    "Two errors, one of them without an index: no conversion can be resent separately",
    400,
    {
      errors: [
        { code: "INVALID_PARAMETER", message: badHash, parameter: "conversions[0].identifiers" },
        { code: "MISSING_PARAMETER", message: "At least one user identifier must be provided" },
      ],
    },
    twice(
      rejected(
        `HTTP 400: INVALID_PARAMETER: ${badHash} (conversions[0].identifiers); ` +
          "MISSING_PARAMETER: At least one user identifier must be provided",
      ),
    ),
  ),
  response(
    "An event tag that X does not know",
    404,
    '{"errors":[{"code":"WEB_EVENT_TAG_NOT_FOUND","message":"Event ID was not found","parameter":"event_id"}]}',
    retryLater(
      "HTTP 404: WEB_EVENT_TAG_NOT_FOUND: Event ID was not found (event_id); waits until default_event is corrected",
      3600,
    ),
  ),
  response(
    "The token is rejected",
    401,
    '{"errors":[{"code":"UNAUTHORIZED_ACCESS","message":"This request is not properly authenticated"}]}',
    unauthorized("HTTP 401: UNAUTHORIZED_ACCESS: This request is not properly authenticated"),
  ),
  response(
    "The app has no access",
    403,
    '{"errors":[{"code":"UNAUTHORIZED_CLIENT_APPLICATION","message":"The client application making this request does not have access to Ads API"}]}',
    unauthorized(
      "HTTP 403: UNAUTHORIZED_CLIENT_APPLICATION: The client application making this request does not have access to Ads API",
    ),
  ),
  response(
    "Too many requests, with a time to wait",
    429,
    '{"errors":[{"code":"TOO_MANY_REQUESTS","message":"Rate limit exceeded"}]}',
    retryLater("HTTP 429: TOO_MANY_REQUESTS: Rate limit exceeded", 300),
    { "retry-after": "300", "x-rate-limit-reset": "1" },
  ),
  response(
    "Temporarily locked",
    423,
    '{"errors":[{"code":"LOCKED","message":"Try again"}]}',
    retryLater("HTTP 423: LOCKED: Try again"),
  ),
  response(
    "X is down",
    503,
    '{"errors":[{"code":"SERVICE_UNAVAILABLE","message":"Over capacity"}]}',
    twice(retryLater("HTTP 503: SERVICE_UNAVAILABLE: Over capacity")),
  ),
];
