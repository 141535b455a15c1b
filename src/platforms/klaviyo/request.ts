// Translates a conversion to an event of Klaviyo's Events API. The endpoint for lists fails as a whole when an event is sent
// again, which a relay must be able to do, so each event is a request of its own.

import type { Conversion, Item } from "../../kernel/event.ts";
import { hourMs } from "../../kernel/time.ts";
import type { ConnectionSettings, EventNames, Field, Platform } from "../platform.ts";
import { eventNameOf } from "../shared/eventNames.ts";
import { priceOf } from "../shared/items.ts";
import { applyMapping, numberField, textField } from "../shared/mapping.ts";
import { dedupId } from "../shared/settings.ts";
import { amountOf, type Body, browserOf, isoTime, moneyOf, unlessEmpty, validId } from "../shared/values.ts";

/** Klaviyo serves each revision for two years. Checked 2026-11-18. */
const revision = "2026-07-15";
const base = "https://a.klaviyo.com/api";
export const accountsUrl = `${base}/accounts`;

export const events: EventNames = {
  standard: {
    purchase: "Placed Order",
    refund: "Refunded Order",
    begin_checkout: "Started Checkout",
    add_to_cart: "Added to Cart",
    view_item: "Viewed Product",
  },
  others: "own name",
  customNames: { maxLength: 127 },
};

export const fields: readonly Field[] = [
  textField("profile.id", "Klaviyo's own id of the profile."),
  textField("profile.external_id", "Your own id of the person, as the profile in Klaviyo has it."),
  textField("properties.DiscountCode", "The coupon of the order."),
  numberField("properties.DiscountValue", "The discount of the order."),
  textField("properties.Source", "Where the event comes from: a shop, a CRM."),
  textField("properties.Stage", "The stage of a deal or a lead, for segments and flows."),
];

const profileFields = fields.filter(({ name }) => name.startsWith("profile."));
const propertyFields = fields.filter(({ name }) => name.startsWith("properties."));

export const apiHeaders = (settings: ConnectionSettings): Record<string, string> => ({
  authorization: `Klaviyo-API-Key ${settings.api_key ?? ""}`,
  accept: "application/vnd.api+json",
  revision,
});

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => ({
  method: "POST",
  url: `${base}/events`,
  headers: { "content-type": "application/vnd.api+json", ...apiHeaders(settings) },
  body: JSON.stringify({ data: { type: "event", attributes: toAttributes(conversions[0] as Conversion, settings, now) } }),
});

/** Returns the identifiers of the profile, of which Klaviyo requires one; null without any, and after an opt-out. */
export function profileOf(conversion: Conversion, settings: ConnectionSettings): { id?: unknown; attributes: Body } | null {
  const { person, clickIds, consent } = conversion;
  if (consent === "denied") return null;
  const mapped: { profile: Body } = { profile: {} };
  applyMapping(mapped, conversion, settings, { fields: profileFields, personal: "profile" });
  const { id, external_id: own } = mapped.profile;
  const attributes = {
    external_id: own ?? (settings.external_id === "email_sha256" ? person?.emailSha256 : undefined),
    _kx: validId(clickIds._kx?.value),
  };
  if (id === undefined && !unlessEmpty(attributes)) return null;
  return { ...(id === undefined ? {} : { id }), attributes };
}

function toAttributes(conversion: Conversion, settings: ConnectionSettings, now: number): Body {
  const { value, currency } = moneyOf(conversion);
  const event: Body = { properties: propertiesOf(conversion) };
  applyMapping(event, conversion, settings, { fields: propertyFields });
  return {
    ...event,
    time: isoTime(Math.min(conversion.time, now)),
    value,
    value_currency: currency,
    unique_id: dedupId(conversion, settings),
    backfill: isLate(conversion, settings, now) || undefined,
    metric: {
      data: { type: "metric", attributes: { name: eventNameOf(conversion, settings, events) ?? conversion.name } },
    },
    profile: { data: { type: "profile", ...(profileOf(conversion, settings) ?? { attributes: {} }) } },
  };
}

/** An old event must not send anyone a message: Klaviyo records it without triggering flows. */
function isLate({ time }: Conversion, settings: ConnectionSettings, now: number): boolean {
  return now - time > Number(settings.flows_within_hours ?? 24) * hourMs;
}

/** Klaviyo's own names for shops. It requires the object, also where it is empty. */
function propertiesOf(conversion: Conversion): Body {
  const { orderId, items, currency, utm } = conversion;
  const { page } = browserOf(conversion);
  return {
    OrderId: orderId || undefined,
    ...utm,
    page_url: page || undefined,
    ...(items && itemsOf(items, currency)),
  };
}

function itemsOf(items: readonly Item[], currency: string): Body {
  return {
    ItemNames: textsOf(items, "name"),
    Categories: textsOf(items, "category"),
    Brands: textsOf(items, "brand"),
    Items: items.map((item) => {
      const price = priceOf(item, currency);
      return {
        ProductID: item.id,
        ProductName: item.name,
        Quantity: item.quantity,
        ItemPrice: price,
        RowTotal: price === undefined ? undefined : amountOf(price * item.quantity, currency),
        ProductCategories: item.category === undefined ? undefined : [item.category],
        Brand: item.brand,
      };
    }),
  };
}

function textsOf(items: readonly Item[], field: "name" | "category" | "brand"): string[] | undefined {
  return unlessEmpty([...new Set(items.flatMap((item) => item[field] ?? []))]);
}
