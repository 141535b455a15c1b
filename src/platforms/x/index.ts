// X (Twitter) Conversion API for the web. Every event is an event tag that was made in Events Manager beforehand: a
// connection says which tag each event counts for.

import { hash } from "node:crypto";
import { isIPv4 } from "node:net";
import { currencyDigits } from "../../kernel/currency.ts";
import type { Conversion } from "../../kernel/event.ts";
import { dedupId, dedupSetting } from "../shared/dedup.ts";
import { amountOf, decimalText, idOf, isUnnamedRefund, known, tokenCheck } from "../shared/eventBody.ts";
import { applyMapping, type Field } from "../shared/mapping.ts";
import { eventNameOf, type EventNames } from "../shared/eventNames.ts";
import { oauth1Header } from "./oauth1.ts";
import type { ConnectionSettings, Platform, PlatformRequest } from "../platform.ts";
import { parseJson, textAt } from "../shared/readResponse.ts";
import { readXAnswer } from "./response.ts";
import { xAnswers, xExamples } from "./examples.ts";

/** Newest since October 2022. Checked 2026-11-15. */
const apiVersion = "12";

const tagCheck = (value: string) =>
  /^(?:tw-[a-z0-9]{1,20}-)?[a-z0-9]{1,20}$/i.test(value)
    ? null
    : "must be the id of an event tag, like tw-abcde-fghij or fghij";

const events: EventNames = { standard: {}, others: "not sent", check: tagCheck };

const fields = [
  { name: "number_items", help: "How many items were bought: a whole number above zero.", type: "number" },
  { name: "search_string", help: "What was searched for.", type: "text" },
  {
    name: "description",
    help: "Anything else about the conversion, the order id for example.",
    type: "text",
  },
] as const satisfies readonly Field[];

const oauthHelp =
  "Only without a pixel token: one of the four keys of an app that is approved for the X Ads API.";

export const x = {
  id: "x",
  name: "X",
  description: "Counts conversions for event tags of X Ads, through the Conversion API.",
  docs: { url: "https://docs.x.com/x-ads-api/measurement/web-conversions", checked: "2026-11-15" },
  guide: {
    credentials: [
      "In X Ads, open Events Manager and choose your pixel; its id stands beside its name.",
      "Choose the manual installation with the Conversion API and generate an access token: it is the pixel token to paste here.",
      "Without a pixel token, paste the four OAuth 1.0a keys of an app with access to the Ads API: consumer key and secret, access token and secret, of a user who manages the ad account. Make the access token after the app was approved.",
      "Make an event tag of the kind single event for each event that should count, and give its id: event.purchase=tw-…, or one default tag for all events.",
    ],
    sends: [
      ["event_id", "the event tag that the connection has for the event"],
      ["conversion_time", "the moment of the conversion, as ISO 8601 with milliseconds"],
      ["conversion_id", "the event id, or the order id if the connection says so"],
      ["identifiers.twclid", "twclid of the click, else of the pixel's cookie"],
      ["identifiers.hashed_email", "the hashed email"],
      ["identifiers.hashed_phone_number", "the hashed phone number with its plus"],
      ["identifiers.ip_address and user_agent", "the visit's IPv4 address and browser, always together"],
      ["value and price_currency", "value and currency, with two decimals"],
    ],
    notSent: [
      "Names, page and UTM fields: X has no field for them.",
      "Order ids have no field of their own; they can serve as the conversion id, or be mapped to the description.",
      "IPv6 addresses: X takes IPv4 only.",
      "A third decimal of currencies that have one: X is known to take two.",
      "Click ids with characters that none has.",
    ],
    consent: "X has no consent flag and takes no event without an identifier: opted-out people are skipped.",
    testMode: "X has no test mode: events of test keys are skipped.",
    limits: [
      "X counts conversions and not requests: 60 000 of an account in 15 minutes.",
      "One bad conversion has the whole request refused; the others go again without it.",
      "An event tag that X does not know, or that is no single event tag, stops only its own events: they wait and are tried every hour until event.NAME or default_event is corrected. A pixel that X does not know stops the connection.",
      "How old a conversion may be is not documented.",
      "Pixel and API are compared within 48 hours.",
    ],
  },
  settings: [
    {
      name: "pixel_id",
      label: "Pixel id",
      help: "The id of the pixel in Events Manager, a few letters and digits.",
      required: true,
      check: (value) => (/^[a-z0-9]{1,20}$/i.test(value) ? null : "must be letters and digits, like o8z6j"),
    },
    {
      name: "access_token",
      label: "Pixel token",
      help: "The token that Events Manager generates for the Conversion API of this pixel.",
      secret: true,
      check: tokenCheck,
    },
    { name: "consumer_key", label: "Consumer key", help: oauthHelp, secret: true, check: tokenCheck },
    { name: "consumer_secret", label: "Consumer secret", help: oauthHelp, secret: true, check: tokenCheck },
    {
      name: "oauth_token",
      label: "OAuth 1.0a access token",
      help: oauthHelp,
      secret: true,
      check: tokenCheck,
    },
    {
      name: "oauth_token_secret",
      label: "OAuth 1.0a token secret",
      help: oauthHelp,
      secret: true,
      check: tokenCheck,
    },
    {
      name: "default_event",
      label: "Default event tag",
      help: "The tag for events that have none of their own. Without it only events with a tag of their own are sent.",
      check: tagCheck,
    },
    dedupSetting,
  ],
  requires: [["access_token"], ["consumer_key", "consumer_secret", "oauth_token", "oauth_token_secret"]],
  account: (settings) => settings.pixel_id ?? "",
  ids: ["twclid", "_twclid"],
  events,
  fields,
  batch: 500,
  lanes: 16,
  // X counts conversions and not requests; alone in their requests they are the same. Batches are held back by its 429.
  quota: { requests: 60_000, seconds: 900 },
  // A tag that is wrong has the whole request refused: it must stop no other tag's events.
  group: (conversion, settings) => tagOf(conversion, settings) ?? "",
  unfit(conversion, settings) {
    if (conversion.mode === "test") return "X has no test mode";
    if (conversion.consent === "denied") return "opted out";
    if (isUnnamedRefund(conversion, settings)) return "X has no refunds";
    if (tagOf(conversion, settings) === null) return `no event tag for the event ${conversion.name.trim()}`;
    return identifiers(conversion).length ? null : "no twclid, email, phone, or IPv4 address with user agent";
  },
  toRequest(conversions, settings, now) {
    const url = `https://ads-api.x.com/${apiVersion}/measurement/conversions/${settings.pixel_id ?? ""}`;
    const request = { method: "POST", url } as const;
    return {
      ...request,
      headers: {
        "content-type": "application/json",
        ...authorisation(request, settings, conversions, now),
      },
      body: JSON.stringify({ conversions: conversions.map((one) => conversionOf(one, settings, now)) }),
    };
  },
  readResponse: (response, conversions, settings) =>
    readXAnswer(response, conversions, settings, (one) => tagOf(one, settings)),
  examples: xExamples,
  answers: xAnswers,
} satisfies Platform;

/**
 * The pixel token, else an OAuth 1.0a signature. A signature needs a nonce that never comes twice: the ids of the
 * conversions and the moment of the attempt give one. With neither, X answers 401 and the conversions wait for keys.
 */
function authorisation(
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
  const nonce = hash(
    "sha256",
    [now, ...conversions.map(({ platformEventId }) => platformEventId)].join(" "),
  ).slice(0, 32);
  return { authorization: oauth1Header(request, keys, { nonce, timestamp: Math.floor(now / 1000) }) };
}

function tagOf(conversion: Conversion, settings: ConnectionSettings): string | null {
  return eventNameOf(conversion, settings, events) ?? settings.default_event ?? null;
}

function conversionOf(
  conversion: Conversion,
  settings: ConnectionSettings,
  now: number,
): Record<string, unknown> {
  const event: Record<string, unknown> = {
    // Senders' clocks may run ahead.
    conversion_time: new Date(Math.min(conversion.time, now)).toISOString(),
    event_id: tagOf(conversion, settings),
    conversion_id: dedupId(conversion, settings),
    identifiers: identifiers(conversion),
    ...money(conversion),
  };
  applyMapping(event, conversion, settings, fields);
  const items = event.number_items;
  if (!Number.isInteger(items) || (items as number) < 1) delete event.number_items;
  return known(event);
}

function identifiers({
  person,
  clickIds,
  browserIds,
  browser,
  consent,
}: Conversion): Record<string, unknown>[] {
  if (consent === "denied") return [];
  const twclid = idOf(clickIds.twclid?.value, clickForm) ?? clickIdOfCookie(browserIds._twclid);
  // Either alone is no identifier for X, and beside no other key it has the conversion refused.
  const pair = isIPv4(browser?.address ?? "") && browser?.userAgent !== "";
  return [
    { twclid },
    { hashed_email: person?.emailSha256 },
    { hashed_phone_number: person?.phoneSha256 },
    pair ? { ip_address: browser?.address, user_agent: browser?.userAgent } : {},
  ]
    .map(known)
    .filter((one) => Object.keys(one).length > 0);
}

const clickForm = /^[\w-]+$/;

/** The pixel's cookie is JSON with the click id in it, percent-encoded or not; a bare id is taken as it is. */
function clickIdOfCookie(cookie: string | undefined): string | undefined {
  if (cookie === undefined || clickForm.test(cookie)) return idOf(cookie);
  const text = /^%7B/i.test(cookie) && isDecodable(cookie) ? decodeURIComponent(cookie) : cookie;
  return idOf(textAt(parseJson(text), "twclid"), clickForm);
}

const isDecodable = (text: string) => !/%(?![0-7][0-9a-f])/i.test(text);

/**
 * With two decimals whatever the currency: X refused whole numbers, and nothing says that it takes three. There are no
 * half yen, so those are rounded first; a dinar's third decimal is rounded away.
 */
function money({ value, currency }: Conversion): Record<string, string> {
  if (value === null) return {};
  const amount = currencyDigits(currency) < 2 ? amountOf(value, currency) : value;
  return { value: decimalText(amount, 2), price_currency: currency };
}
