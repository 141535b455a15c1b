// Translates conversions to events of Axon's Conversion API.

import type { Conversion, Item } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform, SkipRule, UsualSkip } from "../platform.ts";
import { eventNameOf } from "../shared/eventNames.ts";
import { priceOf, totalOf } from "../shared/items.ts";
import { applyMapping, numberField, textField } from "../shared/mapping.ts";
import { dedupId } from "../shared/settings.ts";
import { amountOf, type Body, browserOf, moneyOf, validId } from "../shared/values.ts";

/** Checked 2026-11-15. */
const endpoint = "https://b.applovin.com/v1/event";

/** Axon requires items with these, and a value with most. */
const withItems = new Set(["view_item", "add_to_cart", "begin_checkout", "purchase"]);
const leadEvents = ["page_view", "generate_lead"];

const standard = {
  purchase: "purchase",
  closed_won: "purchase",
  lead: "generate_lead",
  contact: "generate_lead",
  signup: "sign_up",
  login: "login",
  subscribe: "subscribe",
  search: "search",
  page_view: "page_view",
  view_item: "view_item",
  view_cart: "view_cart",
  add_to_cart: "add_to_cart",
  remove_from_cart: "remove_from_cart",
  begin_checkout: "begin_checkout",
  add_payment_info: "add_payment_info",
} as const;

export const events: EventNames = {
  standard,
  // Axon has no custom events. A connection may choose one of its own for all others.
  others: "not sent",
  defaultSetting: "default_event",
  choices: [...new Set<string>(Object.values(standard)), "app_open"],
};

export const fields: readonly Field[] = [
  textField("user_data.user_id", "Your own id of the person, as your pixel has it; at least six characters.", (id) =>
    String(id).length >= 6 ? id : undefined,
  ),
  textField("user_data.country_code", "Country as two letters (US).", (value) => {
    const text = String(value).trim().toUpperCase();
    return /^[A-Z]{2}$/.test(text) ? text : undefined;
  }),
  textField("user_data.zip", "Postal code; the first five digits of a US code.", (value) =>
    String(value)
      .trim()
      .replace(/^(\d{5})-\d{4}$/, "$1"),
  ),
  numberField("data.shipping", "The cost of shipping of a purchase."),
  numberField("data.tax", "The tax of a purchase."),
];

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => ({
  method: "POST",
  url: `${endpoint}?pixel_id=${encodeURIComponent(settings.event_key ?? "")}`,
  // The key alone, without "Bearer".
  headers: { "content-type": "application/json", authorization: settings.api_key ?? "" },
  body: JSON.stringify({ events: conversions.map((conversion) => toEvent(conversion, settings, now)) }),
});

const isRestricted = (settings: ConnectionSettings) => settings.website === "restricted_leads";
const isForLeads = (settings: ConnectionSettings) => isRestricted(settings) || settings.website === "leads";

/** Returns the identifiers of the person, of which Axon requires one. Contact data is not allowed on restricted sites. */
function identifiersOf(
  { person, clickIds, browserIds, consent }: Conversion,
  settings: ConnectionSettings,
): Record<string, string> {
  if (consent === "denied") return {};
  const contact = isRestricted(settings) ? null : person;
  const identifiers = {
    aleid: validId(clickIds.aleid?.value) ?? validId(browserIds._axeid) ?? validId(browserIds.axeid),
    alart: validId(clickIds.alart?.value) ?? validId(browserIds._axart) ?? validId(browserIds.axart),
    axwrt: validId(browserIds._axwrt) ?? validId(browserIds.axwrt),
    email: contact?.emailSha256,
    phone: contact?.phoneDigitsSha256,
  };
  return Object.fromEntries(Object.entries(identifiers).flatMap(([name, id]) => (id ? [[name, id]] : [])));
}

export function hasIdentifier(conversion: Conversion, settings: ConnectionSettings): boolean {
  return Object.keys(identifiersOf(conversion, settings)).length > 0;
}

const nameOf = (conversion: Conversion, settings: ConnectionSettings) =>
  eventNameOf(conversion, settings, events) ?? settings.default_event ?? null;

/**
 * The value of a conversion; without one, what its items cost, which is how Axon defines the value, or what a lead is worth to
 * the connection.
 */
function valueOf(conversion: Conversion, settings: ConnectionSettings): number | null {
  const { value, items, currency } = conversion;
  if (value !== null) return value;
  const name = nameOf(conversion, settings);
  if (name !== null && withItems.has(name)) return (items && totalOf(items, currency)) ?? null;
  return name === "generate_lead" && settings.lead_value ? Number(settings.lead_value) : null;
}

/** True where Axon rejects the event without a value. */
function requiresValue(name: string, settings: ConnectionSettings): boolean {
  return withItems.has(name) || (name === "generate_lead" && isForLeads(settings));
}

export const skips: readonly (SkipRule | UsualSkip)[] = [
  "no_test_mode",
  "opted_out",
  "no_refunds",
  {
    code: "no_name",
    reason: "AppLovin Axon has no name for this event; choose one in the connection",
    applies: (conversion, settings) => nameOf(conversion, settings) === null,
  },
  {
    code: "no_name",
    reason: `a pixel for lead generation takes only ${leadEvents.join(" and ")}`,
    applies: (conversion, settings) => isForLeads(settings) && !leadEvents.includes(nameOf(conversion, settings) ?? ""),
  },
  {
    code: "no_visit",
    reason: "no visit with its page, IP address and user agent",
    applies(conversion) {
      const { page, address, userAgent } = browserOf(conversion);
      return !page || !address || !userAgent;
    },
  },
  {
    code: "no_match_key",
    reason: "no aleid, alart or axwrt",
    applies: (conversion, settings) => isRestricted(settings) && !hasIdentifier(conversion, settings),
  },
  "no_match_key",
  ...[...withItems, "generate_lead"].map((name) => ({
    code: "no_value",
    reason: `AppLovin Axon requires a value with ${name}`,
    applies: (conversion: Conversion, settings: ConnectionSettings) =>
      nameOf(conversion, settings) === name && requiresValue(name, settings) && valueOf(conversion, settings) === null,
  })),
];

function toEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Body {
  const { page = "", address, userAgent } = browserOf(conversion);
  const name = nameOf(conversion, settings) ?? "";
  const event: Body = {
    name,
    event_time: Math.floor(Math.min(conversion.time, now)),
    event_source_url: isRestricted(settings) && URL.canParse(page) ? new URL(page).origin : page,
    dedupe_id: dedupId(conversion, settings),
    user_data: {
      esi: "web",
      client_ip_address: address,
      client_user_agent: userAgent,
      ...identifiersOf(conversion, settings),
    },
    data: name === "page_view" ? null : dataOf(name, conversion, settings),
  };
  if (!isForLeads(settings)) applyMapping(event, conversion, settings, { fields: fieldsOf(name), personal: "user_data" });
  return event;
}

const userFields = fields.filter(({ name }) => name.startsWith("user_data."));
const fieldsOf = (name: string) => (name === "purchase" ? fields : userFields);

function dataOf(name: string, conversion: Conversion, settings: ConnectionSettings): Body {
  const { platformEventId, orderId } = conversion;
  const value = valueOf(conversion, settings);
  const data: Body = moneyOf({ ...conversion, value });
  if (withItems.has(name) && value !== null) data.items = itemsOf(value, conversion);
  if (name === "purchase") data.transaction_id = orderId ?? platformEventId;
  return data;
}

/**
 * Axon requires that the value is the sum of price × quantity of the items. An order whose items are unknown, or do not add up
 * to its value because of a discount or shipping, is one item of its value.
 */
function itemsOf(value: number, { items, currency }: Conversion): Body[] {
  const amount = amountOf(value, currency);
  if (!items || totalOf(items, currency) !== amount)
    return [{ item_id: "order", item_name: "Order", price: amount, quantity: 1 }];
  return items.map((item) => itemOf(item, currency));
}

/** Axon requires a name too. */
const itemOf = (item: Item, currency: string): Body => ({
  item_id: item.id,
  item_name: item.name ?? item.id,
  item_brand: item.brand,
  price: priceOf(item, currency),
  quantity: item.quantity,
});
