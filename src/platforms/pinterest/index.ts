// Pinterest Conversions API v5: web events of an ad account. Its schema is closed, so one unknown key fails the whole
// request; apart from that every event gets a verdict of its own.

import type { Conversion, Reading } from "../../kernel/event.ts";
import {
  amountText,
  browserOf,
  digits,
  externalIdField,
  hashedList,
  idList,
  idOf,
  isLimited,
  isUnnamedRefund,
  known,
  limitedDataSetting,
  listOf,
  mapFields,
  type MappedField,
  placeFields,
  places,
  tokenCheck,
  unixSeconds,
  wholeNumber,
} from "../shared/eventBody.ts";
import { type EventNames, eventNameOf } from "../shared/eventNames.ts";
import { bearer, tokenSettings } from "../shared/oauth.ts";
import { pinterestAnswers, pinterestExamples, pinterestGuide } from "./examples.ts";
import type { ConnectionSettings, Platform, PlatformResponse } from "../platform.ts";
import {
  bodyOf,
  isSuccess,
  later,
  listAt,
  parseJson,
  readStatus,
  shorten,
  textAt,
  unreadable,
} from "../shared/readResponse.ts";

// Checked 2026-11-15.
const version = "v5";
const api = `https://api.pinterest.com/${version}`;

const standard = {
  purchase: "checkout",
  checkout: "checkout",
  lead: "lead",
  signup: "signup",
  sign_up: "signup",
  complete_registration: "signup",
  add_to_cart: "add_to_cart",
  add_to_wishlist: "add_to_wishlist",
  begin_checkout: "initiate_checkout",
  initiate_checkout: "initiate_checkout",
  add_payment_info: "add_payment_info",
  subscribe: "subscribe",
  start_trial: "start_trial",
  contact: "contact",
  schedule: "schedule",
  submit_application: "submit_application",
  search: "search",
  view_content: "view_content",
  view_item: "view_content",
  view_category: "view_category",
  page_view: "page_visit",
  page_visit: "page_visit",
  watch_video: "watch_video",
  find_location: "find_location",
  customize_product: "customize_product",
} as const;

const events: EventNames = {
  standard,
  others: { name: "custom" },
  choices: [...new Set<string>(Object.values(standard)), "custom"],
};

const digitsOf = (zip: string) => (/\p{L}/u.test(zip) ? "" : places.zip(zip).replace(/\D/g, ""));
const text = (name: string, help: string): MappedField => ({ name, help, type: "text" });
const fields: readonly MappedField[] = [
  externalIdField,
  ...placeFields.map((field) =>
    // Pinterest wants digits only here; what is left of a British code would be another one.
    field.name === "user_data.zp" ? { ...field, shape: hashedList(digitsOf) } : field,
  ),
  text("custom_data.content_name", "Name of the page or product."),
  text("custom_data.content_category", "Category of the page or product."),
  text("custom_data.content_brand", "Brand of the product."),
  { ...text("custom_data.content_ids", "Ids of the products, separated by commas."), shape: idList },
  { name: "custom_data.num_items", help: "How many items.", type: "number", shape: wholeNumber },
  text("custom_data.search_string", "What the person searched for."),
];

export const pinterest = {
  id: "pinterest",
  name: "Pinterest",
  description: "Sends conversions to a Pinterest ad account with the Conversions API.",
  docs: { url: "https://developers.pinterest.com/docs/api/v5/events-create", checked: "2026-11-15" },
  guide: pinterestGuide,
  oauth: {
    authorizeUrl: "https://www.pinterest.com/oauth/",
    tokenUrl: `${api}/oauth/token`,
    scopes: ["ads:read", "ads:write"],
    scopeSeparator: ",",
    pkce: false,
    clientAuth: "basic",
    refresh: "rotates",
  },
  settings: [
    {
      name: "ad_account_id",
      label: "Ad account id",
      help: "The number of the ad account in Pinterest's Ads Manager. It is not the id of the tag.",
      required: true,
      check: digits(3, 20),
    },
    {
      name: "access_token",
      label: "Conversion token",
      help: "From Ads Manager: Conversions, Set up API, Generate new token. It lives long.",
      required: true,
      secret: true,
      check: tokenCheck,
    },
    ...tokenSettings,
    limitedDataSetting,
  ],
  pickers: [
    {
      setting: "ad_account_id",
      needs: ["access_token"],
      toRequest: (settings) => ({
        method: "GET",
        url: `${api}/ad_accounts?page_size=250`,
        headers: bearer(settings),
        body: "",
      }),
      read: (body) =>
        listAt(parseJson(body), "items").flatMap((account) => {
          const value = textAt(account, "id");
          return value ? [{ value, label: textAt(account, "name") || value }] : [];
        }),
    },
  ],
  account: (settings) => settings.ad_account_id ?? "",
  ids: ["epik", "_epik"],
  events,
  fields,
  // Pinterest names no limit; this is the safe reading.
  maxAgeDays: 7,
  batch: 1000,
  lanes: 16,
  quota: { requests: 5000, seconds: 60 },
  unfit(conversion, settings) {
    if (isUnnamedRefund(conversion, settings)) return "Pinterest takes no refunds";
    const { em, client_ip_address: ip, client_user_agent: agent } = userData(conversion);
    if (em || (ip && agent)) return null;
    return conversion.consent === "denied" ? "opted out" : "no email, or address and browser";
  },
  toRequest(conversions, settings, now) {
    const isTest = conversions.some(({ mode }) => mode === "test");
    const account = encodeURIComponent(settings.ad_account_id ?? "");
    return {
      method: "POST",
      url: `${api}/ad_accounts/${account}/events${isTest ? "?test=true" : ""}`,
      headers: { "content-type": "application/json", ...bearer(settings) },
      body: JSON.stringify({ data: conversions.map((conversion) => toEvent(conversion, settings, now)) }),
    };
  },
  readResponse,
  examples: pinterestExamples(standard),
  answers: pinterestAnswers,
} satisfies Platform;

function toEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Record<string, unknown> {
  const { value, currency, orderId } = conversion;
  const event = known({
    event_name: eventNameOf(conversion, settings, events),
    // Offline events cannot be matched with those of the tag, and the page is no required field of web events.
    action_source: "web",
    event_time: unixSeconds(conversion.time, now),
    event_id: conversion.platformEventId,
    event_source_url: browserOf(conversion).page,
    opt_out: conversion.consent === "denied",
    user_data: userData(conversion),
    custom_data: known({
      ...(value === null ? {} : { value: amountText(value, currency), currency }),
      order_id: orderId,
      ...(isLimited(conversion, settings) ? { opt_out_type: "LDP" } : {}),
    }),
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
    click_id: idOf(clickIds.epik?.value) ?? idOf(browserIds._epik),
  });
}

/** 200 and 422 list a verdict for each event, in order; only those that failed are dropped by Pinterest. */
function readResponse(response: PlatformResponse, conversions: readonly Conversion[]): Reading[] {
  const { status } = response;
  const parsed = bodyOf(response);
  const verdicts = listAt(parsed, "events");
  const isListed = verdicts.length > 0 && (isSuccess(status) || status === 422);
  if (!isListed && isSuccess(status)) return conversions.map(() => unreadable(response));
  if (!isListed) {
    const code = textAt(parsed, "code");
    const reading = readStatus(
      response,
      [code && `code ${code}`, textAt(parsed, "message")].join(" ").trim(),
    );
    return conversions.map(() => reading);
  }
  return conversions.map((_, i) => {
    const said = textAt(verdicts[i], "status");
    if (said === "processed") return { outcome: "accepted" };
    const words = shorten(textAt(verdicts[i], "error_message") || textAt(verdicts[i], "warning_message"));
    if (said === "failed") return { outcome: "rejected", error: words || "Pinterest gave no reason" };
    // Sending it again is safe: its event id is the same.
    return later("Pinterest's answer left this event out");
  });
}
