// Meta Conversions API: website events of a dataset (pixel). One invalid event fails the whole request, so events
// that Meta is known to reject are skipped.

import type { ConnectionSettings, Platform } from "../platform.ts";
import { readVerification } from "../shared/verify.ts";
import { at, choicesOf, listAt, parseJson } from "../shared/json.ts";
import {
  dedupSetting,
  bearer,
  digits,
  expirySetting,
  getRequest,
  limitedDataSetting,
  oneOf,
  requiredSecret,
  testCodeSetting,
} from "../shared/settings.ts";
import { agreedOnly } from "../shared/values.ts";
import { quality } from "./quality.ts";
import { events, fields, graph, graphOf, hasMatchKey, toRequest, version } from "./request.ts";
import { readResponse } from "./response.ts";

const sources = ["website", "system_generated", "email", "phone_call", "chat", "other"];

const listRequest = (path: string, settings: ConnectionSettings) => getRequest(`${graphOf(settings)}/${path}`, bearer(settings));

export const meta = {
  id: "meta",
  name: "Meta",
  description: "Sends conversions to a dataset (pixel) of Meta for ads on Facebook and Instagram.",
  docs: {
    url: "https://developers.facebook.com/documentation/ads-commerce/conversions-api/using-the-api",
    checked: "2026-11-15",
  },
  guide: {
    credentials: [
      "Open Events Manager at business.facebook.com/events_manager and choose the dataset (pixel) of your site.",
      "Under Settings, copy the dataset id.",
      "Further down, under Conversions API, choose to set it up with a direct integration and generate an access token; copy it at once, it is shown only there. Such a token does not expire and needs no app review.",
      "For test events: copy the code on the page Test events.",
    ],
    sends: [
      ["event_name", "the event, under Meta's standard name or its own"],
      ["event_time", "the time of the conversion, in seconds"],
      ["event_id", "the event id; the same as the pixel's, so that Meta counts the pair once"],
      ["action_source", "website when the visit is known, otherwise system_generated"],
      ["event_source_url", "the page of the visit, without its query"],
      ["user_data.em, ph, fn, ln", "email, phone (digits only) and names, each as SHA-256"],
      ["user_data.lead_id", "leadId"],
      ["user_data.fbc", "the _fbc cookie, or fbclid with the time of the click"],
      ["user_data.fbp", "the _fbp cookie"],
      ["user_data.client_ip_address, client_user_agent", "IP address and user agent of the visit"],
      ["custom_data.value, currency, order_id", "value, currency and orderId"],
      ["custom_data.contents", "items: id, quantity and item_price"],
      ["custom_data.content_ids, content_type", "the ids of the items, and product"],
      ["custom_data.event_source, lead_event_source", "with conversion_leads: crm, and the name of the CRM"],
      ["original_event_data", "mapped fields: the earlier event that this one belongs to"],
      ["custom_data.num_items", "how many pieces the items are, with Purchase and InitiateCheckout"],
    ],
    notSent: [
      "UTM fields, unless you map them: Meta has no field for them.",
      "Refunds: Meta cannot revoke a purchase.",
      "A purchase without a value, because Meta rejects the whole request.",
      "Name, category and brand of items, unless you map them: Meta has one name and one category for the whole event.",
      "_fbc and _fbp cookies that are not of the form fb.1.MILLISECONDS.ID, and click ids with invalid characters.",
    ],
    consent:
      "Meta rejects events without a match key, so events of people who opted out are skipped. If one is sent, it carries opt_out and limited data use.",
    testMode:
      "Needs the test event code of the connection and shows on the page Test events. Use fictional people: Meta may count test events too.",
    limits: [
      "With conversion_leads, every stage is an event under its name; a deal that was won is Purchase, for which Meta requires a value: choose another name (event.closed_won=…) for deals without one. A stage that a lead reaches again is shown and not sent again.",
      "One invalid event fails the whole request, so the batch is halved until it is found.",
      "Meta retires each version of its API after about two years. The connection then stops until another version is set; its events wait, as they do when the token may not use the dataset.",
      "The pixel's event and this one count once when event id and name are the same within 48 hours.",
    ],
  },
  oauth: {
    authorizeUrl: `https://www.facebook.com/${version}/dialog/oauth`,
    tokenUrl: `${graph}/oauth/access_token`,
    scopes: ["ads_management", "business_management"],
    scopeSeparator: ",",
    pkce: false,
    clientAuth: "body",
    refresh: "none",
    // A user's token expires after an hour or two; this one after about sixty days.
    exchange: {
      url: `${graph}/oauth/access_token`,
      params: {
        grant_type: "fb_exchange_token",
        client_id: "{client_id}",
        client_secret: "{client_secret}",
        fb_exchange_token: "{access_token}",
      },
    },
  },
  settings: [
    // The list of datasets needs the token and the ad account.
    requiredSecret(
      "access_token",
      "Access token",
      "From Events Manager: the dataset, Settings, Conversions API, Generate access token.",
    ),
    {
      name: "ad_account_id",
      label: "Ad account",
      help: "The number of an ad account; only needed to choose the dataset from a list.",
      check: digits(5, 20),
    },
    {
      name: "pixel_id",
      label: "Dataset (pixel) ID",
      help: "The number of the dataset in Meta's Events Manager, under Settings.",
      required: true,
      check: digits(5, 20),
    },
    expirySetting,
    testCodeSetting,
    {
      name: "action_source",
      label: "Where conversions happen",
      help:
        "website: on the site; where the visit is unknown, system_generated is sent. Or always one of system_generated, " +
        "email, phone_call, chat, other.",
      default: "website",
      ...oneOf(sources),
    },
    dedupSetting,
    {
      name: "conversion_leads",
      label: "Conversion Leads",
      help: "on sends every event as a stage of a lead in your CRM, in the form of Meta's Conversion Leads. Use a connection of its own for the dataset of the CRM.",
      default: "off",
      ...oneOf(["on", "off"]),
    },
    {
      name: "crm_name",
      label: "Name of the CRM",
      help: "With conversion_leads: the CRM that the stages come from, as Events Manager shows it.",
      default: "CRM",
      check: (value) => (/^[\w .-]{1,100}$/.test(value) ? null : "must be letters, digits, spaces, dots and hyphens"),
    },
    limitedDataSetting,
    {
      name: "api_version",
      label: "Graph API version",
      help: "The version of Meta's Graph API. Change it only when Meta has retired the one that is set.",
      default: version,
      check: (value) => (/^v\d{2,3}\.\d$/.test(value) ? null : "must be a version like v25.0"),
    },
  ],
  pickers: [
    {
      setting: "ad_account_id",
      needs: ["access_token"],
      toRequest: (settings) => listRequest("me/adaccounts?fields=account_id,name&limit=200", settings),
      read: (body) => choicesOf(listAt(parseJson(body), "data"), "account_id"),
    },
    {
      setting: "pixel_id",
      needs: ["access_token", "ad_account_id"],
      toRequest: (settings) => listRequest(`act_${settings.ad_account_id ?? ""}/adspixels?fields=id,name&limit=200`, settings),
      read: (body) => choicesOf(listAt(parseJson(body), "data")),
    },
  ],
  account: (settings) => settings.pixel_id ?? "",
  ids: ["fbclid", "_fbc", "_fbp"],
  events,
  fields,
  maxAgeDays: 7,
  batch: 1000,
  lanes: 16,
  skips: ["no_test_code", "no_refunds", "no_match_key", "no_value"],
  matchKeys: { names: "email, phone, fbclid, _fbc or _fbp", has: hasMatchKey },
  toRequest: agreedOnly(toRequest),
  readResponse,
  // A token from Events Manager may read the quality of its dataset, and little else.
  verify: (settings) =>
    readVerification(
      listRequest(`dataset_quality?dataset_id=${settings.pixel_id ?? ""}&fields=web%7Bevent_name%7D`, settings),
      (body) => Array.isArray(at(body, "web")) || Array.isArray(at(body, "data")),
      { otherwise: "Meta's answer about the dataset could not be read", unchecked: "permission to send" },
    ),
  quality,
} satisfies Platform;
