// AppLovin Axon Conversion API: web events of a pixel, for which Axon requires the visitor's address and browser.

import type { Platform } from "../platform.ts";
import { nameFault } from "../shared/eventNames.ts";
import { verifyByNothing } from "../shared/verify.ts";
import { dedupSetting, oneOf, requiredSecret } from "../shared/settings.ts";
import { events, fields, hasIdentifier, skips, toRequest } from "./request.ts";
import { readResponse } from "./response.ts";

export const axon = {
  id: "axon",
  name: "AppLovin Axon",
  description: "Sends conversions of a website to AppLovin Axon, through the Conversion API.",
  docs: {
    url: "https://support.axon.ai/en/growth/promoting-your-websites/api/axon-conversion-api",
    checked: "2026-11-15",
  },
  guide: {
    credentials: [
      "In the AppLovin dashboard, open Keys and copy the event key: your pixel has the same one.",
      "Copy the Conversion API key from the same page; where it is missing, ask your representative or AppLovin's support for it.",
      "Set website to leads or restricted_leads if AppLovin set up your pixel for lead generation.",
    ],
    sends: [
      ["name", "the event, under Axon's name for it"],
      ["event_time", "the time of the conversion, in milliseconds"],
      ["event_source_url", "the page of the visit without its query; only its origin on restricted sites"],
      ["dedupe_id", "the event id, or the order id if the connection is set so; the pixel sends the same"],
      ["user_data.client_ip_address, client_user_agent", "IP address and user agent of the visit"],
      ["user_data.aleid", "aleid of the click or the cookie _axeid or axeid, unchanged"],
      ["user_data.alart", "alart of the click or the cookie _axart or axart, unchanged"],
      ["user_data.axwrt", "the cookie _axwrt or axwrt, unchanged"],
      ["user_data.email, phone", "email and phone (digits only), each as SHA-256; not on restricted sites"],
      ["data.value, currency", "value, or the price of the items where there is none, and currency"],
      [
        "data.items",
        "items: item_id, item_name (the id where there is no name), item_brand, price and quantity. Without items, or if they do not add up to the value: the order as one item of its value",
      ],
      ["data.transaction_id", "orderId of a purchase, otherwise the event id"],
    ],
    notSent: [
      "Events of people without a visit: Axon requires the page, the IP address and the user agent.",
      "Events that Axon has no name for, until you choose one, or a default: it has no custom events.",
      "A view, cart, checkout or purchase without a value and without prices of its items, because Axon rejects the whole request.",
      "Names and UTM fields: Axon has no field for them.",
      "Categories of items: Axon takes numbers of Google's product taxonomy.",
      "Refunds: Axon cannot revoke a purchase.",
    ],
    limits: [
      "One invalid event fails the whole request, so the batch is halved until it is found.",
      "Pixel and API are compared by dedupe id within five minutes, so a repeated request counts once only that long.",
      "Axon asks for the current time of an event; it does not document how old one may be.",
      "Pixels for lead generation take page_view and generate_lead only, and a lead needs a value: set lead_value for leads without one.",
      "The rate limit is not published.",
    ],
  },
  settings: [
    {
      name: "event_key",
      label: "Event key",
      help: "From the Keys page of the AppLovin dashboard; the key that your pixel is installed with.",
      required: true,
      check: (value) => (/^[\w.-]{8,200}$/.test(value) ? null : "must be a key of letters, digits, _ and -"),
    },
    requiredSecret(
      "api_key",
      "Conversion API key",
      "From the Keys page of the AppLovin dashboard, or from AppLovin's support. It is not the event key.",
    ),
    {
      name: "website",
      label: "Kind of website",
      help: "shop, leads or restricted_leads: as AppLovin set up your pixel. It decides which events and fields Axon takes.",
      default: "shop",
      ...oneOf(["shop", "leads", "restricted_leads"]),
    },
    {
      name: "default_event",
      label: "Default event",
      help: "The Axon event for events that it has no name for. Without it, these are skipped.",
      check: (value) => nameFault(value, events),
    },
    {
      name: "lead_value",
      label: "Value of a lead",
      help: "The value of leads that come without one, in the currency of the event (USD by default).",
      check: (value) => (/^\d{1,9}(?:\.\d{1,3})?$/.test(value) ? null : "must be an amount like 25 or 12.50"),
    },
    dedupSetting,
  ],
  account: (settings) => settings.event_key ?? "",
  ids: ["aleid", "alart", "_axeid", "_axart", "_axwrt", "axeid", "axart", "axwrt"],
  events,
  fields,
  batch: 100,
  lanes: 8,
  skips,
  matchKeys: { names: "aleid, alart, axwrt, email or phone", has: hasIdentifier },
  toRequest,
  readResponse,
  verify: verifyByNothing("AppLovin Axon"),
} satisfies Platform;
