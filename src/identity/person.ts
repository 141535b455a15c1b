// Hashes contact data: plain text comes in, only SHA-256 leaves. Neither an error nor a log line of the relay may quote a plain value.

import { hash } from "node:crypto";
import type { Identity, Person, Sha256 } from "../kernel/event.ts";
import { emailForms, looksLikeEmail } from "./email.ts";
import { toE164 } from "./phone.ts";

let textOf: (plain: Plain) => string;

/** Contact data as a sender wrote it. It is not a string, prints as "[plain]", and only this file can read it. */
export class Plain {
  readonly #text: string;
  static {
    textOf = (plain) => plain.#text;
  }
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return "[plain]";
  }
  toJSON(): string {
    return "[plain]";
  }
}

export class PlainEmail extends Plain {
  /** The part that the site's rules may filter by. */
  get domain(): string {
    const address = textOf(this).trim();
    return address.slice(address.lastIndexOf("@") + 1).toLowerCase();
  }
}

/** The plain address, which gives every form of the hash, or the hash alone. */
type EmailFields = { email: PlainEmail } | { emailSha256: Sha256 };

/** The other contact data of a person. */
type ContactFields = {
  phone?: Plain | undefined;
  firstName?: Plain | undefined;
  lastName?: Plain | undefined;
};

/** Most addresses have this form, which costs a third of the whole test to recognise. */
const usualAddress = /^[\w.+-]{1,64}@[a-z0-9]+(?:[.-][a-z0-9]+)*\.[a-z0-9]+$/i;
const maxUsualLength = 254;

/** null when the text is not an email address. */
export function readEmail(text: string): PlainEmail | null {
  const isUsual = text.length <= maxUsualLength && usualAddress.test(text);
  return isUsual || looksLikeEmail(text) ? new PlainEmail(text) : null;
}

/** Reads a SHA-256 that a sender computed; null when it is not 64 hex characters. */
export function readSha256(hex: string): Sha256 | null {
  return /^[0-9a-f]{64}$/i.test(hex) ? (hex.toLowerCase() as Sha256) : null;
}

/** Reads an email address or its hash, as people type them; null when the text is neither. */
export function readEmailSha256(text: string): Sha256 | null {
  const email = readEmail(text);
  return email ? hashPerson({ email }).emailSha256 : readSha256(text);
}

/** Adds the forms of the email that the person's identity record has, where the sender gave only the hash. */
export function addKnownForms(person: Person, forms: Identity["forms"]): Person {
  const hasAll = person.emailGoogleSha256 && person.emailMicrosoftSha256 && person.emailRedditSha256;
  return hasAll ? person : { ...forms, ...person };
}

/** A person whose email is known. */
export type EmailPerson = Person & { emailSha256: Sha256 };

/** `country` (ISO 3166 alpha-2) is where phone numbers without a country code belong. */
export function hashPerson(fields: EmailFields & ContactFields, options?: { country?: string | undefined }): EmailPerson;
export function hashPerson(fields: ContactFields, options?: { country?: string | undefined }): Person;
export function hashPerson(
  fields: ContactFields & Partial<{ email: PlainEmail; emailSha256: Sha256 }>,
  options: { country?: string | undefined } = {},
): Person {
  const { email, emailSha256 } = fields;
  const person: Person = email ? hashEmail(email) : emailSha256 ? { emailSha256 } : {};
  hashPhone(person, fields.phone, options.country);
  if (fields.firstName) hashName(person, textOf(fields.firstName), "firstNameSha256", "firstNameAmazonSha256");
  if (fields.lastName) hashName(person, textOf(fields.lastName), "lastNameSha256", "lastNameAmazonSha256");
  return person;
}

/** A hash that the sender made is one of the number with its plus; the form without it cannot be made from that. */
function hashPhone(person: Person, phone: Plain | undefined, country: string | undefined): void {
  if (!phone) return;
  const given = readSha256(textOf(phone).trim());
  if (given) {
    person.phoneSha256 = given;
    return;
  }
  const number = toE164(textOf(phone), country);
  if (number === undefined) return;
  person.phoneSha256 = sha256(number);
  person.phoneDigitsSha256 = sha256(number.slice(1));
}

/** A hash that the sender made is used as it is. */
function hashName(
  person: Person,
  name: string,
  field: "firstNameSha256" | "lastNameSha256",
  amazonField: "firstNameAmazonSha256" | "lastNameAmazonSha256",
): void {
  const given = readSha256(name.trim());
  const normal = given ? "" : normalizeName(name);
  const own = given ?? (normal ? sha256(normal) : null);
  if (own) person[field] = own;
  const amazon = normal.replace(/[^a-z0-9]/g, "");
  if (amazon && amazon !== normal) person[amazonField] = sha256(amazon);
}

function hashEmail(email: PlainEmail): EmailPerson {
  const { canonical, google, microsoft, reddit, amazon } = emailForms(textOf(email));
  const person: EmailPerson = { emailSha256: sha256(canonical) };
  // Most addresses are the same in every form; hashing them once is a quarter of the work.
  const hashForm = (form: string) => (form === canonical ? person.emailSha256 : sha256(form));
  if (google !== undefined) person.emailGoogleSha256 = hashForm(google);
  if (microsoft !== undefined) person.emailMicrosoftSha256 = hashForm(microsoft);
  if (reddit !== undefined) person.emailRedditSha256 = hashForm(reddit);
  if (amazon !== undefined) person.emailAmazonSha256 = sha256(amazon);
  return person;
}

function sha256(text: string): Sha256 {
  return hash("sha256", text) as Sha256;
}

/**
 * Keeps letters, marks and digits of any script. Variation selectors count as marks but are what remains of a removed
 * emoji. NFC comes first, because a sign and its mark are one sign only when they are composed, and last, because
 * lower-casing and removal can undo it.
 */
function normalizeName(name: string): string {
  const lower = name.toLowerCase();
  if (/^[a-z0-9]*$/.test(lower)) return lower;
  const composed = lower.normalize("NFC");
  return composed.replace(/[^\p{L}\p{M}\p{N}]|\p{Variation_Selector}/gu, "").normalize("NFC");
}
