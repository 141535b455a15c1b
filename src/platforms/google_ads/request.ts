// Translates conversions to events of the Data Manager API, for Google Ads.

import type { Conversion, Item } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform } from "../platform.ts";
import {
  cookieGclid,
  eventSources,
  eventSourceSetting,
  ingestEvent,
  ingestRequest,
  ingestValue,
  transactionOf,
} from "../shared/dataManager/request.ts";
import { eventNamesOf } from "../shared/eventNames.ts";
import { priceOf } from "../shared/items.ts";
import { amountField, applyMapping, textField } from "../shared/mapping.ts";
import { textAt } from "../shared/json.ts";
import { type Body, browserOf, unlessEmpty, validId } from "../shared/values.ts";
import { withoutHyphens } from "./pickers.ts";

const customerTypes = ["NEW", "RETURNING", "REENGAGED"];

const checkActionId = (value: string) =>
  /^\d{1,20}$/.test(value) ? null : "must be the number of a conversion action, digits only";

/** Google has no event names here: each event goes to conversion actions, by number. */
export const events: EventNames = {
  standard: {},
  others: "not sent",
  target: "conversion action",
  several: true,
  defaultSetting: "conversion_action",
  check: checkActionId,
};

export const fields: readonly Field[] = [
  amountField("conversionValue", "The value, in place of the event's own."),
  textField("eventSource", `Where it happened: ${eventSources.join(", ")}.`),
  textField("userProperties.customerType", `The type of customer: ${customerTypes.join(", ")}.`),
  ...[1, 2, 3].map((number) =>
    textField(
      `customVariables.${number}`,
      `The value of the custom variable that custom_variable_${number} names; no personal data.`,
    ),
  ),
];

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => {
  const customer = withoutHyphens(settings.customer_id);
  const manager = withoutHyphens(settings.login_customer_id);
  const actions = conversions[0] ? actionsOf(conversions[0], settings) : [];
  return ingestRequest(conversions, settings, {
    destinations: (actions.length ? actions : [undefined]).map((action) => ({
      operatingAccount: { accountType: "GOOGLE_ADS", accountId: customer },
      // Google rejects an account that logs in through itself.
      loginAccount: manager && manager !== customer ? { accountType: "GOOGLE_ADS", accountId: manager } : undefined,
      productDestinationId: action,
    })),
    encoding: "HEX",
    events: conversions.map((conversion) => toEvent(conversion, settings, now)),
  });
};

export const actionsOf = (conversion: Conversion, settings: ConnectionSettings) => eventNamesOf(conversion, settings, events);

/** Google adjusts the conversion with the same transaction id, in the same conversion action. */
export const destinationOf = (conversion: Conversion, settings: ConnectionSettings) =>
  JSON.stringify([transactionOf(conversion, forTag(settings)), ...actionsOf(conversion, settings).toSorted()]);

/** Google attributes no click after ninety days. */
export const clickDays = 90;

/** One click id: gclid is the most precise, wbraid is for the web and gbraid for apps. Google rejects the last two together. */
export function clickOf(conversion: Conversion): Record<string, string> | null {
  const { clickIds } = conversion;
  const gclid = validId(clickIds.gclid?.value) ?? cookieGclid(conversion, clickDays);
  if (gclid) return { gclid };
  const wbraid = validId(clickIds.wbraid?.value);
  if (wbraid) return { wbraid };
  const gbraid = validId(clickIds.gbraid?.value);
  return gbraid ? { gbraid } : null;
}

/** The conversion adds to one that the Google tag reported with the same order id. */
export const isForTag = (settings: ConnectionSettings) => settings.tag_conversions === "on";

/** Google finds the tag's conversion by the order id exactly as the tag sent it. */
const forTag = (settings: ConnectionSettings) => (isForTag(settings) ? { ...settings, numeric_order_ids: "as_given" } : settings);

function toEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Body {
  const click = clickOf(conversion);
  const { currency } = conversion;
  const event: Body = {
    ...ingestEvent(conversion, forTag(settings), now),
    conversionValue: conversion.value ?? undefined,
    adIdentifiers: adIdentifiersOf(conversion, settings, click),
    userData: userDataOf(conversion, settings, click),
  };
  if (conversion.items) event.cartData = cartOf(conversion.items, currency, settings, click);
  applyMapping(event, conversion, settings, { fields });
  if (!eventSources.includes(event.eventSource as string))
    event.eventSource = settings.event_source ?? eventSourceSetting.default;
  if (!customerTypes.includes(textAt(event, "userProperties", "customerType"))) delete event.userProperties;
  if (event.customVariables) event.customVariables = customVariablesOf(event.customVariables, settings);
  const { conversionValue: value } = event;
  return typeof value === "number" ? { ...event, conversionValue: undefined, ...ingestValue(value, currency) } : event;
}

/** The click id, and what is known of the visit, from which Google models conversions whose click it cannot find. */
function adIdentifiersOf(
  conversion: Conversion,
  settings: ConnectionSettings,
  click: Record<string, string> | null,
): Body | undefined {
  const isSession = settings.visit_data !== "none" && conversion.consent !== "denied";
  const session = isSession ? sessionAttributesOf(conversion) : undefined;
  if (!click && !session) return undefined;
  if (!isSession) return click ?? undefined;
  const { userAgent, address } = browserOf(conversion);
  const withAddress = settings.visit_data === "session_and_ip";
  return {
    ...click,
    sessionAttributes: session,
    landingPageDeviceInfo: unlessEmpty({
      userAgent: userAgent || undefined,
      ipAddress: (withAddress && address) || undefined,
    }),
  };
}

/**
 * Google's own snippet writes the same JSON into a field of forms: the gad_ parameters of the click, and the landing page. The
 * page is that of the last visit, without its query.
 */
function sessionAttributesOf(conversion: Conversion): string | undefined {
  const { gad_source: source, gad_campaignid: campaign } = conversion.clickIds;
  const seenAt = source?.seenAt ?? campaign?.seenAt;
  if (seenAt === undefined) return undefined;
  const { page, referrer, userAgent } = browserOf(conversion);
  const attributes = {
    gad_source: validId(source?.value),
    gad_campaignid: validId(campaign?.value),
    session_start_time_usec: String(Math.floor(seenAt) * 1000),
    landing_page_url: page || undefined,
    landing_page_referrer: referrer || undefined,
    landing_page_user_agent: userAgent || undefined,
  };
  return Buffer.from(JSON.stringify(attributes)).toString("base64url");
}

/** A variable has the name that the account gave it. Google rejects an event with one that it does not know. */
function customVariablesOf(mapped: unknown, settings: ConnectionSettings): Body[] | undefined {
  return unlessEmpty(
    Object.entries(mapped as Body).flatMap(([number, value]) => {
      const variable = settings[`custom_variable_${number}`];
      return variable ? [{ variable, value }] : [];
    }),
  );
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

const sendsContact = (settings: ConnectionSettings) => settings.enhanced_conversions_for_leads === "on" || isForTag(settings);

/** Google rejects contact hashes where the account has not enabled them, and together with wbraid and gbraid. */
export function userDataOf({ person }: Conversion, settings: ConnectionSettings, click: Record<string, string> | null): unknown {
  if (!sendsContact(settings) || !person || click?.wbraid || click?.gbraid) return undefined;
  const emailAddress = person.emailGoogleSha256 ?? person.emailSha256;
  const userIdentifiers = [
    ...(emailAddress ? [{ emailAddress }] : []),
    ...(person.phoneSha256 ? [{ phoneNumber: person.phoneSha256 }] : []),
  ];
  return userIdentifiers.length > 0 ? { userIdentifiers } : undefined;
}
