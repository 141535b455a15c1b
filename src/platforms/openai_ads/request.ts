// Translates conversions to events of OpenAI's Conversions API.

import type { Conversion, Item } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform } from "../platform.ts";
import { eventNameOf } from "../shared/eventNames.ts";
import { applyMapping, hashedList, textField } from "../shared/mapping.ts";
import { dedupId, isLimited } from "../shared/settings.ts";
import { amountText, type Body, browserOf, listOf, unlessEmpty, validId } from "../shared/values.ts";

/** Not api.openai.com, and not the Advertiser API's host. Checked 2026-11-15. */
const endpoint = "https://bzr.openai.com/v1/events";

/** The kind of `data` that belongs to each type of event. OpenAI rejects every other pair. */
const dataTypes: Readonly<Record<string, string>> = {
  page_viewed: "contents",
  contents_viewed: "contents",
  items_added: "contents",
  checkout_started: "contents",
  order_created: "contents",
  lead_created: "customer_action",
  registration_completed: "customer_action",
  appointment_scheduled: "customer_action",
  app_installed: "customer_action",
  app_opened: "customer_action",
  subscription_created: "plan_enrollment",
  trial_started: "plan_enrollment",
  custom: "custom",
};
const isType = (name: string) => Object.hasOwn(dataTypes, name);

export const sources = ["web", "mobile_app", "offline", "physical_store", "phone_call", "email", "other"];

const customPattern = /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/i;

export const events: EventNames = {
  standard: {
    purchase: "order_created",
    closed_won: "order_created",
    lead: "lead_created",
    contact: "lead_created",
    signup: "registration_completed",
    add_to_cart: "items_added",
    begin_checkout: "checkout_started",
    view_item: "contents_viewed",
    page_view: "page_viewed",
    schedule: "appointment_scheduled",
    subscribe: "subscription_created",
    start_trial: "trial_started",
    // OpenAI's own names that are not among the usual ones.
    order_created: "order_created",
    items_added: "items_added",
    contents_viewed: "contents_viewed",
    app_installed: "app_installed",
    app_opened: "app_opened",
  },
  others: "own name",
  // OpenAI allows hyphens too.
  customNames: { form: "identifier", maxLength: 64 },
  check: (name) =>
    customPattern.test(name)
      ? null
      : `must be one of ${Object.keys(dataTypes).join(", ")}, or a name of up to 64 letters, digits, _ and -`,
};

const upTo = (length: number) => (value: string | number) => {
  const text = String(value).trim();
  return text.length <= length ? listOf(text) : undefined;
};

export const fields: readonly Field[] = [
  textField(
    "user.external_ids_sha256",
    "Your own id of the person, as your pixel has it; hashed before it is sent.",
    hashedList((text) => text),
  ),
  textField("user.countries", "Country as two letters (DE).", (value) => {
    const text = String(value).trim().toUpperCase();
    return /^[A-Z]{2}$/.test(text) ? [text] : undefined;
  }),
  textField("user.regions", "State or region; OpenAI accepts it unhashed.", upTo(128)),
  textField("user.cities", "City; OpenAI accepts it unhashed.", upTo(128)),
  textField("user.postal_codes", "Postal code; OpenAI accepts it unhashed.", upTo(32)),
];

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => ({
  method: "POST",
  url: `${endpoint}?pid=${encodeURIComponent(settings.pixel_id ?? "")}`,
  headers: { "content-type": "application/json", authorization: `Bearer ${settings.api_key ?? ""}` },
  body: JSON.stringify({
    validate_only: conversions.some(({ mode }) => mode === "test"),
    events: conversions.map((conversion) => toEvent(conversion, settings, now)),
  }),
});

type EventType = { type: string; custom_event_name?: string };

function typeOf(conversion: Conversion, settings: ConnectionSettings): EventType {
  const name = eventNameOf(conversion, settings, events) ?? "";
  const custom = customName(name === "custom" ? conversion.name : name);
  // A custom event must not have the name of a standard one.
  if (custom === "custom") return { type: "custom", custom_event_name: "custom_event" };
  return isType(custom) ? { type: custom } : { type: "custom", custom_event_name: custom };
}

/** `Quiz Done!` becomes quiz_done. */
function customName(name: string): string {
  const cleaned = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "_")
    .replace(/^[_-]+/, "")
    .slice(0, 64)
    .replace(/[_-]+$/, "");
  return cleaned || "custom_event";
}

/** The identifiers that OpenAI can attribute an event by. IP address and user agent alone cannot be. */
function keysOf({ person, clickIds, browserIds, consent }: Conversion) {
  if (consent === "denied") return {};
  return {
    oppref: validId(clickIds.oppref?.value) ?? validId(browserIds.__oppref),
    obref: validId(browserIds.__obref),
    email: person?.emailSha256,
    phone: person?.phoneDigitsSha256,
  };
}

export function hasMatchKey(conversion: Conversion): boolean {
  const { oppref, obref, email, phone } = keysOf(conversion);
  return !!(oppref || obref || email || phone);
}

function toEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Body {
  const { oppref, obref, email, phone } = keysOf(conversion);
  const { page, address, userAgent } = browserOf(conversion);
  const person = conversion.consent === "denied" ? null : conversion.person;
  const type = typeOf(conversion, settings);
  const { source, url } = sourceOf(type, page, settings);
  const event: Body = {
    id: dedupId(conversion, settings),
    ...type,
    // Senders' clocks may run ahead; OpenAI allows ten minutes.
    timestamp_ms: Math.floor(Math.min(conversion.time, now)),
    action_source: source,
    source_url: url,
    oppref,
    opt_out: isLimited(conversion, settings),
    user: unlessEmpty({
      emails_sha256: listOf(email),
      phone_numbers_sha256: listOf(phone),
      first_names_sha256: listOf(person?.firstNameSha256),
      last_names_sha256: listOf(person?.lastNameSha256),
      ip_address: address || undefined,
      user_agent: userAgent || undefined,
      obref,
    }),
    data: dataOf(dataTypes[type.type], conversion),
  };
  applyMapping(event, conversion, settings, { fields, personal: "user" });
  return event;
}

/** OpenAI requires a page with a web event; one without a page did not happen on the site as far as the relay knows. */
function sourceOf({ type }: EventType, page: string | undefined, settings: ConnectionSettings): { source: string; url?: string } {
  if (type.startsWith("app_")) return { source: "mobile_app" };
  const chosen = settings.action_source ?? "web";
  if (chosen !== "web") return { source: chosen };
  const url = page || settings.site_url;
  return url ? { source: "web", url } : { source: "other" };
}

/** Only data of the type contents has a list of products. */
function dataOf(type: string | undefined, { value, currency, items }: Conversion): Body {
  const data: Body = { type, ...moneyOf(value, currency) };
  if (items && type === "contents") data.contents = items.map((item) => contentOf(item, currency));
  return data;
}

/** The amount is the price of one piece. */
const contentOf = ({ id, name, quantity, price }: Item, currency: string): Body => ({
  id,
  name,
  content_type: "product",
  quantity,
  ...moneyOf(price ?? null, currency),
});

/** An amount in whole minor units (4990 for 49.90 EUR, 1500 for 1500 JPY), never without its currency. */
function moneyOf(value: number | null, currency: string): { amount?: number; currency?: string } {
  if (value === null) return {};
  const amount = Number(amountText(value, currency).replace(".", ""));
  return Number.isSafeInteger(amount) ? { amount, currency } : {};
}
