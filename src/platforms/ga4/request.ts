// Translates conversions to events of the Measurement Protocol.

import { hash } from "node:crypto";
import type { Conversion, Item } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform } from "../platform.ts";
import { eventNameOf } from "../shared/eventNames.ts";
import { priceOf } from "../shared/items.ts";
import { applyMapping, numberField, textField } from "../shared/mapping.ts";
import { type Body, moneyOf } from "../shared/values.ts";

/** The protocol has no version. Checked 2026-11-15. */
export const collectors = {
  global: "https://www.google-analytics.com/mp/collect",
  eu: "https://region1.google-analytics.com/mp/collect",
} as const;
/** Google documents no European validation server. */
const validationServer = "https://www.google-analytics.com/debug/mp/collect";

/** Names that Google reserves; it drops events under them without an error. */
const reservedNames =
  `ad_activeview ad_click ad_exposure ad_query ad_reward adunit_exposure app_background app_clear_data app_exception
   app_install app_remove app_store_refund app_store_subscription_cancel app_store_subscription_convert
   app_store_subscription_renew app_update app_upgrade dynamic_link_app_open dynamic_link_app_update
   dynamic_link_first_open error first_open first_visit in_app_purchase notification_dismiss notification_foreground
   notification_open notification_receive os_update session_start session_start_with_rollout user_engagement`.split(/\s+/);

export const events: EventNames = {
  standard: {
    purchase: "purchase",
    refund: "refund",
    lead: "generate_lead",
    qualified_lead: "qualify_lead",
    signup: "sign_up",
    login: "login",
    view_item: "view_item",
    view_item_list: "view_item_list",
    select_item: "select_item",
    view_promotion: "view_promotion",
    select_promotion: "select_promotion",
    search: "search",
    add_to_wishlist: "add_to_wishlist",
    add_to_cart: "add_to_cart",
    remove_from_cart: "remove_from_cart",
    view_cart: "view_cart",
    begin_checkout: "begin_checkout",
    add_payment_info: "add_payment_info",
    add_shipping_info: "add_shipping_info",
    page_view: "page_view",
    share: "share",
    download: "file_download",
    complete_tutorial: "tutorial_complete",
    // Google's own names for two events that have another usual name.
    close_convert_lead: "close_convert_lead",
    view_search_results: "view_search_results",
  },
  others: "own name",
  customNames: {
    form: "identifier",
    maxLength: 40,
    reserved: reservedNames,
    reservedPrefixes: ["ga_", "google_", "firebase_"],
  },
};

export const fields: readonly Field[] = [
  textField("user_id", "Your own id of the person; must not identify the person."),
  textField("params.affiliation", "The shop or partner that made the sale."),
  textField("params.coupon", "The coupon of the order."),
  numberField("params.shipping", "The cost of shipping."),
  numberField("params.tax", "The tax of the order."),
  textField("params.method", "How the person signed up."),
  textField("params.lead_source", "Where a lead came from."),
  textField("params.search_term", "What the person searched for."),
  textField("params.customer_type", "The type of customer: new or returning."),
  textField("params.page_location", "The URL of the page."),
  textField("params.page_referrer", "The page before it."),
  textField("params.page_title", "The title of the page."),
  textField("params.campaign", "A custom parameter for the campaign."),
  textField("params.source", "A custom parameter for the source."),
  textField("params.medium", "A custom parameter for the medium."),
];

/** Google drops longer texts. */
const maxLengths: Readonly<Record<string, number>> = {
  page_location: 1000,
  page_referrer: 420,
  page_title: 300,
};
const defaultMaxLength = 100;
const maxUserIdLength = 256;

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => {
  const conversion = conversions[0] as Conversion;
  const isTest = conversions.some(({ mode }) => mode === "test");
  const collector = settings.region === "eu" ? collectors.eu : collectors.global;
  const event: Record<string, unknown> = { params: paramsOf(conversion, settings) };
  applyMapping(event, conversion, settings, { fields });
  return {
    method: "POST",
    url: `${isTest ? validationServer : collector}?measurement_id=${settings.measurement_id ?? ""}`,
    headers: { "content-type": "application/json" },
    secretQuery: { api_secret: settings.api_secret ?? "" },
    body: JSON.stringify({
      client_id: clientOf(conversion) ?? pseudonym(conversion, settings),
      user_id: event.user_id === undefined ? undefined : cut(event.user_id, maxUserIdLength),
      timestamp_micros: Math.min(conversion.time, now) * 1000,
      consent: consentOf(conversion),
      user_data: settings.user_data === "off" ? undefined : userDataOf(conversion),
      // Only the validation server accepts this field.
      validation_behavior: isTest ? "ENFORCE_RECOMMENDATIONS" : undefined,
      events: [{ name: eventNameOf(conversion, settings, events), params: bounded(event.params as Body) }],
    }),
  };
};

/** `GA1.1.<client id>`: the last two numbers. */
export function clientOf({ browserIds }: Conversion): string | undefined {
  return /^(?:GA\d+\.[\d-]+\.)?(\d{1,20}\.\d{1,20})$/.exec(browserIds._ga ?? "")?.[1];
}

/** A value like a client id: the same for all events of a person, and different in every other property. */
function pseudonym({ person, platformEventId }: Conversion, settings: ConnectionSettings): string {
  const hex = hash("sha256", `${settings.measurement_id ?? ""}\n${person?.emailSha256 ?? platformEventId}`);
  return `${Number.parseInt(hex.slice(0, 8), 16)}.${Number.parseInt(hex.slice(8, 16), 16)}`;
}

/** `GS1.1.<session>.<count>…` or, since 2025, `GS2.1.s<session>$o<count>…` in the cookie of this property. */
function sessionOf({ browserIds }: Conversion, settings: ConnectionSettings): string | undefined {
  const cookie = browserIds[`_ga_${(settings.measurement_id ?? "").slice("G-".length)}`] ?? "";
  return /^GS\d+\.\d+\.s?(\d+)(?=[.$]|$)/.exec(cookie)?.[1];
}

/** Google would drop an order id that is too long. */
const orderOf = ({ orderId }: Pick<Conversion, "orderId">) =>
  orderId !== null && orderId.length <= defaultMaxLength ? orderId : undefined;

/** A purchase needs an id to be counted once. */
export const transactionOf = (conversion: Pick<Conversion, "orderId" | "platformEventId">) =>
  orderOf(conversion) ?? conversion.platformEventId;

function paramsOf(conversion: Conversion, settings: ConnectionSettings): Record<string, unknown> {
  const { platformEventId } = conversion;
  const name = eventNameOf(conversion, settings, events);
  const order = orderOf(conversion);
  const params: Body = {
    event_id: platformEventId,
    transaction_id: order ?? (name === "purchase" || name === "refund" ? platformEventId : undefined),
    ...moneyOf(conversion),
    session_id: sessionOf(conversion, settings),
    // Without engagement time an event does not show in the realtime report.
    engagement_time_msec: 1,
  };
  if (conversion.items && withItems.has(name)) params.items = itemsOf(conversion.items, conversion.currency);
  return params;
}

/** The events for which Google documents items. It drops other events with a list among their parameters. */
const withItems = new Set<string | null>(
  `purchase refund add_to_cart remove_from_cart view_cart begin_checkout add_payment_info add_shipping_info
   add_to_wishlist view_item view_item_list select_item view_promotion select_promotion`.split(/\s+/),
);

const itemsOf = (items: readonly Item[], currency: string): Body[] =>
  items.map((item) => ({
    item_id: cut(item.id, defaultMaxLength),
    item_name: cut(item.name, defaultMaxLength),
    item_category: cut(item.category, defaultMaxLength),
    item_brand: cut(item.brand, defaultMaxLength),
    price: priceOf(item, currency),
    quantity: item.quantity,
  }));

function bounded(params: Body): Body {
  for (const name in params) {
    const maxLength = maxLengths[name] ?? defaultMaxLength;
    const value = params[name];
    if (typeof value === "string" && value.length > maxLength) params[name] = cut(value, maxLength);
  }
  return params;
}

/** Also removes half a surrogate pair at the end. */
function cut(value: unknown, length: number): unknown {
  if (typeof value !== "string" || value.length <= length) return value;
  return value.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}

function consentOf({ consent }: Conversion): unknown {
  if (consent === "unknown") return undefined;
  const word = consent === "granted" ? "GRANTED" : "DENIED";
  return { ad_user_data: word, ad_personalization: word };
}

function userDataOf({ person }: Conversion): unknown {
  if (!person) return undefined;
  const email = person.emailGoogleSha256 ?? person.emailSha256;
  return {
    sha256_email_address: email ? [email] : undefined,
    sha256_phone_number: person.phoneSha256 ? [person.phoneSha256] : undefined,
  };
}
