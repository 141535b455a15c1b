// Hash at the door: plain contact data comes in, only SHA-256 leaves. No error made here may quote its input.
import { hash } from "node:crypto";
import type { Person } from "../kernel/event.ts";
import { canonicalEmail, emailForms } from "./email.ts";
import { e164 } from "./phone.ts";

/** Plain values as the door read them; each may be missing. */
export type ContactFields = {
  email?: string | undefined;
  hashedEmail?: string | undefined;
  phone?: string | undefined;
  firstName?: string | undefined;
  lastName?: string | undefined;
};

/** The identity key of a plain address. */
export function hashEmail(email: string): string {
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
    person.phone = sha256(phone);
    person.phoneDigits = sha256(phone.slice(1));
  }
  const firstName = normalName(fields.firstName ?? "");
  if (firstName !== "") person.firstName = sha256(firstName);
  const lastName = normalName(fields.lastName ?? "");
  if (lastName !== "") person.lastName = sha256(lastName);
  return person;
}

function emailPart({ email = "", hashedEmail = "" }: ContactFields): Person {
  if (email.trim() === "") {
    const given = hashedEmail.trim().toLowerCase();
    // The doors check this with a kind answer. Here it guards the promise that no plain address gets through.
    if (!/^[0-9a-f]{64}$/.test(given))
      throw new Error("a person needs an email or 64 hex characters of hashed email");
    return { email: given };
  }
  const forms = emailForms(email);
  const person: Person = { email: sha256(forms.canonical) };
  // Most addresses are the same in every form; hashing them once is a quarter of the work.
  const hashed = (form: string) => (form === forms.canonical ? person.email : sha256(form));
  if (forms.google !== undefined) person.emailGoogle = hashed(forms.google);
  if (forms.microsoft !== undefined) person.emailMicrosoft = hashed(forms.microsoft);
  if (forms.reddit !== undefined) person.emailReddit = hashed(forms.reddit);
  return person;
}

function sha256(text: string): string {
  return hash("sha256", text);
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
