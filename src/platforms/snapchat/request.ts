// Translates conversions to the events of Snapchat's Conversions API.

import type { Conversion, Item } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform } from "../platform.ts";
import { eventNameOf } from "../shared/eventNames.ts";
import { contentsOf, idsOf, piecesOf } from "../shared/items.ts";
import { applyMapping, idList, numberField, textField, wholeNumber } from "../shared/mapping.ts";
import { dedupId } from "../shared/settings.ts";
import { externalIdField, placeFields, processingOptions, userDataOf } from "../shared/userData.ts";
import { type Body, browserOf, orderDataOf, unixSeconds, unlessEmpty, validId } from "../shared/values.ts";

// Checked 2026-11-15.
const version = "v3";

const custom = [1, 2, 3, 4, 5].map((number) => `CUSTOM_EVENT_${number}`);

const standard = {
  purchase: "PURCHASE",
  // A deal that was won in the CRM is the sale.
  closed_won: "PURCHASE",
  // Snapchat has no lead of its own; the connection may choose another name.
  lead: "SIGN_UP",
  signup: "SIGN_UP",
  add_to_cart: "ADD_CART",
  add_to_wishlist: "ADD_TO_WISHLIST",
  begin_checkout: "START_CHECKOUT",
  add_payment_info: "ADD_BILLING",
  subscribe: "SUBSCRIBE",
  start_trial: "START_TRIAL",
  search: "SEARCH",
  view_item: "VIEW_CONTENT",
  view_item_list: "LIST_VIEW",
  page_view: "PAGE_VIEW",
  login: "LOGIN",
  save: "SAVE",
  share: "SHARE",
  reserve: "RESERVE",
  complete_tutorial: "COMPLETE_TUTORIAL",
} as const;

export const events: EventNames = {
  standard,
  // It is not documented whether Snapchat accepts custom names, so all other events share one of its five.
  others: { name: "CUSTOM_EVENT_1" },
  choices: [...new Set<string>(Object.values(standard)), ...custom],
  withValue: "PURCHASE",
};

export const fields: readonly Field[] = [
  externalIdField,
  ...placeFields,
  textField("custom_data.content_ids", "Ids of the products, separated by commas.", idList),
  textField("custom_data.content_category", "Categories of the products, separated by commas.", idList),
  numberField("custom_data.num_items", "How many items.", wholeNumber),
  textField("custom_data.search_string", "What the person searched for."),
];

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => {
  const isTest = conversions.some(({ mode }) => mode === "test");
  const pixel = encodeURIComponent(settings.pixel_id ?? "");
  return {
    method: "POST",
    url: `https://tr.snapchat.com/${version}/${pixel}/events${isTest ? "/validate" : ""}`,
    headers: { "content-type": "application/json" },
    secretQuery: { access_token: settings.access_token ?? "" },
    body: JSON.stringify({ data: conversions.map((conversion) => toEvent(conversion, settings, now)) }),
  };
};

function toEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Record<string, unknown> {
  const page = browserOf(conversion).page || settings.site_url;
  const event: Body = {
    event_name: eventNameOf(conversion, settings, events) ?? undefined,
    event_time: unixSeconds(conversion.time, now),
    event_id: dedupId(conversion, settings),
    action_source: page ? "WEB" : "OFFLINE",
    event_source_url: page || undefined,
    user_data: unlessEmpty(userData(conversion)),
    custom_data: orderDataOf(conversion),
    ...processingOptions(conversion, settings),
  };
  if (conversion.items) addItems(event, conversion.items, conversion.currency);
  applyMapping(event, conversion, settings, { fields, personal: "user_data" });
  return event;
}

function addItems(event: Body, items: readonly Item[], currency: string): void {
  const data = (event.custom_data ??= {}) as Body;
  data.contents = contentsOf(items, currency).map((content, at) => ({ ...content, brand: items[at]?.brand }));
  data.content_ids = idsOf(items);
  data.num_items = piecesOf(items);
}

export function hasMatchKey(conversion: Conversion): boolean {
  const { em, ph, client_ip_address: ip, client_user_agent: agent } = userDataOf(conversion);
  return Boolean(em || ph || (ip && agent));
}

function userData(conversion: Conversion): Body {
  const data = userDataOf(conversion);
  data.sc_click_id = validId(conversion.clickIds.ScCid?.value);
  data.sc_cookie1 = validId(conversion.browserIds._scid);
  return data;
}
