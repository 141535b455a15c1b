// Translates conversions to events of the Amazon Ads Events API.

import type { Conversion } from "../../kernel/event.ts";
import { mapSetting, type ConnectionSettings, type EventNames, type Field, type Platform } from "../platform.ts";
import { eventNameOf } from "../shared/eventNames.ts";
import { piecesOf } from "../shared/items.ts";
import { applyMapping, hashed, numberField, textField } from "../shared/mapping.ts";
import { bearer, dedupId } from "../shared/settings.ts";
import { amountOf, type Body, browserOf, decimalText, isoTime } from "../shared/values.ts";

/** Version 1, an open beta. Checked 2026-11-15. */
const path = "/adsApi/v1/create/events";
export const hosts = {
  na: "https://advertising-api.amazon.com",
  eu: "https://advertising-api-eu.amazon.com",
  fe: "https://advertising-api-fe.amazon.com",
} as const;

const purchases = "OFF_AMAZON_PURCHASES";

const standard = {
  purchase: purchases,
  closed_won: purchases,
  lead: "LEAD",
  qualified_lead: "LEAD",
  contact: "CONTACT",
  signup: "SIGN_UP",
  subscribe: "SUBSCRIBE",
  add_to_cart: "ADD_TO_SHOPPING_CART",
  begin_checkout: "CHECKOUT",
  page_view: "PAGE_VIEW",
  search: "SEARCH",
  submit_application: "APPLICATION",
} as const;

/** The type of a conversion. Its name is always the sender's. */
export const events: EventNames = {
  standard,
  others: { name: "OTHER" },
  choices: [...new Set<string>(Object.values(standard)), "MOBILE_APP_FIRST_START", "OTHER"],
};

export const currencies = "AED AUD BRL CAD CNY DKK EUR GBP INR JPY MXN NOK NZD SAR SEK SGD TRY USD".split(" ");

export const sources = ["WEBSITE", "OFFLINE", "ANDROID", "IOS", "FIRE_TV"];

const alphanumeric = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, "");

/** Fields below `match` become match keys of that type. */
const fields: readonly Field[] = [
  textField("match.ADDRESS", "Street and number; hashed before it is sent.", hashed(alphanumeric)),
  textField("match.CITY", "City; hashed before it is sent.", hashed(alphanumeric)),
  textField("match.STATE", "State or province; hashed before it is sent.", hashed(alphanumeric)),
  textField(
    "match.POSTAL",
    "Postal code; hashed before it is sent.",
    hashed((text) => text.toLowerCase().replace(/\s/g, "")),
  ),
  textField("match.MATCH_ID", "Your own id of the person, as the Amazon Ad Tag sends it."),
  textField("countryCode", "Country of the conversion as two letters (US), instead of the connection's.", (value) => {
    const text = String(value).trim().toUpperCase();
    return /^[A-Z]{2}$/.test(text) ? text : undefined;
  }),
  numberField("unitsSold", "How many items were bought, with a purchase: a whole number above zero.", (value) =>
    Number.isSafeInteger(value) && Number(value) > 0 ? value : undefined,
  ),
];
/** Undefined for a text that is no such string, or that is as long as inbound keeps one: its end may be missing. */
const consentString = (value: string | number) => {
  const text = String(value).trim();
  return /^[\w.~-]{10,2047}$/.test(text) ? text : undefined;
};

const consentFields: readonly Field[] = [
  textField("consent.tcf", "The person's IAB TCF string, as your consent banner gives it.", consentString),
  textField("consent.gpp", "The person's IAB GPP string, as your consent banner gives it.", consentString),
];

export const allFields: readonly Field[] = [...fields, ...consentFields];

const withoutUnits = fields.filter(({ name }) => name !== "unitsSold");

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => ({
  method: "POST",
  url: `${hosts[regionOf(settings)]}${path}`,
  headers: {
    "content-type": "application/json",
    accept: "application/json",
    ...bearer(settings),
    "amazon-ads-clientid": settings.client_id ?? "",
    "amazon-ads-accountid": settings.advertiser_id ?? "",
  },
  body: JSON.stringify({ events: conversions.map((conversion) => toEvent(conversion, settings, now)) }),
});

export function regionOf({ region }: ConnectionSettings): keyof typeof hosts {
  return region === "eu" || region === "fe" ? region : "na";
}

type MatchKey = { type: string; values: string[] };

export function matchKeysOf({ person, consent }: Conversion): MatchKey[] {
  if (consent === "denied" || !person) return [];
  const keys = {
    EMAIL: person.emailAmazonSha256 ?? person.emailSha256,
    PHONE: person.phoneDigitsSha256,
    FIRST_NAME: person.firstNameAmazonSha256 ?? person.firstNameSha256,
    LAST_NAME: person.lastNameAmazonSha256 ?? person.lastNameSha256,
  };
  return Object.entries(keys).flatMap(([type, value]) => (value ? [{ type, values: [value] }] : []));
}

/** Amazon requires one form of consent in Europe. Without a decision it judges by the place of the IP address. */
export function consentOf(conversion: Conversion, settings: ConnectionSettings): Body | undefined {
  const { consent: strings } = mappedConsent(conversion, settings);
  if (conversion.consent === "granted")
    return { amazonConsent: { amznAdStorage: "GRANTED", amznUserData: "GRANTED" }, ...strings };
  const { address } = browserOf(conversion);
  return address ? { geo: { ipAddress: address }, ...strings } : strings;
}

function mappedConsent(conversion: Conversion, settings: ConnectionSettings): { consent?: Body } {
  const mapped = {};
  if (consentFields.some(({ name }) => settings[mapSetting(name)] !== undefined))
    applyMapping(mapped, conversion, settings, { fields: consentFields });
  return mapped;
}

function toEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Body {
  const type = eventNameOf(conversion, settings, events) ?? "OTHER";
  const keys = matchKeysOf(conversion);
  const event: Body = {
    eventDescription: {
      name: conversion.name.trim(),
      conversionType: type,
      eventSource: settings.event_source ?? "WEBSITE",
      eventIngestionMethod: "SERVER_TO_SERVER",
      dataSetName: settings.data_set || undefined,
    },
    // Senders' clocks may run ahead.
    eventTime: isoTime(Math.min(conversion.time, now)),
    countryCode: settings.country,
    matchKeys: keys,
    ...moneyOf(type, conversion),
    eventId: dedupId(conversion, settings),
    consent: consentOf(conversion, settings),
  };
  if (conversion.items && type === purchases) event.unitsSold = piecesOf(conversion.items);
  applyMapping(event, conversion, settings, { fields: type === purchases ? fields : withoutUnits, personal: "match" });
  for (const [key, value] of Object.entries((event.match ?? {}) as Record<string, string>))
    keys.push({ type: key, values: [value] });
  delete event.match;
  return event;
}

/** A value is money only for purchases; for other types Amazon would take it for a score. Two decimals are the maximum. */
function moneyOf(type: string, { value, currency }: Conversion): { value?: number; currencyCode?: string } {
  if (type !== purchases || value === null || !currencies.includes(currency)) return {};
  return { value: Number(decimalText(amountOf(value, currency), 2)), currencyCode: currency };
}
