// Pinterest Conversions API v5: web events of an ad account. Its schema is closed, so one unknown key fails the whole
// request; otherwise every event gets its own status.

import type { Platform } from "../platform.ts";
import { verifyByTestEvent } from "../shared/verify.ts";
import { choicesOf, listAt, parseJson } from "../shared/json.ts";
import {
  dedupSetting,
  bearer,
  digits,
  getRequest,
  limitedDataSetting,
  requiredSecret,
  tokenSettings,
} from "../shared/settings.ts";
import { agreedOnly } from "../shared/values.ts";
import { quality } from "./quality.ts";
import { api, events, fields, hasMatchKey, toRequest } from "./request.ts";
import { readResponse } from "./response.ts";

export const pinterest = {
  id: "pinterest",
  name: "Pinterest",
  description: "Sends conversions to a Pinterest ad account with the Conversions API.",
  docs: { url: "https://developers.pinterest.com/docs/api/v5/events-create", checked: "2026-11-15" },
  guide: {
    credentials: [
      "Open Pinterest's Ads Manager as owner, admin, analyst, or with rights for audiences or campaigns.",
      "Copy the number of the ad account: it is in the URL of Ads Manager after advertiser.",
      "Under Conversions, set up the API and generate a conversion token; copy it.",
    ],
    sends: [
      ["event_name", "the event, under Pinterest's name for it, or custom"],
      ["event_time", "the time of the conversion, in seconds"],
      ["event_id", "the event id; the same as the tag's, so that Pinterest counts the pair once"],
      ["event_source_url", "the page of the visit, without its query"],
      ["user_data.em, ph, fn, ln", "email, phone (digits only) and names, each as SHA-256"],
      ["user_data.click_id", "the epik of the click or the _epik cookie, unchanged"],
      ["user_data.client_ip_address, client_user_agent", "IP address and user agent of the visit"],
      ["custom_data.value, currency, order_id", "value as text with the digits of its currency, currency, orderId"],
      ["custom_data.contents", "items: id, item_name, item_category, item_brand, quantity, and item_price as text"],
      ["custom_data.content_ids, num_items", "the ids of the items, and how many pieces they are"],
      ["opt_out", "true after an opt-out, otherwise false"],
    ],
    notSent: [
      "Custom event names: Pinterest accepts only custom for them.",
      "Refunds: Pinterest cannot revoke a checkout.",
      "UTM fields and custom fields: Pinterest rejects a request with an unknown key.",
    ],
    consent:
      "Pinterest rejects events without an email or an IP address with user agent, so events of people who opted out are skipped. If one is sent, it carries opt_out and limited data processing.",
    testMode: "Sent with test=true: Pinterest validates the event and records nothing.",
    limits: [
      "Pinterest documents no maximum age; the limit used here is a cautious choice.",
      "Events that arrive more than an hour late are shown as offline ones.",
      "An ad account that the token may not use stops the connection until it is connected again; its events wait.",
    ],
  },
  oauth: {
    authorizeUrl: "https://www.pinterest.com/oauth/",
    tokenUrl: `${api}/oauth/token`,
    scopes: ["ads:read", "ads:write"],
    scopeSeparator: ",",
    pkce: false,
    clientAuth: "basic",
    // Apps made before 2025-09-25 get no refresh tokens that last without it; newer ones always do.
    tokenParams: { continuous_refresh: "true" },
    refresh: "rotates",
  },
  settings: [
    {
      name: "ad_account_id",
      label: "Ad account ID",
      help: "The number of the ad account in Pinterest's Ads Manager. It is not the id of the tag.",
      required: true,
      check: digits(3, 20),
    },
    requiredSecret(
      "access_token",
      "Conversion token",
      "From Ads Manager: Conversions, Set up API, Generate new token. It is long-lived.",
    ),
    ...tokenSettings,
    dedupSetting,
    limitedDataSetting,
  ],
  pickers: [
    {
      setting: "ad_account_id",
      needs: ["access_token"],
      toRequest: (settings) => getRequest(`${api}/ad_accounts?page_size=250`, bearer(settings)),
      read: (body) => choicesOf(listAt(parseJson(body), "items")),
    },
  ],
  account: (settings) => settings.ad_account_id ?? "",
  ids: ["epik", "_epik"],
  events,
  fields,
  // Pinterest documents no limit; this is the cautious choice.
  maxAgeDays: 7,
  batch: 1000,
  lanes: 16,
  quota: { requests: 5000, seconds: 60 },
  skips: ["no_refunds", "no_match_key"],
  matchKeys: { names: "email, or IP address with user agent", has: hasMatchKey },
  toRequest: agreedOnly(toRequest),
  readResponse,
  verify: verifyByTestEvent,
  quality,
} satisfies Platform;
