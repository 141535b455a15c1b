// Translates conversions to track calls of Segment's HTTP API.

import { hash } from "node:crypto";
import type { Conversion, Item } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform } from "../platform.ts";
import { eventNameOf } from "../shared/eventNames.ts";
import { priceOf } from "../shared/items.ts";
import { amountField, applyMapping, numberField, textField } from "../shared/mapping.ts";
import { amountOf, type Body, browserOf, isoTime, unlessEmpty } from "../shared/values.ts";

/** Version 1 of the HTTP API. Checked 2026-11-15. Events of a European workspace are lost at the US host. */
export const hosts = { us: "https://api.segment.io", eu: "https://events.eu1.segmentapis.com" } as const;

export const events: EventNames = {
  standard: {
    purchase: "Order Completed",
    refund: "Order Refunded",
    lead: "Lead Captured",
    signup: "Signed Up",
    login: "Signed In",
    start_trial: "Trial Started",
    search: "Products Searched",
    view_item: "Product Viewed",
    view_item_list: "Product List Viewed",
    select_item: "Product Clicked",
    view_promotion: "Promotion Viewed",
    select_promotion: "Promotion Clicked",
    add_to_wishlist: "Product Added to Wishlist",
    add_to_cart: "Product Added",
    remove_from_cart: "Product Removed",
    view_cart: "Cart Viewed",
    begin_checkout: "Checkout Started",
    add_payment_info: "Payment Info Entered",
    share: "Product Shared",
  },
  others: "own name",
};

export const fields: readonly Field[] = [
  textField("userId", "Your own id of the person."),
  textField("anonymousId", "The id that your website's Segment script gave the browser."),
  textField("context.groupId", "The account that the person belongs to."),
  textField("properties.affiliation", "The shop or partner that made the sale."),
  textField("properties.coupon", "The coupon of the order."),
  numberField("properties.shipping", "The cost of shipping."),
  numberField("properties.tax", "The tax of the order."),
  numberField("properties.discount", "The discount of the order."),
  amountField("properties.revenue", "The order's value without shipping and tax."),
  textField("properties.category", "A category for your reports."),
  textField("properties.label", "A label for your reports."),
  textField("properties.plan", "The plan that was bought."),
  textField("properties.query", "What the person searched for."),
];

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => ({
  method: "POST",
  url: `${baseOf(settings)}/v1/batch`,
  headers: {
    "content-type": "application/json",
    authorization: constantsOf(settings).authorization,
  },
  body: JSON.stringify({
    batch: conversions.map((conversion) => toTrack(conversion, settings, now)),
    // Segment corrects clock differences by this, so it is the time of the attempt and not of the event.
    sentAt: isoTime(now),
  }),
});

function baseOf(settings: ConnectionSettings): string {
  if (settings.base_url) return trimEnd(trimEnd(trimEnd(settings.base_url, ""), "/batch"), "/v1");
  return settings.region === "eu" ? hosts.eu : hosts.us;
}

/** The URL without `end`, and without the slashes before that. */
function trimEnd(url: string, end: string): string {
  let length = url.endsWith(end) ? url.length - end.length : url.length;
  while (url[length - 1] === "/") length -= 1;
  return url.slice(0, length);
}

export function accountOf(settings: ConnectionSettings): string {
  return `${baseOf(settings)} ${settings.source ?? ""}`;
}

const constants = new WeakMap<ConnectionSettings, { source: string; authorization: string }>();

/** The same for all conversions of a connection, so computed once for its settings. */
function constantsOf(settings: ConnectionSettings): { source: string; authorization: string } {
  let known = constants.get(settings);
  if (!known) {
    known = {
      source: `cc_${hash("sha256", accountOf(settings)).slice(0, 12)}`,
      authorization: `Basic ${Buffer.from(`${settings.write_key ?? ""}:`).toString("base64")}`,
    };
    constants.set(settings, known);
  }
  return known;
}

function toTrack(conversion: Conversion, settings: ConnectionSettings, now: number): Record<string, unknown> {
  const name = eventNameOf(conversion, settings, events) ?? conversion.name;
  const track: Body = {
    type: "track",
    // Segment deduplicates message ids across sources: two sources with the same id would lose one event.
    messageId: `${constantsOf(settings).source}:${conversion.platformEventId}`,
    event: name,
    timestamp: isoTime(Math.min(conversion.time, now)),
    properties: propertiesOf(name, conversion),
    context: unlessEmpty(contextOf(conversion, settings)),
  };
  applyMapping(track, conversion, settings, { fields });
  if (track.userId === undefined) track.anonymousId ??= pseudonym(conversion);
  return track;
}

function propertiesOf(name: string, conversion: Conversion): Body {
  const { platformEventId, orderId, currency, clickIds } = conversion;
  const properties: Body = { event_id: platformEventId, order_id: orderId ?? undefined };
  if (conversion.value !== null) {
    const value = amountOf(conversion.value, currency);
    // Only an order has revenue; a refund must never look like one.
    const isOrder = name === "Order Completed";
    properties[isOrder || name === "Order Refunded" ? "total" : "value"] = value;
    if (isOrder) properties.revenue = value;
    properties.currency = currency;
  }
  for (const id in clickIds) properties[id] = clickIds[id]?.value;
  if (conversion.items) addItems(properties, name, conversion.items, currency);
  return properties;
}

/** Segment's events about one product have its fields among their own properties. */
const ofOneProduct = new Set([
  "Product Viewed",
  "Product Clicked",
  "Product Added",
  "Product Removed",
  "Product Added to Wishlist",
  "Product Shared",
]);

function addItems(properties: Body, name: string, items: readonly Item[], currency: string): void {
  const products = productsOf(items, currency);
  const [first] = products;
  if (ofOneProduct.has(name) && products.length === 1) Object.assign(properties, first);
  else if (products.length > 0) properties.products = products;
}

/** Segment takes up to 32 KB for an event, most of which must not be products. */
const maxProductsBytes = 24_000;

/** Texts are left out where they are too long, and products where even their ids are. */
function productsOf(items: readonly Item[], currency: string): Body[] {
  const products: Body[] = items.map((item) => ({
    product_id: item.id,
    name: item.name,
    category: item.category,
    brand: item.brand,
    price: priceOf(item, currency),
    quantity: item.quantity,
  }));
  const fits = (list: readonly Body[]) => Buffer.byteLength(JSON.stringify(list)) <= maxProductsBytes;
  if (fits(products)) return products;
  const short = products.map(({ product_id, price, quantity }) => ({ product_id, price, quantity }));
  return fits(short) ? short : [];
}

function contextOf(conversion: Conversion, settings: ConnectionSettings): Body {
  const { person, utm } = conversion;
  const { address, userAgent, page, referrer } = browserOf(conversion);
  return {
    campaign: unlessEmpty(campaignOf(utm)),
    // Not under `email` and `phone`, which destinations would hash again.
    traits: person ? { email_sha256: person.emailSha256, phone_sha256: person.phoneSha256 } : undefined,
    ip: address || undefined,
    userAgent: userAgent || undefined,
    page: page || referrer ? { url: page || undefined, referrer: referrer || undefined } : undefined,
    consent: consentOf(conversion, settings),
  };
}

/** The names of the UTM fields without their `utm_`. */
function campaignOf(utm: Conversion["utm"]): Body {
  const campaign: Body = {};
  for (const field in utm) campaign[field === "utm_campaign" ? "name" : field.slice("utm_".length)] = utm[field];
  return campaign;
}

/** Without categories an opt-out is an empty object: denied for every destination that asks for consent. */
function consentOf({ consent }: Conversion, settings: ConnectionSettings): unknown {
  if (consent === "unknown" || (consent === "granted" && !settings.consent_categories)) return undefined;
  const categories = (settings.consent_categories ?? "").split(",").map((one) => one.trim());
  const named = categories.filter(Boolean).map((one) => [one, consent === "granted"]);
  return { categoryPreferences: Object.fromEntries(named) };
}

/** Segment rejects an event without a person's id; this one is the same for all events of a person. */
function pseudonym({ person, platformEventId }: Conversion): string {
  const id = person?.emailSha256 ?? person?.phoneSha256;
  return id ? `cc_${hash("sha256", `segment\n${id}`).slice(0, 32)}` : `cc_${platformEventId}`;
}
