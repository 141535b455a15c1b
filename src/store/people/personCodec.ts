// The stored form of identity and visitor records.
//
// There are millions of them, and all have the same phrases around a few ids. So each phrase is stored as one character: a
// record takes a third of the bytes, and three times as many fit into memory. The result is text on both engines. JSON
// is read as well. docs/decisions/0012-stored-form-of-identity-records.md compares this with other forms.

import type { Identity, SeenId, Visit, Visitor } from "../../kernel/event.ts";

/**
 * Each phrase is stored as a character that never occurs unescaped in JSON. Once a release is out the order must not change
 * and no phrase may be removed, because records are stored with it. New phrases go to the end; 62 are possible.
 */
const phrases = [
  '{"visits":[{"visitorId":"', '","seenAt":', ',"browser":{"page":"https://', '","referrer":"https://www.',
  '","referrer":"', '","address":"', '","userAgent":"Mozilla/5.0 (', '"},"clickIds":{"', '","', '":"',
  '"},"browserIds":{"', '"},"utm":{"', '"}},{"visitorId":"', 'utm_source":"', '","utm_medium":"',
  '","utm_campaign":"', '","utm_content":"', '","utm_term":"', 'gclid":"', 'fbclid":"', 'msclkid":"',
  '_fbp":"fb.1.', '_ga":"GA1.1.', "Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/",
  ".0.0.0 Safari/537.36", "iPhone; CPU iPhone OS ", "Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/",
  '"}}],"forms":{"emailGoogleSha256":"', '","emailMicrosoftSha256":"', '","emailRedditSha256":"',
  // From here on a character takes two bytes.
  '"}}],"firstUtm":{"', '"}}],"emailSha256s":["', "https://", ".com/", "google", "facebook",
  " like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/", " Mobile/15E148 Safari/604.1",
  ".0.0.0 Mobile Safari/537.36", "Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/", "537.36 (KHTML, like Gecko) Chrome/",
  "605.1.15 (KHTML, like Gecko) Version/", "Mozilla/5.0 (", '{"value":"', '_gcl_au":"1.1.', '_fbc":"fb.1.', 'ttclid":"',
  '_ttp":"', '","_ga_', '},"verdict":{"bot":', '"utm":{}', '"browserIds":{}', '"clickIds":{}', '},"browserIds":{"',
  '"},"forms":{"', '],"forms":{"', "www.",
]; // prettier-ignore

/** Replaces the subject's own hash, which is also the hash of most forms of its email. */
const ownHash = "\u001f";
const codeOf = (i: number) => String.fromCharCode(i < 30 ? i + 1 : i - 30 + 0x80);
const phraseOf = new Map(phrases.map((phrase, i) => [codeOf(i), phrase]));
const codes = new Map([...phraseOf].map(([code, phrase]) => [phrase, code]));

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const anyPhrase = new RegExp(
  phrases
    .toSorted((a, b) => b.length - a.length)
    .map(escaped)
    .join("|"),
  "g",
);
// oxlint-disable-next-line no-control-regex -- these are the codes
const anyCode = /[\u0001-\u001f\u0080-\u009f]/g;

/** A click id leaves out the time of its visit, and the first UTM fields are left out where the first visit has them. */
type PackedVisit = Omit<Visit, "clickIds"> & { clickIds: Record<string, SeenId | string> };
type Packed = { visits?: PackedVisit[]; firstUtm?: Visit["utm"] };

export function packRecord(record: Identity | Visitor, subject: string): string {
  const packed: Packed = { ...record, visits: record.visits.map(packVisit) };
  if (JSON.stringify(packed.firstUtm) === JSON.stringify(utmOfFirst(record.visits))) delete packed.firstUtm;
  return (
    JSON.stringify(packed)
      // JSON does not escape these.
      .replace(/[\u0080-\u009f]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)
      .replaceAll(subject, ownHash)
      .replace(anyPhrase, (phrase) => codes.get(phrase) as string)
  );
}

/** A record of an unexpected shape is returned as it is: the caller reports what is wrong with it. */
export function unpackRecord(text: string, subject: string): unknown {
  const whole = text.replace(anyCode, (code) => (code === ownHash ? subject : (phraseOf.get(code) ?? code)));
  const record = JSON.parse(whole) as (Packed & { emailSha256s?: unknown }) | null;
  if (!Array.isArray(record?.visits)) return record;
  for (const visit of record.visits) unpackVisit(visit);
  if (!record.emailSha256s) record.firstUtm ??= utmOfFirst(record.visits);
  return record;
}

function packVisit(visit: Visit): PackedVisit {
  const clickIds: PackedVisit["clickIds"] = {};
  for (const [name, id] of Object.entries(visit.clickIds))
    clickIds[name] = id.seenAt === visit.seenAt ? id.value : id;
  return { ...visit, clickIds };
}

function unpackVisit({ clickIds, seenAt }: PackedVisit): void {
  for (const [name, id] of Object.entries(clickIds ?? {}))
    if (typeof id === "string") clickIds[name] = { value: id, seenAt };
}

/** Visits are stored newest first. */
const utmOfFirst = (visits: readonly Pick<Visit, "utm">[]): Visit["utm"] =>
  visits.findLast((visit) => Object.keys(visit.utm ?? {}).length)?.utm ?? {};

/** Returns the time of the oldest visit or click id; `otherwise` for a record without visits. */
export function oldestIn(visits: readonly Visit[], otherwise: number): number {
  const times = visits.flatMap((visit) => [
    visit.seenAt,
    ...Object.values(visit.clickIds).map((id) => id.seenAt),
  ]);
  return times.length ? Math.min(...times) : otherwise;
}
