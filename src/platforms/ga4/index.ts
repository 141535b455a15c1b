// Google Analytics 4 through the Measurement Protocol, which answers 204 to everything, also to what it throws away.
// So what it would drop is found here, and test events go to its validation server, which says more.

import { hash } from "node:crypto";
import type { Conversion, Reading } from "../../kernel/event.ts";
import { amountOf, oneOf, tokenCheck } from "../shared/eventBody.ts";
import { ga4Answers, ga4Examples } from "./examples.ts";
import { ga4Guide } from "./guide.ts";
import { applyMapping, type Field } from "../shared/mapping.ts";
import { eventNameOf, type EventNames } from "../shared/eventNames.ts";
import type { ConnectionSettings, Platform, PlatformResponse } from "../platform.ts";
import { listAt, parseJson, readStatus, shorten, textAt, unreadable } from "../shared/readResponse.ts";

/** The protocol has no version. Checked 2026-11-15. */
const collectors = {
  global: "https://www.google-analytics.com/mp/collect",
  eu: "https://region1.google-analytics.com/mp/collect",
} as const;
/** There is no European one that is documented. */
const validator = "https://www.google-analytics.com/debug/mp/collect";

/** Names that Google keeps for itself; events under them vanish. */
const reservedNames = new Set(
  `ad_activeview ad_click ad_exposure ad_query ad_reward adunit_exposure app_background app_clear_data app_exception
   app_install app_remove app_store_refund app_store_subscription_cancel app_store_subscription_convert
   app_store_subscription_renew app_update app_upgrade dynamic_link_app_open dynamic_link_app_update
   dynamic_link_first_open error first_open first_visit in_app_purchase notification_dismiss notification_foreground
   notification_open notification_receive os_update session_start session_start_with_rollout user_engagement`.split(
    /\s+/,
  ),
);

const isEventName = (name: string) =>
  /^[A-Za-z][A-Za-z0-9_]{0,39}$/.test(name) &&
  !/^(?:ga|google|firebase)_/i.test(name) &&
  !reservedNames.has(name.toLowerCase());

const events: EventNames = {
  standard: {
    purchase: "purchase",
    refund: "refund",
    lead: "generate_lead",
    generate_lead: "generate_lead",
    signup: "sign_up",
    sign_up: "sign_up",
    complete_registration: "sign_up",
    login: "login",
    view_content: "view_item",
    view_item: "view_item",
    search: "search",
    add_to_wishlist: "add_to_wishlist",
    add_to_cart: "add_to_cart",
    begin_checkout: "begin_checkout",
    initiate_checkout: "begin_checkout",
    add_payment_info: "add_payment_info",
    add_shipping_info: "add_shipping_info",
    page_view: "page_view",
  },
  others: "own name",
  check: (name) =>
    isEventName(name)
      ? null
      : "must be up to 40 letters, digits and underscores that begin with a letter, and no name that Google keeps for itself",
};

const fields: readonly Field[] = [
  { name: "user_id", help: "Your own id of the person; nothing that tells who it is.", type: "text" },
  { name: "params.affiliation", help: "The shop or the partner that sold it.", type: "text" },
  { name: "params.coupon", help: "The coupon of the order.", type: "text" },
  { name: "params.shipping", help: "The cost of shipping.", type: "number" },
  { name: "params.tax", help: "The tax of the order.", type: "number" },
  { name: "params.method", help: "How a person signed up.", type: "text" },
  { name: "params.lead_source", help: "Where a lead came from.", type: "text" },
  { name: "params.search_term", help: "What the person searched for.", type: "text" },
  { name: "params.customer_type", help: "What the customer is to you: new or returning.", type: "text" },
  { name: "params.page_location", help: "The address of the page.", type: "text" },
  { name: "params.page_referrer", help: "The page before it.", type: "text" },
  { name: "params.page_title", help: "The title of the page.", type: "text" },
  { name: "params.campaign", help: "A parameter of your own for the campaign.", type: "text" },
  { name: "params.source", help: "A parameter of your own for the source.", type: "text" },
  { name: "params.medium", help: "A parameter of your own for the medium.", type: "text" },
];

/** Longer texts are thrown away there. */
const maxTextLength: Readonly<Record<string, number>> = {
  page_location: 1000,
  page_referrer: 420,
  page_title: 300,
};
const usualText = 100;
const maxUserIdLength = 256;

export const ga4 = {
  id: "ga4",
  name: "Google Analytics 4",
  description: "Sends conversions as events to a web stream of a Google Analytics 4 property.",
  docs: {
    url: "https://developers.google.com/analytics/devguides/collection/protocol/ga4/reference",
    checked: "2026-11-15",
  },
  guide: ga4Guide,
  settings: [
    {
      name: "measurement_id",
      label: "Measurement id",
      help: "G- and some letters and digits: Admin > Data streams > your stream. Not the number of the stream.",
      required: true,
      check: (value) =>
        /^G-[A-Z0-9]{4,20}$/.test(value) ? null : "must be a measurement id like G-AB12CD34EF",
    },
    {
      name: "api_secret",
      label: "API secret",
      help: "Admin > Data streams > your stream > Measurement Protocol API secrets > Create.",
      required: true,
      secret: true,
      check: tokenCheck,
    },
    {
      name: "region",
      label: "Region",
      help: "global, or eu where the data must be collected in the European Union. Test events are validated by the global server.",
      default: "global",
      check: oneOf(Object.keys(collectors)),
    },
    {
      name: "without_client_id",
      label: "Events without a client id",
      help: "pseudonym sends events of people whose _ga cookie is not known under a made-up client id, which counts as a new user. skip leaves them out.",
      default: "pseudonym",
      check: oneOf(["pseudonym", "skip"]),
    },
    {
      name: "user_data",
      label: "Hashed contact data",
      help: "on sends hashed email and phone; the property uses them once user-provided data collection is switched on there. off leaves them out.",
      default: "on",
      check: oneOf(["on", "off"]),
    },
  ],
  account: (settings) => settings.measurement_id ?? "",
  ids: ["_ga"],
  events,
  fields,
  maxAgeDays: 3,
  // Client id and time stand once in a request, so no two people can share one.
  batch: 1,
  lanes: 32,
  unfit(conversion, settings) {
    const name = eventNameOf(conversion, settings, events) ?? "";
    if (!isEventName(name)) return "the event's name is none that Google Analytics takes; choose one for it";
    if (settings.without_client_id !== "skip" || clientOf(conversion)) return null;
    return conversion.consent === "denied" ? "opted out" : "no client id of Google Analytics";
  },
  toRequest(conversions, settings) {
    const conversion = conversions[0] as Conversion;
    const isTest = conversions.some(({ mode }) => mode === "test");
    const collector = settings.region === "eu" ? collectors.eu : collectors.global;
    const event: Record<string, unknown> = { params: paramsOf(conversion, settings) };
    applyMapping(event, conversion, settings, fields);
    return {
      method: "POST",
      url: `${isTest ? validator : collector}?measurement_id=${settings.measurement_id ?? ""}`,
      headers: { "content-type": "application/json" },
      secretQuery: { api_secret: settings.api_secret ?? "" },
      body: JSON.stringify({
        client_id: clientOf(conversion) ?? pseudonym(conversion, settings),
        user_id: event.user_id === undefined ? undefined : cut(event.user_id, maxUserIdLength),
        timestamp_micros: conversion.time * 1000,
        consent: consentOf(conversion),
        user_data: settings.user_data === "off" ? undefined : userDataOf(conversion),
        // Only the validator knows this word.
        validation_behavior: isTest ? "ENFORCE_RECOMMENDATIONS" : undefined,
        events: [
          { name: eventNameOf(conversion, settings, events), params: bounded(event.params as object) },
        ],
      }),
    };
  },
  readResponse: (response, conversions) => conversions.map(() => readAnswer(response)),
  examples: ga4Examples,
  answers: ga4Answers,
} satisfies Platform;

/** `GA1.1.<client id>`: the last two numbers. */
function clientOf({ browserIds }: Conversion): string | undefined {
  return /^(?:GA\d+\.[\d-]+\.)?(\d{1,20}\.\d{1,20})$/.exec(browserIds._ga ?? "")?.[1];
}

/** In the form of a client id; the same for all events of a person, and of no use to any other property. */
function pseudonym({ person, platformEventId }: Conversion, settings: ConnectionSettings): string {
  const hex = hash("sha256", `${settings.measurement_id ?? ""}\n${person?.emailSha256 ?? platformEventId}`);
  return `${Number.parseInt(hex.slice(0, 8), 16)}.${Number.parseInt(hex.slice(8, 16), 16)}`;
}

/** `GS1.1.<session>.<count>…` or, since 2025, `GS2.1.s<session>$o<count>…` in the cookie of this property. */
function sessionOf({ browserIds }: Conversion, settings: ConnectionSettings): string | undefined {
  const cookie = browserIds[`_ga_${(settings.measurement_id ?? "").slice("G-".length)}`] ?? "";
  return /^GS\d+\.\d+\.s?(\d+)(?=[.$]|$)/.exec(cookie)?.[1];
}

function paramsOf(conversion: Conversion, settings: ConnectionSettings): Record<string, unknown> {
  const { orderId, platformEventId, value, currency } = conversion;
  const name = eventNameOf(conversion, settings, events);
  // A purchase needs an id to be counted once; one that Google would throw away for its length is no id.
  const order = orderId !== null && orderId.length <= usualText ? orderId : undefined;
  return {
    event_id: platformEventId,
    transaction_id: order ?? (name === "purchase" || name === "refund" ? platformEventId : undefined),
    ...(value === null ? {} : { value: amountOf(value, currency), currency }),
    session_id: sessionOf(conversion, settings),
    // Without some time of engagement an event does not show in the realtime report.
    engagement_time_msec: 1,
  };
}

function bounded(params: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, cut(value, maxTextLength[name] ?? usualText)]),
  );
}

/** Half a character at the end goes too. */
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
  return {
    sha256_email_address: [person.emailGoogleSha256 ?? person.emailSha256],
    sha256_phone_number: person.phoneSha256 ? [person.phoneSha256] : undefined,
  };
}

/** Only the validator says anything; it finds faults with HTTP 200. */
function readAnswer(response: PlatformResponse): Reading {
  const reading = readStatus(response);
  if (reading.outcome === "accepted" && response.isCut) return unreadable(response);
  const messages = listAt(parseJson(response.body), "validationMessages");
  if (reading.outcome !== "accepted" || messages.length === 0) return reading;
  const words = messages.map((message) =>
    [textAt(message, "validationCode"), textAt(message, "fieldPath"), textAt(message, "description")]
      .filter(Boolean)
      .join(" "),
  );
  return { outcome: "rejected", error: shorten(words.join("; ")) || "not valid" };
}
