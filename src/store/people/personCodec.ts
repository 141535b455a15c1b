// The stored form of identity and visitor records, and of what an event took from one: JSON with arrays in place of objects, in which
// phrases that nearly all records repeat are one character each.
//
// There are millions of them, so their size counts; docs/decisions/0012-stored-form-of-identity-records.md compares this with other
// forms. JSON escapes control characters and halves of surrogate pairs, so the former are free for phrases, and PostgreSQL takes the text.

import type { Attribution, Browser, Identity, PathVisit, SeenId, Sha256, Visit, Visitor } from "../../kernel/event.ts";

/** Once a release is out the order must not change, because records are stored with it. New ones go to the end; 31 are possible. */
const phrases = [
  "Mozilla/5.0 (",
  "Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/",
  ".0.0.0 Safari/537.36",
  "iPhone; CPU iPhone OS ",
  " like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/",
  " Mobile/15E148 Safari/604.1",
  "Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/",
  ".0.0.0 Mobile Safari/537.36",
  "Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/",
  "537.36 (KHTML, like Gecko) Chrome/",
  "605.1.15 (KHTML, like Gecko) Version/",
  '"https://',
  '"https://www.',
  '{"emailGoogleSha256":0,"emailMicrosoftSha256":0,"emailRedditSha256":0}',
  '{"utm_source":"',
  '","utm_medium":"',
  '","utm_campaign":"',
  '","utm_content":"',
  '","utm_term":"',
  '"gclid":"',
  '"fbclid":"',
  '"msclkid":"',
  '"ttclid":"',
  '"_fbp":"fb.1.',
  '"_fbc":"fb.1.',
  '"_ga":"GA1.1.',
];

const codes = new Map(phrases.map((phrase, i) => [phrase, String.fromCharCode(i + 1)]));
const byLength = phrases.toSorted((a, b) => b.length - a.length);
const anyPhrase = new RegExp(byLength.map((phrase) => phrase.replace(/[.(){}]/g, "\\$&")).join("|"), "g");
// oxlint-disable-next-line no-control-regex -- these are the codes
const anyCode = /[\x01-\x1f]/g;

const pack = (value: unknown) => JSON.stringify(value).replace(anyPhrase, (phrase) => codes.get(phrase) ?? phrase);

/** The error says nothing of the text, which is about a person. */
function unpack<Packed, T>(text: string, read: (packed: Packed) => T): T {
  try {
    return read(JSON.parse(text.replace(anyCode, (code) => phrases[code.charCodeAt(0) - 1] ?? code)));
  } catch {
    throw new Error("the record is damaged");
  }
}

/** 0 stands for the subject of the record, whose hash is also the hash of most forms of its email. */
type Id<T extends string = string> = T | 0;
const packId = <T extends string>(id: T, subject: string): Id<T> => (id === subject ? 0 : id);
const readId = (id: Id, subject: string) => (id === 0 ? subject : id);

/** A click id with the time of its visit is its value alone. 0 stands for an empty object. */
type PackedVisit = [
  visitorId: Id | null,
  seenAt: number,
  browser: [page: string, referrer: string, address: string, userAgent: string] | 0,
  clickIds: Record<string, string | [value: string, seenAt: number]> | 0,
  browserIds: Visit["browserIds"] | 0,
  utm: Visit["utm"] | 0,
  /** The sum of 1 for a visit that a page reported, 2 for a form, 4 for a visit that a link carried over, 8 for a form in this visit. */
  evidence: number,
  verdict?: Visit["verdict"],
];

/** An identity has an object of forms, and its first UTM fields if they are not those of its oldest visit; a visitor a list of hashes. */
type PackedRecord = [visits: PackedVisit[], forms: Record<string, Id> | Id[], firstUtm?: Visit["utm"]];

export function packRecord(record: Identity | Visitor, subject: string): string {
  const visits = record.visits.map((visit) => packVisit(visit, subject));
  if ("emailSha256s" in record) return pack([visits, record.emailSha256s.map((hash) => packId(hash, subject))]);
  const forms = Object.fromEntries(Object.entries(record.forms).map(([name, hash]) => [name, packId(hash, subject)]));
  const isOfFirst = JSON.stringify(record.firstUtm) === JSON.stringify(utmOfFirst(record.visits));
  return pack(isOfFirst ? [visits, forms] : [visits, forms, record.firstUtm]);
}

export function unpackRecord(text: string, subject: string): Identity | Visitor {
  return unpack(text, ([packed, ids, firstUtm]: PackedRecord) => {
    const visits = packed.map((visit) => readVisit(visit, subject));
    if (Array.isArray(ids)) return { visits, emailSha256s: ids.map((id) => readId(id, subject) as Sha256) };
    const forms = Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, readId(id, subject) as Sha256]));
    return { visits, firstUtm: firstUtm ?? utmOfFirst(visits), forms };
  });
}

/** Writes what was taken from the visits as one visit. */
export function packAttribution({ consent, withheld, identity, path, ...taken }: Attribution): string {
  const { clickIds, browserIds, utm, browser } = taken;
  if (!path && !browser && isEmpty(clickIds) && isEmpty(browserIds) && isEmpty(utm)) return pack([consent, withheld, identity]);
  let seenAt = 0;
  for (const name in clickIds) seenAt = Math.max(seenAt, clickIds[name]?.seenAt ?? 0);
  const visit = packVisit({ visitorId: null, seenAt, ...taken }, "");
  return pack(path ? [consent, withheld, identity, visit, packPath(path, utm)] : [consent, withheld, identity, visit]);
}

type PackedAttribution = [
  Attribution["consent"],
  Attribution["withheld"],
  Attribution["identity"],
  PackedVisit?,
  PackedPathVisit[]?,
];

/** The time since the visit before. 1 stands for the attribution's own campaign; values that are missing at the end are left out. */
type PackedPathVisit = [
  sinceMs: number,
  utmSource?: string | 0 | 1,
  utmCampaign?: string | 0 | 1,
  clickId?: string | 0,
  form?: 1,
];

function packPath(path: readonly PathVisit[], utm: Attribution["utm"]): PackedPathVisit[] {
  const packText = (text: string | undefined, own: string | undefined) => (text === undefined ? 0 : text === own ? 1 : text);
  return path.map(({ at, utmSource, utmCampaign, clickId, hasForm }, i) => {
    const packed: unknown[] = [
      at - (path[i - 1]?.at ?? 0),
      packText(utmSource, utm.utm_source),
      packText(utmCampaign, utm.utm_campaign),
      clickId ?? 0,
      hasForm ? 1 : 0,
    ];
    while (packed.at(-1) === 0 && packed.length > 1) packed.pop();
    return packed as PackedPathVisit;
  });
}

function readPath(path: readonly PackedPathVisit[], utm: Attribution["utm"]): PathVisit[] {
  let at = 0;
  return path.map(([sinceMs, source, campaign, clickId, form]) => {
    at += sinceMs;
    const utmSource = source === 1 ? utm.utm_source : source;
    const utmCampaign = campaign === 1 ? utm.utm_campaign : campaign;
    return {
      at,
      ...(utmSource && { utmSource }),
      ...(utmCampaign && { utmCampaign }),
      ...(clickId && { clickId }),
      ...(form && { hasForm: true as const }),
    };
  });
}

export function unpackAttribution(text: string): Attribution {
  return unpack(text, ([consent, withheld, identity, packed, path]: PackedAttribution) => {
    if (typeof consent !== "string" || typeof identity !== "string") throw new TypeError("not an attribution");
    const { clickIds = {}, browserIds = {}, utm = {}, browser = null } = packed ? readVisit(packed, "") : {};
    return { consent, withheld, identity, clickIds, browserIds, utm, browser, ...(path && { path: readPath(path, utm) }) };
  });
}

function packVisit(visit: Visit, subject: string): PackedVisit {
  const { visitorId, seenAt, browser, clickIds, browserIds, utm, verdict } = visit;
  const clicks: Record<string, string | [string, number]> = {};
  for (const [name, id] of Object.entries(clickIds)) clicks[name] = id.seenAt === seenAt ? id.value : [id.value, id.seenAt];
  const packed: PackedVisit = [
    visitorId === null ? null : packId(visitorId, subject),
    seenAt,
    browser ? [browser.page, browser.referrer, browser.address, browser.userAgent] : 0,
    isEmpty(clicks) ? 0 : clicks,
    isEmpty(browserIds) ? 0 : browserIds,
    isEmpty(utm) ? 0 : utm,
    (visit.isSeen ? 1 : 0) + (visit.hasForm ? 2 : 0) + (visit.isCarried ? 4 : 0) + (visit.isSubmitted ? 8 : 0),
  ];
  if (verdict) packed.push(verdict);
  return packed;
}

function readVisit([id, seenAt, browser, clicks, browserIds, utm, evidence, verdict]: PackedVisit, subject: string): Visit {
  if (typeof seenAt !== "number") throw new TypeError("not a visit");
  const clickIds: Record<string, SeenId> = {};
  for (const [name, click] of Object.entries(clicks || {})) {
    const [value, clickedAt] = typeof click === "string" ? [click, seenAt] : click;
    clickIds[name] = { value, seenAt: clickedAt };
  }
  const visitorId = id === null ? null : readId(id, subject);
  const visit: Visit = {
    visitorId,
    seenAt,
    browser: readBrowser(browser),
    clickIds,
    browserIds: browserIds || {},
    utm: utm || {},
  };
  if (verdict) visit.verdict = verdict;
  if (evidence & 1) visit.isSeen = true;
  if (evidence & 2) visit.hasForm = true;
  if (evidence & 4) visit.isCarried = true;
  if (evidence & 8) visit.isSubmitted = true;
  return visit;
}

function readBrowser(packed: PackedVisit[2]): Browser | null {
  if (!packed) return null;
  const [page, referrer, address, userAgent] = packed;
  return { page, referrer, address, userAgent };
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

/** Visits are stored newest first. */
const utmOfFirst = (visits: readonly Pick<Visit, "utm">[]): Visit["utm"] =>
  visits.findLast((visit) => !isEmpty(visit.utm))?.utm ?? {};

/** Returns the time of the oldest visit or click id; `otherwise` for a record without visits. */
export function oldestIn(visits: readonly Visit[], otherwise: number): number {
  const times = visits.flatMap((visit) => [visit.seenAt, ...Object.values(visit.clickIds).map((id) => id.seenAt)]);
  return times.length ? Math.min(...times) : otherwise;
}
