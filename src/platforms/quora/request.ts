// Translates conversions to those of Quora's Conversion API.

import type { Conversion } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform } from "../platform.ts";
import { eventNameOf } from "../shared/eventNames.ts";
import { applyMapping, textField } from "../shared/mapping.ts";
import { bearer, dedupId } from "../shared/settings.ts";
import { amountOf, type Body, browserOf, unlessEmpty, validId } from "../shared/values.ts";

/** The endpoint for lists, also for a single conversion. Checked 2026-11-15. */
const endpoint = "https://api.quora.com/ads/v0/conversions";

const standard = {
  purchase: "Purchase",
  closed_won: "Purchase",
  lead: "GenerateLead",
  contact: "GenerateLead",
  signup: "CompleteRegistration",
  add_payment_info: "AddPaymentInfo",
  add_to_cart: "AddToCart",
  add_to_wishlist: "AddToWishlist",
  begin_checkout: "InitiateCheckout",
  search: "Search",
} as const;

export const events: EventNames = {
  standard,
  others: { name: "Generic" },
  // ViewContent is in the list of one connector and not of another, so it is a choice and not the name of view_item.
  choices: [...new Set<string>(Object.values(standard)), "ViewContent", "AppInstall", "Generic"],
};

export const fields: readonly Field[] = [
  textField("user.country", "Country; Quora accepts it unhashed."),
  textField("user.region", "State or region; Quora accepts it unhashed."),
  textField("user.city", "City; Quora accepts it unhashed."),
  textField("device.language", "Language of the browser, like en-US."),
];

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => ({
  method: "POST",
  url: endpoint,
  headers: { "content-type": "application/json", ...bearer(settings) },
  body: JSON.stringify({
    account_id: Number(settings.account_id),
    data: conversions.map((conversion) => toItem(conversion, settings, now)),
  }),
});

export function hasMatchKey(conversion: Conversion): boolean {
  const { address, userAgent } = browserOf(conversion);
  return Boolean(clickIdOf(conversion) || (address && userAgent));
}

function clickIdOf({ clickIds, browserIds, consent }: Conversion): string | undefined {
  if (consent === "denied") return undefined;
  return validId(clickIds.qclid?.value) ?? validId(decodeBars(browserIds.quora_qclid));
}

/** Quora's ids have the form a|b|c, and scripts encode the bars in cookies. */
const decodeBars = (cookie: string | undefined) => cookie?.replaceAll(/%7c/gi, "|");

function toItem(conversion: Conversion, settings: ConnectionSettings, now: number): Body {
  const { address, userAgent, referrer } = browserOf(conversion);
  const item: Body = {
    conversion: {
      event_name: eventNameOf(conversion, settings, events) ?? undefined,
      // Microseconds. Senders' clocks may run ahead.
      timestamp: Math.floor(Math.min(conversion.time, now)) * 1000,
      click_id: clickIdOf(conversion),
      value: valueOf(conversion, settings),
      event_id: dedupId(conversion, settings),
    },
    // Quora requires the object and wants contact data in it as plain text, which the relay does not keep.
    user: { ip: address || undefined },
    // The field has one r, as in HTTP.
    device: { user_agent: userAgent || undefined, referer: referrer || undefined },
  };
  applyMapping(item, conversion, settings, { fields, personal: "user" });
  item.device = unlessEmpty(item.device as Body);
  return item;
}

/** Whole cents in 32 bits: Quora rejects the conversion above that. */
const maxValue = 214_748.36;

/** Quora has no field for a currency: it takes values in the currency of the account, and in no other. */
function valueOf({ value, currency }: Conversion, settings: ConnectionSettings): number | undefined {
  if (value === null || value > maxValue || currency !== (settings.currency ?? "USD")) return undefined;
  return amountOf(value, currency);
}
