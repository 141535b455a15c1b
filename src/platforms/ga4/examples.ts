// Example requests and responses of Google Analytics, which serve as tests and as documentation.

import type { Conversion } from "../../kernel/event.ts";
import { bareConversion, response, tooManyRequests, type Example, type ResponseExample } from "../example.ts";
import { accepted, rejected, retryLater } from "../shared/response.ts";
import { fullPerson, sampleConversion, sampleItems, withheld } from "../shared/sample.ts";

const settings = { measurement_id: "G-AB12CD34EF", api_secret: "EXAMPLE-SECRET" };
const cookies = {
  _ga: "GA1.1.1699999999.1234567890",
  _ga_AB12CD34EF: "GS2.1.s1794640000$o3$g1$t1794640100$j60$l0$h0",
};
const eventId = "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901";
const { emailSha256: em, phoneSha256: phone } = fullPerson;

const withSession = { session_id: "1794640000", engagement_time_msec: 1 };
const order = { event_id: eventId, transaction_id: "A-1001", value: 49.9, currency: "EUR" };
const purchase = {
  client_id: "1699999999.1234567890",
  timestamp_micros: 1794648600000000,
  consent: { ad_user_data: "GRANTED", ad_personalization: "GRANTED" },
  user_data: {
    sha256_email_address: [em],
    sha256_phone_number: [phone],
  },
  events: [{ name: "purchase", params: { ...order, ...withSession } }],
};

function example(
  title: string,
  changes: Partial<Conversion>,
  body: unknown,
  { given = {}, at = "https://www.google-analytics.com/mp/collect" }: { given?: Record<string, string>; at?: string } = {},
): Example {
  return {
    title,
    settings: { ...settings, ...given },
    conversions: [sampleConversion({ browserIds: cookies, ...changes })],
    request: {
      method: "POST",
      url: `${at}?measurement_id=G-AB12CD34EF`,
      headers: { "content-type": "application/json" },
      secretQuery: { api_secret: "EXAMPLE-SECRET" },
      body,
    },
  };
}

const items = [
  {
    item_id: "SKU-1",
    item_name: "Mug",
    item_category: "Kitchen",
    item_brand: "North",
    price: 9.95,
    quantity: 2,
  },
  { item_id: "SKU-2", price: 30, quantity: 1 },
];
const returned = { id: "SKU-1", price: 9.95, quantity: 1 };

const standard = [
  ["refund", "refund"],
  ["lead", "generate_lead"],
  ["generate_lead", "generate_lead"],
  ["qualified_lead", "qualify_lead"],
  ["Closed Won", "closed_won"],
  ["signup", "sign_up"],
  ["login", "login"],
  ["view_item", "view_item"],
  ["view_item_list", "view_item_list"],
  ["select_item", "select_item"],
  ["view_promotion", "view_promotion"],
  ["select_promotion", "select_promotion"],
  ["search", "search"],
  ["add_to_wishlist", "add_to_wishlist"],
  ["add_to_cart", "add_to_cart"],
  ["remove_from_cart", "remove_from_cart"],
  ["view_cart", "view_cart"],
  ["begin_checkout", "begin_checkout"],
  ["add_payment_info", "add_payment_info"],
  ["add_shipping_info", "add_shipping_info"],
  ["page_view", "page_view"],
  ["share", "share"],
  ["download", "file_download"],
  ["complete_tutorial", "tutorial_complete"],
  ["close_convert_lead", "close_convert_lead"],
  ["view_search_results", "view_search_results"],
] as const;

export const examples: readonly Example[] = [
  example("A purchase after an ad click", {}, purchase),
  example(
    "An order with its items",
    { items: sampleItems },
    {
      ...purchase,
      events: [{ name: "purchase", params: { ...order, ...withSession, items } }],
    },
  ),
  example(
    "A refund of some items",
    { name: "refund", value: 9.95, items: [returned] },
    {
      ...purchase,
      events: [
        {
          name: "refund",
          params: {
            ...order,
            ...withSession,
            value: 9.95,
            items: [{ item_id: "SKU-1", price: 9.95, quantity: 1 }],
          },
        },
      ],
    },
  ),
  example("Only a hashed email and no value: the client id is a pseudonym", bareConversion({ consent: "unknown" }), {
    client_id: "1895895047.2726978293",
    timestamp_micros: 1794648600000000,
    user_data: { sha256_email_address: [em] },
    events: [{ name: "generate_lead", params: { event_id: eventId, engagement_time_msec: 1 } }],
  }),
  example("A person who denied consent", withheld, {
    client_id: "1537890103.1543685938",
    timestamp_micros: 1794648600000000,
    consent: { ad_user_data: "DENIED", ad_personalization: "DENIED" },
    events: [{ name: "purchase", params: { ...order, engagement_time_msec: 1 } }],
  }),
  example("No click id: none is needed", { clickIds: {} }, purchase),
  example(
    "A test event is sent to the validation server",
    { mode: "test" },
    { ...purchase, validation_behavior: "ENFORCE_RECOMMENDATIONS" },
    { at: "https://www.google-analytics.com/debug/mp/collect", given: { region: "eu" } },
  ),
  example(
    "Collected in the European Union, without contact data",
    {},
    { ...purchase, user_data: undefined },
    {
      at: "https://region1.google-analytics.com/mp/collect",
      given: { region: "eu", user_data: "off" },
    },
  ),
  example(
    "A chosen event name, a parameter from a UTM field and your own user id",
    { name: "Demo Booked", extra: { customer: "u_42" } },
    {
      ...purchase,
      user_id: "u_42",
      events: [{ name: "demo_booked", params: { ...order, ...withSession, campaign: "autumn" } }],
    },
    {
      given: {
        "event.demobooked": "demo_booked",
        "map.params.campaign": "utm_campaign",
        "map.user_id": "extra.customer",
      },
    },
  ),
  ...standard.map(([name, theirs]) =>
    example(
      `The event ${name}`,
      { name },
      {
        ...purchase,
        events: [{ name: theirs, params: { ...order, ...withSession } }],
      },
    ),
  ),
];

export const responses: readonly ResponseExample[] = [
  response("Accepted, with an empty response", 204, "", accepted),
  response("The validation server reports no error", 200, '{"validationMessages":[]}', accepted),
  response(
    "The validation server reports an error",
    200,
    '{"validationMessages":[{"fieldPath":"events","description":"Event at index: [0] has invalid name.","validationCode":"NAME_INVALID"}]}',
    rejected("NAME_INVALID events Event at index: [0] has invalid name."),
  ),
  response("The request is too large", 413, "", rejected("HTTP 413")),
  tooManyRequests(10),
  response("Google is unavailable", 503, "", retryLater("HTTP 503")),
];

export { confirmations } from "./confirmationExamples.ts";
