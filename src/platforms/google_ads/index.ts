// Google Ads through the Data Manager API. One bad event fails a whole request there, and a request that was taken says
// nothing of attribution, which Google decides half an hour later. So everything that is known to be refused stays here.

import type { Conversion } from "../../kernel/event.ts";
import { amountOf, dayMs, idOf, isUnnamedRefund, oneOf, tokenCheck } from "../shared/eventBody.ts";
import { readGoogleAnswer } from "./response.ts";
import { googleAdsAnswers, googleAdsExamples } from "./examples.ts";
import { googleAdsGuide } from "./guide.ts";
import { bareId, googleAdsPickers } from "./pickers.ts";
import { applyMapping, type Field } from "../shared/mapping.ts";
import { eventNameOf, type EventNames } from "../shared/eventNames.ts";
import { bearer, tokenSettings } from "../shared/oauth.ts";
import type { ConnectionSettings, Platform } from "../platform.ts";
import { textAt } from "../shared/readResponse.ts";

/** Checked 2026-11-15. */
const dataManager = "https://datamanager.googleapis.com/v1";

const eventSources = ["WEB", "APP", "IN_STORE", "PHONE", "MESSAGE", "OTHER"];
const customerTypes = ["NEW", "RETURNING", "REENGAGED"];

const isActionId = (value: string) =>
  /^\d{1,20}$/.test(value) ? null : "must be the number of a conversion action, digits only";
const isCustomerId = (value: string) =>
  /^\d{3}-?\d{3}-?\d{4}$/.test(value) ? null : "must be a customer id of ten digits, like 123-456-7890";

/** Google has no names of events here: each goes to a conversion action, by number. */
const events: EventNames = { standard: {}, others: "not sent", check: isActionId };

const fields: readonly Field[] = [
  { name: "conversionValue", help: "The value, where it is not the event's own.", type: "number" },
  { name: "eventSource", help: `Where it happened: ${eventSources.join(", ")}.`, type: "text" },
  {
    name: "userProperties.customerType",
    help: `What the customer is to you: ${customerTypes.join(", ")}.`,
    type: "text",
  },
];

export const googleAds = {
  id: "google_ads",
  name: "Google Ads",
  description: "Sends conversions to Google Ads conversion actions through the Data Manager API.",
  docs: {
    url: "https://developers.google.com/data-manager/api/reference/rest/v1/events/ingest",
    checked: "2026-11-15",
  },
  guide: googleAdsGuide,
  oauth: {
    authorizeUrl: "https://accounts.google.com/o/oauth2/v2/auth",
    tokenUrl: "https://oauth2.googleapis.com/token",
    // The second one is only for the lists of accounts and conversion actions.
    scopes: ["https://www.googleapis.com/auth/datamanager", "https://www.googleapis.com/auth/adwords"],
    pkce: true,
    clientAuth: "body",
    authorizeParams: { access_type: "offline", prompt: "consent" },
    refresh: "keeps",
  },
  settings: [
    {
      name: "customer_id",
      label: "Customer id",
      help: "The Google Ads account that owns the conversion actions, like 123-456-7890. Not its manager account.",
      required: true,
      check: isCustomerId,
    },
    {
      name: "access_token",
      label: "Access token",
      help: "Comes with signing in. A pasted one needs the scope datamanager and ends after an hour.",
      required: true,
      secret: true,
      check: tokenCheck,
    },
    ...tokenSettings,
    {
      name: "conversion_action",
      label: "Conversion action",
      help: "The number of the conversion action for all events that have none of their own.",
      check: isActionId,
    },
    {
      name: "login_customer_id",
      label: "Manager account",
      help: "The manager account that you reach the account through. Empty when you reach it directly.",
      check: isCustomerId,
    },
    {
      name: "enhanced_conversions_for_leads",
      label: "Enhanced conversions for leads",
      help: "on sends hashed email and phone, also for events without a click id. Switch it on in Google Ads and accept the customer data terms there first: otherwise Google refuses the events.",
      default: "off",
      check: oneOf(["on", "off"]),
    },
    {
      name: "event_source",
      label: "Event source",
      help: `Where your conversions happen: ${eventSources.join(", ")}.`,
      default: "WEB",
      check: oneOf(eventSources),
    },
    {
      name: "numeric_order_ids",
      label: "Order ids of digits only",
      help: "prefixed sends 1001 as order-1001, because Google may refuse bare digits. as_given sends 1001: choose it when the Google tag reports the same order ids.",
      default: "prefixed",
      check: oneOf(["prefixed", "as_given"]),
    },
    {
      name: "developer_token",
      label: "Developer token",
      help: "Only for lists of accounts and conversion actions to choose from. Conversions go without it.",
      secret: true,
      check: tokenCheck,
    },
  ],
  pickers: googleAdsPickers,
  account: (settings) => bareId(settings.customer_id),
  ids: ["gclid", "wbraid", "gbraid", "_gcl_aw"],
  events,
  fields,
  // Google names no limit; a gclid is of no use to it after 90 days.
  maxAgeDays: 90,
  batch: 2000,
  lanes: 4,
  quota: { requests: 300, seconds: 60, sharedBy: "app" },
  // One destination in a request: without references every event would go to every action, and an action that is
  // wrong fails only its own events.
  group: (conversion, settings) => actionOf(conversion, settings) ?? "",
  unfit(conversion, settings) {
    const byContact = settings.enhanced_conversions_for_leads === "on" && conversion.person !== null;
    if (!byContact && !clickOf(conversion))
      return conversion.consent === "denied" ? "opted out" : "no gclid, wbraid or gbraid";
    if (isUnnamedRefund(conversion, settings)) return "Google Ads takes no refunds";
    return actionOf(conversion, settings) ? null : "no conversion action for this event";
  },
  toRequest(conversions, settings, now) {
    const customer = bareId(settings.customer_id);
    const manager = bareId(settings.login_customer_id);
    const [first] = conversions;
    return {
      method: "POST",
      url: `${dataManager}/events:ingest`,
      headers: { "content-type": "application/json", ...bearer(settings) },
      body: JSON.stringify({
        destinations: [
          {
            operatingAccount: { accountType: "GOOGLE_ADS", accountId: customer },
            // An account that logs in through itself is refused.
            loginAccount:
              manager && manager !== customer ? { accountType: "GOOGLE_ADS", accountId: manager } : undefined,
            productDestinationId: (first && actionOf(first, settings)) ?? undefined,
          },
        ],
        encoding: "HEX",
        events: conversions.map((conversion) => eventOf(conversion, settings, now)),
        validateOnly: conversions.some(({ mode }) => mode === "test"),
      }),
    };
  },
  readResponse: readGoogleAnswer,
  examples: googleAdsExamples,
  answers: googleAdsAnswers,
} satisfies Platform;

function actionOf(conversion: Conversion, settings: ConnectionSettings): string | null {
  return eventNameOf(conversion, settings, events) ?? settings.conversion_action ?? null;
}

/** One click id: gclid says most, wbraid is for the web and gbraid for apps. Google refuses both of those together. */
function clickOf(conversion: Conversion): Record<string, string> | null {
  const { clickIds } = conversion;
  const gclid = idOf(clickIds.gclid?.value) ?? cookieClick(conversion);
  if (gclid) return { gclid };
  const wbraid = idOf(clickIds.wbraid?.value);
  if (wbraid) return { wbraid };
  const gbraid = idOf(clickIds.gbraid?.value);
  return gbraid ? { gbraid } : null;
}

/** `GCL.<seconds>.<gclid>`, which Google's own tag keeps of a click that ours may not have seen. */
function cookieClick({ browserIds, time }: Conversion): string | null {
  const [, seconds, gclid] = /^GCL\.(\d{10})\.([\w-]{1,500})$/.exec(browserIds._gcl_aw ?? "") ?? [];
  const ageMs = time - Number(seconds) * 1000;
  return gclid && ageMs >= 0 && ageMs <= 90 * dayMs ? gclid : null;
}

function eventOf(conversion: Conversion, settings: ConnectionSettings, now: number): Record<string, unknown> {
  const click = clickOf(conversion);
  const { currency } = conversion;
  const event: Record<string, unknown> = {
    // A sender's clock that is a little ahead would make the whole request invalid.
    eventTimestamp: new Date(Math.min(conversion.time, now)).toISOString(),
    transactionId: transactionOf(conversion, settings),
    eventSource: settings.event_source ?? "WEB",
    conversionValue: conversion.value ?? undefined,
    adIdentifiers: click ?? undefined,
    userData: userDataOf(conversion, settings, click),
    consent: consentOf(conversion),
  };
  applyMapping(event, conversion, settings, fields);
  if (!eventSources.includes(event.eventSource as string)) event.eventSource = settings.event_source ?? "WEB";
  if (!customerTypes.includes(textAt(event, "userProperties", "customerType"))) delete event.userProperties;
  const value = event.conversionValue;
  if (typeof value !== "number") return event;
  // A mapped value may be anything, and Google takes nothing below zero.
  const money = value < 0 ? {} : { conversionValue: amountOf(value, currency), currency };
  return { ...event, conversionValue: undefined, ...money };
}

function transactionOf({ orderId, platformEventId }: Conversion, settings: ConnectionSettings): string {
  if (orderId === null || /\S@\S+\.\S/.test(orderId)) return platformEventId;
  return /^\d+$/.test(orderId) && settings.numeric_order_ids !== "as_given" ? `order-${orderId}` : orderId;
}

/** Contact hashes fail the request where the account has not switched them on, and do not go with wbraid and gbraid. */
function userDataOf(
  { person }: Conversion,
  settings: ConnectionSettings,
  click: Record<string, string> | null,
): unknown {
  if (settings.enhanced_conversions_for_leads !== "on" || !person || click?.wbraid || click?.gbraid)
    return undefined;
  const phone = person.phoneSha256 ? [{ phoneNumber: person.phoneSha256 }] : [];
  return { userIdentifiers: [{ emailAddress: person.emailGoogleSha256 ?? person.emailSha256 }, ...phone] };
}

function consentOf({ consent }: Conversion): unknown {
  if (consent === "unknown") return undefined;
  const word = consent === "granted" ? "CONSENT_GRANTED" : "CONSENT_DENIED";
  return { adUserData: word, adPersonalization: word };
}
