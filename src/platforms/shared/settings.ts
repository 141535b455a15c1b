// Settings that several platforms share, the parts of a request that follow from them, and the checks of settings.

import type { Conversion } from "../../kernel/event.ts";
import type { ConnectionSettings, PlatformRequest, Setting } from "../platform.ts";

type Check = (value: string) => string | null;

/** Tokens travel in headers and URLs, where a copied line break or space would break every request. */
export const checkToken: Check = (value) =>
  /^[\x21-\x7e]+$/.test(value) ? null : "must be ASCII letters, digits and punctuation, without spaces";

/** A closed set of values. */
export function oneOf(choices: readonly string[]) {
  const words = choices.length === 2 ? choices.join(" or ") : `one of ${choices.join(", ")}`;
  const check: Check = (value) => (choices.includes(value) ? null : `must be ${words}`);
  return { choices, check };
}

export function digits(min: number, max: number): Check {
  const pattern = new RegExp(`^\\d{${min},${max}}$`);
  return (value) => (pattern.test(value) ? null : `must be a number of ${min} to ${max} digits`);
}

/** A token or key. */
export const secretSetting = (name: string, label: string, help: string) =>
  ({ name, label, help, secret: true, check: checkToken }) satisfies Setting;

export const requiredSecret = (name: string, label: string, help: string) =>
  ({ name, label, help, required: true, secret: true, check: checkToken }) satisfies Setting;

/** Filled by a sign-in. Platforms without refresh tokens have only this one. */
export const expirySetting = {
  name: "expires_at",
  label: "Access token expires",
  help: "When the access token expires, as a Unix time in milliseconds; filled by signing in.",
  check: (value: string) => (/^\d{10,16}$/.test(value) ? null : "must be a Unix time in milliseconds"),
} as const satisfies Setting;

/** Filled by a sign-in, in addition to the access token. */
export const tokenSettings = [
  secretSetting("refresh_token", "Refresh token", "Filled by signing in; renews the access token before it expires."),
  expirySetting,
] satisfies readonly Setting[];

/** `Authorization: Bearer …` from the connection's access token. */
export function bearer(settings: ConnectionSettings): Record<string, string> {
  return { authorization: `Bearer ${settings.access_token ?? ""}` };
}

/** A GET, for pickers. */
export const getRequest = (url: string, headers: Record<string, string>): PlatformRequest => ({
  method: "GET",
  url,
  headers,
  body: "",
});

export const dedupSetting = {
  name: "dedup_id",
  label: "Deduplication ID",
  help:
    "Which id the platform compares with the one that your pixel sends: event (the id that cc.eventId gives in the " +
    "browser) or order (the order id, where there is one).",
  default: "event",
  ...oneOf(["event", "order"]),
} as const satisfies Setting;

/** Returns the id by which the platform recognises a conversion that the site's pixel reported too. */
export function dedupId({ platformEventId, orderId }: Conversion, settings: ConnectionSettings): string {
  return settings[dedupSetting.name] === "order" ? (orderId ?? platformEventId) : platformEventId;
}

export const limitedDataSetting = {
  name: "limited_data",
  label: "Limited data use",
  help:
    "denied: limits the use of events from people who opted out, where those are sent at all. always: limits every " +
    "event, which some laws of the United States require.",
  default: "denied",
  ...oneOf(["denied", "always"]),
} as const satisfies Setting;

export function isLimited({ consent }: Conversion, settings: ConnectionSettings): boolean {
  return consent === "denied" || settings.limited_data === "always";
}

/** `otherwise` says what happens to an event without a page where this is not set. */
export const siteUrlSetting = (platform: string, otherwise: string) =>
  ({
    name: "site_url",
    label: "Site URL",
    help: `${platform} requires a page with every web event. Where the page of the visit is unknown, this URL is sent; without it, ${otherwise}.`,
    check: (value: string) => (URL.canParse(value) && /^https?:\/\//i.test(value) ? null : "must be an http(s) address"),
  }) satisfies Setting;

export const testCodeSetting = {
  name: "test_event_code",
  testCode: true,
  label: "Test event code",
  help: "The code from the platform's page for test events. Only events that come with a test key carry it.",
  check: (value: string) => (/^[\w-]{1,64}$/.test(value) ? null : "must be a code of letters, digits, hyphens and underscores"),
} as const satisfies Setting;

/** Throws where the code is missing, because the test event would count as a live one; `skips` catches that first. */
export function testCodeOf(conversions: readonly Conversion[], settings: ConnectionSettings): { test_event_code?: string } {
  if (!conversions.some(({ mode }) => mode === "test")) return {};
  if (!settings.test_event_code) throw new Error("a test event needs the connection's test event code");
  return { test_event_code: settings.test_event_code };
}
