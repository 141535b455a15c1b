// Klaviyo Events API: each conversion is an event on a profile. Klaviyo wants email and phone as plain text, so profiles are
// found by the id in the links of Klaviyo's messages, or by an id of the customer's own.

import type { Platform } from "../platform.ts";
import { listAt, textAt } from "../shared/json.ts";
import { readVerification } from "../shared/verify.ts";
import { dedupSetting, getRequest, oneOf, requiredSecret } from "../shared/settings.ts";
import { accountsUrl, apiHeaders, events, fields, profileOf, toRequest } from "./request.ts";
import { readResponse } from "./response.ts";

export const klaviyo = {
  id: "klaviyo",
  name: "Klaviyo",
  description: "Records conversions as events on profiles of a Klaviyo account, for segments, flows and reports.",
  docs: { url: "https://developers.klaviyo.com/en/reference/create_event", checked: "2026-11-18" },
  guide: {
    credentials: [
      "In Klaviyo, open Settings > API keys. The public API key at the top, six characters, is the account ID.",
      "Create a private API key with the scopes Events: Full Access and Accounts: Read Access; copy it.",
      "Say how people are found: map profile.external_id to your own customer id if profiles in Klaviyo have it, or set external_id=email_sha256.",
    ],
    sends: [
      ["metric", "the event, under Klaviyo's name for it or the sender's own"],
      ["time", "the time of the conversion"],
      ["value, value_currency", "value and currency"],
      ["unique_id", "the event id, or the order id if the connection is set so"],
      ["backfill", "true for late events, which then trigger no flows"],
      ["profile _kx", "_kx of a link in a message from Klaviyo, unchanged"],
      ["profile external_id", "the mapped field, or the hashed email if the connection is set so"],
      ["profile id", "the mapped field"],
      ["properties.OrderId", "orderId"],
      ["properties.utm_source, utm_medium …", "UTM fields"],
      ["properties.page_url", "the page of the visit, without its query"],
      [
        "properties.Items",
        "items: ProductID, ProductName, Quantity, ItemPrice, RowTotal, ProductCategories and Brand; all names, categories and brands also in ItemNames, Categories and Brands",
      ],
    ],
    notSent: [
      "Email, phone and names: Klaviyo wants them as plain text, and the relay keeps only hashes.",
      "Klaviyo's cookie __kla_id: it may contain the email in plain text, so the tag does not read it.",
      "Click ids of other platforms: Klaviyo has no field for them.",
    ],
    limits: [
      "An external_id that no profile has creates a new profile without contact data. With external_id=email_sha256, first write the SHA-256 of the lower-cased address into the external ID of your profiles.",
      "Events that happened longer ago than flows_within_hours are recorded without triggering flows, so that an import sends no one a message.",
      "Of several events with the same unique id, profile and metric, Klaviyo records the first.",
      "Klaviyo takes 350 requests a second and 3,500 a minute, with one event each. Its endpoint for lists is not used: it fails as a whole for an event that is sent again.",
      "Accepted means that Klaviyo will process the event; whether it found the profile is not reported.",
      "How long Klaviyo accepts a _kx is not documented; it is kept for a year.",
    ],
  },
  settings: [
    {
      name: "account_id",
      label: "Account ID",
      help: "The public API key of the account, six characters: Settings > API keys.",
      required: true,
      check: (value) => (/^[A-Za-z0-9]{6,10}$/.test(value) ? null : "must be a public API key of six letters and digits"),
    },
    requiredSecret("api_key", "Private API key", "From Settings > API keys, with the scopes events:write and accounts:read."),
    {
      name: "external_id",
      label: "External ID",
      help:
        "mapped: the field that profile.external_id is mapped to, if any. email_sha256: the hashed email where nothing is " +
        "mapped, for accounts whose profiles have that hash as their external ID.",
      default: "mapped",
      ...oneOf(["mapped", "email_sha256"]),
    },
    {
      name: "flows_within_hours",
      label: "Trigger flows within",
      help: "Hours. An event that happened longer ago is recorded without triggering flows.",
      default: "24",
      check: (value) => (/^\d{1,4}$/.test(value) ? null : "must be a number of hours, at most 9999"),
    },
    dedupSetting,
  ],
  account: (settings) => settings.account_id ?? "",
  ids: ["_kx"],
  events,
  fields,
  batch: 1,
  lanes: 16,
  quota: { requests: 3500, seconds: 60 },
  skips: ["no_test_mode", "opted_out", "no_match_key"],
  matchKeys: { names: "_kx, external id or profile id", has: profileOf },
  toRequest,
  readResponse,
  verify: (settings) =>
    readVerification(
      getRequest(accountsUrl, apiHeaders(settings)),
      (body) => listAt(body, "data").some((one) => textAt(one, "id") === settings.account_id),
      { otherwise: "the private API key belongs to another account than account_id" },
    ),
} satisfies Platform;
