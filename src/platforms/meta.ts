// Meta Conversions API: website events of a dataset (pixel). One bad event fails its whole request, so everything that
// Meta is known to refuse is sorted out before.

import type { Conversion, Reading } from "../event.ts";
import {
  amountOf,
  browserOf,
  externalIdField,
  hashedList,
  idList,
  isUnnamedRefund,
  known,
  limitedDataSetting,
  listOf,
  mapFields,
  type MappedField,
  noTestCode,
  placeFields,
  processingOptions,
  testCodeOf,
  testCodeSetting,
  tokenCheck,
  unixSeconds,
  wholeNumber,
} from "./eventBody.ts";
import { metaAnswers, metaExamples, metaGuide } from "./metaExamples.ts";
import { metaPickers } from "./metaPickers.ts";
import { type EventNames, eventNameOf } from "./names.ts";
import { bearer, tokenSettings } from "./oauth.ts";
import type { ConnectionSettings, Platform, PlatformResponse } from "./platform.ts";
import { at, later, parseJson, readStatus, retryAfterSeconds, shorten, textAt } from "./reading.ts";

// Checked 2026-11-15: v26.0 is the newest; v25.0 is valid until 2028-07-29 and the newest that others rely on.
const version = "v25.0";
const graph = `https://graph.facebook.com/${version}`;

const events: EventNames = {
  standard: {
    purchase: "Purchase",
    lead: "Lead",
    signup: "CompleteRegistration",
    sign_up: "CompleteRegistration",
    complete_registration: "CompleteRegistration",
    add_to_cart: "AddToCart",
    add_to_wishlist: "AddToWishlist",
    begin_checkout: "InitiateCheckout",
    initiate_checkout: "InitiateCheckout",
    add_payment_info: "AddPaymentInfo",
    subscribe: "Subscribe",
    start_trial: "StartTrial",
    contact: "Contact",
    schedule: "Schedule",
    submit_application: "SubmitApplication",
    search: "Search",
    view_content: "ViewContent",
    view_item: "ViewContent",
    page_view: "PageView",
    donate: "Donate",
    find_location: "FindLocation",
    customize_product: "CustomizeProduct",
  },
  others: "own name",
};

const text = (name: string, help: string): MappedField => ({ name, help, type: "text" });
const fields: readonly MappedField[] = [
  // Meta's own library lowers these ids and drops their spaces before it hashes them.
  { ...externalIdField, shape: hashedList((id) => id.toLowerCase().replace(/\s/g, "")) },
  ...placeFields,
  text("user_data.lead_id", "The id of a lead from a form on Facebook or Instagram, as Meta gave it."),
  text("custom_data.content_name", "Name of the page or product."),
  text("custom_data.content_category", "Category of the page or product."),
  text("custom_data.content_type", "product or product_group."),
  { ...text("custom_data.content_ids", "Ids of the products, separated by commas."), shape: idList },
  { name: "custom_data.num_items", help: "How many items.", type: "number", shape: wholeNumber },
  { name: "custom_data.predicted_ltv", help: "What the customer is expected to be worth.", type: "number" },
  text("custom_data.search_string", "What the person searched for."),
  text("custom_data.status", "The status of a registration."),
  text("custom_data.lead_event_source", "The name of the CRM that the event comes from."),
  text("custom_data.event_source", "crm, where the event comes from a CRM."),
  ...["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"].map((name) =>
    text(`custom_data.${name}`, `A property of your own, meant for ${name}.`),
  ),
];

const sources = ["website", "system_generated", "email", "phone_call", "chat", "other"];

export const meta = {
  id: "meta",
  name: "Meta",
  description: "Sends conversions to a dataset (pixel) of Meta for ads on Facebook and Instagram.",
  docs: {
    url: "https://developers.facebook.com/documentation/ads-commerce/conversions-api/using-the-api",
    checked: "2026-11-15",
  },
  oauth: {
    authorizeUrl: `https://www.facebook.com/${version}/dialog/oauth`,
    tokenUrl: `${graph}/oauth/access_token`,
    scopes: ["ads_management", "business_management"],
    scopeSeparator: ",",
    pkce: false,
    clientAuth: "body",
    refresh: "none",
    // A token of a person lives an hour or two; this one lives about sixty days.
    exchange: {
      url: `${graph}/oauth/access_token`,
      params: {
        grant_type: "fb_exchange_token",
        client_id: "{client_id}",
        client_secret: "{client_secret}",
        fb_exchange_token: "{access_token}",
      },
    },
  },
  settings: [
    {
      name: "pixel_id",
      label: "Dataset (pixel) id",
      help: "The number of the dataset in Meta's Events Manager, under Settings.",
      required: true,
      check: (value) => (/^\d{5,20}$/.test(value) ? null : "must be a number of 5 to 20 digits"),
    },
    {
      name: "access_token",
      label: "Access token",
      help: "From Events Manager: the dataset, Settings, Conversions API, Generate access token.",
      required: true,
      secret: true,
      check: tokenCheck,
    },
    ...tokenSettings,
    testCodeSetting,
    {
      name: "action_source",
      label: "Where conversions happen",
      help:
        "website: on the site; where the visit is unknown, system_generated is sent. Or always one of system_generated, " +
        "email, phone_call, chat, other.",
      default: "website",
      check: (value) => (sources.includes(value) ? null : `must be one of ${sources.join(", ")}`),
    },
    limitedDataSetting,
    {
      name: "ad_account_id",
      label: "Ad account",
      help: "The number of an ad account; only needed to choose the dataset from a list.",
      check: (value) => (/^\d{5,20}$/.test(value) ? null : "must be a number of 5 to 20 digits"),
    },
  ],
  pickers: metaPickers(graph),
  account: (settings) => settings.pixel_id ?? "",
  ids: ["fbclid", "_fbc", "_fbp"],
  events,
  fields,
  maxAgeDays: 7,
  batch: 1000,
  lanes: 4,
  unfit(conversion, settings) {
    if (conversion.mode === "test" && !settings.test_event_code) return noTestCode;
    if (isUnnamedRefund(conversion, settings)) return "Meta takes no refunds";
    const { em, ph, fbc, fbp, client_ip_address: ip, client_user_agent: agent } = userData(conversion);
    if (!em && !ph && !fbc && !fbp && !(ip && agent))
      return conversion.consent === "denied" ? "opted out" : "no email, phone, fbclid, _fbc or _fbp";
    if (conversion.value === null && eventNameOf(conversion, settings, events) === "Purchase")
      return "no value, which Meta wants with Purchase";
    return null;
  },
  toRequest: (conversions, settings, now) => ({
    method: "POST",
    url: `${graph}/${encodeURIComponent(settings.pixel_id ?? "")}/events`,
    headers: { "content-type": "application/json", ...bearer(settings) },
    body: JSON.stringify({
      data: conversions.map((conversion) => toEvent(conversion, settings, now)),
      ...testCodeOf(conversions, settings),
    }),
  }),
  readResponse: (response, conversions) => {
    const reading = readAnswer(response, conversions.length);
    return conversions.map(() => reading);
  },
  guide: metaGuide,
  examples: metaExamples(events.standard),
  answers: metaAnswers,
} satisfies Platform;

function toEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Record<string, unknown> {
  const { page, userAgent } = browserOf(conversion);
  const chosen = settings.action_source ?? "website";
  // Meta wants page and user agent with website events; made-up ones would harm the matching.
  const source = chosen === "website" && !(page && userAgent) ? "system_generated" : chosen;
  const { value, currency, orderId } = conversion;
  const event = known({
    event_name: eventNameOf(conversion, settings, events),
    event_time: unixSeconds(conversion.time, now),
    event_id: conversion.eventId,
    action_source: source,
    event_source_url: page,
    user_data: userData(conversion),
    custom_data: known({
      ...(value === null ? {} : { value: amountOf(value, currency), currency }),
      order_id: orderId,
    }),
    ...(conversion.consent === "denied" ? { opt_out: true } : {}),
    ...processingOptions(conversion, settings),
  });
  mapFields(event, conversion, settings, fields, "user_data");
  return event;
}

function userData(conversion: Conversion): Record<string, unknown> {
  const { person, browserIds } = conversion;
  const browser = browserOf(conversion);
  return known({
    em: listOf(person?.email),
    ph: listOf(person?.phoneDigits),
    fn: listOf(person?.firstName),
    ln: listOf(person?.lastName),
    client_ip_address: browser.address,
    client_user_agent: browser.userAgent,
    fbc: fbcOf(conversion),
    fbp: browserIds._fbp,
  });
}

/** The cookie of Meta's pixel, unless a newer click with another id is known; its time is that of the click itself. */
function fbcOf({ clickIds: { fbclid: click }, browserIds }: Conversion): string | undefined {
  const [cookie, ms, id] = /^fb\.\d+\.(\d+)\.(.+)$/s.exec(browserIds._fbc ?? "") ?? [];
  if (!click) return cookie;
  // Meta's newer libraries add `.` and a suffix to the id.
  const isSame = id === click.value || id?.startsWith(`${click.value}.`);
  return isSame || Number(ms) > click.seenAt ? cookie : `fb.1.${click.seenAt}.${click.value}`;
}

const transientCodes = new Set([1, 2, 4, 17, 32, 341, 368, 613, 5000, 21009]);
const permanentCodes = new Set([3, 100]);

function readAnswer(response: PlatformResponse, count: number): Reading {
  const { status, body } = response;
  // A proxy's page, whatever its status: Meta itself answers in JSON.
  if (body.trimStart().startsWith("<") && !(status >= 300 && status < 400))
    return later(`HTTP ${status}: a web page instead of an answer`, waitSeconds(response));
  const parsed = parseJson(body);
  const error = at(parsed, "error");
  if (typeof error !== "object" || error === null) {
    const received = at(parsed, "events_received");
    if (status >= 200 && status < 300 && typeof received === "number" && received < count)
      return later(`Meta received ${received} of ${count} events`);
    return readStatus(response);
  }
  const code = Number(textAt(error, "code"));
  const subcode = textAt(error, "error_subcode");
  const words = textAt(error, "error_user_msg") || textAt(error, "message");
  const said = `Meta error ${code}${subcode && `/${subcode}`}: ${shorten(words)}`;
  // 33: the dataset does not exist or this token may not see it. 10 and 200 to 299: a permission is missing.
  const isPermission = code === 10 || (code >= 200 && code < 300) || (code === 100 && subcode === "33");
  if (code === 190 || code === 102 || isPermission) return { said: "unauthorised", error: said };
  // 80000 to 80014: the limits of business use cases.
  const isThrottle = code >= 80_000 && code <= 80_014;
  if (at(error, "is_transient") === true || transientCodes.has(code) || isThrottle)
    return later(said, waitSeconds(response));
  if (permanentCodes.has(code) || status < 300) return { said: "refused", error: said };
  return readStatus(response, said);
}

/** Retry-After, or the minutes that Meta's usage header estimates. */
function waitSeconds({ headers }: PlatformResponse): number | undefined {
  const asked = retryAfterSeconds(headers["retry-after"]);
  const usage = parseJson(headers["x-business-use-case-usage"] ?? "");
  const cases = typeof usage === "object" && usage !== null ? Object.values(usage).flat() : [];
  const minutes = cases.map((one) => Number(textAt(one, "estimated_time_to_regain_access")));
  const estimated = Math.max(0, ...minutes.filter(Number.isFinite)) * 60;
  return asked ?? (estimated > 0 ? estimated : undefined);
}
