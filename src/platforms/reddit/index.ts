// Reddit Conversions API, version 3: event times in milliseconds, names in capitals, and an email form of its own.

import type { Conversion } from "../../kernel/event.ts";
import { dedupId, dedupSetting } from "../shared/dedup.ts";
import {
  amountOf,
  hashed,
  idOf,
  isLimited,
  isUnnamedRefund,
  known,
  limitedDataSetting,
  mapFields,
  oneOf,
  tokenCheck,
  wholeNumber,
  type MappedField,
} from "../shared/eventBody.ts";
import { eventNameOf, type EventNames } from "../shared/eventNames.ts";
import { bearer, tokenSettings } from "../shared/oauth.ts";
import type { ConnectionSettings, Platform } from "../platform.ts";
import { listAt, parseJson, textAt } from "../shared/readResponse.ts";
import { readRedditAnswer } from "./response.ts";
import { redditAnswers } from "./answerExamples.ts";
import { redditExamples } from "./examples.ts";
import { redditGuide } from "./guide.ts";

/** Version 2.0 still answers, and events must never go to both. Checked 2026-11-15. */
const base = "https://ads-api.reddit.com/api/v3";
/** Reddit throttles clients that do not say who they are. */
const userAgent = "cleancast/1";

const sources = ["WEBSITE", "APP", "PHYSICAL_STORE", "OTHER"];
const trackingTypes = new Set(
  "PAGE_VISIT VIEW_CONTENT SEARCH ADD_TO_CART ADD_TO_WISHLIST PURCHASE LEAD SIGN_UP CUSTOM".split(" "),
);
const valued = new Set("PURCHASE ADD_TO_CART ADD_TO_WISHLIST LEAD SIGN_UP CUSTOM".split(" "));
const counted = new Set("PURCHASE ADD_TO_CART ADD_TO_WISHLIST CUSTOM".split(" "));
const maxNameLength = 64;

const events: EventNames = {
  standard: {
    purchase: "PURCHASE",
    lead: "LEAD",
    signup: "SIGN_UP",
    sign_up: "SIGN_UP",
    complete_registration: "SIGN_UP",
    add_to_cart: "ADD_TO_CART",
    add_to_wishlist: "ADD_TO_WISHLIST",
    search: "SEARCH",
    view_content: "VIEW_CONTENT",
    view_item: "VIEW_CONTENT",
    page_view: "PAGE_VISIT",
    page_visit: "PAGE_VISIT",
  },
  others: "own name",
  check: (name) =>
    name.length <= maxNameLength
      ? null
      : `must be one of ${[...trackingTypes].join(", ")}, or a name of up to 64 characters`,
};

const itemCount: MappedField = {
  name: "metadata.item_count",
  help: "How many items: a whole number. Goes with purchases, carts, wish lists and custom events.",
  type: "number",
  shape: wholeNumber,
};
const externalId: MappedField = {
  name: "user.external_id",
  help: "Your own id of the person; hashed before it is sent.",
  type: "text",
  shape: hashed((text) => text),
};
const fields = [itemCount, externalId];

export const reddit = {
  id: "reddit",
  name: "Reddit",
  description: "Sends conversions to a pixel of Reddit Ads, through the Conversions API.",
  docs: { url: "https://ads-api.reddit.com/docs/v3/", checked: "2026-11-15" },
  guide: redditGuide,
  oauth: {
    authorizeUrl: "https://www.reddit.com/api/v1/authorize",
    tokenUrl: "https://www.reddit.com/api/v1/access_token",
    scopes: ["adsconversions", "adsread"],
    pkce: false,
    clientAuth: "basic",
    authorizeParams: { duration: "permanent" },
    refresh: "keeps",
  },
  settings: [
    {
      name: "access_token",
      label: "Conversion access token",
      help: "From Events Manager, Conversions API; or filled by signing in.",
      required: true,
      secret: true,
      check: tokenCheck,
    },
    ...tokenSettings,
    {
      name: "ad_account_id",
      label: "Ad account",
      help: "The id of the ad account; only needed to choose the pixel from a list.",
      check: idCheck,
    },
    {
      name: "pixel_id",
      label: "Pixel id",
      help: "The id of the pixel in Events Manager, often the same as that of the ad account.",
      required: true,
      check: idCheck,
    },
    {
      name: "test_id",
      label: "Test id",
      help: "From Event Testing in Events Manager; events of test keys are sent with it and show up there.",
      check: tokenCheck,
    },
    {
      name: "action_source",
      label: "Where conversions happen",
      help: "WEBSITE, APP, PHYSICAL_STORE or OTHER. Reddit reports them apart and compares only WEBSITE with its pixel.",
      default: "WEBSITE",
      check: oneOf(sources),
    },
    dedupSetting,
    {
      name: "uuid_form",
      label: "Form of the browser id",
      help: "Sources differ on how Reddit wants the _rdt_uuid cookie: id (what follows the dot) or cookie (the whole value).",
      default: "id",
      check: oneOf(["id", "cookie"]),
    },
    {
      name: "unmatched",
      label: "Events without match keys",
      help: "skip, or send: Reddit counts them at best and may refuse them. Opted-out people are among them.",
      default: "skip",
      check: oneOf(["skip", "send"]),
    },
    limitedDataSetting,
    {
      name: "limited_data_region",
      label: "Region of limited data use",
      help: "Country and region whose law asks for limited data use, like US-CA; goes along with limited events.",
      check: (value) =>
        /^[A-Z]{2}-[A-Z0-9]{1,3}$/.test(value) ? null : "must be a country and a region, like US-CA",
    },
  ],
  pickers: [
    {
      setting: "pixel_id",
      needs: ["access_token", "ad_account_id"],
      toRequest: (settings) => ({
        method: "GET",
        url: `${base}/ad_accounts/${encodeURIComponent(settings.ad_account_id ?? "")}/pixels`,
        headers: { ...bearer(settings), "user-agent": userAgent },
        body: "",
      }),
      read: (body) =>
        listAt(parseJson(body), "data").flatMap((one) => {
          const value = textAt(one, "id");
          return value ? [{ value, label: textAt(one, "name") || value }] : [];
        }),
    },
  ],
  account: (settings) => settings.pixel_id ?? "",
  ids: ["rdt_cid", "_rdt_uuid"],
  events,
  fields,
  maxAgeDays: 7,
  batch: 1000,
  lanes: 16,
  quota: { requests: 5000, seconds: 60 },
  // Event Testing shows only requests of one event.
  group: (conversion) => (conversion.mode === "test" ? conversion.platformEventId : ""),
  unfit(conversion, settings) {
    if (conversion.mode === "test" && !settings.test_id) return "this connection has no test id";
    if (isUnnamedRefund(conversion, settings)) return "Reddit has no refunds";
    const { custom_event_name: name } = typeOf(conversion, settings);
    if (name && name.length > maxNameLength) return "Reddit takes event names of up to 64 characters";
    if (settings.unmatched === "send" || hasMatchKey(conversion, settings)) return null;
    if (conversion.consent === "denied") return "opted out";
    return settings.action_source === "PHYSICAL_STORE"
      ? "no email or phone"
      : "no click id, email, phone, browser id, or address with user agent";
  },
  toRequest: (conversions, settings, now) => ({
    method: "POST",
    url: `${base}/pixels/${encodeURIComponent(settings.pixel_id ?? "")}/conversion_events`,
    headers: { "content-type": "application/json", ...bearer(settings), "user-agent": userAgent },
    body: JSON.stringify({
      data: {
        ...testIdOf(conversions, settings),
        events: conversions.map((conversion) => eventOf(conversion, settings, now)),
      },
    }),
  }),
  readResponse: (response, conversions, settings) =>
    readRedditAnswer(
      response,
      conversions.map((conversion) => dedupId(conversion, settings)),
    ),
  examples: redditExamples,
  answers: redditAnswers,
} satisfies Platform;

function idCheck(value: string): string | null {
  return /^[\w-]{1,64}$/.test(value)
    ? null
    : "must be an id of letters, digits and underscores, like a2_abc123";
}

function typeOf(
  conversion: Conversion,
  settings: ConnectionSettings,
): { tracking_type: string; custom_event_name?: string } {
  const name = eventNameOf(conversion, settings, events) ?? "";
  const inCapitals = name.toUpperCase();
  if (inCapitals === "CUSTOM") return { tracking_type: "CUSTOM", custom_event_name: conversion.name.trim() };
  return trackingTypes.has(inCapitals)
    ? { tracking_type: inCapitals }
    : { tracking_type: "CUSTOM", custom_event_name: name };
}

/** Without its id a test event would count as a live one, so it rather fails. `unfit` says it kindly before. */
function testIdOf(
  conversions: readonly Conversion[],
  { test_id }: ConnectionSettings,
): Record<string, string> {
  if (!conversions.some(({ mode }) => mode === "test")) return {};
  if (!test_id) throw new Error("a test event needs the connection's test id");
  return { test_id };
}

const uuidCookie = /^(?:\d+\.)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Keys = { click_id?: string | undefined; user: Record<string, unknown> };

function keysOf(conversion: Conversion, settings: ConnectionSettings): Keys {
  const { person, clickIds, browserIds, browser, consent } = conversion;
  if (consent === "denied") return { user: {} };
  const contact = {
    // Where only a hash came in, it is Reddit's form too if nothing but letters and digits stood before the @.
    email: person?.emailRedditSha256 ?? person?.emailSha256,
    phone_number: person?.phoneSha256,
  };
  if (settings.action_source === "PHYSICAL_STORE") return { user: known(contact) };
  // `<milliseconds>.<uuid>`, by Reddit's own script.
  const uuid = idOf(browserIds._rdt_uuid, uuidCookie);
  return {
    click_id: idOf(clickIds.rdt_cid?.value),
    user: known({
      ...contact,
      uuid: settings.uuid_form === "cookie" ? uuid : uuid?.slice(uuid.indexOf(".") + 1),
      ip_address: browser?.address,
      user_agent: browser?.userAgent,
    }),
  };
}

function hasMatchKey(conversion: Conversion, settings: ConnectionSettings): boolean {
  const { click_id, user } = keysOf(conversion, settings);
  return !!(click_id || user.email || user.phone_number || user.uuid || (user.ip_address && user.user_agent));
}

function eventOf(conversion: Conversion, settings: ConnectionSettings, now: number): Record<string, unknown> {
  const { value, currency, browser, consent } = conversion;
  const type = typeOf(conversion, settings);
  const source = settings.action_source ?? "WEBSITE";
  const { click_id, user } = keysOf(conversion, settings);
  const event = {
    // Senders' clocks may run ahead, Reddit takes five minutes of that.
    event_at: Math.floor(Math.min(conversion.time, now)),
    action_source: source,
    event_source_url: source === "WEBSITE" && consent !== "denied" ? browser?.page : undefined,
    type,
    click_id,
    user: known({ ...user, data_processing_options: limits(conversion, settings) }),
    metadata: known({
      conversion_id: dedupId(conversion, settings),
      ...(value !== null && valued.has(type.tracking_type)
        ? { value: amountOf(value, currency), currency }
        : {}),
    }),
  };
  const mapped = counted.has(type.tracking_type) ? fields : [externalId];
  mapFields(event, conversion, settings, mapped, "user");
  return known(event);
}

function limits(conversion: Conversion, settings: ConnectionSettings): Record<string, unknown> | undefined {
  if (!isLimited(conversion, settings)) return undefined;
  const region = settings.limited_data_region;
  return { modes: ["LDU"], ...(region ? { country: region.slice(0, 2), region } : {}) };
}
