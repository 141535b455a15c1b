// Translates conversions to the web events of Pinterest's Conversions API.

import type { Conversion, Item } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform } from "../platform.ts";
import { eventNameOf } from "../shared/eventNames.ts";
import { applyMapping, hashedList, idList, numberField, textField, wholeNumber } from "../shared/mapping.ts";
import { idsOf, piecesOf } from "../shared/items.ts";
import { placeForms } from "../shared/places.ts";
import { bearer, dedupId, isLimited } from "../shared/settings.ts";
import { externalIdField, placeFields, userDataOf } from "../shared/userData.ts";
import { amountText, type Body, browserOf, unixSeconds, unlessEmpty, validId } from "../shared/values.ts";

// Checked 2026-11-15.
const version = "v5";
export const api = `https://api.pinterest.com/${version}`;

const standard = {
  purchase: "checkout",
  checkout: "checkout",
  // A deal that was won in the CRM is the sale.
  closed_won: "checkout",
  lead: "lead",
  signup: "signup",
  add_to_cart: "add_to_cart",
  add_to_wishlist: "add_to_wishlist",
  begin_checkout: "initiate_checkout",
  add_payment_info: "add_payment_info",
  subscribe: "subscribe",
  start_trial: "start_trial",
  contact: "contact",
  schedule: "schedule",
  submit_application: "submit_application",
  search: "search",
  view_item: "view_content",
  view_item_list: "view_category",
  page_view: "page_visit",
  watch_video: "watch_video",
  find_location: "find_location",
  customize_product: "customize_product",
} as const;

export const events: EventNames = {
  standard,
  others: { name: "custom" },
  choices: [...new Set<string>(Object.values(standard)), "custom"],
};

const zipDigits = (zip: string) => (/\p{L}/u.test(zip) ? "" : placeForms.zip(zip).replace(/\D/g, ""));
export const fields: readonly Field[] = [
  externalIdField,
  ...placeFields.map((field) =>
    // Pinterest accepts digits only; the digits of a British code alone would be a different code.
    field.name === "user_data.zp" ? { ...field, shape: hashedList(zipDigits) } : field,
  ),
  textField("custom_data.content_name", "Name of the page or product."),
  textField("custom_data.content_category", "Category of the page or product."),
  textField("custom_data.content_brand", "Brand of the product."),
  textField("custom_data.content_ids", "Ids of the products, separated by commas.", idList),
  numberField("custom_data.num_items", "How many items.", wholeNumber),
  textField("custom_data.search_string", "What the person searched for."),
];

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => {
  const isTest = conversions.some(({ mode }) => mode === "test");
  const account = encodeURIComponent(settings.ad_account_id ?? "");
  return {
    method: "POST",
    url: `${api}/ad_accounts/${account}/events${isTest ? "?test=true" : ""}`,
    headers: { "content-type": "application/json", ...bearer(settings) },
    body: JSON.stringify({ data: conversions.map((conversion) => toEvent(conversion, settings, now)) }),
  };
};

function toEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Record<string, unknown> {
  const { value, currency, orderId } = conversion;
  const event: Body = {
    event_name: eventNameOf(conversion, settings, events) ?? undefined,
    // Offline events cannot be matched with those of the tag, and web events need no page.
    action_source: "web",
    event_time: unixSeconds(conversion.time, now),
    event_id: dedupId(conversion, settings),
    event_source_url: browserOf(conversion).page || undefined,
    opt_out: conversion.consent === "denied",
    user_data: unlessEmpty(userData(conversion)),
    custom_data: unlessEmpty({
      value: value === null ? undefined : amountText(value, currency),
      currency: value === null ? undefined : currency,
      order_id: orderId || undefined,
      opt_out_type: isLimited(conversion, settings) ? "LDP" : undefined,
    }),
  };
  if (conversion.items) addItems(event, conversion.items, currency);
  applyMapping(event, conversion, settings, { fields, personal: "user_data" });
  return event;
}

/** Prices are texts, like the value. */
function addItems(event: Body, items: readonly Item[], currency: string): void {
  const data = (event.custom_data ??= {}) as Body;
  data.contents = items.map((item) => ({
    id: item.id,
    item_name: item.name,
    item_category: item.category,
    item_brand: item.brand,
    item_price: item.price === undefined ? undefined : amountText(item.price, currency),
    quantity: item.quantity,
  }));
  data.content_ids = idsOf(items);
  data.num_items = piecesOf(items);
}

export function hasMatchKey(conversion: Conversion): boolean {
  const { em, client_ip_address: ip, client_user_agent: agent } = userDataOf(conversion);
  return Boolean(em || (ip && agent));
}

function userData(conversion: Conversion): Body {
  const data = userDataOf(conversion);
  data.click_id = validId(conversion.clickIds.epik?.value) ?? validId(conversion.browserIds._epik);
  return data;
}
