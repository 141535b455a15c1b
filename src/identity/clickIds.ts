// Lists the click ids and browser ids that are captured, with their platform and useful life. The server puts the names
// into the tag, so a new id needs only a line here, unless a test says that the pattern in tag/use.ts does not know it.

import { dayMs, secondMs } from "../kernel/time.ts";

type ClickId = {
  /** The query parameter of landing pages. Names match in any case; values are never altered. */
  name: string;
  /** null for ids that are kept for webhooks and reports only. */
  platform: string | null;
  /** The useful life after the click. */
  days: number;
  /** True for what comes beside the id of a click, or without an advertisement. */
  isNoClick?: true;
};

export const clickIds: readonly ClickId[] = [
  { name: "gclid", platform: "google_ads", days: 90 },
  { name: "wbraid", platform: "google_ads", days: 90 },
  { name: "gbraid", platform: "google_ads", days: 90 },
  { name: "dclid", platform: "cm360", days: 90 },
  { name: "gclsrc", platform: "google_ads", days: 90, isNoClick: true },
  { name: "gad_source", platform: "google_ads", days: 90, isNoClick: true },
  { name: "gad_campaignid", platform: "google_ads", days: 90, isNoClick: true },
  { name: "srsltid", platform: "google_ads", days: 90, isNoClick: true },
  { name: "fbclid", platform: "meta", days: 90 },
  // TikTok guarantees seven days and tries to match up to its longest attribution window.
  { name: "ttclid", platform: "tiktok", days: 28 },
  { name: "msclkid", platform: "microsoft_ads", days: 90 },
  { name: "li_fat_id", platform: "linkedin", days: 30 },
  { name: "epik", platform: "pinterest", days: 365 },
  { name: "ScCid", platform: "snapchat", days: 37 },
  { name: "rdt_cid", platform: "reddit", days: 28 },
  { name: "twclid", platform: "x", days: 30 },
  { name: "oppref", platform: "openai_ads", days: 30 },
  { name: "ndclid", platform: "nextdoor", days: 30 },
  // Axon's pixel keeps both for a year.
  { name: "aleid", platform: "axon", days: 365 },
  { name: "alart", platform: "axon", days: 365, isNoClick: true },
  // Spotify's server API has no field for it.
  { name: "spclid", platform: null, days: 30 },
  { name: "qclid", platform: "quora", days: 90 },
  { name: "tblci", platform: "taboola", days: 30 },
  { name: "dicbo", platform: "outbrain", days: 30 },
  { name: "ob_click_id", platform: "outbrain", days: 30 },
  // Amazon takes tokens that are made from it, in a form that it does not publish.
  { name: "aref", platform: null, days: 30 },
  // In the links of Klaviyo's messages. How long Klaviyo accepts it is not documented.
  { name: "_kx", platform: "klaviyo", days: 365, isNoClick: true },
  { name: "irclickid", platform: null, days: 90 },
  { name: "yclid", platform: null, days: 90 },
];

export const utmFields = [
  "utm_source",
  "utm_medium",
  "utm_campaign",
  "utm_term",
  "utm_content",
  "utm_id",
  "utm_source_platform",
  "utm_creative_format",
  "utm_marketing_tactic",
] as const;

/** `click` names the click id that the cookie keeps. */
type BrowserId = { name: string; platform: string; click?: string };

/** Cookies that the platforms' own scripts set: read by the tag, never written. */
export const browserIds: readonly BrowserId[] = [
  { name: "_fbp", platform: "meta" },
  { name: "_fbc", platform: "meta", click: "fbclid" },
  { name: "_ga", platform: "ga4" },
  { name: "_ttp", platform: "tiktok" },
  { name: "_scid", platform: "snapchat" },
  { name: "_rdt_uuid", platform: "reddit" },
  { name: "_epik", platform: "pinterest", click: "epik" },
  { name: "_uetvid", platform: "microsoft_ads" },
  { name: "_gcl_aw", platform: "google_ads", click: "gclid" },
  { name: "li_fat_id", platform: "linkedin", click: "li_fat_id" },
  { name: "_twclid", platform: "x", click: "twclid" },
  { name: "__oppref", platform: "openai_ads", click: "oppref" },
  { name: "__obref", platform: "openai_ads" },
  { name: "_ndclid", platform: "nextdoor", click: "ndclid" },
  { name: "_axwrt", platform: "axon" },
  { name: "_axeid", platform: "axon", click: "aleid" },
  { name: "_axart", platform: "axon", click: "alart" },
  // The same ids, where a server-side tag sets them.
  { name: "axwrt", platform: "axon" },
  { name: "axeid", platform: "axon", click: "aleid" },
  { name: "axart", platform: "axon", click: "alart" },
  { name: "__spdt", platform: "spotify" },
  { name: "quora_qclid", platform: "quora", click: "qclid" },
  { name: "hubspotutk", platform: "hubspot" },
];

const clickOfCookie = new Map(browserIds.flatMap(({ name, click }) => (click ? [[name, click] as const] : [])));

/** True for a cookie that keeps the click, and says no more of the browser than the click id of the address does. */
export const keepsClick = (cookie: string) => clickOfCookie.has(cookie);

/** The names of the clicks that are known, from addresses and from the platforms' own cookies. */
export const clicksOf = (clickIdNames: readonly string[], cookies: readonly string[]): string[] => [
  ...new Set([...clickIdNames, ...cookies.flatMap((name) => clickOfCookie.get(name) ?? [])]),
];

/** Clicks of one platform are of one kind, in whatever form they are known: it uses one of them. */
const kinds = new Map(clickIds.map(({ name, platform, isNoClick: none }) => [name, none ? name : (platform ?? name)]));
for (const [cookie, click] of clickOfCookie) kinds.set(cookie, kinds.get(click) ?? click);

/** The kind of a click id, or of a cookie that keeps a click; undefined for other cookies. */
export const clickKindOf = (name: string) => kinds.get(name);

const clickNames = clickIds.filter((id) => !id.isNoClick).map(({ name }) => name);

/** Names the click that brought a visit. Google adds several ids to one address, and values that all clicks of a campaign share. */
export function clickNameOf(found: Readonly<Record<string, unknown>>): string | undefined {
  // Most visits have none.
  for (const _ in found) return clickNames.find((name) => found[name]);
  return undefined;
}

const noClicks = new Set(clickIds.flatMap(({ name, isNoClick: none }) => (none ? [name] : [])));

/** True for what comes beside the id of a click, or without an advertisement. */
export const isNoClick = (name: string) => noClicks.has(name);

const byName = new Map(clickIds.map((id) => [id.name.toLowerCase(), id]));
const usefulMs = new Map(clickIds.map((id) => [id.name, id.days * dayMs]));

/** Returns the name as the table spells it; undefined for other names. */
export function clickIdName(text: string): string | undefined {
  return byName.get(text.toLowerCase())?.name;
}

export function isUtmField(name: string): boolean {
  return (utmFields as readonly string[]).includes(name);
}

/** `_ga_ABC123` is the session cookie of one GA4 property. */
export function isBrowserId(name: string): boolean {
  return browserIds.some((id) => id.name === name) || /^_ga_[A-Z0-9]{1,20}$/.test(name);
}

/** Google's cookie is `GCL.<seconds>.<id>`, Meta's `fb.<labels of the domain>.<milliseconds>.<id>`. */
const cookieTime = /^(?:GCL\.(\d{10})|fb\.\d\.(\d{13}))\./;

/** The time of the click that a cookie keeps, if the cookie says it. */
export function clickTimeIn(cookie: string, value: string): number | undefined {
  if (!keepsClick(cookie)) return undefined;
  const [, seconds, ms] = cookieTime.exec(value) ?? [];
  if (seconds) return Number(seconds) * secondMs;
  return ms ? Number(ms) : undefined;
}

/** True while the click that a cookie keeps may be of use. Where its time is not known, it is older than the visit. */
export function isUsefulCookie(cookie: string, clickedAt: number, at: number): boolean {
  const click = clickOfCookie.get(cookie);
  return click === undefined || isUseful(click, clickedAt, at);
}

/** True while an id that was first seen at `seenAt` is within its useful life. */
export function isUseful(name: string, seenAt: number, at: number): boolean {
  return at - seenAt <= (usefulMs.get(name) ?? 0);
}
