// Quora Conversion API: attributed by click id. Its contact fields want plain data, so none is sent.

import { isCurrency } from "../../kernel/currency.ts";
import type { Platform } from "../platform.ts";
import { verifyByNothing } from "../shared/verify.ts";
import { dedupSetting, digits, requiredSecret } from "../shared/settings.ts";
import { events, fields, hasMatchKey, toRequest } from "./request.ts";
import { readResponse } from "./response.ts";

export const quora = {
  id: "quora",
  name: "Quora",
  description: "Sends conversions to a Quora Ads account, through the Conversion API.",
  docs: { url: "https://www.quora.com/ads/conversion_api_doc", checked: "2026-11-15" },
  guide: {
    credentials: [
      "In Quora Ads Manager, copy the number of the ad account.",
      "Open the Conversion API section and generate an access token; copy it.",
      "Enter the currency of the ad account: Quora reads every value in it.",
    ],
    sends: [
      ["conversion.event_name", "the event, under Quora's name for it, or Generic"],
      ["conversion.timestamp", "the time of the conversion, in microseconds"],
      ["conversion.click_id", "qclid of the click or the quora_qclid cookie, unchanged"],
      ["conversion.event_id", "the event id, or the order id if the connection is set so"],
      ["conversion.value", "value, if its currency is that of the ad account"],
      ["user.ip", "IP address of the visit"],
      ["device.user_agent, referer", "user agent of the visit, and the origin of the page before it"],
    ],
    notSent: [
      "Email, phone and names: Quora wants them as plain text, and the relay keeps only hashes. Attribution is by click id.",
      "Values in another currency than that of the ad account: Quora has no field for the currency. The conversion is sent without a value.",
      "Values above 214,748.36: Quora rejects a conversion with such a value, so it is sent without.",
      "Custom event names: Quora accepts only Generic for them.",
      "Order ids have no field of their own; they can serve as the event id.",
      "UTM fields and items: Quora has no field for them.",
      "Refunds: Quora cannot revoke a purchase.",
    ],
    limits: [
      "Each conversion of a request is accepted or rejected on its own, with HTTP 200.",
      "A conversion without a click id is sent if IP address and user agent are known, but Quora attributes by click id.",
      "Quora takes 1,000 conversions a minute for an account. A request that would exceed them is rejected as a whole, and retried.",
      "Quora would count a conversion of more than 90 days ago as one of today.",
    ],
  },
  settings: [
    {
      name: "account_id",
      label: "Ad account ID",
      help: "The number of the ad account in Quora Ads Manager.",
      required: true,
      // Sent as a number, which is exact up to 15 digits.
      check: digits(1, 15),
    },
    requiredSecret("access_token", "Access token", "From Quora Ads Manager: the Conversion API section generates it."),
    {
      name: "currency",
      label: "Currency of the ad account",
      help: "ISO 4217 code. Values in other currencies are left out, because Quora would read them in this one.",
      default: "USD",
      check: (value) => (isCurrency(value) ? null : "must be an ISO 4217 code in capitals, like USD"),
    },
    dedupSetting,
  ],
  account: (settings) => settings.account_id ?? "",
  ids: ["qclid", "quora_qclid"],
  events,
  fields,
  maxAgeDays: 90,
  // Quora takes 1,000 a minute, and rejects a request that would exceed them as a whole: of a backlog more passes in
  // smaller requests.
  batch: 200,
  lanes: 8,
  skips: ["no_test_mode", "opted_out", "no_refunds", "no_match_key"],
  matchKeys: { names: "qclid, or IP address with user agent", has: hasMatchKey },
  toRequest,
  readResponse,
  verify: verifyByNothing("Quora"),
} satisfies Platform;
