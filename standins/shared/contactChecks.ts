// Checks of personal data: hashes of contact data in each platform's form, ids that must not be hashed, and the
// limited-data flags that Snap adopted from Meta.
//
// A platform cannot see what was hashed: it accepts a badly normalised value and never matches the person. Where the plain
// value can be guessed (people of the documented examples, two-letter codes, an empty value), the stand-in rejects the
// wrong form, so that a test finds the mistake.

import { createHash } from "node:crypto";
import { isIPv4 } from "node:net";
import { hash, number, problemAt, text, type Check, type Problem } from "./checks.ts";

export const sha256 = (plain: string): string => createHash("sha256").update(plain).digest("hex");

/** Tolerance for event times in the future where nothing is documented: a minute for clock differences. Uncertain. */
export const maxAheadSeconds = 60;

/** `email` is trimmed and in lower case; `redditEmail` has only letters and digits before the @. */
export type HashForm = "email" | "redditEmail" | "digitsPhone" | "plusPhone" | "name" | "code" | "country" | "other";

/** People of the platforms' own examples, and one with everything that normalising can get wrong. */
const emails = ["john_smith@gmail.com", "person@example.com", "test@twitter.com", "jane.doe@example.com"];
const redditEmails: readonly (readonly [given: string, canonical: string])[] = [
  ["Al.ice$+Apple@Example.Com", "alice@example.com"],
  ["John_Smith@gmail.com", "johnsmith@gmail.com"],
  ["Jane.Doe@example.com", "janedoe@example.com"],
];
const phones = ["16505551212", "448444124653", "11234567890", "15551234567", "491701234567"];
const names = ["mary", "valéry", "raphaël", "jane", "john", "doe", "smith"];

const capital = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);
const bare = (word: string) => word.normalize("NFD").replace(/\p{M}/gu, "");
const letters = Array.from({ length: 26 }, (_, index) => String.fromCodePoint(97 + index));
const letterPairs = letters.flatMap((first) => letters.map((second) => first + second));
const countryHashes = new Set(letterPairs.map(sha256));

/** Plain values in a wrong form, each with its message. */
const wrongForms: Record<HashForm, () => [plain: string, message: string][]> = {
  email: () => [
    ...emails.flatMap((email): [string, string][] => [
      [email.toUpperCase(), "is the hash of an email that is not in lower case"],
      [capital(email), "is the hash of an email that is not in lower case"],
      [` ${email}`, "is the hash of an email with a space"],
      [`${email} `, "is the hash of an email with a space"],
      [sha256(email), "was hashed twice"],
    ]),
    ...redditEmails
      .slice(1)
      .map(([, canonical]): [string, string] => [
        canonical,
        "is the hash of an email without its punctuation, which only Reddit wants",
      ]),
  ],
  redditEmail: () =>
    redditEmails.flatMap(([given, canonical]): [string, string][] => [
      [given.toLowerCase(), "is the hash of an email with its alias or punctuation"],
      [given.toLowerCase().replace(/\+[^@]*/, ""), "is the hash of an email with its punctuation"],
      [given, "is the hash of an email that is not in lower case"],
      [capital(canonical), "is the hash of an email that is not in lower case"],
      [sha256(canonical), "was hashed twice"],
    ]),
  digitsPhone: () =>
    phones.flatMap((phone): [string, string][] => [
      [`+${phone}`, "is the hash of a phone number with +"],
      [`00${phone}`, "is the hash of a phone number with 00"],
      [sha256(phone), "was hashed twice"],
    ]),
  plusPhone: () =>
    phones.flatMap((phone): [string, string][] => [
      [phone, "is the hash of a phone number without +"],
      [`00${phone}`, "is the hash of a phone number with 00"],
      [sha256(`+${phone}`), "was hashed twice"],
    ]),
  name: () =>
    names.flatMap((name): [string, string][] => [
      [capital(name), "is the hash of a name that is not in lower case"],
      [name.toUpperCase(), "is the hash of a name that is not in lower case"],
      ...(bare(name) === name ? [] : [[bare(name), "is the hash of a name without its accents"] satisfies [string, string]]),
    ]),
  code: () => letterPairs.map((pair) => [pair.toUpperCase(), "is the hash of a code in upper case"]),
  country: () => [],
  other: () => [],
};

const emptyValues: [string, string][] = ["", " ", "null", "undefined", "none"].map((plain) => [
  plain,
  "is the hash of nothing: an empty value must be left out",
]);

/** SHA-256 in 64 lower-case hexadecimal digits, of a value in this form as far as can be checked. */
export function hashed(form: HashForm): Check {
  const wrong = new Map([...emptyValues, ...wrongForms[form]()].map(([plain, message]) => [sha256(plain), message]));
  return (value, path) => {
    const problems = hash(value, path);
    if (problems.length > 0) return problems;
    const message = wrong.get(String(value));
    if (message !== undefined) return problemAt("hash", path, message);
    return form === "country" && !countryHashes.has(String(value))
      ? problemAt("hash", path, "is not the hash of a two-letter country code in lower case")
      : [];
  };
}

/** A click or browser id: never empty, never hashed. */
export const plainId: Check = (value, path) => {
  const problems = text({ max: 2000, pattern: /^\S+$/ })(value, path);
  return problems.length === 0 && /^[0-9a-f]{64}$/i.test(String(value))
    ? problemAt("value", path, "must not be hashed")
    : problems;
};

export const ipv4: Check = (value, path) =>
  typeof value === "string" && isIPv4(value) ? [] : problemAt("value", path, "is not an IPv4 address");

/** Free text without a plain email. */
export const notContact: Check = (value, path) => {
  const problems = text()(value, path);
  return problems.length === 0 && /\S@\S+\.\S/.test(String(value)) ? problemAt("hash", path, "holds a plain email") : problems;
};

/** `data_processing_options` with its country and state, in Meta's and Snap's APIs. */
export const limitedDataFields: Readonly<Record<string, Check>> = {
  data_processing_options: (value, path) =>
    Array.isArray(value) && value.length <= 1 && value.every((option) => option === "LDU")
      ? []
      : problemAt("value", path, 'must be [] or ["LDU"]'),
  data_processing_options_country: number({ integer: true, min: 0, max: 1 }),
  data_processing_options_state: number({ integer: true, min: 0 }),
};

/** Country and state must be given together, and only with the option. */
export function limitedDataProblems(event: Record<string, unknown>, path: string): Problem[] {
  const options = event.data_processing_options;
  const country = event.data_processing_options_country;
  const state = event.data_processing_options_state;
  const at = `${path}.data_processing_options`;
  if (options === undefined)
    return country === undefined && state === undefined ? [] : problemAt("missing", at, "is required with its country or state");
  const isLimited = Array.isArray(options) && options.length > 0;
  // It is uncertain if the option works without country and state; the documented forms all have them.
  if (isLimited && (country === undefined || state === undefined))
    return problemAt("missing", at, "needs data_processing_options_country and _state");
  const fits = country === 0 ? state === 0 : state === 0 || (typeof state === "number" && state >= 1000);
  return isLimited && !fits ? problemAt("value", at, "has a country and a state that do not match") : [];
}

/** True when the object has a value under one of these names. */
export const hasOneOf = (value: Record<string, unknown>, fields: readonly string[]): boolean =>
  fields.some((name) => value[name] !== undefined);
