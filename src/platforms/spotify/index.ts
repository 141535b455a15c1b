// Spotify Ads Conversions API: events of a connection in Ads Manager, matched by address, device, email and phone.

import type { Platform } from "../platform.ts";
import { verifyByNothing } from "../shared/verify.ts";
import { dedupSetting, limitedDataSetting, oneOf, requiredSecret } from "../shared/settings.ts";
import { uuidPattern } from "../shared/values.ts";
import { events, fields, toRequest, userDataOf } from "./request.ts";
import { readResponse } from "./response.ts";

export const spotify = {
  id: "spotify",
  name: "Spotify",
  description: "Sends conversions to a connection of Spotify Ads Manager, through the Conversions API.",
  docs: { url: "https://github.com/spotify/ads-agentic-tools", checked: "2026-11-15" },
  guide: {
    credentials: [
      "In Spotify Ads Manager, as a business admin, open Events, connect a data source and choose Conversions API.",
      "Put it into the same dataset as your Spotify Pixel, if you have one: otherwise both are counted.",
      "Choose the ad accounts, and select the dataset as the measurement source of your campaigns: Spotify attributes nothing otherwise.",
      "Under View Conversions API instructions, copy the connection id, and generate a token; up to three can be active, and they do not expire.",
    ],
    sends: [
      ["event_name", "the event, under Spotify's name for it, or one of its five custom events"],
      ["event_id", "the event id, or the order id if the connection is set so; the pixel sends the same"],
      ["event_time", "the time of the conversion, as ISO 8601 with milliseconds"],
      ["user_data.ip_address", "IP address of the visit"],
      ["user_data.device_id", "the __spdt cookie of Spotify's pixel"],
      ["user_data.hashed_emails", "email as SHA-256"],
      ["user_data.hashed_phone_number", "phone as SHA-256, with the plus sign unless the connection is set otherwise"],
      ["event_details.amount, currency", "value and currency"],
      ["event_source_url", "the page of the visit without its query"],
      ["opt_out_targeting", "true for events with limited data use, otherwise false"],
    ],
    notSent: [
      "spclid: it is for the pixel; the API has no field for click ids.",
      "Custom event names: Spotify has five numbered custom events instead.",
      "Categories of content: Spotify rejects everything that is not in Google's product taxonomy.",
      "A purchase without a value, because Spotify requires one.",
      "Names, user agent, UTM fields and items: Spotify has no field for them. It has one for the name of the content, which can be mapped (items.name).",
      "Refunds: Spotify cannot revoke a purchase.",
    ],
    consent:
      "Spotify requires an identifier, so events of people who opted out are skipped. limited_data=always sends opt_out_targeting with every event: it is attributed, and not used for targeting.",
    limits: [
      "An event without a Spotify name is sent as CUSTOM_EVENT_1; choose another one with event.NAME.",
      "Spotify documents neither the size of a request nor the maximum age of an event; requests carry up to 100 events.",
      "If a request is rejected, it is halved until the invalid event is found.",
      "Pixel and API are compared by event id, within one dataset.",
    ],
  },
  settings: [
    {
      name: "connection_id",
      label: "Connection ID",
      help: "From Ads Manager: Events, View Conversions API instructions. It belongs to the same business as the token.",
      required: true,
      check: (value) => (uuidPattern.test(value) ? null : "must be a UUID, like 9eb0bb5f-0000-4000-8000-0123456789ab"),
    },
    requiredSecret(
      "access_token",
      "Conversions API token",
      "Generated in Ads Manager next to the connection id. It is not a token of the Ads API.",
    ),
    {
      name: "action_source",
      label: "Where conversions happen",
      help: "WEB, APP or OFFLINE.",
      default: "WEB",
      ...oneOf(["WEB", "APP", "OFFLINE"]),
    },
    {
      name: "phone_form",
      label: "Form of phone numbers",
      help: "Spotify does not say if the plus sign of a number is hashed: plus (with it), digits (without it) or none.",
      default: "plus",
      ...oneOf(["plus", "digits", "none"]),
    },
    dedupSetting,
    limitedDataSetting,
  ],
  account: (settings) => (settings.connection_id ?? "").toLowerCase(),
  ids: ["__spdt"],
  events,
  fields,
  batch: 100,
  lanes: 8,
  skips: ["no_test_mode", "no_refunds", "no_match_key", "no_value"],
  matchKeys: { names: "email, phone, device id or IP address", has: userDataOf },
  toRequest,
  readResponse,
  verify: verifyByNothing("Spotify"),
} satisfies Platform;
