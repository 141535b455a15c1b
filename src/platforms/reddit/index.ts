// Reddit Conversions API, version 3: event times in milliseconds, names in capitals, and its own normalisation of emails.

import type { ConnectionSettings, Platform, SkipRule } from "../platform.ts";
import { eventNamesOf } from "../shared/eventNames.ts";
import { readVerification } from "../shared/verify.ts";
import { choicesOf, listAt, parseJson, textAt } from "../shared/json.ts";
import {
  bearer,
  checkToken,
  dedupSetting,
  getRequest,
  limitedDataSetting,
  oneOf,
  requiredSecret,
  tokenSettings,
} from "../shared/settings.ts";
import { base, events, fields, isSendable, sources, toRequest, userAgent } from "./request.ts";
import { readResponse } from "./response.ts";

function checkId(value: string): string | null {
  return /^[\w-]{1,64}$/.test(value) ? null : "must be an id of letters, digits and underscores, like a2_abc123";
}

const listPixels = (settings: ConnectionSettings) =>
  getRequest(`${base}/ad_accounts/${encodeURIComponent(settings.ad_account_id ?? "")}/pixels`, {
    ...bearer(settings),
    "user-agent": userAgent,
  });

const noContact: SkipRule = {
  code: "no_match_key",
  reason: "no email or phone",
  applies: (conversion, settings) =>
    settings.action_source === "PHYSICAL_STORE" && conversion.consent !== "denied" && !isSendable(conversion, settings),
};

export const reddit = {
  id: "reddit",
  name: "Reddit",
  description: "Sends conversions to a pixel of Reddit Ads, through the Conversions API.",
  docs: { url: "https://ads-api.reddit.com/docs/v3/", checked: "2026-11-15" },
  guide: {
    credentials: [
      "In Reddit Ads, open Events Manager; copy the id of the pixel; it often starts with a2_ or t2_.",
      "Under Conversions API, generate a conversion access token and paste it here. It is shown once, never expires, and a business may have five.",
      "Or sign in, if your operator has set up a Reddit app with the scopes adsconversions and adsread; then the pixel can be chosen from a list.",
      "For test events, open Event Testing in Events Manager and copy the test id from there.",
    ],
    sends: [
      ["event_at", "the time of the conversion, in milliseconds"],
      [
        "type",
        "the event: one of Reddit's own, else CUSTOM with the event's name; one event for each, where event.NAME lists several",
      ],
      ["action_source", "WEBSITE, unless the connection sets another"],
      ["event_source_url", "the page of the visit, for WEBSITE only"],
      ["click_id", "rdt_cid of the click"],
      ["user.email", "the hashed email, normalised by Reddit's rules, else as the sender hashed it"],
      ["user.phone_number", "the hashed phone number, with the plus sign"],
      ["user.uuid", "_rdt_uuid, the cookie of Reddit's pixel"],
      ["user.ip_address and user.user_agent", "of the visit"],
      ["metadata.conversion_id", "the event id, or the order id if the connection is set so"],
      ["metadata.value and currency", "value and currency; not for visits, views and searches"],
      ["metadata.products", "items: id, name, category, item_price and quantity"],
      ["metadata.item_count", "how many pieces the items are; with purchases, carts, wish lists and custom events"],
    ],
    notSent: [
      "Names and UTM fields: Reddit has no field for them.",
      "Order ids have no field of their own; they can serve as the conversion id.",
      "A _rdt_uuid cookie without a UUID.",
      "Brands of items: Reddit has no field for them.",
      "Click id, cookie, IP address and user agent for conversions in a shop: Reddit accepts only contact data there.",
    ],
    consent:
      "Reddit requires match keys, so events of people who opted out are skipped. If the connection sends events without keys, theirs carry only limited data use.",
    testMode: "Sent to Event Testing with the connection's test id, one event per request; without a test id it is skipped.",
    limits: [
      "One invalid conversion fails the whole request; the others are resent without it.",
      "Sources say 5000 requests a minute or more; the lower limit is used.",
      "Pixel and API are compared by conversion id and event, within two days.",
      "Custom event names have up to 64 characters; longer ones are cut.",
      "A pixel that Reddit does not know stops the connection until it is connected again; its events wait.",
      "An email that was received as a hash follows Reddit's rules only if the tag has seen the address; otherwise the hash is sent unchanged and matches the person if there were only letters and digits before the @.",
    ],
  },
  oauth: {
    authorizeUrl: "https://www.reddit.com/api/v1/authorize",
    tokenUrl: "https://www.reddit.com/api/v1/access_token",
    scopes: ["adsconversions", "adsread"],
    pkce: false,
    clientAuth: "basic",
    authorizeParams: { duration: "permanent" },
    refresh: "keeps",
  },
  settings: [
    requiredSecret("access_token", "Conversion access token", "From Events Manager, Conversions API; or filled by signing in."),
    ...tokenSettings,
    {
      name: "ad_account_id",
      label: "Ad account",
      help: "The id of the ad account; only needed to choose the pixel from a list.",
      check: checkId,
    },
    {
      name: "pixel_id",
      label: "Pixel ID",
      help: "The id of the pixel in Events Manager, often the same as that of the ad account.",
      required: true,
      check: checkId,
    },
    {
      name: "test_id",
      testCode: true,
      label: "Test ID",
      help: "From Event Testing in Events Manager; events of test keys are sent with it and show up there.",
      check: checkToken,
    },
    {
      name: "action_source",
      label: "Where conversions happen",
      help: "WEBSITE, APP, PHYSICAL_STORE or OTHER. Reddit reports them separately and compares only WEBSITE with its pixel.",
      default: "WEBSITE",
      ...oneOf(sources),
    },
    dedupSetting,
    {
      name: "uuid_form",
      label: "Form of the browser ID",
      help: "Sources differ on how Reddit expects the _rdt_uuid cookie: id (what follows the dot) or cookie (the whole value).",
      default: "id",
      ...oneOf(["id", "cookie"]),
    },
    {
      name: "unmatched",
      label: "Events without match keys",
      help: "skip, or send: Reddit may count or reject them. Includes events of people who opted out.",
      default: "skip",
      ...oneOf(["skip", "send"]),
    },
    limitedDataSetting,
    {
      name: "limited_data_region",
      label: "Region of limited data use",
      help: "Country and region whose law requires limited data use, like US-CA; sent with limited events.",
      check: (value) => (/^[A-Z]{2}-[A-Z0-9]{1,3}$/.test(value) ? null : "must be a country and a region, like US-CA"),
    },
  ],
  pickers: [
    {
      setting: "pixel_id",
      needs: ["access_token", "ad_account_id"],
      toRequest: listPixels,
      read: (body) => choicesOf(listAt(parseJson(body), "data")),
    },
  ],
  account: (settings) => settings.pixel_id ?? "",
  ids: ["rdt_cid", "_rdt_uuid"],
  events,
  fields,
  maxAgeDays: 7,
  batch: 1000,
  lanes: 16,
  quota: { requests: 5000, seconds: 60 },
  // Event Testing shows only requests of one event.
  group: (conversion) => (conversion.mode === "test" ? conversion.platformEventId : ""),
  size: (conversion, settings) => eventNamesOf(conversion, settings, events).length,
  skips: ["no_test_code", "no_refunds", noContact, "no_match_key"],
  matchKeys: { names: "click id, email, phone, browser id, or IP address with user agent", has: isSendable },
  toRequest,
  readResponse,
  verify(settings) {
    if (settings.test_id) return { by: "test event" };
    if (!settings.ad_account_id)
      return {
        by: "nothing",
        reason: "Reddit can only be asked with test_id, or with ad_account_id and a token that may read it",
      };
    return readVerification(
      listPixels(settings),
      (body) => listAt(body, "data").some((one) => textAt(one, "id") === settings.pixel_id),
      { otherwise: "the ad account has no pixel with this pixel_id" },
    );
  },
} satisfies Platform;
