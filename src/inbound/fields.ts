// Step 8: reads the fields of an event from a JSON object, and makes the event. The first wrong field is named in one
// sentence. Plain email, phone and names leave this file only as hashes, and addresses in other texts masked.

import { say } from "../kernel/messages/message.ts";
import { maxEventAgeMs, minuteMs } from "../kernel/time.ts";
import { isCurrency } from "../kernel/currency.ts";
import { maxIdLength, type Event, type Item, type Person, type SeenId, type Sha256 } from "../kernel/event.ts";
import { isJsonObject } from "../http/body.ts";
import { clickIdName } from "../identity/clickIds.ts";
import { orderEventId } from "../kernel/ids.ts";
import { maskAddresses, maskAndCut } from "../kernel/maskAddresses.ts";
import { looksLikeEmail } from "../identity/email.ts";
import { hashPerson, Plain, type PlainEmail, readEmail, readSha256 } from "../identity/person.ts";
import { extraFieldsOf } from "../platforms/shared/mapping.ts";
import { costFieldsOf } from "../platforms/valueRules.ts";
import type { Site } from "../sites/directory.ts";
import { checkText, FieldFault, isAbsent, maxValue } from "./fieldFault.ts";
import { readItems } from "./items.ts";

/**
 * An event as it was sent. `exact` returns its fields once more, with numbers that are ids as the texts that were sent,
 * unrounded; undefined where they are not known.
 */
export type Body = {
  fields: Record<string, unknown>;
  exact: () => Record<string, unknown> | undefined;
};

export type Fields = {
  /** Exactly as the sender wrote it: for the answer, which repeats it, and for nothing else. */
  givenName: string;
  name: string;
  value: number | null;
  currency: string;
  orderId: string | null;
  /** See `Event`. */
  orderEventId: string | null;
  /** null when the sender gave none. */
  eventTime: number | null;
  person: Person;
  /** null when the sender gave only the hash. */
  emailDomain: string | null;
  /** Absent where there are none. */
  items?: readonly Item[] | undefined;
  /** Absent where the sender gave none. */
  clickIds?: Readonly<Record<string, SeenId>> | undefined;
  leadId?: string | undefined;
};

/** What the site's settings say about an event. */
type FieldRules = { id: string; settings: { country: string | null; conversionsWithoutEmail: boolean } };

/** Everything about an event that its sender does not write. */
type Origin = Pick<Event, "id" | "siteId" | "keyId" | "mode" | "receivedAt" | "extra">;

/** Makes an event; inbound and import both use this function. */
export function newEvent(
  { name, value, currency, orderId, orderEventId: ofOrder, eventTime, person, items, leadId }: Fields,
  origin: Origin,
): Event {
  const { id, siteId, keyId, mode, receivedAt, extra } = origin;
  const time = eventTime ?? receivedAt;
  const event: Event = {
    id,
    siteId,
    keyId,
    mode,
    name,
    value,
    currency,
    orderId,
    orderEventId: ofOrder,
    time,
    receivedAt,
    person,
    extra,
  };
  if (items) event.items = items;
  if (leadId !== undefined) event.leadId = leadId;
  return event;
}

const maxLengths: Readonly<Record<string, number>> = { event: 100, orderId: 256, refundId: 256 };
/** Names that are looked at; the table has fewer. */
const maxClickIds = 100;
const maxOtherLength = 512;
/** Strings of consent banners are longer than other texts. */
const maxExtraLength = 2048;
const maxFutureMs = 5 * minuteMs;

/** `known` is the person of an event whose sender names no email, found by the order or the customer id. */
export function readFields(body: Body, site: FieldRules, now: number, known?: Person): Fields | FieldFault {
  const { fields } = body;
  if (isAbsent(fields.email) && isAbsent(fields.hashed_email) && !known && !mayLackEmail(fields, site)) {
    return new FieldFault("email or hashed_email required");
  }
  if (isAbsent(fields.event)) return new FieldFault(say("field_required", { field: "event" }));

  try {
    const givenName = readText(fields, "event") ?? "";
    const email = readPlainEmail(fields);
    const emailSha256 = email || isAbsent(fields.hashed_email) ? null : readHashedEmail(fields);
    const value = readValue(fields.value);
    const currency = readCurrency(fields);
    const givenOrderId = readNumericText(body, "orderId")?.trim() ?? null;
    const eventTime = readEventTime(fields.eventTime, now);
    const phone = toPlain(readNumericText(body, "phone"));
    const firstName = toPlain(readText(fields, "firstName"));
    const lastName = toPlain(readText(fields, "lastName"));
    const contact = email
      ? { email, phone, firstName, lastName }
      : emailSha256
        ? { emailSha256, phone, firstName, lastName }
        : { phone, firstName, lastName };
    const hashed = hashPerson(contact, { country: site.settings.country ?? undefined });
    const person = known && hashed.emailSha256 === undefined ? { ...hashed, ...known } : hashed;
    const emailDomain = email?.domain ?? null;
    const refundId = readNumericText(body, "refundId")?.trim() ?? null;
    const { name, orderId, orderEventId: ofOrder } = maskName(site.id, givenName, givenOrderId, refundId);
    const read: Fields = {
      givenName,
      name,
      value,
      currency,
      orderId,
      orderEventId: ofOrder,
      eventTime,
      person,
      emailDomain,
    };
    if (!isAbsent(fields.items)) read.items = readItems(body);
    if (!isAbsent(fields.leadId)) read.leadId = readLeadId(body);
    if (!isAbsent(fields.clickIds)) read.clickIds = readClickIds(fields, eventTime ?? now, now);
    // A phone number that is none identifies nobody.
    const isKnown = person.emailSha256 !== undefined || person.phoneSha256 !== undefined || read.clickIds !== undefined;
    return isKnown || known ? read : new FieldFault("email or hashed_email required");
  } catch (fault) {
    if (fault instanceof FieldFault) return fault;
    throw fault;
  }
}

/**
 * Masks addresses. The browser computes the order event id from the plain texts, so it is kept where they are masked. The refunds
 * of one order have an order event id each: a second partial refund is no duplicate of the first.
 */
function maskName(siteId: string, givenName: string, givenOrderId: string | null, refundId: string | null) {
  const name = maskAddresses(givenName);
  if (givenOrderId === null) return { name, orderId: null, orderEventId: null };
  const orderId = maskAddresses(givenOrderId);
  const isMasked = name !== givenName || orderId !== givenOrderId;
  const ofRefund = refundId === null ? givenOrderId : `${givenOrderId}\n${refundId}`;
  return { name, orderId, orderEventId: isMasked || refundId !== null ? orderEventId(siteId, givenName, ofRefund) : null };
}

/** A site may take events of people who are known by a phone number or a click alone. */
function mayLackEmail(fields: Record<string, unknown>, { settings }: FieldRules): boolean {
  return settings.conversionsWithoutEmail && !(isAbsent(fields.phone) && isAbsent(fields.clickIds));
}

/** Reads `{"gclid":"…"}`, with `clickTime` as the time of the click, or that of the event. Unknown names are left out. */
function readClickIds(fields: Record<string, unknown>, eventTime: number, now: number): Record<string, SeenId> | undefined {
  const given = fields.clickIds;
  if (!isJsonObject(given)) throw new FieldFault(say("field_not_an_object", { field: "clickIds" }));
  const clickTime = isAbsent(fields.clickTime) ? null : readTime(fields.clickTime);
  if (Number.isNaN(clickTime)) throw new FieldFault("clickTime must be an ISO 8601 time or Unix seconds");
  const seenAt = Math.min(clickTime ?? eventTime, now);
  const found: Record<string, SeenId> = {};
  for (const name of Object.keys(given).slice(0, maxClickIds)) {
    const known = clickIdName(name);
    if (known === undefined || isAbsent(given[name])) continue;
    found[known] = { value: checkText(`clickIds.${known}`, given[name], maxIdLength).trim(), seenAt };
  }
  return Object.keys(found).length > 0 ? found : undefined;
}

/** Reads a text field; undefined when absent. */
function readText(fields: Record<string, unknown>, name: string): string | undefined {
  const value = fields[name];
  return isAbsent(value) ? undefined : checkText(name, value, limitOf(name));
}

/** Reads a text field that may also be a JSON number. */
function readNumericText({ fields, exact }: Body, name: "orderId" | "refundId" | "phone" | "leadId"): string | undefined {
  const value = fields[name];
  if (typeof value !== "number") return readText(fields, name);
  const literal = exact()?.[name];
  // Two order ids could be equal after rounding.
  if (typeof literal !== "string" && !Number.isSafeInteger(value))
    throw new FieldFault(say("field_not_a_string", { field: name }));
  return checkText(name, typeof literal === "string" ? literal : String(value), limitOf(name));
}

/** Meta's ids of leads. */
function readLeadId(body: Body): string {
  const leadId = readNumericText(body, "leadId")?.trim() ?? "";
  if (!/^\d{15,17}$/.test(leadId)) throw new FieldFault("leadId must be Meta's id of a lead: 15 to 17 digits");
  return leadId;
}

const limitOf = (name: string) => maxLengths[name] ?? maxOtherLength;

const toPlain = (text: string | undefined): Plain | undefined => (text === undefined ? undefined : new Plain(text));

function readPlainEmail(fields: Record<string, unknown>): PlainEmail | null {
  const text = readText(fields, "email");
  if (text === undefined) return null;
  const email = readEmail(text);
  if (!email) throw new FieldFault("email is not an email address");
  return email;
}

function readHashedEmail(fields: Record<string, unknown>): Sha256 {
  const emailSha256 = readSha256(readText(fields, "hashed_email")?.trim() ?? "");
  if (!emailSha256) throw new FieldFault("hashed_email must be the SHA-256 of the lower-cased email as 64 hex characters");
  return emailSha256;
}

/** Decimal text, as shops and CRMs write amounts. Everything else that is not a number stays refused. */
const decimalText = /^\d{1,15}(?:\.\d{1,15})?$/;

function readValue(given: unknown): number | null {
  if (isAbsent(given)) return null;
  const value = typeof given === "string" && decimalText.test(given.trim()) ? Number(given) : given;
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw new FieldFault(say("field_not_a_number", { field: "value" }));
  }
  if (value < 0) throw new FieldFault('value must not be negative; send a refund as an event named "refund"');
  if (value > maxValue) throw new FieldFault(say("field_too_large", { field: "value", max: maxValue }));
  return value === 0 ? 0 : value;
}

function readCurrency(fields: Record<string, unknown>): string {
  const code = readText(fields, "currency")?.trim().toUpperCase() ?? "USD";
  if (!isCurrency(code)) throw new FieldFault("currency must be an ISO 4217 code such as USD or EUR");
  return code;
}

const writtenTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const isoTime = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/i;

function readEventTime(value: unknown, now: number): number | null {
  if (isAbsent(value)) return null;
  const time = readTime(value);
  if (!Number.isFinite(time)) {
    throw new FieldFault("eventTime must be an ISO 8601 time or Unix seconds");
  }
  if (time > now + maxFutureMs) {
    // A time that is recent when divided by 1000 was probably sent in milliseconds.
    const isMilliseconds = time / 1000 > now - maxEventAgeMs;
    throw new FieldFault(
      isMilliseconds ? "eventTime lies in the future; it looks like milliseconds, send seconds" : "eventTime lies in the future",
    );
  }
  if (time < now - maxEventAgeMs) throw new FieldFault("eventTime is older than 90 days");
  return Math.round(time);
}

/** Reads Unix seconds or ISO 8601. */
const readTime = (value: unknown) =>
  typeof value === "number" ? value * 1000 : typeof value === "string" ? parseTime(value.trim()) : Number.NaN;

/** A time without an offset is UTC. */
function parseTime(text: string): number {
  // The form that Date writes, and sources give.
  if (writtenTime.test(text)) {
    const ms = Date.parse(text);
    if (new Date(ms).getUTCDate() === Number(text.slice(8, 10))) return ms;
  }
  if (/^\d{1,13}(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const match = isoTime.exec(text);
  if (!match) return Number.NaN;
  const [, date = "", time = "00:00", offset = "Z"] = match;
  // Date.parse reads 31 September as 1 October.
  const midnight = Date.parse(`${date}T00:00Z`);
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(date)) return Number.NaN;
  return Date.parse(`${date}T${time}${offset.replace(/^([+-]\d{2})(\d{2})$/, "$1:$2").toUpperCase()}`);
}

/** Directories replace a site when its configuration changes, so the names are collected once per site object. */
const mappedFields = new WeakMap<Site, readonly string[]>();

function findMappedFields(site: Site): readonly string[] {
  let names = mappedFields.get(site);
  if (!names) {
    names = [...new Set(site.connections.flatMap(({ settings }) => [...extraFieldsOf(settings), ...costFieldsOf(settings)]))];
    mappedFields.set(site, names);
  }
  return names;
}

/** Reads fields that are not ours: they are kept only when a field mapping or a value rule of the site needs them. */
export function readExtra(fields: Record<string, unknown>, site: Site): Record<string, unknown> | null {
  const names = findMappedFields(site);
  if (names.length === 0) return null;
  const kept: Record<string, unknown> = {};
  for (const name of names) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    // An address is contact data, whatever the field is called.
    if (typeof value === "string" && looksLikeEmail(value)) continue;
    if (typeof value === "string" && value.trim() !== "") kept[name] = maskAndCut(value.trim(), maxExtraLength);
    else if (typeof value === "number" || typeof value === "boolean") kept[name] = value;
  }
  return Object.keys(kept).length ? kept : null;
}
