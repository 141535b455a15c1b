// Translates conversions to events of the Data Manager API.

import { dayMs } from "../../kernel/time.ts";
import type { Conversion, Item } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform } from "../platform.ts";
import { eventNamesOf } from "../shared/eventNames.ts";
import { priceOf } from "../shared/items.ts";
import { applyMapping, numberField, textField } from "../shared/mapping.ts";
import { textAt } from "../shared/response.ts";
import { bearer } from "../shared/settings.ts";
import { amountOf, isoTime, validId } from "../shared/values.ts";
import { withoutHyphens } from "./pickers.ts";

/** Checked 2026-11-15. */
const dataManager = "https://datamanager.googleapis.com/v1";

export const eventSources = ["WEB", "APP", "IN_STORE", "PHONE", "MESSAGE", "OTHER"];
const customerTypes = ["NEW", "RETURNING", "REENGAGED"];

const checkActionId = (value: string) =>
  /^\d{1,20}$/.test(value) ? null : "must be the number of a conversion action, digits only";

/** Google has no event names here: each event goes to conversion actions, by number. */
export const events: EventNames = {
  standard: {},
  others: "not sent",
  several: true,
  defaultSetting: "conversion_action",
  check: checkActionId,
};

export const fields: readonly Field[] = [
  numberField("conversionValue", "The value, in place of the event's own."),
  textField("eventSource", `Where it happened: ${eventSources.join(", ")}.`),
  textField("userProperties.customerType", `The type of customer: ${customerTypes.join(", ")}.`),
];

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => {
  const customer = withoutHyphens(settings.customer_id);
  const manager = withoutHyphens(settings.login_customer_id);
  const actions = conversions[0] ? actionsOf(conversions[0], settings) : [];
  return {
    method: "POST",
    url: `${dataManager}/events:ingest`,
    headers: { "content-type": "application/json", ...bearer(settings) },
    body: JSON.stringify({
      // Events without references go to every destination of the request.
      destinations: (actions.length ? actions : [undefined]).map((action) => ({
        operatingAccount: { accountType: "GOOGLE_ADS", accountId: customer },
        // Google rejects an account that logs in through itself.
        loginAccount:
          manager && manager !== customer ? { accountType: "GOOGLE_ADS", accountId: manager } : undefined,
        productDestinationId: action,
      })),
      encoding: "HEX",
      events: conversions.map((conversion) => toEvent(conversion, settings, now)),
      validateOnly: conversions.some(({ mode }) => mode === "test"),
    }),
  };
};

export const actionsOf = (conversion: Conversion, settings: ConnectionSettings) =>
  eventNamesOf(conversion, settings, events);

/** One click id: gclid is the most precise, wbraid is for the web and gbraid for apps. Google rejects the last two together. */
export function clickOf(conversion: Conversion): Record<string, string> | null {
  const { clickIds } = conversion;
  const gclid = validId(clickIds.gclid?.value) ?? cookieClick(conversion);
  if (gclid) return { gclid };
  const wbraid = validId(clickIds.wbraid?.value);
  if (wbraid) return { wbraid };
  const gbraid = validId(clickIds.gbraid?.value);
  return gbraid ? { gbraid } : null;
}

/** `GCL.<seconds>.<gclid>`, in which Google's own tag stores a click that our tag may have missed. */
function cookieClick({ browserIds, time }: Conversion): string | null {
  const [, seconds, gclid] = /^GCL\.(\d{10})\.([\w-]{1,500})$/.exec(browserIds._gcl_aw ?? "") ?? [];
  const ageMs = time - Number(seconds) * 1000;
  return gclid && ageMs >= 0 && ageMs <= 90 * dayMs ? gclid : null;
}

function toEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Record<string, unknown> {
  const click = clickOf(conversion);
  const { currency } = conversion;
  const event: Record<string, unknown> = {
    // A time in the future would make the whole request invalid.
    eventTimestamp: isoTime(Math.min(conversion.time, now)),
    transactionId: transactionOf(conversion, settings),
    eventSource: settings.event_source ?? "WEB",
    conversionValue: conversion.value ?? undefined,
    adIdentifiers: click ?? undefined,
    userData: userDataOf(conversion, settings, click),
    consent: consentOf(conversion),
  };
  if (conversion.items) event.cartData = cartOf(conversion.items, currency, settings, click);
  applyMapping(event, conversion, settings, fields);
  if (!eventSources.includes(event.eventSource as string)) event.eventSource = settings.event_source ?? "WEB";
  if (!customerTypes.includes(textAt(event, "userProperties", "customerType"))) delete event.userProperties;
  const value = event.conversionValue;
  if (typeof value !== "number") return event;
  // A mapped value may be negative, and Google rejects that.
  const money = value < 0 ? {} : { conversionValue: amountOf(value, currency), currency };
  return { ...event, conversionValue: undefined, ...money };
}

/**
 * Google ignores the cart of a click with wbraid or gbraid. It defines an item by product, quantity and unit price, so a cart
 * with an unknown price is not sent.
 */
function cartOf(
  items: readonly Item[],
  currency: string,
  settings: ConnectionSettings,
  click: Record<string, string> | null,
): unknown {
  if (click?.wbraid || click?.gbraid || items.some(({ price }) => price === undefined)) return undefined;
  return {
    merchantId: settings.merchant_id || undefined,
    merchantFeedLabel: settings.feed_label || undefined,
    merchantFeedLanguageCode: settings.feed_language || undefined,
    items: items.map((item) => ({
      merchantProductId: item.id,
      quantity: item.quantity,
      unitPrice: priceOf(item, currency),
    })),
  };
}

function transactionOf({ orderId, platformEventId }: Conversion, settings: ConnectionSettings): string {
  if (orderId === null || /\S@\S+\.\S/.test(orderId)) return platformEventId;
  return /^\d+$/.test(orderId) && settings.numeric_order_ids !== "as_given" ? `order-${orderId}` : orderId;
}

/** Google rejects contact hashes where the account has not enabled them, and together with wbraid and gbraid. */
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
