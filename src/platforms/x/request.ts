// Translates conversions to those of X's Conversion API.

import { hash } from "node:crypto";
import { isIPv4 } from "node:net";
import { currencyDigits } from "../../kernel/currency.ts";
import type { Conversion, Item } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform, PlatformRequest } from "../platform.ts";
import { eventNamesOf } from "../shared/eventNames.ts";
import { piecesOf } from "../shared/items.ts";
import { applyMapping, numberField, textField } from "../shared/mapping.ts";
import { parseJson, textAt } from "../shared/json.ts";
import { dedupId } from "../shared/settings.ts";
import { type Target, withTargets } from "../shared/targets.ts";
import { amountOf, type Body, decimalText, isoTime, unlessEmpty, validId } from "../shared/values.ts";
import { oauth1Header } from "./oauth1.ts";

/** Newest since October 2022. Checked 2026-11-15. */
const apiVersion = "12";

const checkTag = (value: string) =>
  /^(?:tw-[a-z0-9]{1,20}-)?[a-z0-9]{1,20}$/i.test(value) ? null : "must be the id of an event tag, like tw-abcde-fghij or fghij";

export const events: EventNames = {
  standard: {},
  others: "not sent",
  target: "event tag",
  several: true,
  defaultSetting: "default_event",
  check: checkTag,
};

export const fields: readonly Field[] = [
  numberField("number_items", "How many items were bought: a whole number above zero."),
  textField("search_string", "What was searched for."),
  textField("description", "Anything else about the conversion, the order id for example."),
];

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => {
  const url = `https://ads-api.x.com/${apiVersion}/measurement/conversions/${settings.pixel_id ?? ""}`;
  const request = { method: "POST", url } as const;
  return {
    ...request,
    headers: {
      "content-type": "application/json",
      ...authorizationOf(request, settings, conversions, now),
    },
    body: JSON.stringify({
      conversions: taggedOf(conversions, settings).map((one) => toConversion(one, settings, now)),
    }),
  };
};

/** The ad accounts that the OAuth keys may use. */
export function listAccounts(settings: ConnectionSettings, now: number): PlatformRequest {
  const request = { method: "GET", url: `https://ads-api.x.com/${apiVersion}/accounts` } as const;
  return { ...request, headers: authorizationOf(request, settings, [], now), body: "" };
}

/**
 * Returns the pixel token, else an OAuth 1.0a signature. Its nonce must never be reused, so it is made from the ids of the
 * conversions and the time of the attempt. With neither, X answers 401 and the conversions wait for credentials.
 */
function authorizationOf(
  request: Pick<PlatformRequest, "method" | "url">,
  settings: ConnectionSettings,
  conversions: readonly Conversion[],
  now: number,
): Record<string, string> {
  const { consumer_key, consumer_secret, oauth_token, oauth_token_secret } = settings;
  if (settings.access_token || !consumer_key || !consumer_secret || !oauth_token || !oauth_token_secret)
    return { "x-pixel-token": settings.access_token ?? "" };
  const keys = {
    consumerKey: consumer_key,
    consumerSecret: consumer_secret,
    token: oauth_token,
    tokenSecret: oauth_token_secret,
  };
  const nonce = hash("sha256", [now, ...conversions.map(({ platformEventId }) => platformEventId)].join(" ")).slice(0, 32);
  return { authorization: oauth1Header(request, keys, { nonce, timestamp: Math.floor(now / 1000) }) };
}

export const tagsOf = (conversion: Conversion, settings: ConnectionSettings) => eventNamesOf(conversion, settings, events);

/** One conversion of X for each tag of each conversion. */
export const taggedOf = (conversions: readonly Conversion[], settings: ConnectionSettings) =>
  withTargets(conversions, settings, events);

function toConversion({ conversion, target }: Target, settings: ConnectionSettings, now: number): Body {
  const event: Body = {
    // Senders' clocks may run ahead.
    conversion_time: isoTime(Math.min(conversion.time, now)),
    event_id: target,
    conversion_id: dedupId(conversion, settings),
    identifiers: unlessEmpty(identifiers(conversion)),
    ...priceOf(conversion),
  };
  if (conversion.items) addItems(event, conversion.items, conversion.currency);
  applyMapping(event, conversion, settings, { fields });
  const items = event.number_items;
  if (!Number.isInteger(items) || (items as number) < 1) event.number_items = undefined;
  return event;
}

/** Unlike the value, the price of an item is sent as a number by those whose items X accepts. */
function addItems(event: Body, items: readonly Item[], currency: string): void {
  event.contents = items.map((item) => ({
    content_id: item.id,
    content_name: item.name,
    content_price: item.price === undefined ? undefined : Number(priceText(item.price, currency)),
    num_items: item.quantity,
  }));
  event.number_items = piecesOf(items);
}

export function identifiers({ person, clickIds, browserIds, browser, consent }: Conversion): Body[] {
  const list: Body[] = [];
  if (consent === "denied") return list;
  const twclid = validId(clickIds.twclid?.value, clickPattern) ?? clickIdOfCookie(browserIds._twclid);
  if (twclid) list.push({ twclid });
  if (person?.emailSha256) list.push({ hashed_email: person.emailSha256 });
  if (person?.phoneSha256) list.push({ hashed_phone_number: person.phoneSha256 });
  // Either alone is no identifier for X, and X rejects a conversion that has nothing else.
  if (browser?.userAgent && isIPv4(browser.address)) list.push({ ip_address: browser.address, user_agent: browser.userAgent });
  // X takes no IPv6 address; the user agent of such a visitor helps next to another identifier.
  else if (browser?.userAgent && list[0]) list[0].user_agent = browser.userAgent;
  return list;
}

const clickPattern = /^[\w-]+$/;

/** The pixel's cookie is JSON with the click id in it, percent-encoded or not; a bare id is used as it is. */
function clickIdOfCookie(cookie: string | undefined): string | undefined {
  if (cookie === undefined || clickPattern.test(cookie)) return validId(cookie);
  const text = /^%7B/i.test(cookie) && isDecodable(cookie) ? decodeURIComponent(cookie) : cookie;
  return validId(textAt(parseJson(text), "twclid"), clickPattern);
}

const isDecodable = (text: string) => !/%(?![0-7][0-9a-f])/i.test(text);

/**
 * Always two decimals: X rejected whole numbers, and three are not documented. Currencies without decimals
 * are rounded to whole units first; a dinar's third decimal is rounded away.
 */
function priceOf({ value, currency }: Conversion): Record<string, string> {
  return value === null ? {} : { value: priceText(value, currency), price_currency: currency };
}

function priceText(value: number, currency: string): string {
  return decimalText(currencyDigits(currency) < 2 ? amountOf(value, currency) : value, 2);
}
