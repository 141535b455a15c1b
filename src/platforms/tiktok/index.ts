// TikTok Events API 2.0: web events of a pixel. Nearly every answer is HTTP 200; its `code` says what happened.

import type { Conversion } from "../../kernel/event.ts";
import {
  amountOf,
  browserOf,
  digits,
  hashed,
  idOf,
  isLimited,
  isUnnamedRefund,
  known,
  limitedDataSetting,
  mapFields,
  type MappedField,
  noTestCode,
  oneOf,
  oneWordOf,
  places,
  testCodeOf,
  testCodeSetting,
  tokenCheck,
  unixSeconds,
} from "../shared/eventBody.ts";
import { type EventNames, eventNameOf } from "../shared/eventNames.ts";
import { expirySetting } from "../shared/oauth.ts";
import type { ConnectionSettings, Platform } from "../platform.ts";
import { listAt, parseJson, textAt } from "../shared/readResponse.ts";
import { readTikTokAnswer } from "./response.ts";
import { tiktokAnswers, tiktokExamples, tiktokGuide } from "./examples.ts";

// Checked 2026-11-15.
const version = "v1.3";
const api = `https://business-api.tiktok.com/open_api/${version}`;

// Names that TikTok keeps for itself, as far as its help pages list them.
const reserved = new Set([
  "addbilling",
  "browse",
  "checkout",
  "clickform",
  "consult",
  "registration",
  "startcheckout",
]);

function nameFault(name: string): string | null {
  if (name.length > 50) return "must have at most 50 characters";
  return reserved.has(name.toLowerCase()) ? "must not be a name that TikTok keeps for itself" : null;
}

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
    application_approval: "ApplicationApproval",
    search: "Search",
    view_content: "ViewContent",
    view_item: "ViewContent",
    download: "Download",
    find_location: "FindLocation",
    customize_product: "CustomizeProduct",
  },
  others: "own name",
  check: nameFault,
};

const alphanumeric = (value: string | number) =>
  String(value)
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]/gu, "");

const fields: readonly MappedField[] = [
  {
    name: "user.external_id",
    help: "Your own id of the person, as your pixel has it; hashed before it is sent.",
    type: "text",
    shape: hashed((text) => text),
  },
  {
    name: "user.zip_code",
    help: "Postal code; hashed before it is sent.",
    type: "text",
    shape: hashed((text) => alphanumeric(places.zip(text))),
  },
  { name: "user.city", help: "City; TikTok takes it plain.", type: "text", shape: alphanumeric },
  { name: "user.state", help: "State; TikTok takes it plain.", type: "text", shape: alphanumeric },
  { name: "user.country", help: "Country; TikTok takes it plain.", type: "text", shape: alphanumeric },
  {
    name: "properties.content_type",
    help: "product or product_group.",
    type: "text",
    shape: oneWordOf(["product", "product_group"]),
  },
  { name: "properties.description", help: "A text about the event.", type: "text" },
  { name: "properties.query", help: "What the person searched for.", type: "text" },
];

export const tiktok = {
  id: "tiktok",
  name: "TikTok",
  description: "Sends conversions to a TikTok pixel with the Events API.",
  docs: { url: "https://business-api.tiktok.com/portal/docs?id=1771100865818625", checked: "2026-11-15" },
  guide: tiktokGuide,
  oauth: {
    authorizeUrl: "https://business-api.tiktok.com/portal/auth",
    tokenUrl: `${api}/oauth2/access_token/`,
    // What an app may do is decided when TikTok approves it.
    scopes: [],
    pkce: false,
    clientAuth: "body",
    tokenBody: "json",
    names: { client_id: "app_id", client_secret: "secret", code: "auth_code" },
    tokenIn: "data",
    refresh: "none",
  },
  settings: [
    {
      name: "pixel_code",
      label: "Pixel id",
      help: "The code of letters and digits under the pixel's name in TikTok's Events Manager.",
      required: true,
      check: (value) =>
        /^[A-Za-z0-9]{5,40}$/.test(value) ? null : "must be a code of 5 to 40 letters and digits",
    },
    {
      name: "access_token",
      label: "Access token",
      help: "From Events Manager: the pixel, Settings, Events API, Generate access token.",
      required: true,
      secret: true,
      check: tokenCheck,
    },
    expirySetting,
    testCodeSetting,
    limitedDataSetting,
    {
      name: "without_person",
      label: "Events of nobody",
      help:
        "skip: events without any match key, such as those of people who refused consent, are not sent. send: they go " +
        "out without anything personal; TikTok takes them, it seems, and can attribute them to no ad.",
      default: "skip",
      check: oneOf(["skip", "send"]),
    },
    {
      name: "advertiser_id",
      label: "Ad account id",
      help: "Only to list the pixels of an ad account; not needed when you enter the pixel id yourself.",
      check: digits(5, 25),
    },
  ],
  pickers: [
    {
      setting: "pixel_code",
      needs: ["access_token", "advertiser_id"],
      toRequest: (settings) => ({
        method: "GET",
        url: `${api}/pixel/list/?advertiser_id=${encodeURIComponent(settings.advertiser_id ?? "")}&page_size=20`,
        headers: { "access-token": settings.access_token ?? "" },
        body: "",
      }),
      read: (body) =>
        listAt(parseJson(body), "data", "pixels").flatMap((pixel) => {
          // Events go by the code; the number beside it is for ads.
          const value = textAt(pixel, "pixel_code");
          return value ? [{ value, label: textAt(pixel, "pixel_name") || value }] : [];
        }),
    },
  ],
  account: (settings) => settings.pixel_code ?? "",
  ids: ["ttclid", "_ttp"],
  events,
  fields,
  // TikTok names no limit for web events; this is the safe reading.
  maxAgeDays: 7,
  batch: 1000,
  lanes: 16,
  quota: { requests: 1000, seconds: 1 },
  unfit(conversion, settings) {
    if (conversion.mode === "test" && !settings.test_event_code) return noTestCode;
    if (isUnnamedRefund(conversion, settings)) return "TikTok takes no refunds";
    const name = eventNameOf(conversion, settings, events) ?? "";
    if (nameFault(name)) return `the event name ${nameFault(name)}`;
    const { email, phone, ttclid, ttp, ip, user_agent: agent } = userOf(conversion);
    if (email || phone || ttclid || ttp || (ip && agent) || settings.without_person === "send") return null;
    return conversion.consent === "denied" ? "opted out" : "no email, phone, ttclid or _ttp";
  },
  toRequest: (conversions, settings, now) => ({
    method: "POST",
    url: `${api}/event/track/`,
    headers: { "content-type": "application/json", "access-token": settings.access_token ?? "" },
    body: JSON.stringify({
      event_source: "web",
      event_source_id: settings.pixel_code ?? "",
      ...testCodeOf(conversions, settings),
      data: conversions.map((conversion) => toEvent(conversion, settings, now)),
    }),
  }),
  readResponse: (response, conversions) => readTikTokAnswer(response, conversions.length),
  examples: tiktokExamples(events.standard),
  answers: tiktokAnswers,
} satisfies Platform;

function toEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Record<string, unknown> {
  const { page, referrer } = browserOf(conversion);
  const { value, currency, orderId } = conversion;
  const event: Record<string, unknown> = {
    ...known({
      event: eventNameOf(conversion, settings, events),
      event_time: unixSeconds(conversion.time, now),
      event_id: conversion.platformEventId,
    }),
    // Stays when it is empty: TikTok's events always have it.
    user: userOf(conversion),
    ...known({
      properties: known({
        ...(value === null ? {} : { value: amountOf(value, currency), currency }),
        order_id: orderId,
      }),
      page: known({ url: page, referrer }),
    }),
    ...(isLimited(conversion, settings) ? { limited_data_use: true } : {}),
  };
  mapFields(event, conversion, settings, fields, "user");
  return event;
}

function userOf(conversion: Conversion): Record<string, unknown> {
  const { person, clickIds, browserIds } = conversion;
  const { address, userAgent } = browserOf(conversion);
  return known({
    email: person?.emailSha256,
    phone: person?.phoneSha256,
    first_name: person?.firstNameSha256,
    last_name: person?.lastNameSha256,
    ttclid: idOf(clickIds.ttclid?.value),
    ttp: idOf(browserIds._ttp),
    ip: address,
    user_agent: userAgent,
  });
}
