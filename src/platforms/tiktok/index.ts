// TikTok Events API 2.0: web events of a pixel. Nearly every response is HTTP 200; its `code` says what happened.

import type { ConnectionSettings, Platform } from "../platform.ts";
import { readVerification } from "../shared/verify.ts";
import { choicesOf, listAt, parseJson, textAt } from "../shared/json.ts";
import {
  dedupSetting,
  digits,
  expirySetting,
  getRequest,
  limitedDataSetting,
  oneOf,
  requiredSecret,
  testCodeSetting,
} from "../shared/settings.ts";
import { agreedOnly } from "../shared/values.ts";
import { api, events, fields, isSendable, toRequest } from "./request.ts";
import { readResponse } from "./response.ts";

const listPixels = (settings: ConnectionSettings) =>
  getRequest(`${api}/pixel/list/?advertiser_id=${encodeURIComponent(settings.advertiser_id ?? "")}&page_size=20`, {
    "access-token": settings.access_token ?? "",
  });

export const tiktok = {
  id: "tiktok",
  name: "TikTok",
  description: "Sends conversions to a TikTok pixel, or stages of leads to a CRM event set, with the Events API.",
  docs: { url: "https://business-api.tiktok.com/portal/docs?id=1771100865818625", checked: "2026-11-15" },
  guide: {
    credentials: [
      "Open TikTok Ads Manager as an admin or operator of the ad account, then Tools and Events Manager.",
      "Choose the pixel of your site and copy its id of letters and digits.",
      "Under Settings, Events API, generate an access token and copy it. It is long-lived.",
      "For test events: copy the code on the page Test events.",
    ],
    sends: [
      ["event", "the event, under TikTok's standard name or its own"],
      ["event_time", "the time of the conversion, in seconds"],
      ["event_id", "the event id; the same as the pixel's, so that TikTok counts the pair once"],
      ["user.email, phone", "email and phone (with country code and plus), each as SHA-256"],
      ["user.first_name, last_name", "names, each as SHA-256"],
      ["user.ttclid", "the ttclid of the click, unchanged"],
      ["user.ttp", "the _ttp cookie"],
      ["user.ip, user_agent", "IP address and user agent of the visit"],
      ["properties.value, currency, order_id", "value, currency and orderId"],
      ["properties.contents", "items: content_id, content_name, content_category, brand, price and quantity"],
      ["properties.content_ids, content_type", "the ids of the items, and product"],
      ["lead.lead_id, lead_event_source", "with event_source=crm: the mapped id of the lead, and the name of the CRM"],
      ["page.url, referrer", "the page of the visit without its query, and the referring site"],
    ],
    notSent: [
      "UTM fields, unless you map them: TikTok has no field for them.",
      "Refunds: TikTok cannot revoke a purchase.",
      "Events of apps and shops: only web events, and stages of leads, are sent.",
    ],
    consent:
      "Events of people who opted out are skipped, because nothing would be left to match. With without_person=send they are sent without personal data and with limited data use.",
    testMode:
      "Needs the test event code of the connection and shows on the page Test events. Test events never share a request with live ones.",
    limits: [
      "TikTok documents no maximum age for web events; seven days are a cautious choice. Stages of leads may be 28 days old, which a partner of TikTok documents.",
      "One invalid event fails the whole request, so the batch is halved until it is found.",
      "A pixel that TikTok does not know, or does not let the token use, stops the connection until it is connected again; its events wait.",
      "The pixel's event and this one count once when event id and name are the same within 48 hours.",
      "Ads cannot be optimised for custom event names. They have up to 50 characters; longer ones are cut, and names that TikTok reserves begin with custom_.",
    ],
  },
  oauth: {
    authorizeUrl: "https://business-api.tiktok.com/portal/auth",
    tokenUrl: `${api}/oauth2/access_token/`,
    // TikTok grants permissions when it approves the app.
    scopes: [],
    pkce: false,
    clientAuth: "body",
    tokenBody: "json",
    names: { client_id: "app_id", client_secret: "secret", code: "auth_code" },
    tokenIn: "data",
    refresh: "none",
  },
  settings: [
    {
      name: "pixel_code",
      label: "Pixel ID",
      help: "The code of letters and digits under the pixel's name in TikTok's Events Manager; or the id of a CRM event set.",
      required: true,
      check: (value) => (/^[A-Za-z0-9]{5,40}$/.test(value) ? null : "must be a code of 5 to 40 letters and digits"),
    },
    requiredSecret(
      "access_token",
      "Access token",
      "From Events Manager: the pixel, Settings, Events API, Generate access token.",
    ),
    expirySetting,
    testCodeSetting,
    dedupSetting,
    {
      name: "event_source",
      label: "Kind of events",
      help: "web: events of a pixel. crm: stages of leads, for a CRM event set; enter its id in place of the pixel's.",
      default: "web",
      ...oneOf(["web", "crm"]),
    },
    {
      name: "crm_name",
      label: "Name of the CRM",
      help: "With event_source=crm: the CRM that the stages come from, like HubSpot or Salesforce.",
      default: "CRM",
      check: (value) => (/^[\w .-]{1,100}$/.test(value) ? null : "must be letters, digits, spaces, dots and hyphens"),
    },
    limitedDataSetting,
    {
      name: "without_person",
      label: "Events without match keys",
      help:
        "skip: events without any match key, such as those of people who opted out, are not sent. send: they are sent " +
        "without personal data; TikTok seems to accept them, but cannot attribute them to an ad.",
      default: "skip",
      ...oneOf(["skip", "send"]),
    },
    {
      name: "advertiser_id",
      label: "Ad account ID",
      help: "Only to list the pixels of an ad account; not needed when you enter the pixel id yourself.",
      check: digits(5, 25),
    },
  ],
  pickers: [
    {
      setting: "pixel_code",
      needs: ["access_token", "advertiser_id"],
      toRequest: listPixels,
      // Events use the pixel code; the numeric id is for ads.
      read: (body) => choicesOf(listAt(parseJson(body), "data", "pixels"), "pixel_code", "pixel_name"),
    },
  ],
  account: (settings) => settings.pixel_code ?? "",
  ids: ["ttclid", "_ttp"],
  events,
  fields,
  // TikTok documents no limit for web events; seven days are the cautious choice.
  maxAgeDays: (_conversion, settings) => (settings.event_source === "crm" ? 28 : 7),
  batch: 1000,
  lanes: 16,
  quota: { requests: 1000, seconds: 1 },
  skips: ["no_test_code", "no_refunds", "no_match_key"],
  matchKeys: { names: "email, phone, ttclid or _ttp", has: isSendable },
  toRequest: agreedOnly(toRequest),
  readResponse,
  verify(settings) {
    if (settings.test_event_code) return { by: "test event" };
    if (!settings.advertiser_id)
      return {
        by: "nothing",
        reason: "TikTok can only be asked with test_event_code, or with advertiser_id and a token that may read it",
      };
    return readVerification(
      listPixels(settings),
      (body) => listAt(body, "data", "pixels").some((one) => textAt(one, "pixel_code") === settings.pixel_code),
      { otherwise: "the ad account has no pixel with this pixel_code among its first 20" },
    );
  },
} satisfies Platform;
