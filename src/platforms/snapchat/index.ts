// Snapchat Conversions API v3: web events of a Snap Pixel, or offline ones where no page is known.

import type { Platform } from "../platform.ts";
import { verifyByTestEvent } from "../shared/verify.ts";
import { at, choicesOf, listAt, parseJson } from "../shared/json.ts";
import { dedupSetting, bearer, getRequest, limitedDataSetting, requiredSecret, tokenSettings } from "../shared/settings.ts";
import { agreedOnly } from "../shared/values.ts";
import { quality } from "./quality.ts";
import { events, fields, hasMatchKey, toRequest } from "./request.ts";
import { readResponse } from "./response.ts";

const checkId = (value: string) =>
  /^[0-9a-z][0-9a-z-]{4,63}$/i.test(value) ? null : "must be an id of letters, digits and hyphens";
const isWebAddress = (value: string) => URL.canParse(value) && /^https?:\/\//i.test(value);

const ads = "https://adsapi.snapchat.com/v1";

export const snapchat = {
  id: "snapchat",
  name: "Snapchat",
  description: "Sends conversions to a Snap Pixel with the Conversions API.",
  docs: {
    url: "https://developers.snap.com/api/marketing-api/Conversions-API/Introduction",
    checked: "2026-11-15",
  },
  guide: {
    credentials: [
      "Open Ads Manager at ads.snapchat.com, then Events Manager, and copy the id of your Snap Pixel.",
      "As an admin of the organisation open Business details and generate a Conversions API token; copy it.",
      "Pixel and token must belong to the same organisation.",
    ],
    sends: [
      ["event_name", "the event, under Snapchat's name for it"],
      ["event_time", "the time of the conversion, in seconds"],
      ["event_id", "the event id; the same as the pixel's client_dedup_id, so that Snapchat counts the pair once"],
      ["action_source", "WEB when a page is known, otherwise OFFLINE"],
      ["event_source_url", "the page of the visit without its query, or the site URL"],
      ["user_data.em, ph, fn, ln", "email, phone (digits only) and names, each as SHA-256"],
      ["user_data.sc_click_id", "the ScCid of the click, unchanged"],
      ["user_data.sc_cookie1", "the _scid cookie"],
      ["user_data.client_ip_address, client_user_agent", "IP address and user agent of the visit"],
      ["custom_data.value, currency, order_id", "value, currency and orderId"],
      ["custom_data.contents", "items: id, quantity, item_price and brand"],
      ["custom_data.content_ids, num_items", "the ids of the items, and how many pieces they are"],
    ],
    notSent: [
      "Custom event names: events that Snapchat has no name for are sent as CUSTOM_EVENT_1; you may choose CUSTOM_EVENT_2 to CUSTOM_EVENT_5 for some of them.",
      "Refunds: Snapchat cannot revoke a purchase.",
      "A purchase without a value, because Snapchat rejects the whole request.",
      "UTM fields: Snapchat has no field for them.",
      "Name and category of items: Snapchat has no field for them in an item.",
    ],
    consent:
      "Snapchat rejects events without a match key, so events of people who opted out are skipped. If one is sent, it carries limited data use.",
    testMode: "Sent to Snapchat's validation endpoint: checked, never counted.",
    limits: [
      "One invalid event fails the whole request, so the batch is halved until it is found.",
      "A pixel of a different organisation than the token's stops the connection until it is connected again; its events wait.",
      "The pixel's event and this one count once when the event id is the same within 48 hours.",
      "A lead is sent as SIGN_UP, because Snapchat has no lead; you may choose another name.",
    ],
  },
  oauth: {
    authorizeUrl: "https://accounts.snapchat.com/login/oauth2/authorize",
    tokenUrl: "https://accounts.snapchat.com/login/oauth2/access_token",
    scopes: ["snapchat-marketing-api"],
    pkce: false,
    clientAuth: "body",
    refresh: "keeps",
  },
  settings: [
    {
      name: "pixel_id",
      label: "Pixel ID",
      help: "The id of the Snap Pixel in Ads Manager, under Events Manager.",
      required: true,
      check: checkId,
    },
    requiredSecret(
      "access_token",
      "Conversions API token",
      "From Business Manager: Business details, Conversions API tokens. It is long-lived.",
    ),
    ...tokenSettings,
    {
      name: "site_url",
      label: "Site URL",
      help:
        "Snapchat requires a page with every web event. Where the page of the visit is unknown, this URL is sent; " +
        "without it, such an event is sent as an offline event.",
      check: (value) => (isWebAddress(value) ? null : "must be an http(s) address"),
    },
    dedupSetting,
    limitedDataSetting,
    {
      name: "ad_account_id",
      label: "Ad account ID",
      help: "Only to list the pixels of an ad account; not needed when you enter the pixel id yourself.",
      check: checkId,
    },
  ],
  pickers: [
    {
      setting: "ad_account_id",
      needs: ["access_token"],
      toRequest: (settings) => getRequest(`${ads}/me/organizations?with_ad_accounts=true`, bearer(settings)),
      read: (body) =>
        choicesOf(listAt(parseJson(body), "organizations").flatMap((one) => listAt(one, "organization", "ad_accounts"))),
    },
    {
      setting: "pixel_id",
      needs: ["access_token", "ad_account_id"],
      toRequest: (settings) =>
        getRequest(`${ads}/adaccounts/${encodeURIComponent(settings.ad_account_id ?? "")}/pixels`, bearer(settings)),
      read: (body) => choicesOf(listAt(parseJson(body), "pixels").map((one) => at(one, "pixel"))),
    },
  ],
  account: (settings) => (settings.pixel_id ?? "").toLowerCase(),
  ids: ["ScCid", "_scid"],
  events,
  fields,
  maxAgeDays: 37,
  batch: 2000,
  lanes: 16,
  skips: ["no_refunds", "no_match_key", "no_value"],
  matchKeys: { names: "email, phone, or IP address with user agent", has: hasMatchKey },
  toRequest: agreedOnly(toRequest),
  readResponse,
  verify: verifyByTestEvent,
  quality,
} satisfies Platform;
