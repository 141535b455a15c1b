// Translates conversions to occurrences of HubSpot's custom events. An account defines its events and their properties itself, so
// a connection names those that exist.

import type { Conversion } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform } from "../platform.ts";
import { eventNamesOf } from "../shared/eventNames.ts";
import { applyMapping, oneWordOf, textField } from "../shared/mapping.ts";
import { bearer } from "../shared/settings.ts";
import { amountText, type Body, browserOf, isoTime, unlessEmpty, validId } from "../shared/values.ts";

/** HubSpot versions its API by month. Checked 2026-11-18. */
export const base = "https://api.hubapi.com";
const endpoint = `${base}/events/2026-03/send/batch`;

const checkEvent = (value: string) =>
  /^pe\d{1,12}_[a-z0-9_]{1,200}$/.test(value) ? null : "must be the internal name of a custom event, like pe1234567_conversion";

export const events: EventNames = {
  standard: {},
  others: "not sent",
  target: "custom event",
  defaultSetting: "default_event",
  check: checkEvent,
};

const touchpoints =
  "CONVERSATION DIRECT_TRAFFIC EMAIL_MARKETING HUBSPOT_CRM INTEGRATION MARKETING_EVENT OFFLINE ORGANIC_SEARCH OTHER_CAMPAIGNS PAID_SEARCH PAID_SOCIAL REFERRALS SALES SOCIAL_MEDIA".split(
    " ",
  );

/** HubSpot fails the whole request for a longer value. */
const maxLength = 256;
const maxUrlLength = 1024;

const cut = (value: string | number) => String(value).slice(0, maxLength);

export const fields: readonly Field[] = [
  textField("objectId", "HubSpot's id of the contact, digits.", (value) =>
    /^\d{1,20}$/.test(String(value)) ? String(value) : undefined,
  ),
  textField(
    "properties.hs_touchpoint_source",
    `The source of the interaction, for attribution reports: ${touchpoints.join(", ")}.`,
    oneWordOf(touchpoints),
  ),
  textField("properties.hs_campaign_id", "The id of a campaign in HubSpot.", cut),
  textField("properties.hs_page_title", "The title of the page or asset.", cut),
  textField("properties.hs_asset_description", "A description for your reports.", cut),
];

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => ({
  method: "POST",
  url: endpoint,
  headers: { "content-type": "application/json", ...bearer(settings) },
  body: JSON.stringify({ inputs: conversions.map((conversion) => toOccurrence(conversion, settings, now)) }),
});

/** One name: an event has one target. */
export const eventOf = (conversion: Conversion, settings: ConnectionSettings) => eventNamesOf(conversion, settings, events)[0];

/** True where HubSpot can find the contact. */
export function hasContact(conversion: Conversion, settings: ConnectionSettings): boolean {
  if (conversion.consent === "denied") return false;
  const found = { objectId: undefined };
  applyMapping(found, conversion, settings, { fields: fields.filter(({ name }) => name === "objectId") });
  return Boolean(found.objectId || visitorToken(conversion) || matchingProperty(conversion, settings));
}

const visitorToken = ({ browserIds }: Conversion) => validId(browserIds.hubspotutk, /^[0-9a-f]{32}$/);

/** The event property by which the account lets HubSpot find contacts. */
function matchingProperty({ person }: Conversion, settings: ConnectionSettings): Body | undefined {
  const name = settings.email_sha256_property;
  return name && person?.emailSha256 ? { [name]: person.emailSha256 } : undefined;
}

function toOccurrence(conversion: Conversion, settings: ConnectionSettings, now: number): Body {
  const isDenied = conversion.consent === "denied";
  const occurrence: Body = {
    eventName: eventOf(conversion, settings),
    occurredAt: isoTime(Math.min(conversion.time, now)),
    utk: isDenied ? undefined : visitorToken(conversion),
    uuid: conversion.platformEventId,
    properties: { ...propertiesOf(conversion, settings), ...(isDenied ? {} : matchingProperty(conversion, settings)) },
  };
  applyMapping(occurrence, conversion, settings, { fields });
  occurrence.properties = unlessEmpty(occurrence.properties as Body);
  return occurrence;
}

/** All values are texts. */
function propertiesOf(conversion: Conversion, settings: ConnectionSettings): Body {
  const { value, currency, orderId } = conversion;
  const { value_property: ofValue, currency_property: ofCurrency, order_property: ofOrder } = settings;
  const properties: Body = settings.default_properties === "no" ? {} : defaultsOf(conversion);
  if (value !== null && ofValue) properties[ofValue] = amountText(value, currency);
  if (value !== null && ofCurrency) properties[ofCurrency] = currency;
  if (orderId && ofOrder) properties[ofOrder] = cut(orderId);
  return properties;
}

/** The properties that HubSpot adds to an event by itself. */
function defaultsOf(conversion: Conversion): Body {
  const { page, referrer, userAgent } = browserOf(conversion);
  const { utm_source, utm_medium, utm_campaign, utm_term, utm_content } = conversion.utm;
  const short = { hs_utm_source: utm_source, hs_utm_medium: utm_medium, hs_utm_campaign: utm_campaign, hs_utm_term: utm_term };
  const texts = { ...short, hs_utm_content: utm_content, hs_user_agent: userAgent };
  const properties: Body = { hs_page_url: urlOf(page), hs_referrer: urlOf(referrer) };
  for (const [name, text] of Object.entries(texts)) if (text) properties[name] = cut(text);
  return properties;
}

/** Half a URL would name another page. */
const urlOf = (url: string | undefined) => (url && url.length <= maxUrlLength ? url : undefined);
