// Nextdoor Conversion API: one event in a request, and the value as one text with its currency. Nextdoor documents the
// statuses 200 and 400, and no bodies.

import type { Platform, SkipRule } from "../platform.ts";
import { chosenSetting, usualEventOf } from "../shared/eventNames.ts";
import { readVerification } from "../shared/verify.ts";
import { readBareResponse } from "../shared/readers.ts";
import { textAt } from "../shared/json.ts";
import {
  bearer,
  checkToken,
  dedupSetting,
  getRequest,
  limitedDataSetting,
  oneOf,
  requiredSecret,
  siteUrlSetting,
} from "../shared/settings.ts";
import { accountUrl, customerOf, events, fields, sources, toRequest } from "./request.ts";

/** No list of Nextdoor's events has page views, and as a custom conversion they would count as conversions. */
const noPageViews: SkipRule = {
  code: "no_name",
  reason: "Nextdoor has no name for page views; choose one in the connection",
  applies: ({ name }, settings) => usualEventOf(name) === "page_view" && chosenSetting(name, settings) === null,
};

export const nextdoor = {
  id: "nextdoor",
  name: "Nextdoor",
  description: "Sends conversions to a pixel of Nextdoor Ads Manager, through the Conversion API.",
  docs: { url: "https://developer.nextdoor.com/reference/conversions-track", checked: "2026-11-15" },
  guide: {
    credentials: [
      "In Nextdoor Ads Manager, open Assets, Pixels, and copy the id of your pixel: it is the data source id.",
      "Open the account page of Ads Manager and generate an access token for the Conversion API; copy it.",
      "Verify the domain of your website in Ads Manager: events with pages of other domains are rejected.",
      "If Nextdoor gave you a partner id, enter it too.",
    ],
    sends: [
      ["event_name", "the event, under Nextdoor's name for it, or one of its ten custom conversions"],
      ["event_id", "the event id, or the order id if the connection is set so; the pixel sends the same"],
      ["event_time_epoch", "the time of the conversion, in seconds"],
      ["action_source", "website where a page is known, otherwise system_generated, unless the connection sets a different one"],
      ["action_source_url", "the page of the visit without its query, or the site URL"],
      ["customer.email, first_name, last_name", "email and names, each as SHA-256"],
      ["customer.phone_number", "phone with the plus sign as SHA-256, if the connection is set so"],
      ["customer.click_id", "ndclid of the click or the _ndclid cookie, unchanged"],
      ["customer.client_ip_address, client_user_agent", "IP address and user agent of the visit"],
      ["custom.order_value", "currency and value as one text: EUR49.90"],
      ["custom.order_id", "orderId"],
      ["custom.product_context", "items: id, quantity and item_price"],
      ["restricted_data_usage", "1 for events with limited data use, otherwise left out"],
    ],
    notSent: [
      "Phone numbers, unless the connection is set so: sources differ on the form that Nextdoor expects.",
      "Custom event names: Nextdoor has ten numbered custom conversions instead.",
      "Refunds: Nextdoor cannot revoke a purchase.",
      "A purchase without a value, because Nextdoor rejects it.",
      "UTM fields: Nextdoor has no field for them.",
      "Name, category and brand of items: Nextdoor has no field for them.",
    ],
    consent:
      "Nextdoor requires customer data, so events of people who opted out are skipped. limited_data=always sends restricted_data_usage=1 with every event: Nextdoor uses it for reports only.",
    testMode: "Sent with test_event.",
    limits: [
      "An event without a Nextdoor name is sent as custom_conversion_1; choose another one with event.NAME.",
      "Nextdoor documents no maximum age and no rate limit.",
      "Pixel and API are compared by event id and event name.",
    ],
  },
  settings: [
    {
      name: "data_source_id",
      label: "Data source ID",
      help: "The id of the pixel in Ads Manager, under Assets, Pixels.",
      required: true,
      check: (value) => (/^[\w-]{3,64}$/.test(value) ? null : "must be an id of letters, digits and hyphens"),
    },
    requiredSecret("access_token", "Access token", "From the account page of Nextdoor Ads Manager."),
    {
      name: "partner_id",
      label: "Partner ID",
      help: "Only if Nextdoor gave you one: it is sent with every event.",
      check: checkToken,
    },
    {
      name: "action_source",
      label: "Where conversions happen",
      help: `One of ${sources.join(", ")}.`,
      default: "website",
      ...oneOf(sources),
    },
    siteUrlSetting("Nextdoor", "such an event is sent as system_generated"),
    {
      name: "phone_form",
      label: "Form of phone numbers",
      help:
        "Sources differ: Nextdoor's reference asks for E.164, its own connectors send ten digits. none leaves phones " +
        "out, plus hashes the E.164 number with its plus sign.",
      default: "none",
      ...oneOf(["none", "plus"]),
    },
    dedupSetting,
    limitedDataSetting,
  ],
  account: (settings) => settings.data_source_id ?? "",
  ids: ["ndclid", "_ndclid"],
  events,
  fields,
  batch: 1,
  lanes: 16,
  skips: ["no_refunds", noPageViews, "no_match_key", "no_value"],
  matchKeys: { names: "email, click id, IP address or user agent", has: customerOf },
  toRequest,
  readResponse: readBareResponse,
  verify: (settings) =>
    readVerification(getRequest(accountUrl, bearer(settings)), (body) => textAt(body, "id") !== "", {
      otherwise: "Nextdoor's answer about the account could not be read",
      unchecked: "data_source_id",
    }),
} satisfies Platform;
