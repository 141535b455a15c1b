// Step 8: from a JSON object to the fields of an event. The first wrong field is named in one sentence.
//
// Personal data ends here: the plain email, phone and names leave this file only as hashes.

import { dayMs, minuteMs } from "../kernel/time.ts";
import { isCurrency } from "../kernel/currency.ts";
import type { Person } from "../kernel/event.ts";
import { looksLikeEmail } from "../identity/email.ts";
import { personOf } from "../identity/person.ts";
import type { Body } from "./body.ts";

export type Fields = {
  event: string;
  value: number | null;
  currency: string;
  orderId: string | null;
  /** null when the sender gave none. */
  eventTime: number | null;
  person: Person;
  /** Known only from a plain address. */
  emailDomain: string | null;
};

export class FieldFault {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

const longest = { event: 100, orderId: 256 } as const;
const maxOtherLength = 512;
/** Beyond any price, and small enough that sums of them stay numbers. */
const largestValue = 1_000_000_000_000;
const oldestMs = 90 * dayMs;
const futureMs = 5 * minuteMs;

export function readFields(body: Body, site: { country: string | null }, now: number): Fields | FieldFault {
  const { fields } = body;
  if (isAbsent(fields.email) && isAbsent(fields.hashed_email)) {
    return new FieldFault("email or hashed_email required");
  }
  if (isAbsent(fields.event)) return new FieldFault("event required");

  try {
    const event = textOf(fields, "event") as string;
    const email = textOf(fields, "email")?.trim();
    if (email !== undefined && !looksLikeEmail(email)) throw new FieldFault("email is not an email address");
    const emailSha256 = email === undefined ? hashOf(fields) : undefined;
    const value = valueOf(fields.value);
    const currency = currencyOf(fields);
    const orderId = textOf(fields, "orderId", body)?.trim() ?? null;
    const eventTime = timeOf(fields.eventTime, now);
    const contact = {
      ...(email === undefined ? {} : { email }),
      ...(emailSha256 === undefined ? {} : { emailSha256 }),
      phone: textOf(fields, "phone", body),
      firstName: textOf(fields, "firstName"),
      lastName: textOf(fields, "lastName"),
    };
    return {
      event,
      value,
      currency,
      orderId,
      eventTime,
      person: personOf(contact, { country: site.country ?? undefined }),
      emailDomain: email?.slice(email.lastIndexOf("@") + 1).toLowerCase() ?? null,
    };
  } catch (fault) {
    if (fault instanceof FieldFault) return fault;
    throw fault;
  }
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === "string" && value.trim() === "");
}

/** A text field; undefined when absent. With `numbers`, a JSON number is taken as it was written. */
function textOf(fields: Record<string, unknown>, name: string, numbers?: Body): string | undefined {
  let value = fields[name];
  if (isAbsent(value)) return undefined;
  if (typeof value === "number" && numbers) {
    const written = asWritten(numbers, name);
    // Rounded, two orders could count as one.
    if (written === undefined && !Number.isSafeInteger(value))
      throw new FieldFault(`${name} must be a string`);
    value = written ?? String(value);
  }
  if (typeof value !== "string") throw new FieldFault(`${name} must be a string`);
  const limit = longest[name as keyof typeof longest] ?? maxOtherLength;
  // Characters, not UTF-16 units: counted only where the two can differ.
  if (value.length > limit && (value.length > limit * 2 || Array.from(value).length > limit)) {
    throw new FieldFault(`${name} is longer than ${limit} characters`);
  }
  if (value.includes("\0") || !value.isWellFormed()) {
    throw new FieldFault(
      `${name} contains a character that cannot be stored (NUL or half of a surrogate pair)`,
    );
  }
  return value;
}

/** 12345678901234567890 must not become 12345678901234567000: order ids that differ would count as duplicates. */
function asWritten({ text }: Body, name: string): string | undefined {
  const written = new Map<unknown, string | undefined>();
  try {
    const root: unknown = JSON.parse(
      text,
      function (this: unknown, key, value: unknown, context?: { source?: string }) {
        if (key === name && typeof value === "number") written.set(this, context?.source);
        return value;
      },
    );
    return written.get(root);
  } catch {
    // Nested too deeply for a walk, though not for JSON.parse alone: the number as it was read must do.
    return undefined;
  }
}

function hashOf(fields: Record<string, unknown>): string {
  const hash = textOf(fields, "hashed_email")?.trim().toLowerCase() ?? "";
  if (!/^[0-9a-f]{64}$/.test(hash)) {
    throw new FieldFault("hashed_email must be the SHA-256 of the lower-cased email as 64 hex characters");
  }
  return hash;
}

function valueOf(value: unknown): number | null {
  if (isAbsent(value)) return null;
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw new FieldFault("value must be a finite JSON number");
  }
  if (value < 0) throw new FieldFault('value must not be negative; send a refund as an event named "refund"');
  if (value > largestValue) throw new FieldFault(`value must be at most ${largestValue}`);
  return value === 0 ? 0 : value;
}

function currencyOf(fields: Record<string, unknown>): string {
  const code = textOf(fields, "currency")?.trim().toUpperCase() ?? "USD";
  if (!isCurrency(code)) throw new FieldFault("currency must be an ISO 4217 code such as USD or EUR");
  return code;
}

const isoTime =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/i;

function timeOf(value: unknown, now: number): number | null {
  if (isAbsent(value)) return null;
  const time =
    typeof value === "number"
      ? value * 1000
      : typeof value === "string"
        ? parseTime(value.trim())
        : Number.NaN;
  if (!Number.isFinite(time)) {
    throw new FieldFault("eventTime must be an ISO 8601 time or Unix seconds");
  }
  if (time > now + futureMs) {
    // Read as milliseconds it would be a time of our days.
    const hint = time / 1000 > now - oldestMs ? "; it looks like milliseconds, send seconds" : "";
    throw new FieldFault(`eventTime lies in the future${hint}`);
  }
  if (time < now - oldestMs) throw new FieldFault("eventTime is older than 90 days");
  return Math.round(time);
}

/** A time without an offset is UTC. */
function parseTime(text: string): number {
  if (/^\d{1,13}(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const match = isoTime.exec(text);
  if (!match) return Number.NaN;
  const [, date = "", time = "00:00", offset = "Z"] = match;
  // Date.parse takes 31 September for 1 October.
  const midnight = Date.parse(`${date}T00:00Z`);
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(date)) return Number.NaN;
  return Date.parse(`${date}T${time}${offset.replace(/^([+-]\d{2})(\d{2})$/, "$1:$2").toUpperCase()}`);
}
