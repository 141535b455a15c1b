// Translates conversions to events of the Conversions API of a UET tag, or to offline conversions.

import { dayMs, minuteMs } from "../../kernel/time.ts";
import type { Conversion, Item } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform, PlatformRequest } from "../platform.ts";
import { eventNameOf, foldName, usualEventOf } from "../shared/eventNames.ts";
import { idsOf, priceOf } from "../shared/items.ts";
import { applyMapping, numberField, textField } from "../shared/mapping.ts";
import { at, parseJson, textAt } from "../shared/json.ts";
import { bearer, dedupId } from "../shared/settings.ts";
import { amountOf, browserOf, isoTime, moneyOf, unixSeconds } from "../shared/values.ts";

/** Both checked 2026-11-15. */
const conversionsApi = "https://capi.uet.microsoft.com/v1";
const campaignApi = "https://campaign.api.bingads.microsoft.com/CampaignManagement/v13";

/** Seven days, less some minutes for clock differences and transport. */
export const maxConversionsApiAgeMs = 7 * dayMs - 5 * minuteMs;

/** Goals match an event by any name: Microsoft has no list of names. */
export const events: EventNames = { standard: {}, others: "own name" };

const pageTypes = ["cart", "category", "home", "other", "product", "purchase", "searchresults"];

export const fields: readonly Field[] = [
  textField("customData.eventCategory", "The category that a goal matches."),
  textField("customData.eventLabel", "The label that a goal matches."),
  numberField("customData.eventValue", "The value that a goal matches; not the revenue."),
  textField("customData.searchTerm", "What the person searched for."),
  textField("customData.pageType", `For remarketing: ${pageTypes.join(", ")}.`),
  textField("customData.ecommCategory", "For remarketing: the id of the category."),
  numberField("customData.ecommTotalValue", "For remarketing: the total of the cart."),
];

export const toRequest: Platform["toRequest"] = (conversions, settings, now) =>
  conversions.every((conversion) => apiOf(conversion, settings) === "offline")
    ? offlineRequest(conversions, settings)
    : conversionsApiRequest(conversions, settings, now);

type Api = "conversions api" | "offline";

export const ageAtReceipt = ({ time, receivedAt }: Conversion) => receivedAt - time;

/** The age on receipt decides, so that every attempt uses the same API. */
export function apiOf(conversion: Conversion, settings: ConnectionSettings): Api | null {
  const ageMs = ageAtReceipt(conversion);
  if (settings.tag_token && ageMs < maxConversionsApiAgeMs) return "conversions api";
  const isOfflineReady = settings.access_token && settings.developer_token && settings.account_id && goalOf(conversion, settings);
  return isOfflineReady && ageMs < 90 * dayMs ? "offline" : null;
}

export function hasMatchKey(conversion: Conversion, settings: ConnectionSettings): boolean {
  const isOffline = apiOf(conversion, settings) === "offline";
  // Offline conversions have no consent flag.
  if (isOffline && conversion.consent === "denied") return false;
  if (conversion.person !== null || clickOf(conversion)) return true;
  return !isOffline && visitorOf(conversion) !== undefined;
}

function conversionsApiRequest(conversions: readonly Conversion[], settings: ConnectionSettings, now: number): PlatformRequest {
  return {
    method: "POST",
    url: `${conversionsApi}/${settings.tag_id ?? ""}/events`,
    headers: { "content-type": "application/json", authorization: `Bearer ${settings.tag_token ?? ""}` },
    body: JSON.stringify({
      data: conversions.map((conversion) => toEvent(conversion, settings, now)),
      continueOnValidationError: true,
      dataProvider: "Cleancast",
    }),
  };
}

/** A request without events, which Microsoft rejects after it has checked the token. */
export const emptyRequest = (settings: ConnectionSettings) => conversionsApiRequest([], settings, 0);

/** Asks for the UET tag with the keys of offline conversions. */
export const tagRequest = (settings: ConnectionSettings): PlatformRequest =>
  campaignRequest(settings, "UetTags/QueryByIds", { TagIds: [settings.tag_id ?? ""] });

export const campaignRequest = (
  settings: ConnectionSettings,
  operation: string,
  body: Readonly<Record<string, unknown>>,
): PlatformRequest => ({
  method: "POST",
  url: `${campaignApi}/${operation}`,
  headers: campaignHeaders(settings),
  body: JSON.stringify(body),
});

function toEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Record<string, unknown> {
  const { time, person, consent, orderId } = conversion;
  const { page, userAgent, address } = browserOf(conversion);
  const click = clickOf(conversion);
  const event: Record<string, unknown> = {
    eventType: "custom",
    eventId: dedupId(conversion, settings),
    eventName: eventNameOf(conversion, settings, events),
    eventTime: unixSeconds(time, now),
    eventSourceUrl: page || undefined,
    // Microsoft reads an absent field as granted consent.
    adStorageConsent: consent === "unknown" ? undefined : consent === "granted" ? "G" : "D",
    userData: {
      msclkid: click && settings.msclkid_form !== "as_captured" ? withDashes(click) : click,
      anonymousId: visitorOf(conversion),
      em: person ? (person.emailMicrosoftSha256 ?? person.emailSha256) : undefined,
      ph: person?.phoneSha256,
      clientUserAgent: userAgent || undefined,
      clientIpAddress: address || undefined,
    },
    customData: { transactionId: orderId ?? undefined, ...moneyOf(conversion) },
  };
  const data = event.customData as Record<string, unknown>;
  if (conversion.items) addItems(data, conversion.items, conversion);
  applyMapping(event, conversion, settings, { fields });
  if (!pageTypes.includes(textAt(data, "pageType"))) delete data.pageType;
  if (Object.values(data).every((one) => one === undefined)) delete event.customData;
  return event;
}

/** The kind of page that Microsoft's examples give with the products of such an event. */
const pageTypeOfEvent: Readonly<Record<string, string>> = {
  purchase: "purchase",
  closed_won: "purchase",
  add_to_cart: "cart",
  view_cart: "cart",
  begin_checkout: "cart",
  view_item: "product",
};

function addItems(data: Record<string, unknown>, items: readonly Item[], { name, currency }: Conversion): void {
  data.items = items.map((item) => ({
    id: item.id,
    name: item.name,
    price: priceOf(item, currency),
    quantity: item.quantity,
  }));
  data.itemIds = idsOf(items);
  data.pageType = pageTypeOfEvent[usualEventOf(name) ?? ""];
}

function campaignHeaders(settings: ConnectionSettings): Record<string, string> {
  return {
    "content-type": "application/json",
    ...bearer(settings),
    DeveloperToken: settings.developer_token ?? "",
    CustomerAccountId: settings.account_id ?? "",
    ...(settings.customer_id ? { CustomerId: settings.customer_id } : {}),
  };
}

function offlineRequest(conversions: readonly Conversion[], settings: ConnectionSettings): PlatformRequest {
  return campaignRequest(settings, "OfflineConversions/Apply", {
    OfflineConversions: conversions.map((conversion) => ({
      ConversionName: goalOf(conversion, settings),
      // Microsoft recognises repeats by this and the click id, so it has the same bytes on every attempt.
      ConversionTime: isoSeconds(conversion.time),
      ...(conversion.value === null
        ? {}
        : {
            ConversionValue: amountOf(conversion.value, conversion.currency),
            ConversionCurrencyCode: conversion.currency,
          }),
      ...offlineKeys(conversion),
    })),
  });
}

export const isoSeconds = (ms: number) => isoTime(ms).replace(/\.\d+Z$/, "Z");

/** The keys by which Microsoft finds the click of an offline conversion. */
export const offlineKeys = (conversion: Conversion) => ({
  MicrosoftClickId: clickOf(conversion),
  HashedEmailAddress: conversion.person ? (conversion.person.emailMicrosoftSha256 ?? conversion.person.emailSha256) : undefined,
  HashedPhoneNumber: conversion.person?.phoneSha256,
});

export function goalOf({ name }: Pick<Conversion, "name">, settings: ConnectionSettings): string | undefined {
  const goals = settings.offline_goals ? readGoals(settings.offline_goals) : null;
  return goals?.get(foldName(name)) ?? goals?.get(foldName(usualEventOf(name) ?? name)) ?? settings.offline_goal;
}

/** Folded event names and their goals; null when the text is not such an object. */
export function readGoals(text: string): Map<string, string> | null {
  const goals = parseJson(text);
  if (typeof goals !== "object" || goals === null || Array.isArray(goals)) return null;
  const entries = Object.keys(goals).map((name) => [foldName(name), at(goals, name)] as const);
  return entries.every((entry): entry is [string, string] => typeof entry[1] === "string" && entry[1] !== "")
    ? new Map(entries)
    : null;
}

/** A click id that is not a UUID, with or without dashes, would make its event invalid. */
function clickOf({ clickIds }: Conversion): string | undefined {
  const value = clickIds.msclkid?.value ?? "";
  return /^[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}$/i.test(value) ? value : undefined;
}

function withDashes(id: string): string {
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** The visitor id in the cookie of Microsoft's own tag; newer cookies have more after a bar. */
function visitorOf({ browserIds }: Conversion): string | undefined {
  return /^([0-9a-f]{32})(?:\||$)/i.exec(browserIds._uetvid ?? "")?.[1];
}
