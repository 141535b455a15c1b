// The click ids that are captured and how long each is of use to its platform. One table: capture, attribution and
// the command line read it.

export type ClickId = {
  /** As it stands in landing page addresses. Names match in any case; values are never altered. */
  name: string;
  platform: string;
  /** Days after the click in which the platform can still use it. */
  days: number;
};

export const clickIds: readonly ClickId[] = [
  { name: "gclid", platform: "google_ads", days: 90 },
  { name: "wbraid", platform: "google_ads", days: 90 },
  { name: "gbraid", platform: "google_ads", days: 90 },
  { name: "dclid", platform: "google_ads", days: 90 },
  { name: "fbclid", platform: "meta", days: 90 },
  { name: "ttclid", platform: "tiktok", days: 28 },
  { name: "msclkid", platform: "microsoft_ads", days: 90 },
  { name: "li_fat_id", platform: "linkedin", days: 30 },
  { name: "epik", platform: "pinterest", days: 90 },
  { name: "ScCid", platform: "snapchat", days: 37 },
  { name: "rdt_cid", platform: "reddit", days: 28 },
  { name: "twclid", platform: "x", days: 30 },
];

const daysOf = new Map(clickIds.map((id) => [id.name, id.days]));

const byLowerCase = new Map(clickIds.map((id) => [id.name.toLowerCase(), id.name]));

/** The name as the table spells it; undefined for anything else. */
export function clickIdName(text: string): string | undefined {
  return byLowerCase.get(text.toLowerCase());
}

/** True while the platform can still use an id that was seen at `seenAt`. */
export function isUseful(name: string, seenAt: number, at: number): boolean {
  return at - seenAt <= (daysOf.get(name) ?? 0) * 86_400_000;
}

export const utmFields = [
  "utm_source",
  "utm_medium",
  "utm_campaign",
  "utm_term",
  "utm_content",
  "utm_id",
] as const;

export const browserIds = ["_fbp", "_fbc", "_ga", "_ttp", "_scid", "_rdt_uuid", "_epik", "_uetvid"] as const;

/** `_ga_ABC123` holds the session of one GA4 property. */
export function isBrowserId(name: string): boolean {
  return (browserIds as readonly string[]).includes(name) || /^_ga_[A-Z0-9]{1,20}$/.test(name);
}
