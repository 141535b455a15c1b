// Meta Conversions API: website events of a dataset (pixel). One bad event fails its whole request, so everything that
// Meta is known to refuse is sorted out before.

import type { Conversion } from "../../kernel/event.ts";
import {
  amountOf,
  browserOf,
  digits,
  externalIdField,
  hashedList,
  idList,
  idOf,
  isUnnamedRefund,
  known,
  limitedDataSetting,
  listOf,
  mapFields,
  type MappedField,
  noTestCode,
  oneOf,
  oneWordOf,
  placeFields,
  processingOptions,
  testCodeOf,
  testCodeSetting,
  tokenCheck,
  unixSeconds,
  wholeNumber,
} from "../shared/eventBody.ts";
import { readMetaAnswer } from "./response.ts";
import { metaAnswers, metaExamples, metaGuide } from "./examples.ts";
import { metaPickers } from "./pickers.ts";
import { type EventNames, eventNameOf } from "../shared/eventNames.ts";
import { bearer, expirySetting } from "../shared/oauth.ts";
import type { ConnectionSettings, Platform } from "../platform.ts";

// Checked 2026-11-15: v26.0 is the newest; v25.0 is valid until 2028-07-29 and the newest that others rely on.
const version = "v25.0";
const graphHost = "https://graph.facebook.com";
const graph = `${graphHost}/${version}`;
const graphOf = (settings: ConnectionSettings) => `${graphHost}/${settings.api_version ?? version}`;

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
  {
    ...text(
      "user_data.lead_id",
      "The id of a lead from a form on Facebook or Instagram, as Meta gave it: digits.",
    ),
    shape: (id) => (/^\d{1,30}$/.test(String(id)) ? id : undefined),
  },
  text("custom_data.content_name", "Name of the page or product."),
  text("custom_data.content_category", "Category of the page or product."),
  {
    ...text("custom_data.content_type", "product or product_group."),
    shape: oneWordOf(["product", "product_group"]),
  },
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
      check: digits(5, 20),
    },
    {
      name: "access_token",
      label: "Access token",
      help: "From Events Manager: the dataset, Settings, Conversions API, Generate access token.",
      required: true,
      secret: true,
      check: tokenCheck,
    },
    expirySetting,
    testCodeSetting,
    {
      name: "action_source",
      label: "Where conversions happen",
      help:
        "website: on the site; where the visit is unknown, system_generated is sent. Or always one of system_generated, " +
        "email, phone_call, chat, other.",
      default: "website",
      check: oneOf(sources),
    },
    limitedDataSetting,
    {
      name: "api_version",
      label: "Graph API version",
      help: "The version of Meta's Graph API. Change it only when Meta has retired the one that is set.",
      default: version,
      check: (value) => (/^v\d{2,3}\.\d$/.test(value) ? null : "must be a version like v25.0"),
    },
    {
      name: "ad_account_id",
      label: "Ad account",
      help: "The number of an ad account; only needed to choose the dataset from a list.",
      check: digits(5, 20),
    },
  ],
  pickers: metaPickers(graphOf),
  account: (settings) => settings.pixel_id ?? "",
  ids: ["fbclid", "_fbc", "_fbp"],
  events,
  fields,
  maxAgeDays: 7,
  batch: 1000,
  lanes: 16,
  unfit(conversion, settings) {
    if (conversion.mode === "test" && !settings.test_event_code) return noTestCode;
    if (isUnnamedRefund(conversion, settings)) return "Meta takes no refunds";
    if (!isMatchable(conversion))
      return conversion.consent === "denied" ? "opted out" : "no email, phone, fbclid, _fbc or _fbp";
    if (conversion.value === null && eventNameOf(conversion, settings, events) === "Purchase")
      return "no value, which Meta wants with Purchase";
    return null;
  },
  toRequest: (conversions, settings, now) => ({
    method: "POST",
    url: `${graphOf(settings)}/${encodeURIComponent(settings.pixel_id ?? "")}/events`,
    headers: { "content-type": "application/json", ...bearer(settings) },
    body: JSON.stringify({
      data: conversions.map((conversion) => toEvent(conversion, settings, now)),
      ...testCodeOf(conversions, settings),
    }),
  }),
  readResponse: (response, conversions) => {
    const reading = readMetaAnswer(response, conversions.length);
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
    event_id: conversion.platformEventId,
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

/** Meta wants one of these; the first is nearly always there. */
function isMatchable(conversion: Conversion): boolean {
  if (conversion.person?.emailSha256 || conversion.person?.phoneDigitsSha256) return true;
  const { fbc, fbp, client_ip_address: ip, client_user_agent: agent } = userData(conversion);
  return Boolean(fbc || fbp || (ip && agent));
}

function userData(conversion: Conversion): Record<string, unknown> {
  const { person, browserIds } = conversion;
  const browser = browserOf(conversion);
  return known({
    em: listOf(person?.emailSha256),
    ph: listOf(person?.phoneDigitsSha256),
    fn: listOf(person?.firstNameSha256),
    ln: listOf(person?.lastNameSha256),
    client_ip_address: browser.address,
    client_user_agent: browser.userAgent,
    fbc: fbcOf(conversion),
    fbp: cookieOf(browserIds._fbp, conversion, /^\d+(?:\.[\w-]+)?$/)?.cookie,
  });
}

/** The characters that click ids of Meta have. */
const clickForm = /^[\w.~-]+$/;

/** The cookie of Meta's pixel, unless a newer click with another id is known; its time is that of the click itself. */
function fbcOf(conversion: Conversion): string | undefined {
  const { clickIds, browserIds } = conversion;
  const found = cookieOf(browserIds._fbc, conversion, clickForm);
  const click = clickIds.fbclid;
  const fbclid = idOf(click?.value, clickForm);
  if (!click || !fbclid) return found?.cookie;
  // Meta's newer libraries add `.` and a suffix to the id.
  const isSame = found && (found.id === fbclid || found.id.startsWith(`${fbclid}.`));
  return found && (isSame || found.ms > click.seenAt) ? found.cookie : `fb.1.${click.seenAt}.${fbclid}`;
}

/** How far a visitor's clock may be ahead of ours. */
const aheadMs = 60_000;

type Cookie = { cookie: string; ms: number; id: string };

/** `fb.<labels of the domain>.<milliseconds>.<id>`: any other cookie, or one from the future, has the event refused. */
function cookieOf(value: string | undefined, { receivedAt }: Conversion, form: RegExp): Cookie | undefined {
  const [cookie, ms, id] = /^fb\.\d\.(\d{13})\.(.+)$/.exec(idOf(value) ?? "") ?? [];
  if (!cookie || !id || !form.test(id) || Number(ms) > receivedAt + aheadMs) return undefined;
  return { cookie, ms: Number(ms), id };
}
