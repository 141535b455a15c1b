// OpenAI Ads (ads in ChatGPT) Conversions API: events of a pixel, amounts in minor units, all or nothing in a request.

import type { Platform } from "../platform.ts";
import { verifyByTestEvent } from "../shared/verify.ts";
import { dedupSetting, limitedDataSetting, oneOf, requiredSecret, siteUrlSetting } from "../shared/settings.ts";
import { events, fields, hasMatchKey, sources, toRequest } from "./request.ts";
import { readResponse } from "./response.ts";

export const openaiAds = {
  id: "openai_ads",
  name: "OpenAI Ads",
  description: "Sends conversions to a pixel of OpenAI Ads (ads in ChatGPT), through the Conversions API.",
  docs: { url: "https://developers.openai.com/ads/conversions-api", checked: "2026-11-15" },
  guide: {
    credentials: [
      "In OpenAI's Ads Manager, open the Conversions tab and copy the id of the pixel.",
      "On the same tab, create a Conversions API key; it is shown once. A key of the Advertiser API or of the OpenAI platform does not work here.",
      "Create a conversion event setting for each type of event that you send (order_created, lead_created …) and attach it to your campaigns: OpenAI counts no other events.",
    ],
    sends: [
      ["id", "the event id, or the order id if the connection is set so; the pixel sends the same as event_id"],
      ["type", "the event: one of OpenAI's own, else custom with custom_event_name"],
      ["timestamp_ms", "the time of the conversion, in milliseconds"],
      ["action_source", "web where a page is known, otherwise other, unless the connection sets a different one"],
      ["source_url", "the page of the visit without its query, or the site URL"],
      ["oppref", "oppref of the click or of the __oppref cookie, unchanged"],
      ["user.obref", "the __obref cookie, unchanged"],
      ["user.emails_sha256, phone_numbers_sha256", "email and phone (digits only), each as SHA-256"],
      ["user.first_names_sha256, last_names_sha256", "names, each as SHA-256"],
      ["user.ip_address, user_agent", "IP address and user agent of the visit"],
      ["data.amount, currency", "value in minor units (4990 for 49.90 EUR), and its currency"],
      [
        "data.contents",
        "items: id, name, quantity, amount and currency, with the content_type product; for types of event that have contents",
      ],
      ["opt_out", "true for events with limited data use, otherwise false"],
    ],
    notSent: [
      "Refunds: OpenAI cannot revoke an order.",
      "UTM fields: OpenAI has no field for them.",
      "Items of leads, registrations, subscriptions and custom events, and category and brand of items: OpenAI has no field for them.",
      "Order ids have no field of their own; they can serve as the id.",
      "A click id or cookie with spaces or of more than 2048 characters.",
    ],
    consent:
      "OpenAI cannot attribute an event without an identifier, so events of people who opted out are skipped. limited_data=always sends opt_out with every event: it is counted, and not used to personalise ads.",
    testMode: "Sent with validate_only: OpenAI checks the event and stores nothing.",
    limits: [
      "One invalid event fails the whole request, so the batch is halved until it is found.",
      "OpenAI counts a conversion up to 30 days after the click, and only for types with a conversion event setting.",
      "A name that OpenAI does not have becomes a custom event of up to 64 letters, digits, _ and -: Quiz Done! is sent as quiz_done.",
      "A pixel that OpenAI does not know, or an account without the Conversions API, stops the connection until it is connected again; its events wait.",
      "Contact data is sent in lists, the newer of two forms that OpenAI has had. A test event shows if it is valid for your account.",
      "The rate limit is not published.",
    ],
  },
  settings: [
    {
      name: "pixel_id",
      label: "Pixel ID",
      help: "The id of the pixel on the Conversions tab of Ads Manager.",
      required: true,
      check: (value) => (/^[\w-]{3,80}$/.test(value) ? null : "must be an id of letters, digits, hyphens and underscores"),
    },
    requiredSecret(
      "api_key",
      "Conversions API key",
      "From the Conversions tab of Ads Manager. It is shown once, and is not the key of the Advertiser API.",
    ),
    {
      name: "action_source",
      label: "Where conversions happen",
      help: `One of ${sources.join(", ")}. OpenAI compares only web events with its pixel.`,
      default: "web",
      ...oneOf(sources),
    },
    siteUrlSetting("OpenAI", "such an event is sent with action_source other"),
    dedupSetting,
    limitedDataSetting,
  ],
  account: (settings) => settings.pixel_id ?? "",
  ids: ["oppref", "__oppref", "__obref"],
  events,
  fields,
  maxAgeDays: 7,
  batch: 1000,
  lanes: 8,
  skips: ["no_refunds", "no_match_key"],
  matchKeys: { names: "oppref, browser id, email or phone", has: hasMatchKey },
  toRequest,
  readResponse,
  verify: verifyByTestEvent,
} satisfies Platform;
