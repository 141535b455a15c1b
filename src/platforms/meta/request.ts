// Translates conversions to the website events of Meta's Conversions API.

import { minuteMs } from "../../kernel/time.ts";
import type { Conversion, Item } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform } from "../platform.ts";
import { eventNameOf } from "../shared/eventNames.ts";
import { applyMapping, hashedList, idList, numberField, oneWordOf, textField, wholeNumber } from "../shared/mapping.ts";
import { contentsOf, idsOf, piecesOf } from "../shared/items.ts";
import { bearer, dedupId, testCodeOf } from "../shared/settings.ts";
import { externalIdField, placeFields, processingOptions, userDataOf } from "../shared/userData.ts";
import { type Body, browserOf, orderDataOf, unixSeconds, unlessEmpty, validId } from "../shared/values.ts";

// Checked 2026-11-15: v26.0 is the newest; v25.0 is valid until 2028-07-29 and the newest in wide use.
export const version = "v25.0";
const graphHost = "https://graph.facebook.com";
export const graph = `${graphHost}/${version}`;
export const graphOf = (settings: ConnectionSettings) => `${graphHost}/${settings.api_version ?? version}`;

export const events: EventNames = {
  standard: {
    purchase: "Purchase",
    lead: "Lead",
    // A deal that was won in the CRM is the sale.
    closed_won: "Purchase",
    signup: "CompleteRegistration",
    add_to_cart: "AddToCart",
    add_to_wishlist: "AddToWishlist",
    begin_checkout: "InitiateCheckout",
    add_payment_info: "AddPaymentInfo",
    subscribe: "Subscribe",
    start_trial: "StartTrial",
    contact: "Contact",
    schedule: "Schedule",
    submit_application: "SubmitApplication",
    search: "Search",
    view_item: "ViewContent",
    page_view: "PageView",
    donate: "Donate",
    find_location: "FindLocation",
    customize_product: "CustomizeProduct",
  },
  others: "own name",
  customNames: { maxLength: 50 },
  withValue: "Purchase",
};

export const fields: readonly Field[] = [
  // Meta's own library converts these ids to lower case and removes spaces before it hashes them.
  { ...externalIdField, shape: hashedList((id) => id.toLowerCase().replace(/\s/g, "")) },
  ...placeFields,
  textField("user_data.lead_id", "The id of a lead from a form on Facebook or Instagram, as Meta gave it: digits.", (id) =>
    /^\d{1,30}$/.test(String(id)) ? id : undefined,
  ),
  textField("custom_data.content_name", "Name of the page or product."),
  textField("custom_data.content_category", "Category of the page or product."),
  textField("custom_data.content_type", "product or product_group.", oneWordOf(["product", "product_group"])),
  textField("custom_data.content_ids", "Ids of the products, separated by commas.", idList),
  numberField("custom_data.num_items", "How many items.", wholeNumber),
  numberField("custom_data.predicted_ltv", "The expected value of the customer."),
  textField("custom_data.search_string", "What the person searched for."),
  textField("custom_data.status", "The status of a registration."),
  textField("custom_data.lead_event_source", "The name of the CRM that the event comes from."),
  textField("custom_data.event_source", "crm, where the event comes from a CRM."),
  textField("original_event_data.event_name", "The name under which Meta got an earlier event that this one belongs to."),
  textField("original_event_data.event_id", "The event id of that earlier event."),
  textField("original_event_data.order_id", "The order id of that earlier event."),
  textField("original_event_data.event_time", "The time of that earlier event: ISO 8601, or Unix seconds.", unixSecondsOf),
  ...["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"].map((name) =>
    textField(`custom_data.${name}`, `A custom property, meant for ${name}.`),
  ),
];

/** Text of a time, as senders write it. */
function unixSecondsOf(value: string | number): number | undefined {
  const text = String(value).trim();
  const seconds = /^\d{9,11}$/.test(text) ? Number(text) : Date.parse(text) / 1000;
  return Number.isFinite(seconds) && seconds > 0 ? Math.floor(seconds) : undefined;
}

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => ({
  method: "POST",
  url: `${graphOf(settings)}/${encodeURIComponent(settings.pixel_id ?? "")}/events`,
  headers: { "content-type": "application/json", ...bearer(settings) },
  body: JSON.stringify({
    data: conversions.map((conversion) => toEvent(conversion, settings, now)),
    ...testCodeOf(conversions, settings),
  }),
});

function toEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Record<string, unknown> {
  const { page, userAgent } = browserOf(conversion);
  const chosen = settings.action_source ?? "website";
  // Meta requires page and user agent with website events; invented ones would harm the matching.
  const isCrm = settings.conversion_leads === "on";
  const source = isCrm || (chosen === "website" && !(page && userAgent)) ? "system_generated" : chosen;
  const event: Body = {
    event_name: eventNameOf(conversion, settings, events) ?? undefined,
    event_time: unixSeconds(conversion.time, now),
    event_id: dedupId(conversion, settings),
    action_source: source,
    event_source_url: isCrm ? undefined : page || undefined,
    user_data: unlessEmpty(userData(conversion)),
    custom_data: orderDataOf(conversion),
    opt_out: conversion.consent === "denied" || undefined,
    ...processingOptions(conversion, settings),
  };
  if (conversion.items) addItems(event, conversion.items, conversion.currency);
  // The form of Meta's Conversion Leads.
  if (isCrm)
    event.custom_data = { ...(event.custom_data as Body), event_source: "crm", lead_event_source: settings.crm_name ?? "CRM" };
  applyMapping(event, conversion, settings, { fields, personal: "user_data" });
  return event;
}

/** Meta lists `num_items` for these events only. */
const withNumItems = new Set<unknown>(["Purchase", "InitiateCheckout"]);

function addItems(event: Body, items: readonly Item[], currency: string): void {
  const data = (event.custom_data ??= {}) as Body;
  data.contents = contentsOf(items, currency);
  data.content_ids = idsOf(items);
  data.content_type = "product";
  if (withNumItems.has(event.event_name)) data.num_items = piecesOf(items);
}

/** Meta requires one of these; the first is nearly always there. */
export function hasMatchKey(conversion: Conversion): boolean {
  if (conversion.person?.emailSha256 || conversion.person?.phoneDigitsSha256 || conversion.leadId) return true;
  const { fbc, fbp, client_ip_address: ip, client_user_agent: agent } = userData(conversion);
  return Boolean(fbc || fbp || (ip && agent));
}

function userData(conversion: Conversion): Body {
  const data = userDataOf(conversion);
  data.lead_id = conversion.leadId;
  data.fbc = fbcOf(conversion);
  data.fbp = cookieOf(conversion.browserIds._fbp, conversion, /^\d+(?:\.[\w-]+)?$/)?.cookie;
  return data;
}

/** The characters of Meta's click ids. */
const clickPattern = /^[\w.~-]+$/;

/** Returns the cookie of Meta's pixel; where fbclid is a newer click with another id, a value made from that click. */
function fbcOf(conversion: Conversion): string | undefined {
  const { clickIds, browserIds } = conversion;
  const found = cookieOf(browserIds._fbc, conversion, clickPattern);
  const click = clickIds.fbclid;
  const fbclid = validId(click?.value, clickPattern);
  if (!click || !fbclid) return found?.cookie;
  // Meta's newer libraries add `.` and a suffix to the id.
  const isSame = found && (found.id === fbclid || found.id.startsWith(`${fbclid}.`));
  return found && (isSame || found.ms > click.seenAt) ? found.cookie : `fb.1.${click.seenAt}.${fbclid}`;
}

/** A visitor's clock may be this far ahead of ours. */
const maxClockLeadMs = minuteMs;

type Cookie = { cookie: string; ms: number; id: string };

/** `fb.<labels of the domain>.<milliseconds>.<id>`: Meta rejects the event for any other cookie, and for one from the future. */
function cookieOf(value: string | undefined, { receivedAt }: Conversion, pattern: RegExp): Cookie | undefined {
  const [cookie, ms, id] = /^fb\.\d\.(\d{13})\.(.+)$/.exec(validId(value) ?? "") ?? [];
  if (!cookie || !id || !pattern.test(id) || Number(ms) > receivedAt + maxClockLeadMs) return undefined;
  return { cookie, ms: Number(ms), id };
}
