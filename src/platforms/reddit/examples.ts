// Example requests and responses of Reddit, which serve as tests and as documentation.

import type { Conversion } from "../../kernel/event.ts";
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
import { accepted, rejected, retryLater, unauthorized } from "../shared/response.ts";
import { fullPerson, sampleConversion, sampleItems, withheld } from "../shared/sample.ts";

const { emailSha256: email, phoneSha256: phone } = fullPerson;
const settings = { access_token: "EXAMPLE-TOKEN", pixel_id: "a2_example123", test_id: "t2_example_test" };
const click = "3184742045291813272";
const clickIds = { rdt_cid: { value: click, seenAt: clickedAt } };
const browserIds = { _rdt_uuid: "1794297600000.b8f7eb7d-b357-437b-8bd3-e1c8166c7132" };

const user = {
  email,
  phone_number: phone,
  uuid: "b8f7eb7d-b357-437b-8bd3-e1c8166c7132",
  ip_address: sampleBrowser.address,
  user_agent: sampleBrowser.userAgent,
};
const conversionId = "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901";
const purchase = {
  event_at: 1794648600000,
  action_source: "WEBSITE",
  event_source_url: "https://shop.example.com/autumn",
  type: { tracking_type: "PURCHASE" },
  click_id: click,
  user,
  metadata: { conversion_id: conversionId, value: 49.9, currency: "EUR" },
};

const request = (events: unknown[], more: Record<string, unknown> = {}): Example["request"] => ({
  method: "POST",
  url: "https://ads-api.reddit.com/api/v3/pixels/a2_example123/conversion_events",
  headers: {
    "content-type": "application/json",
    authorization: "Bearer EXAMPLE-TOKEN",
    "user-agent": "cleancast/1",
  },
  body: { data: { ...more, events } },
});

const clicked = (changes: Partial<Conversion> = {}) => sampleConversion({ clickIds, browserIds, ...changes });

const standard = [
  ["purchase", "PURCHASE"],
  ["closed_won", "PURCHASE"],
  ["lead", "LEAD"],
  ["generate_lead", "LEAD"],
  ["signup", "SIGN_UP"],
  ["add_to_cart", "ADD_TO_CART"],
  ["add_to_wishlist", "ADD_TO_WISHLIST"],
] as const;
/** Reddit accepts no value with these. */
const withoutValue = [
  ["search", "SEARCH"],
  ["view_item", "VIEW_CONTENT"],
  ["page_view", "PAGE_VISIT"],
] as const;
const custom = [
  ["begin_checkout", "begin_checkout"],
  ["initiate_checkout", "begin_checkout"],
  ["add_payment_info", "add_payment_info"],
  ["subscribe", "subscribe"],
  ["Start Trial", "start_trial"],
  ["Quiz Done", "Quiz Done"],
] as const;

const example = exampleBuilder(settings, request);
const eventExample = (name: string, event: object) => example(`The event ${name}`, clicked({ name }), event);

export const examples: readonly Example[] = [
  example("A purchase after a click on an ad", clicked(), purchase),
  example("An order with its items", clicked({ items: sampleItems }), {
    ...purchase,
    metadata: {
      ...purchase.metadata,
      products: [
        { id: "SKU-1", name: "Mug", category: "Kitchen", item_price: 9.95, quantity: 2 },
        { id: "SKU-2", item_price: 30, quantity: 1 },
      ],
      item_count: 3,
    },
  }),
  example("Only a hashed email, no value", bareConversion({ name: "purchase" }), {
    event_at: 1794648600000,
    action_source: "WEBSITE",
    type: { tracking_type: "PURCHASE" },
    user: { email },
    metadata: { conversion_id: conversionId },
  }),
  example(
    "After an opt-out, if the connection sends events without match keys",
    sampleConversion(withheld),
    {
      event_at: 1794648600000,
      action_source: "WEBSITE",
      type: { tracking_type: "PURCHASE" },
      user: { data_processing_options: { modes: ["LDU"], country: "US", region: "US-CA" } },
      metadata: { conversion_id: conversionId, value: 49.9, currency: "EUR" },
    },
    { unmatched: "send", limited_data_region: "US-CA" },
  ),
  example("Without a click id", clicked({ clickIds: {} }), {
    event_at: purchase.event_at,
    action_source: "WEBSITE",
    event_source_url: purchase.event_source_url,
    type: purchase.type,
    user,
    metadata: purchase.metadata,
  }),
  example("A test event shows up in Event Testing", clicked({ mode: "test" }), purchase, {}, { test_id: "t2_example_test" }),
  example(
    "A chosen name, the order id as conversion id, and mapped fields",
    clicked({ name: "Booking", extra: { seats: "2", customer: "customer12345" } }),
    {
      ...purchase,
      user: {
        ...user,
        data_processing_options: { modes: ["LDU"] },
        // SHA-256 of customer12345
        external_id: "a4cc2fc5adf58a029291c1514d273989113a1d05e1d753c1d0c3a848af7109cc",
      },
      metadata: { conversion_id: "A-1001", value: 49.9, currency: "EUR", item_count: 2 },
    },
    {
      dedup_id: "order",
      limited_data: "always",
      "event.booking": "PURCHASE",
      "map.metadata.item_count": "extra.seats",
      "map.user.external_id": "extra.customer",
    },
  ),
  example(
    "A sale in a shop: contact data only",
    clicked(),
    {
      event_at: purchase.event_at,
      action_source: "PHYSICAL_STORE",
      type: purchase.type,
      user: { email, phone_number: phone },
      metadata: purchase.metadata,
    },
    { action_source: "PHYSICAL_STORE" },
  ),
  example(
    "Two in one request",
    [clicked(), clicked({ ...second, name: "Newsletter", value: 5000, currency: "JPY" })],
    [
      purchase,
      {
        ...purchase,
        type: { tracking_type: "CUSTOM", custom_event_name: "Newsletter" },
        metadata: { conversion_id: second.platformEventId, value: 5000, currency: "JPY" },
      },
    ],
  ),
  ...standard.map(([name, type]) => eventExample(name, { ...purchase, type: { tracking_type: type } })),
  ...withoutValue.map(([name, type]) =>
    eventExample(name, {
      ...purchase,
      type: { tracking_type: type },
      metadata: { conversion_id: conversionId },
    }),
  ),
  ...custom.map(([name, theirs]) =>
    eventExample(name, { ...purchase, type: { tracking_type: "CUSTOM", custom_event_name: theirs } }),
  ),
];

const resent = retryLater("HTTP 400: rejected because of another event in the same request", 1);

export const responses: readonly ResponseExample[] = [
  response("Accepted", 200, '{"data":{"message":"Successfully processed 2 conversion events."}}', twice(accepted)),
  response(
    "One invalid event fails the whole request",
    400,
    '{"error":{"code":400,"message":"There were 1 invalid conversion events. None were processed."}}',
    twice(rejected("HTTP 400: There were 1 invalid conversion events. None were processed.")),
  ),
  response(
    "A rejection that names the event",
    400,
    '{"error":{"code":400,"message":"invalid request","fields":[{"field":"data.events[2].event_at","message":"older than 7 days"}]}}',
    [resent, resent, rejected("HTTP 400: data.events[2].event_at: older than 7 days")],
  ),
  response(
    "A success that left an event out",
    200,
    '{"data":{"message":"Successfully processed 0 conversion events.","invalid_events":[{"error_message":"event_at is too old"}]}}',
    rejected("HTTP 200: event_at is too old"),
  ),
  response(
    "A success that left one of two out without naming it: both are resent separately",
    200,
    '{"data":{"message":"Successfully processed 1 conversion events.","invalid_events":[{"error_message":"event_at is too old"}]}}',
    twice(rejected("HTTP 200: event_at is too old")),
  ),
  response(
    "A success with its message at the top",
    200,
    '{"message":"Successfully processed 2 conversion events."}',
    twice(accepted),
  ),
  response(
    "A rejection of the whole request may list the invalid events",
    400,
    '{"message":"There were 1 invalid conversion events.","invalid_events":[{"error_message":"event_at is too old"}]}',
    rejected("HTTP 400: event_at is too old"),
  ),
  response(
    "A value that Reddit does not allow, with HTTP 403: the token is fine",
    403,
    '{"error":{"code":403,"message":"forbidden value","fields":[{"field":"data.events[0].metadata.currency","message":"is not allowed"}]}}',
    [
      rejected("HTTP 403: data.events[0].metadata.currency: is not allowed"),
      retryLater("HTTP 403: rejected because of another event in the same request", 1),
    ],
  ),
  response(
    "A value that Reddit does not allow for the account, with HTTP 403: the token is fine",
    403,
    '{"error":{"code":403,"message":"Forbidden","fields":[{"field":"data.events[0].user.email","message":"not allowed for this account"}]}}',
    [
      rejected("HTTP 403: data.events[0].user.email: not allowed for this account"),
      retryLater("HTTP 403: rejected because of another event in the same request", 1),
    ],
  ),
  response(
    "The same without a list of fields: the batch is halved until the event is found",
    403,
    '{"error":{"code":403,"message":"the field currency is not allowed"}}',
    twice(rejected("HTTP 403: the field currency is not allowed")),
  ),
  unreadableSuccess('{"data":{"message":"Successfully proc'),
  response(
    "The second error format",
    400,
    '{"success":false,"error":{"reason":"BAD_REQUEST","explanation":"unknown field test_mode"}}',
    rejected("HTTP 400: BAD_REQUEST: unknown field test_mode"),
  ),
  response(
    "The second error format with HTTP 200",
    200,
    '{"success":false,"error":{"reason":"BAD_REQUEST","explanation":"unknown field test_mode"}}',
    twice(rejected("HTTP 400: BAD_REQUEST: unknown field test_mode")),
  ),
  response(
    "The third error format, a bare text: the token is rejected",
    401,
    "Authorization Required",
    unauthorized("HTTP 401: Authorization Required"),
  ),
  response(
    "The token is rejected, in the second error format",
    401,
    '{"success":false,"error":{"reason":"UNAUTHORIZED","explanation":"This server could not verify that you are authorized."}}',
    unauthorized("HTTP 401: UNAUTHORIZED: This server could not verify that you are authorized."),
  ),
  response(
    "No permission for the pixel",
    403,
    '{"error":{"code":403,"message":"You\'re not authorized to post conversions to Pixel ID a2_example123."}}',
    unauthorized("HTTP 403: You're not authorized to post conversions to Pixel ID a2_example123."),
  ),
  response("No such pixel", 404, '"Not Found"', unauthorized("HTTP 404: Not Found; correct pixel_id")),
  tooManyRequests(
    10,
    '{"error":{"code":429,"message":"Too many requests/events within timeframe."}}',
    "Too many requests/events within timeframe.",
  ),
  response("Reddit is down", 503, "<html><body>upstream error</body></html>", retryLater("HTTP 503")),
];
