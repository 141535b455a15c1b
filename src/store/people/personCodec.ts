// The stored form of identity and visitor records, and of what an event took from one.
//
// There are millions of them, and every event reads one. So a record is a text that is read once from left to right, and
// only as far as it is needed. The first line has the record's own fields, each other line is a visit, newest first. Fields
// are separated by tabs and begin with a character that says which one it is.
// docs/decisions/0012-stored-form-of-identity-records.md compares this with other forms.

import type { Attribution, Browser, EventIdentity, Identity, SeenId, Sha256, Visit, Visitor } from "../../kernel/event.ts";

type Kind = "browser" | "verdict" | "click id" | "older click id" | "browser id" | "utm" | "first utm" | "form" | "email";

type Field = { kind: Kind; name: string; prefix: string };

/**
 * Each field begins with its own character. Where the table has no name, the name is stored before the value; a prefix is
 * not stored. Once a release is out the order must not change and no line may be removed, because records are stored with
 * it. New ones go to the end.
 */
const fields: readonly Field[] = [
  ["browser"],
  ["verdict"],
  ["click id"],
  ["older click id"],
  ["browser id"],
  ["utm"],
  ["first utm"],
  ["form"],
  ["email"],
  ["form", "emailGoogleSha256"],
  ["form", "emailMicrosoftSha256"],
  ["form", "emailRedditSha256"],
  ["utm", "utm_source"],
  ["utm", "utm_medium"],
  ["utm", "utm_campaign"],
  ["utm", "utm_content"],
  ["utm", "utm_term"],
  ["click id", "gclid"],
  ["click id", "fbclid"],
  ["click id", "msclkid"],
  ["click id", "ttclid"],
  ["browser id", "_fbp", "fb.1."],
  ["browser id", "_fbc", "fb.1."],
  ["browser id", "_ga", "GA1.1."],
  ["browser id", "_gcl_au", "1.1."],
  ["browser id", "_ttp"],
].map(([kind, name = "", prefix = ""]) => ({ kind: kind as Kind, name, prefix }));

const firstKey = 0x30;
const keyed = new Map(fields.map((field, i) => [field.kind + field.name, { ...field, key: String.fromCharCode(firstKey + i) }]));

/** Each phrase is stored as one character. For these, too, new ones go to the end; 61 are possible. */
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
  "https://",
  "https://www.",
  ".com/",
  "google",
  "facebook",
];

/** The control characters but NUL, tab and line feed; then those that take two bytes. */
const codeOf = (i: number) => (i < 8 ? i + 1 : i < 29 ? i + 3 : i - 29 + 0x80);
const phraseOf: readonly string[] = phrases.reduce<string[]>((all, phrase, i) => {
  all[codeOf(i)] = phrase;
  return all;
}, []);
const codes = new Map(phrases.map((phrase, i) => [phrase, String.fromCharCode(codeOf(i))]));
const anyPhrase = new RegExp(
  phrases
    .toSorted((a, b) => b.length - a.length)
    .map((phrase) => phrase.replace(/[.()]/g, "\\$&"))
    .join("|"),
  "g",
);

/** Characters that have a meaning here, and halves of surrogate pairs, which PostgreSQL refuses. */
// oxlint-disable-next-line no-control-regex -- these are the codes
const special = /[\0-\x1f\x80-\x9f\\\p{Cs}]/gu;
const ordinary = /^[ -[\]-~]*$/;
const escape = (text: string) =>
  ordinary.test(text) ? text : text.replace(special, (one) => `\\${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
const shorten = (text: string) => escape(text).replace(anyPhrase, (phrase) => codes.get(phrase) ?? phrase);

/** Stands for the subject of the record, whose hash is also the hash of most forms of its email. */
const ownId = "=";
const packId = (id: string, subject: string) => (id === subject ? ownId : escape(id));

function packField(kind: Kind, name: string, value: string): string {
  const known = keyed.get(kind + name);
  if (known && value.startsWith(known.prefix)) return `\t${known.key}${value.slice(known.prefix.length)}`;
  return `\t${keyed.get(kind)?.key}${escape(name)}\t${value}`;
}

export function packRecord(record: Identity | Visitor, subject: string): string {
  let text = "V";
  if ("emailSha256s" in record) {
    for (const hash of record.emailSha256s) text += packField("email", "", packId(hash, subject));
  } else {
    text = "I";
    for (const [name, hash] of Object.entries(record.forms)) text += packField("form", name, packId(hash, subject));
    // Mostly they are those of the oldest visit that has any.
    if (JSON.stringify(record.firstUtm) !== JSON.stringify(utmOfFirst(record.visits)))
      text += packField("first utm", "", "") + packUtm(record.firstUtm);
  }
  for (const visit of record.visits) text += packVisit(visit, subject);
  return text;
}

/** Writes what was taken from the visits as one visit. */
export function packAttribution({ consent, withheld, identity, ...taken }: Attribution): string {
  const text = `A${consent}\t${withheld ?? ""}\t${identity}`;
  const { clickIds, browserIds, utm, browser } = taken;
  if (!browser && isEmpty(clickIds) && isEmpty(browserIds) && isEmpty(utm)) return text;
  let seenAt = 0;
  for (const name in clickIds) seenAt = Math.max(seenAt, clickIds[name]?.seenAt ?? 0);
  return text + packVisit({ visitorId: null, seenAt, ...taken }, "");
}

export function unpackAttribution(text: string): Attribution {
  if (!text.startsWith("A")) throw new Damaged();
  const reader = new Reader(text, "");
  const consent = reader.name() as Attribution["consent"];
  const withheld = (reader.name() || null) as Attribution["withheld"];
  const identity = reader.value() as Attribution["identity"];
  const visit = reader.hasLine() ? readVisit(reader, { browser: true, utm: true }) : null;
  reader.end();
  const { clickIds = {}, browserIds = {}, utm = {}, browser = null } = visit ?? {};
  return { consent, withheld, identity, clickIds, browserIds, utm, browser };
}

function packVisit(visit: Visit, subject: string): string {
  const { visitorId, seenAt, browser, clickIds, browserIds, utm, verdict } = visit;
  let text = `\n${visitorId === null ? "" : packId(visitorId, subject)}\t${seenAt}`;
  if (verdict) text += packField("verdict", "", escape(JSON.stringify(verdict)));
  if (browser) {
    const { page, referrer, address, userAgent } = browser;
    text += packField("browser", "", [page, referrer, address, userAgent].map(shorten).join("\t"));
  }
  for (const [name, { value, seenAt: clickedAt }] of Object.entries(clickIds))
    text +=
      clickedAt === seenAt
        ? packField("click id", name, escape(value))
        : packField("older click id", name, `${clickedAt}\t${escape(value)}`);
  for (const [name, value] of Object.entries(browserIds)) text += packField("browser id", name, escape(value));
  return text + packUtm(utm);
}

function packUtm(utm: Visit["utm"]): string {
  let text = "";
  for (const [name, value] of Object.entries(utm)) text += packField("utm", name, shorten(value));
  return text;
}

/** A record of an unexpected shape is returned as it is, or throws: the caller reports what is wrong with it. */
export function unpackRecord(text: string, subject: string): unknown {
  return unpack(text, subject, false);
}

/**
 * Reads only what the filter and attribution look at. Leaves browser and UTM fields of a visit out where a newer visit
 * has them, because attribution takes the newest. Visits of bots do not count as newer: attribution may ignore them.
 */
export function unpackForEvent(text: string, subject: string): unknown {
  return unpack(text, subject, true);
}

function unpack(text: string, subject: string, isForEvent: boolean): Identity | Visitor | EventIdentity {
  const reader = new Reader(text, subject);
  const visits: Visit[] = [];
  const forms: Record<string, Sha256> = {};
  const emailSha256s: Sha256[] = [];
  let firstUtm: Visit["utm"] | undefined;
  while (reader.hasField()) {
    const { kind, name } = reader.field();
    if (kind === "form") forms[name || reader.name()] = reader.id() as Sha256;
    else if (kind === "email") emailSha256s.push(reader.id() as Sha256);
    else if (kind === "first utm") firstUtm = {};
    else if (kind === "utm" && firstUtm) firstUtm[name || reader.name()] = reader.value();
    else throw new Damaged();
  }
  const wanted: Wanted = { browser: true, utm: true };
  while (reader.hasLine()) {
    const visit = readVisit(reader, wanted);
    visits.push(visit);
    if (!isForEvent || visit.verdict?.bot) continue;
    if (visit.browser) wanted.browser = false;
    if (!isEmpty(visit.utm)) wanted.utm = false;
  }
  reader.end();
  if (text.startsWith("V")) return { visits, emailSha256s };
  return isForEvent ? { visits, forms } : { visits, firstUtm: firstUtm ?? utmOfFirst(visits), forms };
}

type Wanted = { browser: boolean; utm: boolean };

function readVisit(reader: Reader, wanted: Wanted): Visit {
  const visitorId = reader.id() || null;
  reader.nextField();
  const seenAt = reader.number();
  let browser: Browser | null = null;
  let verdict: Visit["verdict"];
  const clickIds: Record<string, SeenId> = {};
  const browserIds: Record<string, string> = {};
  const utm: Record<string, string> = {};
  while (reader.hasField()) {
    const { kind, name, prefix } = reader.field();
    switch (kind) {
      case "click id":
        clickIds[name || reader.name()] = { value: reader.value(), seenAt };
        break;
      case "older click id": {
        const older = reader.name();
        const clickedAt = reader.number();
        reader.nextField();
        clickIds[older] = { value: reader.value(), seenAt: clickedAt };
        break;
      }
      case "browser id":
        browserIds[name || reader.name()] = prefix + reader.value();
        break;
      case "utm":
        if (wanted.utm) utm[name || reader.name()] = reader.value();
        else reader.skip(name ? 1 : 2);
        break;
      case "browser":
        if (wanted.browser) browser = readBrowser(reader);
        else reader.skip(4);
        break;
      case "verdict":
        verdict = JSON.parse(reader.value());
        break;
      case "first utm":
      case "form":
      case "email":
        throw new Damaged();
    }
  }
  const visit: Visit = { visitorId, seenAt, browser, clickIds, browserIds, utm };
  if (verdict) visit.verdict = verdict;
  return visit;
}

function readBrowser(reader: Reader): Browser {
  const page = reader.name();
  const referrer = reader.name();
  const address = reader.name();
  return { page, referrer, address, userAgent: reader.value() };
}

class Damaged extends Error {
  constructor() {
    super("the record is damaged");
  }
}

const tab = 0x09;
const lineFeed = 0x0a;
const backslash = 0x5c;

class Reader {
  readonly #text: string;
  readonly #subject: string;
  #at = 1;

  constructor(text: string, subject: string) {
    this.#text = text;
    this.#subject = subject;
  }

  /** True where a separator follows, which is passed. */
  hasField(): boolean {
    return this.#pass(tab);
  }

  hasLine(): boolean {
    return this.#pass(lineFeed);
  }

  #pass(separator: number): boolean {
    if (this.#at >= this.#text.length || this.#text.charCodeAt(this.#at) !== separator) return false;
    this.#at += 1;
    return true;
  }

  nextField(): void {
    if (!this.#pass(tab)) throw new Damaged();
  }

  end(): void {
    if (this.#at !== this.#text.length) throw new Damaged();
  }

  field(): Field {
    const field = fields[this.#text.charCodeAt(this.#at) - firstKey];
    if (!field) throw new Damaged();
    this.#at += 1;
    return field;
  }

  /** Reads a value that another one follows. */
  name(): string {
    const name = this.value();
    this.nextField();
    return name;
  }

  id(): string {
    const id = this.value();
    return id === ownId ? this.#subject : id;
  }

  number(): number {
    const text = this.value();
    const number = Number(text);
    if (text === "" || !Number.isFinite(number)) throw new Damaged();
    return number;
  }

  /** Passes values that are not needed. */
  skip(values: number): void {
    for (let left = values; ; left--) {
      while (this.#at < this.#text.length && !isSeparator(this.#text.charCodeAt(this.#at))) this.#at += 1;
      if (left === 1) return;
      this.nextField();
    }
  }

  /** Reads up to the next separator, and replaces codes and escapes, which most values do not have. */
  value(): string {
    const text = this.#text;
    let at = this.#at;
    let start = at;
    let value = "";
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code > 0x1f && code !== backslash && (code < 0x80 || code > 0x9f)) continue;
      if (isSeparator(code)) break;
      value += text.slice(start, at);
      if (code === backslash) {
        value += String.fromCharCode(Number.parseInt(text.slice(at + 1, at + 5), 16));
        at += 4;
      } else {
        const phrase = phraseOf[code];
        if (phrase === undefined) throw new Damaged();
        value += phrase;
      }
      start = at + 1;
    }
    this.#at = at;
    return start === at ? value : value + text.slice(start, at);
  }
}

const isSeparator = (code: number) => code === tab || code === lineFeed;

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
