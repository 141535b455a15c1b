// Microsoft Advertising by two roads: the Conversions API of a UET tag for events of the last seven days, the upload of
// offline conversions for older ones and where there is no tag token. The roads lead to different goals and know nothing
// of each other's events, so a conversion takes exactly one of them.

import type { Conversion } from "../../kernel/event.ts";
import { amountOf, dayMs, digits, isUnnamedRefund, oneOf, tokenCheck } from "../shared/eventBody.ts";
import { applyMapping, type Field } from "../shared/mapping.ts";
import { readMicrosoftAnswer } from "./response.ts";
import { microsoftAdsAnswers } from "./answerExamples.ts";
import { microsoftAdsExamples } from "./examples.ts";
import { microsoftAdsGuide } from "./guide.ts";
import { eventNameOf, foldName, type EventNames } from "../shared/eventNames.ts";
import { bearer, tokenSettings } from "../shared/oauth.ts";
import type { ConnectionSettings, Platform, PlatformRequest } from "../platform.ts";
import { at, parseJson, textAt } from "../shared/readResponse.ts";

/** Both checked 2026-11-15. */
const conversionsApi = "https://capi.uet.microsoft.com/v1";
const campaignApi = "https://campaign.api.bingads.microsoft.com/CampaignManagement/v13";

/** Seven days, less some minutes for clocks that differ and for the way there. */
const conversionsApiMs = 7 * dayMs - 5 * 60_000;

const areDigits = digits(1, 20);

/** Goals match the action of an event by its name, whatever that is: Microsoft has no list of names. */
const events: EventNames = { standard: {}, others: "own name" };

const pageTypes = ["cart", "category", "home", "other", "product", "purchase", "searchresults"];

const fields: readonly Field[] = [
  { name: "customData.eventCategory", help: "The category that a goal asks for.", type: "text" },
  { name: "customData.eventLabel", help: "The label that a goal asks for.", type: "text" },
  {
    name: "customData.eventValue",
    help: "The value that a goal asks for; not the revenue.",
    type: "number",
  },
  { name: "customData.searchTerm", help: "What the person searched for.", type: "text" },
  { name: "customData.pageType", help: `For remarketing: ${pageTypes.join(", ")}.`, type: "text" },
  { name: "customData.ecommCategory", help: "For remarketing: the id of the category.", type: "text" },
  { name: "customData.ecommTotalValue", help: "For remarketing: the total of the cart.", type: "number" },
];

export const microsoftAds = {
  id: "microsoft_ads",
  name: "Microsoft Advertising",
  description: "Sends conversions to a UET tag, and late ones to a goal for offline conversions.",
  docs: {
    url: "https://learn.microsoft.com/en-us/advertising/guides/uet-conversion-api-integration",
    checked: "2026-11-15",
  },
  guide: microsoftAdsGuide,
  oauth: {
    authorizeUrl: "https://login.microsoftonline.com/common/oauth2/v2.0/authorize",
    tokenUrl: "https://login.microsoftonline.com/common/oauth2/v2.0/token",
    scopes: ["https://ads.microsoft.com/msads.manage", "offline_access"],
    pkce: true,
    clientAuth: "body",
    refresh: "rotates",
  },
  settings: [
    {
      name: "tag_id",
      label: "UET tag id",
      help: "The number of the UET tag that the goals belong to: Conversions > UET tag.",
      required: true,
      check: areDigits,
    },
    {
      name: "tag_token",
      label: "UET tag token",
      help: "The token of this tag for the Conversions API: edit the tag, then Use Conversions API. For events of the last 7 days.",
      secret: true,
      check: tokenCheck,
    },
    {
      name: "access_token",
      label: "Access token",
      help: "Comes with signing in. Only offline conversions need it: events older than 7 days, or all without a tag token.",
      secret: true,
      check: tokenCheck,
    },
    ...tokenSettings,
    {
      name: "developer_token",
      label: "Developer token",
      help: "From the Microsoft Advertising developer portal. Only offline conversions need it.",
      secret: true,
    },
    {
      name: "account_id",
      label: "Ad account id",
      help: "The number of the ad account that owns the offline goal: aid in the address of its pages.",
      check: areDigits,
    },
    {
      name: "customer_id",
      label: "Manager account id",
      help: "The number of the manager account: cid in the address of its pages. Microsoft wants it for most users.",
      check: areDigits,
    },
    {
      name: "offline_goal",
      label: "Offline goal",
      help: "The exact name of the offline conversion goal for all events that have none of their own. It must be two hours old.",
    },
    {
      name: "offline_goals",
      label: "Offline goals of single events",
      help: 'A JSON object of event names and goal names: {"lead": "Offline lead"}.',
      check: (value) => (readGoals(value) ? null : "must be a JSON object of event names and goal names"),
    },
    {
      name: "msclkid_form",
      label: "Form of msclkid",
      help: "with_dashes writes the click id as a UUID for the Conversions API, which asks for one; in addresses it often has no dashes. as_captured sends it as it stood there.",
      default: "with_dashes",
      check: oneOf(["with_dashes", "as_captured"]),
    },
  ],
  requires: [["tag_token"], ["access_token", "developer_token", "account_id"]],
  account: (settings) => settings.tag_id ?? "",
  ids: ["msclkid", "_uetvid"],
  events,
  fields,
  // The roads know nothing of each other: an event that began on one stays on it until it is too old for it.
  maxAgeDays: (conversion, settings) => (roadOf(conversion, settings) === "conversions api" ? 7 : 90),
  batch: 1000,
  lanes: 4,
  group: (conversion, settings) => roadOf(conversion, settings) ?? "",
  unfit(conversion, settings) {
    if (conversion.mode === "test") return "Microsoft Advertising has no test mode";
    if (isUnnamedRefund(conversion, settings)) return "Microsoft Advertising takes no refunds";
    const road = roadOf(conversion, settings);
    if (!road)
      return ageAtReceipt(conversion) < conversionsApiMs
        ? "no UET tag token, and offline conversions are not set up for this event"
        : "older than 7 days, and offline conversions are not set up for this event";
    // Offline conversions cannot carry a refusal.
    if (conversion.consent === "denied" && (road === "offline" || !hasMatchKey(conversion)))
      return "opted out";
    return hasMatchKey(conversion, road) ? null : "no msclkid, hashed email or phone";
  },
  toRequest(conversions, settings, now) {
    return conversions.every((conversion) => roadOf(conversion, settings) === "offline")
      ? offlineRequest(conversions, settings)
      : conversionsApiRequest(conversions, settings, now);
  },
  readResponse: (response, conversions, settings) =>
    readMicrosoftAnswer(
      response,
      conversions.length,
      settings.offline_goals ? "offline_goals" : "offline_goal",
    ),
  examples: microsoftAdsExamples,
  answers: microsoftAdsAnswers,
} satisfies Platform;

type Road = "conversions api" | "offline";

const ageAtReceipt = ({ time, receivedAt }: Conversion) => receivedAt - time;

/** Decided by the age at which an event came in, so that it is the same on every attempt. */
function roadOf(conversion: Conversion, settings: ConnectionSettings): Road | null {
  const ageMs = ageAtReceipt(conversion);
  if (settings.tag_token && ageMs < conversionsApiMs) return "conversions api";
  const isOfflineReady =
    settings.access_token && settings.developer_token && settings.account_id && goalOf(conversion, settings);
  return isOfflineReady && ageMs < 90 * dayMs ? "offline" : null;
}

function hasMatchKey(conversion: Conversion, road?: Road): boolean {
  if (conversion.person !== null || clickOf(conversion)) return true;
  return road !== "offline" && visitorOf(conversion) !== undefined;
}

function conversionsApiRequest(
  conversions: readonly Conversion[],
  settings: ConnectionSettings,
  now: number,
): PlatformRequest {
  return {
    method: "POST",
    url: `${conversionsApi}/${settings.tag_id ?? ""}/events`,
    headers: { "content-type": "application/json", authorization: `Bearer ${settings.tag_token ?? ""}` },
    body: JSON.stringify({
      data: conversions.map((conversion) => eventOf(conversion, settings, now)),
      continueOnValidationError: true,
      dataProvider: "Cleancast",
    }),
  };
}

function eventOf(conversion: Conversion, settings: ConnectionSettings, now: number): Record<string, unknown> {
  const { platformEventId, time, person, consent, orderId, value, currency } = conversion;
  const browser = consent === "denied" ? null : conversion.browser;
  const click = clickOf(conversion);
  const event: Record<string, unknown> = {
    eventType: "custom",
    eventId: platformEventId,
    eventName: eventNameOf(conversion, settings, events),
    eventTime: Math.floor(Math.min(time, now) / 1000),
    eventSourceUrl: browser?.page || undefined,
    // Absent means granted there.
    adStorageConsent: consent === "unknown" ? undefined : consent === "granted" ? "G" : "D",
    userData: {
      msclkid: click && settings.msclkid_form !== "as_captured" ? withDashes(click) : click,
      anonymousId: visitorOf(conversion),
      em: person ? (person.emailMicrosoftSha256 ?? person.emailSha256) : undefined,
      ph: person?.phoneSha256,
      clientUserAgent: browser?.userAgent || undefined,
      clientIpAddress: browser?.address || undefined,
    },
    customData: {
      transactionId: orderId ?? undefined,
      ...(value === null ? {} : { value: amountOf(value, currency), currency }),
    },
  };
  applyMapping(event, conversion, settings, fields);
  const data = event.customData as Record<string, unknown>;
  if (!pageTypes.includes(textAt(data, "pageType"))) delete data.pageType;
  if (Object.values(data).every((one) => one === undefined)) delete event.customData;
  return event;
}

function offlineRequest(conversions: readonly Conversion[], settings: ConnectionSettings): PlatformRequest {
  return {
    method: "POST",
    url: `${campaignApi}/OfflineConversions/Apply`,
    headers: {
      "content-type": "application/json",
      ...bearer(settings),
      DeveloperToken: settings.developer_token ?? "",
      CustomerAccountId: settings.account_id ?? "",
      ...(settings.customer_id ? { CustomerId: settings.customer_id } : {}),
    },
    body: JSON.stringify({
      OfflineConversions: conversions.map((conversion) => ({
        ConversionName: goalOf(conversion, settings),
        // With the click id this is what Microsoft knows a repetition by: the same bytes on every attempt.
        ConversionTime: new Date(conversion.time).toISOString().replace(/\.\d+Z$/, "Z"),
        ...(conversion.value === null
          ? {}
          : {
              ConversionValue: amountOf(conversion.value, conversion.currency),
              ConversionCurrencyCode: conversion.currency,
            }),
        MicrosoftClickId: clickOf(conversion),
        HashedEmailAddress: conversion.person
          ? (conversion.person.emailMicrosoftSha256 ?? conversion.person.emailSha256)
          : undefined,
        HashedPhoneNumber: conversion.person?.phoneSha256,
      })),
    }),
  };
}

function goalOf({ name }: Conversion, settings: ConnectionSettings): string | undefined {
  const goals = settings.offline_goals ? readGoals(settings.offline_goals) : null;
  return goals?.get(foldName(name)) ?? settings.offline_goal;
}

/** Folded event names and their goals; null when the text is not such an object. */
function readGoals(text: string): Map<string, string> | null {
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
  return /^[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}$/i.test(value)
    ? value
    : undefined;
}

function withDashes(id: string): string {
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** The visitor in the cookie of Microsoft's own tag; newer ones go on after a bar. */
function visitorOf({ browserIds }: Conversion): string | undefined {
  return /^([0-9a-f]{32})(?:\||$)/i.exec(browserIds._uetvid ?? "")?.[1];
}
