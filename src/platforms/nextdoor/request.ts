// Translates a conversion to an event of Nextdoor's Conversion API, which takes one event in a request.

import type { Conversion } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform } from "../platform.ts";
import { eventNameOf } from "../shared/eventNames.ts";
import { contentsOf } from "../shared/items.ts";
import { applyMapping, hashed, oneWordOf, textField } from "../shared/mapping.ts";
import { placeForms } from "../shared/places.ts";
import { bearer, dedupId, isLimited } from "../shared/settings.ts";
import { amountText, type Body, browserOf, unixSeconds, unlessEmpty, validId } from "../shared/values.ts";

/** Checked 2026-11-15. */
const endpoint = "https://ads.nextdoor.com/v2/api/conversions/track";
/** The account of a token. */
export const accountUrl = "https://ads.nextdoor.com/v2/api/me";

export const sources = ["website", "email", "phone_call", "chat", "physical_store", "system_generated", "other"];

const standard = {
  purchase: "purchase",
  closed_won: "purchase",
  lead: "lead",
  contact: "lead",
  signup: "sign_up",
  add_to_cart: "add_to_cart",
  begin_checkout: "initiate_checkout",
  search: "search",
  view_item: "view_content",
  add_to_wishlist: "add_to_wishlist",
  subscribe: "subscribe",
} as const;

const custom = Array.from({ length: 10 }, (_, i) => `custom_conversion_${i + 1}`);

export const events: EventNames = {
  standard,
  others: { name: "custom_conversion_1" },
  choices: [...new Set<string>(Object.values(standard)), ...custom],
  withValue: "purchase",
};

export const fields: readonly Field[] = [
  textField(
    "customer.external_id",
    "Your own id of the person, as your pixel has it; hashed before it is sent.",
    hashed((text) => text),
  ),
  textField("customer.street_address", "Street and number; hashed before it is sent.", hashed(lowerCase)),
  textField("customer.city", "City; hashed before it is sent.", hashed(placeForms.city)),
  textField("customer.state", "State or province; hashed before it is sent.", hashed(placeForms.state)),
  textField("customer.zip_code", "Postal code; hashed before it is sent.", hashed(placeForms.zip)),
  textField("customer.country", "Country; hashed before it is sent.", hashed(placeForms.country)),
  textField(
    "custom.delivery_category",
    "in_store, curbside or home_delivery.",
    oneWordOf(["in_store", "curbside", "home_delivery"]),
  ),
];

function lowerCase(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ");
}

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => ({
  method: "POST",
  url: endpoint,
  headers: { "content-type": "application/json", accept: "application/json", ...bearer(settings) },
  body: JSON.stringify(toEvent(conversions[0] as Conversion, settings, now)),
});

/** Returns undefined without a field: Nextdoor requires one. After an opt-out there is none. */
export function customerOf(conversion: Conversion, settings: ConnectionSettings): Body | undefined {
  const { person, clickIds, browserIds, consent } = conversion;
  if (consent === "denied") return undefined;
  const { address, userAgent } = browserOf(conversion);
  return unlessEmpty({
    email: person?.emailSha256,
    phone_number: settings.phone_form === "plus" ? person?.phoneSha256 : undefined,
    first_name: person?.firstNameSha256,
    last_name: person?.lastNameSha256,
    click_id: validId(clickIds.ndclid?.value) ?? validId(browserIds._ndclid),
    client_ip_address: address || undefined,
    client_user_agent: userAgent || undefined,
  });
}

const nameOf = (conversion: Conversion, settings: ConnectionSettings) => eventNameOf(conversion, settings, events) ?? "";

function toEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Body {
  const { value, currency, orderId, items } = conversion;
  const chosen = settings.action_source ?? "website";
  const page = chosen === "website" ? browserOf(conversion).page || settings.site_url : undefined;
  const event: Body = {
    event_name: nameOf(conversion, settings),
    event_id: dedupId(conversion, settings),
    event_time_epoch: unixSeconds(conversion.time, now),
    // Nextdoor requires a page of the site's verified domain with a website's event.
    action_source: chosen === "website" && !page ? "system_generated" : chosen,
    action_source_url: page || undefined,
    data_source_id: settings.data_source_id,
    partner_id: settings.partner_id || undefined,
    // The field is a text. Without it an event is live.
    test_event: conversion.mode === "test" ? "true" : undefined,
    // Nextdoor then uses the event for reports only.
    restricted_data_usage: isLimited(conversion, settings) ? 1 : undefined,
    customer: customerOf(conversion, settings),
    custom: unlessEmpty({
      // One text: the currency, directly followed by the number.
      order_value: value === null ? undefined : `${currency}${amountText(value, currency)}`,
      // Nextdoor requires an order id with an offline sale.
      order_id: orderId || (chosen === "physical_store" ? conversion.platformEventId : undefined),
    }),
  };
  if (items) ((event.custom ??= {}) as Body).product_context = contentsOf(items, currency);
  applyMapping(event, conversion, settings, { fields, personal: "customer" });
  return event;
}
