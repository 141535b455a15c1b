// X (Twitter) Conversion API for the web. In place of event names it has event tags, created in Events Manager beforehand:
// a connection sets the tag of each event.

import type { Platform } from "../platform.ts";
import { readVerification } from "../shared/verify.ts";
import { listAt } from "../shared/json.ts";
import { dedupSetting, secretSetting } from "../shared/settings.ts";
import { targetsCheck } from "../shared/targets.ts";
import { events, fields, identifiers, listAccounts, tagsOf, toRequest } from "./request.ts";
import { readResponse } from "./response.ts";

const oauthHelp = "Only without a pixel token: one of the four keys of an app that is approved for the X Ads API.";

export const x = {
  id: "x",
  name: "X",
  description: "Counts conversions for event tags of X Ads, through the Conversion API.",
  docs: { url: "https://docs.x.com/x-ads-api/measurement/web-conversions", checked: "2026-11-15" },
  guide: {
    credentials: [
      "In X Ads, open Events Manager and choose your pixel; its id is next to its name.",
      "Choose the manual installation with the Conversion API and generate an access token: it is the pixel token to paste here.",
      "Without a pixel token, paste the four OAuth 1.0a keys of an app with access to the Ads API: consumer key and secret, access token and secret, of a user who manages the ad account. Create the access token after the app was approved.",
      "Create a single event tag for each event that should count, and enter its id: event.purchase=tw-…, or one default tag for all events.",
    ],
    sends: [
      ["event_id", "the event tag that the connection has for the event; one conversion for each, where it has several"],
      ["conversion_time", "the time of the conversion, as ISO 8601 with milliseconds"],
      ["conversion_id", "the event id, or the order id if the connection is set so"],
      ["identifiers.twclid", "twclid of the click, else of the pixel's cookie"],
      ["identifiers.hashed_email", "the hashed email"],
      ["identifiers.hashed_phone_number", "the hashed phone number, with the plus sign"],
      [
        "identifiers.ip_address and user_agent",
        "the visit's IPv4 address and browser; without an IPv4 address the browser goes with another identifier",
      ],
      ["value and price_currency", "value and currency, with two decimals"],
      ["contents", "items: content_id, content_name, content_price and num_items"],
      ["number_items", "how many pieces the items are"],
    ],
    notSent: [
      "Names, page and UTM fields: X has no field for them.",
      "Order ids have no field of their own; they can serve as the conversion id, or be mapped to the description.",
      "IPv6 addresses: X accepts IPv4 only.",
      "A third decimal of currencies that have one: X is known to accept two.",
      "Click ids with invalid characters.",
      "Category and brand of items: X has no field for the brand, and does not say what content_type may be.",
    ],
    limits: [
      "X limits conversions, not requests: 60 000 per account in 15 minutes.",
      "One invalid conversion fails the whole request; the others are resent without it.",
      "An event tag that X does not know, or that is not a single event tag, stops only its own events: they wait, and are retried as soon as event.NAME or default_event is corrected (until then every hour at first, later once a day); an event with several tags waits until all of them are right. A pixel that X does not know stops the connection.",
      "The maximum age of a conversion is not documented.",
      "Pixel and API are compared within 48 hours.",
    ],
  },
  settings: [
    {
      name: "pixel_id",
      label: "Pixel ID",
      help: "The id of the pixel in Events Manager, a few letters and digits.",
      required: true,
      check: (value) => (/^[a-z0-9]{1,20}$/i.test(value) ? null : "must be letters and digits, like o8z6j"),
    },
    secretSetting("access_token", "Pixel token", "The token that Events Manager generates for the Conversion API of this pixel."),
    secretSetting("consumer_key", "Consumer key", oauthHelp),
    secretSetting("consumer_secret", "Consumer secret", oauthHelp),
    secretSetting("oauth_token", "OAuth 1.0a access token", oauthHelp),
    secretSetting("oauth_token_secret", "OAuth 1.0a token secret", oauthHelp),
    {
      name: "default_event",
      label: "Default event tag",
      help: "The tag for events without their own; several are separated by commas. Without it, only events with their own tag are sent.",
      check: targetsCheck(events),
    },
    dedupSetting,
  ],
  requires: [["access_token"], ["consumer_key", "consumer_secret", "oauth_token", "oauth_token_secret"]],
  account: (settings) => settings.pixel_id ?? "",
  ids: ["twclid", "_twclid"],
  events,
  fields,
  batch: 500,
  lanes: 16,
  // X limits conversions, not requests; the two are equal in requests of one. X answers 429 to larger batches beyond the limit.
  quota: { requests: 60_000, seconds: 900 },
  // A wrong tag fails the whole request, so only events with the same tags share one.
  group: (conversion, settings) => tagsOf(conversion, settings).join(),
  size: (conversion, settings) => tagsOf(conversion, settings).length,
  skips: ["no_test_mode", "opted_out", "no_refunds", "no_target", "no_match_key"],
  matchKeys: {
    names: "twclid, email, phone, or IPv4 address with user agent",
    has: (conversion) => identifiers(conversion).length > 0,
  },
  toRequest,
  readResponse,
  verify: (settings, now) =>
    settings.access_token
      ? {
          by: "nothing",
          reason: "X has no call that checks a pixel token; the first accepted conversion verifies it",
        }
      : readVerification(listAccounts(settings, now), (body) => listAt(body, "data").length > 0, {
          otherwise: "the keys may use no ad account of X",
          unchecked: "pixel_id",
        }),
} satisfies Platform;
