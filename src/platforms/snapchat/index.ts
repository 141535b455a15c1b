// Snapchat Conversions API v3: web events of a Snap Pixel, or offline ones where no page is known.

import type { Conversion, Reading } from "../../kernel/event.ts";
import {
  amountOf,
  browserOf,
  externalIdField,
  idList,
  idOf,
  isUnnamedRefund,
  known,
  limitedDataSetting,
  listOf,
  mapFields,
  type MappedField,
  placeFields,
  processingOptions,
  tokenCheck,
  unixSeconds,
  wholeNumber,
} from "../shared/eventBody.ts";
import { type EventNames, eventNameOf } from "../shared/eventNames.ts";
import { bearer, tokenSettings } from "../shared/oauth.ts";
import type { ConnectionSettings, Platform, PlatformResponse } from "../platform.ts";
import {
  at,
  bodyOf,
  isTransientStatus,
  listAt,
  parseJson,
  readStatus,
  shorten,
  textAt,
  unreadable,
} from "../shared/readResponse.ts";
import { snapchatAnswers, snapchatExamples, snapchatGuide } from "./examples.ts";

// Checked 2026-11-15.
const version = "v3";
const ads = "https://adsapi.snapchat.com/v1";

const custom = [1, 2, 3, 4, 5].map((number) => `CUSTOM_EVENT_${number}`);

const standard = {
  purchase: "PURCHASE",
  // Snapchat has no lead of its own; the connection may choose another name.
  lead: "SIGN_UP",
  signup: "SIGN_UP",
  sign_up: "SIGN_UP",
  complete_registration: "SIGN_UP",
  add_to_cart: "ADD_CART",
  add_to_wishlist: "ADD_TO_WISHLIST",
  begin_checkout: "START_CHECKOUT",
  initiate_checkout: "START_CHECKOUT",
  add_payment_info: "ADD_BILLING",
  subscribe: "SUBSCRIBE",
  start_trial: "START_TRIAL",
  search: "SEARCH",
  view_content: "VIEW_CONTENT",
  view_item: "VIEW_CONTENT",
  view_list: "LIST_VIEW",
  page_view: "PAGE_VIEW",
  login: "LOGIN",
  save: "SAVE",
  share: "SHARE",
  reserve: "RESERVE",
  complete_tutorial: "COMPLETE_TUTORIAL",
} as const;

const events: EventNames = {
  standard,
  // Whether names of one's own are taken is not known.
  others: "not sent",
  choices: [...new Set<string>(Object.values(standard)), ...custom],
};

const text = (name: string, help: string): MappedField => ({ name, help, type: "text" });
const fields: readonly MappedField[] = [
  externalIdField,
  ...placeFields,
  { ...text("custom_data.content_ids", "Ids of the products, separated by commas."), shape: idList },
  {
    ...text("custom_data.content_category", "Categories of the products, separated by commas."),
    shape: idList,
  },
  { name: "custom_data.num_items", help: "How many items.", type: "number", shape: wholeNumber },
  text("custom_data.search_string", "What the person searched for."),
];

const idFault = (value: string) =>
  /^[0-9a-z][0-9a-z-]{4,63}$/i.test(value) ? null : "must be an id of letters, digits and hyphens";
const isWebAddress = (value: string) => URL.canParse(value) && /^https?:\/\//i.test(value);

export const snapchat = {
  id: "snapchat",
  name: "Snapchat",
  description: "Sends conversions to a Snap Pixel with the Conversions API.",
  docs: {
    url: "https://developers.snap.com/api/marketing-api/Conversions-API/Introduction",
    checked: "2026-11-15",
  },
  guide: snapchatGuide,
  oauth: {
    authorizeUrl: "https://accounts.snapchat.com/login/oauth2/authorize",
    tokenUrl: "https://accounts.snapchat.com/login/oauth2/access_token",
    scopes: ["snapchat-marketing-api"],
    pkce: false,
    clientAuth: "body",
    refresh: "keeps",
  },
  settings: [
    {
      name: "pixel_id",
      label: "Pixel id",
      help: "The id of the Snap Pixel in Ads Manager, under Events Manager.",
      required: true,
      check: idFault,
    },
    {
      name: "access_token",
      label: "Conversions API token",
      help: "From Business Manager: Business details, Conversions API tokens. It lives long.",
      required: true,
      secret: true,
      check: tokenCheck,
    },
    ...tokenSettings,
    {
      name: "site_url",
      label: "Address of the site",
      help:
        "Snapchat wants a page with every web event. Where the page of the visit is unknown this address is sent; " +
        "without it such an event is sent as an offline one.",
      check: (value) => (isWebAddress(value) ? null : "must be an http(s) address"),
    },
    limitedDataSetting,
    {
      name: "ad_account_id",
      label: "Ad account id",
      help: "Only to list the pixels of an ad account; not needed when you enter the pixel id yourself.",
      check: idFault,
    },
  ],
  pickers: [
    {
      setting: "ad_account_id",
      needs: ["access_token"],
      toRequest: (settings) => listing(`${ads}/me/organizations?with_ad_accounts=true`, settings),
      read: (body) =>
        listAt(parseJson(body), "organizations")
          .flatMap((one) => listAt(one, "organization", "ad_accounts"))
          .flatMap(choiceOf),
    },
    {
      setting: "pixel_id",
      needs: ["access_token", "ad_account_id"],
      toRequest: (settings) =>
        listing(`${ads}/adaccounts/${encodeURIComponent(settings.ad_account_id ?? "")}/pixels`, settings),
      read: (body) => listAt(parseJson(body), "pixels").flatMap((one) => choiceOf(at(one, "pixel"))),
    },
  ],
  account: (settings) => (settings.pixel_id ?? "").toLowerCase(),
  ids: ["ScCid", "_scid"],
  events,
  fields,
  maxAgeDays: 37,
  batch: 2000,
  lanes: 16,
  unfit(conversion, settings) {
    if (isUnnamedRefund(conversion, settings)) return "Snapchat takes no refunds";
    const name = eventNameOf(conversion, settings, events);
    if (name === null) return "Snapchat has no name for this event; choose one in the connection";
    const { em, ph, client_ip_address: ip, client_user_agent: agent } = userData(conversion);
    if (!em && !ph && !(ip && agent))
      return conversion.consent === "denied" ? "opted out" : "no email, phone, or address and browser";
    if (name === "PURCHASE" && conversion.value === null)
      return "no value, which Snapchat wants with PURCHASE";
    return null;
  },
  toRequest(conversions, settings, now) {
    const isTest = conversions.some(({ mode }) => mode === "test");
    const pixel = encodeURIComponent(settings.pixel_id ?? "");
    return {
      method: "POST",
      url: `https://tr.snapchat.com/${version}/${pixel}/events${isTest ? "/validate" : ""}`,
      headers: { "content-type": "application/json" },
      secretQuery: { access_token: settings.access_token ?? "" },
      body: JSON.stringify({ data: conversions.map((conversion) => toEvent(conversion, settings, now)) }),
    };
  },
  readResponse: (response, conversions) => {
    const reading = readAnswer(response);
    return conversions.map(() => reading);
  },
  examples: snapchatExamples(standard),
  answers: snapchatAnswers,
} satisfies Platform;

function listing(url: string, settings: ConnectionSettings) {
  return { method: "GET", url, headers: bearer(settings), body: "" } as const;
}

function choiceOf(one: unknown): { value: string; label: string }[] {
  const value = textAt(one, "id");
  return value ? [{ value, label: textAt(one, "name") || value }] : [];
}

function toEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Record<string, unknown> {
  const page = browserOf(conversion).page || settings.site_url;
  const { value, currency, orderId } = conversion;
  const event = known({
    event_name: eventNameOf(conversion, settings, events) ?? conversion.name,
    event_time: unixSeconds(conversion.time, now),
    event_id: conversion.platformEventId,
    action_source: page ? "WEB" : "OFFLINE",
    event_source_url: page,
    user_data: userData(conversion),
    custom_data: known({
      ...(value === null ? {} : { value: amountOf(value, currency), currency }),
      order_id: orderId,
    }),
    ...processingOptions(conversion, settings),
  });
  mapFields(event, conversion, settings, fields, "user_data");
  return event;
}

function userData(conversion: Conversion): Record<string, unknown> {
  const { person, clickIds, browserIds } = conversion;
  const { address, userAgent } = browserOf(conversion);
  return known({
    em: listOf(person?.emailSha256),
    ph: listOf(person?.phoneDigitsSha256),
    fn: listOf(person?.firstNameSha256),
    ln: listOf(person?.lastNameSha256),
    client_ip_address: address,
    client_user_agent: userAgent,
    sc_click_id: idOf(clickIds.ScCid?.value),
    sc_cookie1: idOf(browserIds._scid),
  });
}

/** A wrong token often comes as HTTP 400, and only the words tell. */
const aboutToken = /access[ _-]?token|oauth|unauthori[sz]ed|not authori[sz]ed|authenticat|permission/i;

function readAnswer(response: PlatformResponse): Reading {
  const { status } = response;
  const parsed = bodyOf(response);
  const words = wordsOf(parsed);
  const verdict = textAt(parsed, "status").toUpperCase();
  if (isTransientStatus(status) || (status >= 300 && status < 400)) return readStatus(response, words);
  if (status >= 400 && aboutToken.test(words))
    return { outcome: "unauthorized", error: `HTTP ${status}: ${shorten(words)}` };
  if (status >= 300) return readStatus(response, words);
  if (verdict === "VALID") return { outcome: "accepted" };
  if (verdict === "") return unreadable(response);
  const error = `Snapchat said ${shorten(verdict)}${words && `: ${shorten(words)}`}`;
  return { outcome: aboutToken.test(words) ? "unauthorized" : "rejected", error };
}

/** The reason and the messages, which stand below `errors` or at the top. */
function wordsOf(parsed: unknown): string {
  const messages = [...listAt(parsed, "errors", "error_msgs"), ...listAt(parsed, "error_msgs")];
  const texts = [textAt(parsed, "reason"), ...messages].filter(
    (one) => typeof one === "string" && one !== "",
  );
  return [...new Set(texts)].join("; ") || textAt(parsed, "message");
}
