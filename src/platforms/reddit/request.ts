// Translates conversions to events of Reddit's Conversions API.

import type { Conversion, Item } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform } from "../platform.ts";
import { fitName } from "../shared/customNames.ts";
import { piecesOf, priceOf } from "../shared/items.ts";
import { applyMapping, hashed, numberField, textField, wholeNumber } from "../shared/mapping.ts";
import { bearer, dedupId, isLimited } from "../shared/settings.ts";
import { type Target, withTargets } from "../shared/targets.ts";
import { amountOf, type Body, unlessEmpty, validId } from "../shared/values.ts";

/** Version 2.0 still exists, and events must never go to both. Checked 2026-11-15. */
export const base = "https://ads-api.reddit.com/api/v3";
/** Reddit throttles clients without a user agent of their own. */
export const userAgent = "cleancast/1";

export const sources = ["WEBSITE", "APP", "PHYSICAL_STORE", "OTHER"];
const trackingTypes = new Set(
  "PAGE_VISIT VIEW_CONTENT SEARCH ADD_TO_CART ADD_TO_WISHLIST PURCHASE LEAD SIGN_UP CUSTOM".split(" "),
);
const withValue = new Set("PURCHASE ADD_TO_CART ADD_TO_WISHLIST LEAD SIGN_UP CUSTOM".split(" "));
const withItemCount = new Set("PURCHASE ADD_TO_CART ADD_TO_WISHLIST CUSTOM".split(" "));
const customNames = { maxLength: 64 };

export const events: EventNames = {
  standard: {
    purchase: "PURCHASE",
    // A deal that was won in the CRM is the sale.
    closed_won: "PURCHASE",
    lead: "LEAD",
    signup: "SIGN_UP",
    add_to_cart: "ADD_TO_CART",
    add_to_wishlist: "ADD_TO_WISHLIST",
    search: "SEARCH",
    view_item: "VIEW_CONTENT",
    page_view: "PAGE_VISIT",
  },
  others: "own name",
  customNames,
  several: true,
};

const itemCount: Field = numberField(
  "metadata.item_count",
  "How many items: a whole number. Sent with purchases, carts, wish lists and custom events.",
  wholeNumber,
);
const externalId: Field = textField(
  "user.external_id",
  "Your own id of the person; hashed before it is sent.",
  hashed((text) => text),
);
export const fields = [itemCount, externalId];

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => ({
  method: "POST",
  url: `${base}/pixels/${encodeURIComponent(settings.pixel_id ?? "")}/conversion_events`,
  headers: { "content-type": "application/json", ...bearer(settings), "user-agent": userAgent },
  body: JSON.stringify({
    data: {
      ...testIdOf(conversions, settings),
      events: eventsOf(conversions, settings).map((one) => toEvent(one, settings, now)),
    },
  }),
});

/** One event of Reddit for each name of each conversion. Event Testing shows only requests of one event. */
export function eventsOf(conversions: readonly Conversion[], settings: ConnectionSettings): Target[] {
  const all = withTargets(conversions, settings, events);
  return all.filter(({ conversion }, i) => conversion.mode !== "test" || all[i - 1]?.conversion !== conversion);
}

type EventType = { tracking_type: string; custom_event_name?: string };

function typeOf(conversion: Conversion, name: string): EventType {
  const inCapitals = name.toUpperCase();
  if (inCapitals === "CUSTOM")
    return { tracking_type: "CUSTOM", custom_event_name: fitName(conversion.name.trim(), customNames) };
  return trackingTypes.has(inCapitals) ? { tracking_type: inCapitals } : { tracking_type: "CUSTOM", custom_event_name: name };
}

/** Throws where the id is missing, because the test event would count as a live one; `skips` catches that first. */
function testIdOf(conversions: readonly Conversion[], { test_id }: ConnectionSettings): Record<string, string> {
  if (!conversions.some(({ mode }) => mode === "test")) return {};
  if (!test_id) throw new Error("a test event needs the connection's test id");
  return { test_id };
}

const uuidCookie = /^(?:\d+\.)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Keys = { click_id?: string | undefined; user: Body };

function keysOf(conversion: Conversion, settings: ConnectionSettings): Keys {
  const { person, clickIds, browserIds, browser, consent } = conversion;
  if (consent === "denied") return { user: {} };
  const user: Body = {
    // A hash that the sender made is Reddit's form too if there were only letters and digits before the @.
    email: (person?.emailRedditSha256 ?? person?.emailSha256) || undefined,
    phone_number: person?.phoneSha256,
  };
  if (settings.action_source === "PHYSICAL_STORE") return { user };
  // Reddit's own script writes `<milliseconds>.<uuid>`.
  const uuid = validId(browserIds._rdt_uuid, uuidCookie);
  user.uuid = settings.uuid_form === "cookie" ? uuid : uuid?.slice(uuid.indexOf(".") + 1);
  user.ip_address = browser?.address || undefined;
  user.user_agent = browser?.userAgent || undefined;
  return { click_id: validId(clickIds.rdt_cid?.value), user };
}

export function isSendable(conversion: Conversion, settings: ConnectionSettings): boolean {
  if (settings.unmatched === "send") return true;
  const { click_id, user } = keysOf(conversion, settings);
  return !!(click_id || user.email || user.phone_number || user.uuid || (user.ip_address && user.user_agent));
}

function toEvent({ conversion, target }: Target, settings: ConnectionSettings, now: number): Body {
  const { value, currency, browser, consent } = conversion;
  const type = typeOf(conversion, target ?? "");
  const source = settings.action_source ?? "WEBSITE";
  const { click_id, user } = keysOf(conversion, settings);
  const hasValue = value !== null && withValue.has(type.tracking_type);
  user.data_processing_options = processingOptionsOf(conversion, settings);
  const event: Body = {
    // Senders' clocks may run ahead; Reddit allows five minutes.
    event_at: Math.floor(Math.min(conversion.time, now)),
    action_source: source,
    event_source_url: source === "WEBSITE" && consent !== "denied" ? browser?.page || undefined : undefined,
    type,
    click_id,
    user: unlessEmpty(user),
    metadata: {
      conversion_id: dedupId(conversion, settings),
      value: hasValue ? amountOf(value, currency) : undefined,
      currency: hasValue ? currency : undefined,
    },
  };
  if (conversion.items) addItems(event, conversion.items, currency, type);
  const mapped = withItemCount.has(type.tracking_type) ? fields : [externalId];
  applyMapping(event, conversion, settings, { fields: mapped, personal: "user" });
  return event;
}

function addItems(event: Body, items: readonly Item[], currency: string, type: EventType): void {
  const metadata = event.metadata as Body;
  metadata.products = items.map((item) => ({
    id: item.id,
    name: item.name,
    category: item.category,
    item_price: priceOf(item, currency),
    quantity: item.quantity,
  }));
  if (withItemCount.has(type.tracking_type)) metadata.item_count = piecesOf(items);
}

function processingOptionsOf(conversion: Conversion, settings: ConnectionSettings): Record<string, unknown> | undefined {
  if (!isLimited(conversion, settings)) return undefined;
  const region = settings.limited_data_region;
  return { modes: ["LDU"], ...(region ? { country: region.slice(0, 2), region } : {}) };
}
