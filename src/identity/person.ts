// Hash at the door: plain contact data comes in, only SHA-256 leaves. No error made here may quote its input.
import { hash } from "node:crypto";
import type { Person, Sha256 } from "../kernel/event.ts";
import { canonicalEmail, emailForms } from "./email.ts";
import { e164 } from "./phone.ts";

/** Plain values as the door read them; each may be missing. */
export type ContactFields = {
  email?: string | undefined;
  emailSha256?: string | undefined;
  phone?: string | undefined;
  firstName?: string | undefined;
  lastName?: string | undefined;
};

/** The identity key of a plain address. */
export function hashEmail(email: string): Sha256 {
  return sha256(canonicalEmail(email));
}

/**
 * `country` (ISO 3166 alpha-2) is where phone numbers without a country code belong. A blank email counts as
 * absent, and with both, the plain one is used because only that gives every form.
 */
export function personOf(fields: ContactFields, options: { country?: string | undefined } = {}): Person {
  const person = emailPart(fields);
  const phone = fields.phone === undefined ? undefined : e164(fields.phone, options.country);
  if (phone !== undefined) {
    person.phoneSha256 = sha256(phone);
    person.phoneDigitsSha256 = sha256(phone.slice(1));
  }
  const firstName = normalName(fields.firstName ?? "");
  if (firstName !== "") person.firstNameSha256 = sha256(firstName);
  const lastName = normalName(fields.lastName ?? "");
  if (lastName !== "") person.lastNameSha256 = sha256(lastName);
  return person;
}

function emailPart({ email = "", emailSha256 = "" }: ContactFields): Person {
  if (email.trim() === "") {
    const given = readSha256(emailSha256.trim());
    // Endpoints check this with a clear answer. Here it guards the promise that no plain address gets through.
    if (!given) throw new Error("a person needs an email or 64 hex characters of hashed email");
    return { emailSha256: given };
  }
  const forms = emailForms(email);
  const person: Person = { emailSha256: sha256(forms.canonical) };
  // Most addresses are the same in every form; hashing them once is a quarter of the work.
  const hashed = (form: string) => (form === forms.canonical ? person.emailSha256 : sha256(form));
  if (forms.google !== undefined) person.emailGoogleSha256 = hashed(forms.google);
  if (forms.microsoft !== undefined) person.emailMicrosoftSha256 = hashed(forms.microsoft);
  if (forms.reddit !== undefined) person.emailRedditSha256 = hashed(forms.reddit);
  return person;
}

/** A hash that arrives hashed; null when it is not 64 hex characters. */
export function readSha256(hex: string): Sha256 | null {
  return /^[0-9a-f]{64}$/i.test(hex) ? (hex.toLowerCase() as Sha256) : null;
}

function sha256(text: string): Sha256 {
  return hash("sha256", text) as Sha256;
}

/**
 * Letters, marks and digits of any script. Variation selectors count as marks but are only the look of a sign:
 * they are what remains of a removed emoji. NFC comes last, because lower-casing and removal can undo it.
 */
function normalName(name: string): string {
  const lower = name.toLowerCase();
  if (/^[a-z0-9]*$/.test(lower)) return lower;
  return lower.replace(/[^\p{L}\p{M}\p{N}]|\p{Variation_Selector}/gu, "").normalize("NFC");
}
