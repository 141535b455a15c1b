// Google's Data Manager API, which takes conversions for Google Ads and for Campaign Manager 360: requests, sign-in, and the
// settings that both have. Its responses are read by response.ts.

import { dayMs } from "../../../kernel/time.ts";
import type { Conversion } from "../../../kernel/event.ts";
import type { ConnectionSettings, OAuth2, PlatformRequest, Setting } from "../../platform.ts";
import { bearer, oneOf } from "../settings.ts";
import { amountOf, type Body, isoTime } from "../values.ts";

/** Checked 2026-11-16. */
export const dataManager = "https://datamanager.googleapis.com/v1";

export const dataManagerScope = "https://www.googleapis.com/auth/datamanager";

export const googleSignIn = (scopes: readonly string[]): OAuth2 => ({
  authorizeUrl: "https://accounts.google.com/o/oauth2/v2/auth",
  tokenUrl: "https://oauth2.googleapis.com/token",
  scopes,
  pkce: true,
  clientAuth: "body",
  authorizeParams: { access_type: "offline", prompt: "consent" },
  refresh: "keeps",
});

export const eventSources = ["WEB", "APP", "IN_STORE", "PHONE", "MESSAGE", "OTHER"];

export const eventSourceSetting = {
  name: "event_source",
  label: "Event source",
  help: `Where your conversions happen: ${eventSources.join(", ")}.`,
  default: "WEB",
  ...oneOf(eventSources),
} as const satisfies Setting;

export const numericOrderIdsSetting = {
  name: "numeric_order_ids",
  label: "Order IDs of digits only",
  help: "as_given sends 1001, the id that the Google tag reports too. prefixed sends 1001 as order-1001: choose it when earlier conversions went under such ids.",
  default: "as_given",
  ...oneOf(["prefixed", "as_given"]),
} as const satisfies Setting;

/** The limits of a Cloud project, which all connections of the operator's app share, and of a request. */
export const dataManagerLimits = {
  batch: 2000,
  lanes: 4,
  quota: { requests: 300, seconds: 60, sharedBy: "app" },
} as const;

type Ingested = {
  /** Events without references go to every destination of the request. */
  destinations: readonly Body[];
  /** Needed with contact hashes only. */
  encoding?: "HEX";
  events: readonly Body[];
};

export function ingestRequest(
  conversions: readonly Conversion[],
  settings: ConnectionSettings,
  ingested: Ingested,
): PlatformRequest {
  return {
    method: "POST",
    url: `${dataManager}/events:ingest`,
    headers: { "content-type": "application/json", ...bearer(settings) },
    body: JSON.stringify({ ...ingested, validateOnly: conversions.some(({ mode }) => mode === "test") }),
  };
}

/** The fields of an event that do not depend on the product. */
export function ingestEvent(conversion: Conversion, settings: ConnectionSettings, now: number): Body {
  return {
    // A time in the future would make the whole request invalid.
    eventTimestamp: isoTime(Math.min(conversion.time, now)),
    transactionId: transactionOf(conversion, settings),
    eventSource: settings.event_source ?? eventSourceSetting.default,
    consent: consentOf(conversion),
  };
}

/** An order id that holds an email address is not sent. */
export const hasOrderId = ({ orderId }: Conversion): boolean => orderId !== null && !/\S@\S+\.\S/.test(orderId);

/** The event id of an order has the form of a UUID, and an event's own id that of a ULID, which all test events have. */
const hasOwnId = ({ mode, platformEventId }: Conversion) => mode === "live" && /^[0-9a-z]{26}$/.test(platformEventId);

/**
 * Google takes two conversions with one transaction id for one, and keeps the value of the last. So where another person's event has
 * the order id too (docs/decisions/0004), the id is the event's own, as at other platforms. The Google tag knows of no other person.
 */
export function transactionOf(conversion: Conversion, settings: ConnectionSettings): string {
  const { orderId, platformEventId } = conversion;
  if (orderId === null || !hasOrderId(conversion)) return platformEventId;
  if (hasOwnId(conversion) && settings.tag_conversions !== "on") return platformEventId;
  return /^\d+$/.test(orderId) && settings.numeric_order_ids === "prefixed" ? `order-${orderId}` : orderId;
}

function consentOf({ consent }: Conversion): unknown {
  if (consent === "unknown") return undefined;
  const word = consent === "granted" ? "CONSENT_GRANTED" : "CONSENT_DENIED";
  return { adUserData: word, adPersonalization: word };
}

/** A mapped value may be negative, and Google rejects that. */
export function ingestValue(value: number, currency: string): Body {
  return value < 0 ? {} : { conversionValue: amountOf(value, currency), currency };
}

/** `GCL.<seconds>.<gclid>`, in which Google's own tag stores a click that our tag may have missed. */
export function cookieGclid({ browserIds, time }: Conversion, maxDays: number): string | undefined {
  const [, seconds, gclid] = /^GCL\.(\d{10})\.([\w-]{1,500})$/.exec(browserIds._gcl_aw ?? "") ?? [];
  const ageMs = time - Number(seconds) * 1000;
  return gclid && ageMs >= 0 && ageMs <= maxDays * dayMs ? gclid : undefined;
}
