// Segment, and RudderStack, which speaks the same language on the customer's own data plane. Segment answers 200 to nearly
// everything, so what it would drop is found here.

import { hash } from "node:crypto";
import type { Conversion, Reading } from "../../kernel/event.ts";
import { amountOf, oneOf, tokenCheck } from "../shared/eventBody.ts";
import { applyMapping, type Field } from "../shared/mapping.ts";
import { eventNameOf, type EventNames } from "../shared/eventNames.ts";
import type { ConnectionSettings, Platform, PlatformResponse } from "../platform.ts";
import {
  at,
  isSuccess,
  later,
  parseJson,
  readStatus,
  shorten,
  textAt,
  unreadable,
} from "../shared/readResponse.ts";
import { segmentAnswers, segmentExamples } from "./examples.ts";
import { segmentGuide } from "./guide.ts";

/** Version 1 of the HTTP API. Checked 2026-11-15. A European workspace loses what is sent to the American host. */
const hosts = { us: "https://api.segment.io", eu: "https://events.eu1.segmentapis.com" } as const;

const events: EventNames = {
  standard: {
    purchase: "Order Completed",
    refund: "Order Refunded",
    lead: "Lead Captured",
    signup: "Signed Up",
    sign_up: "Signed Up",
    complete_registration: "Signed Up",
    start_trial: "Trial Started",
    search: "Products Searched",
    view_content: "Product Viewed",
    add_to_wishlist: "Product Added to Wishlist",
    add_to_cart: "Product Added",
    begin_checkout: "Checkout Started",
    initiate_checkout: "Checkout Started",
    add_payment_info: "Payment Info Entered",
  },
  others: "own name",
};

const fields: readonly Field[] = [
  { name: "userId", help: "Your own id of the person.", type: "text" },
  { name: "anonymousId", help: "The id that your website's Segment script gave the browser.", type: "text" },
  { name: "context.groupId", help: "The account that the person belongs to.", type: "text" },
  { name: "properties.affiliation", help: "The shop or the partner that sold it.", type: "text" },
  { name: "properties.coupon", help: "The coupon of the order.", type: "text" },
  { name: "properties.shipping", help: "The cost of shipping.", type: "number" },
  { name: "properties.tax", help: "The tax of the order.", type: "number" },
  { name: "properties.discount", help: "The discount of the order.", type: "number" },
  { name: "properties.revenue", help: "The order's value without shipping and tax.", type: "number" },
  { name: "properties.category", help: "A category for your reports.", type: "text" },
  { name: "properties.label", help: "A label for your reports.", type: "text" },
  { name: "properties.plan", help: "The plan that was bought.", type: "text" },
  { name: "properties.query", help: "What the person searched for.", type: "text" },
];

export const segment = {
  id: "segment",
  name: "Segment",
  description: "Sends conversions as track calls to a Segment source, or to a RudderStack data plane.",
  docs: {
    url: "https://segment.com/docs/connections/sources/catalog/libraries/server/http-api/",
    checked: "2026-11-15",
  },
  guide: segmentGuide,
  // The base address is the customer's.
  customerAddress: true,
  settings: [
    {
      name: "source",
      label: "Source",
      help: "Workspace and source, as in the address of the source's page: acme/website. Tells your connections apart.",
      required: true,
      check: (value) =>
        /^[\w.-]{1,100}(?:\/[\w.-]{1,100})?$/.test(value)
          ? null
          : "must be workspace/source, like acme/website",
    },
    {
      name: "write_key",
      label: "Write key",
      help: "Segment: source > Settings > API keys. RudderStack: source > Setup.",
      required: true,
      secret: true,
      check: tokenCheck,
    },
    {
      name: "region",
      label: "Region",
      help: "us, or eu for workspaces in the European Union. In the wrong region events vanish without a word.",
      default: "us",
      check: oneOf(Object.keys(hosts)),
    },
    {
      name: "base_url",
      label: "Data plane address",
      help: "Only for RudderStack and proxies: the address before /v1, like https://example.dataplane.rudderstack.com.",
      check: (value) =>
        value.length <= 300 && URL.canParse(value) && /^https?:\/\/[^?#@\s]+$/i.test(value)
          ? null
          : "must be an https address without query",
    },
    {
      name: "consent_categories",
      label: "Consent categories",
      help: "The ids of the consent categories that a person's choice counts for, with commas between: C0002,C0004.",
      check: (value) =>
        /^[\w.-]+(?:\s*,\s*[\w.-]+)*$/.test(value) ? null : "must be a list of ids with commas between",
    },
  ],
  account: accountOf,
  ids: `gclid wbraid gbraid dclid gclsrc gad_source gad_campaignid srsltid fbclid ttclid msclkid li_fat_id epik ScCid rdt_cid
    twclid qclid ndclid irclickid tblci dicbo ob_click_id yclid`.split(/\s+/),
  events,
  fields,
  // 2,500 are allowed, but also only 500 KB, which is some 400 usual events.
  batch: 250,
  lanes: 16,
  quota: { requests: 1000, seconds: 1 },
  unfit: ({ mode }) => (mode === "test" ? "Segment has no test mode" : null),
  toRequest: (conversions, settings, now) => ({
    method: "POST",
    url: `${baseOf(settings)}/v1/batch`,
    headers: {
      "content-type": "application/json",
      authorization: marksOf(settings).authorization,
    },
    body: JSON.stringify({
      batch: conversions.map((conversion) => trackOf(conversion, settings)),
      // Segment corrects its clock by this, so it is the time of the attempt and not of the event.
      sentAt: new Date(now).toISOString(),
    }),
  }),
  readResponse: (response, conversions) => conversions.map(() => readAnswer(response)),
  examples: segmentExamples,
  answers: segmentAnswers,
} satisfies Platform;

function baseOf(settings: ConnectionSettings): string {
  if (settings.base_url) return withoutEnd(withoutEnd(withoutEnd(settings.base_url, ""), "/batch"), "/v1");
  return settings.region === "eu" ? hosts.eu : hosts.us;
}

/** The address without this at its end, and without the slashes before that. */
function withoutEnd(address: string, end: string): string {
  let length = address.endsWith(end) ? address.length - end.length : address.length;
  while (address[length - 1] === "/") length -= 1;
  return address.slice(0, length);
}

function accountOf(settings: ConnectionSettings): string {
  return `${baseOf(settings)} ${settings.source ?? ""}`;
}

const marks = new WeakMap<ConnectionSettings, { source: string; authorization: string }>();

/** What is the same for all conversions of a connection, made once for its settings. */
function marksOf(settings: ConnectionSettings): { source: string; authorization: string } {
  let known = marks.get(settings);
  if (!known) {
    known = {
      source: `cc_${hash("sha256", accountOf(settings)).slice(0, 12)}`,
      authorization: `Basic ${Buffer.from(`${settings.write_key ?? ""}:`).toString("base64")}`,
    };
    marks.set(settings, known);
  }
  return known;
}

function trackOf(conversion: Conversion, settings: ConnectionSettings): Record<string, unknown> {
  const name = eventNameOf(conversion, settings, events) ?? conversion.name;
  const track: Record<string, unknown> = {
    type: "track",
    // Ids of messages are one set for all of Segment: two sources that get the same id would lose one event.
    messageId: `${marksOf(settings).source}:${conversion.platformEventId}`,
    event: name,
    timestamp: new Date(conversion.time).toISOString(),
    properties: {
      event_id: conversion.platformEventId,
      order_id: conversion.orderId ?? undefined,
      ...moneyOf(name, conversion),
      ...valuesOf(conversion.clickIds),
    },
    context: filled(contextOf(conversion, settings)),
  };
  applyMapping(track, conversion, settings, fields);
  if (track.userId === undefined) track.anonymousId ??= pseudonym(conversion);
  return track;
}

/** What is won with an order is its revenue; what is paid back must never look like that. */
function moneyOf(name: string, conversion: Conversion): Record<string, unknown> {
  if (conversion.value === null) return {};
  const { currency } = conversion;
  const value = amountOf(conversion.value, currency);
  if (name === "Order Completed") return { total: value, revenue: value, currency };
  return name === "Order Refunded" ? { total: value, currency } : { value, currency };
}

function contextOf(conversion: Conversion, settings: ConnectionSettings): Record<string, unknown> {
  const { person, utm, consent } = conversion;
  const browser = consent === "denied" ? null : conversion.browser;
  return {
    campaign: filled(campaignOf(utm)),
    // Under names of their own: destinations hash what they find under `email` once more.
    traits: person ? { email_sha256: person.emailSha256, phone_sha256: person.phoneSha256 } : undefined,
    ip: browser?.address || undefined,
    userAgent: browser?.userAgent || undefined,
    page: filled({ url: browser?.page || undefined, referrer: browser?.referrer || undefined }),
    consent: consentOf(conversion, settings),
  };
}

function valuesOf(clickIds: Conversion["clickIds"]): Record<string, string> {
  const values: Record<string, string> = {};
  for (const id in clickIds) values[id] = clickIds[id]?.value ?? "";
  return values;
}

function campaignOf(utm: Conversion["utm"]): Record<string, unknown> {
  const campaign: Record<string, unknown> = {};
  for (const field in utm)
    campaign[field === "utm_campaign" ? "name" : field.replace(/^utm_/, "")] = utm[field];
  return campaign;
}

/** Without any category a refusal is an empty object: denied for every destination that asks for consent. */
function consentOf({ consent }: Conversion, settings: ConnectionSettings): unknown {
  if (consent === "unknown" || (consent === "granted" && !settings.consent_categories)) return undefined;
  const categories = (settings.consent_categories ?? "").split(",").map((one) => one.trim());
  const named = categories.filter(Boolean).map((one) => [one, consent === "granted"]);
  return { categoryPreferences: Object.fromEntries(named) };
}

function filled(object: Record<string, unknown>): Record<string, unknown> | undefined {
  for (const name in object) if (object[name] !== undefined) return object;
  return undefined;
}

/** Segment takes no event without an id of the person; this one is the same for all events of one. */
function pseudonym({ person, platformEventId }: Conversion): string {
  return person
    ? `cc_${hash("sha256", `segment\n${person.emailSha256}`).slice(0, 32)}`
    : `cc_${platformEventId}`;
}

/** RudderStack answers with the bare word OK. */
function readAnswer(response: PlatformResponse): Reading {
  if (response.isCut && isSuccess(response.status)) return unreadable(response);
  const body = parseJson(response.body);
  const words = textAt(body, "message") || textAt(body, "error") || textAt(body, "code");
  const reading = readStatus(response, words);
  if (reading.outcome === "accepted" && at(body, "success") === false)
    return { outcome: "rejected", error: shorten(words) || "the answer says that it failed" };
  if (reading.outcome !== "retry" || reading.retryAfterSeconds !== undefined) return reading;
  return later(reading.error, secondsUntil(response.headers["x-ratelimit-reset"]));
}

/** A time in milliseconds or seconds since 1970, or a number of seconds: no page says which. */
function secondsUntil(reset: string | undefined, now: number = Date.now()): number | undefined {
  const number = /^\d{1,15}$/.test(reset ?? "") ? Number(reset) : 0;
  const seconds = number > 1e11 ? (number - now) / 1000 : number > 1e8 ? number - now / 1000 : number;
  return seconds > 0 ? Math.ceil(seconds) : undefined;
}
