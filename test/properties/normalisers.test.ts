// Promises of what is normalised before it is hashed or sent: a second time changes nothing, writing style does not matter,
// and an independent way to compute it gives the same.

import * as fc from "fast-check";
import { expect } from "vitest";
import { getCountries, parsePhoneNumber } from "libphonenumber-js/max";
import { canonicalEmail, emailForms, looksLikeEmail } from "../../src/identity/email.ts";
import { hashPerson, Plain, readEmail, readEmailSha256, type PlainEmail } from "../../src/identity/person.ts";
import { isPlainE164, toE164 } from "../../src/identity/phone.ts";
import { foldName } from "../../src/platforms/shared/eventNames.ts";
import { hashed } from "../../src/platforms/shared/mapping.ts";
import { placeForms } from "../../src/platforms/shared/places.ts";
import { retryAfterSeconds, shorten } from "../../src/platforms/shared/response.ts";
import { amountOf, amountText, decimalText, isoTime, unixSeconds, validId } from "../../src/platforms/shared/values.ts";
import { currencyDigits } from "../../src/kernel/currency.ts";
import { address, anyText, digitSigns, domain, inAnyCase, localPart, property, sha256Hex, word } from "./property.ts";

const emailOf = (text: string) => readEmail(text) as PlainEmail;
const personOf = (email: string) => hashPerson({ email: emailOf(email) });

property(
  "no text makes the recognition of an address fail",
  [anyText],
  (text) => {
    const email = readEmail(text);
    expect(email !== null).toBe(looksLikeEmail(text));
    if (email) expect(canonicalEmail(text)).toMatch(/^[^\s]+@[^\s@]+\.[^\s@]+$/);
  },
  { runs: 1000 },
);

property("an address is recognised in every spelling", [address, fc.constantFrom("", " ", "\t", "\u00a0")], (email, space) => {
  expect(looksLikeEmail(`${space}${email}${space}`)).toBe(true);
  expect(readEmail(`${email} ${email}`)).toBeNull();
  expect(readEmail(email.replace("@", ""))).toBeNull();
});

property(
  "normalising an address twice changes no form of it",
  [fc.oneof(address, anyText)],
  (email) => {
    const forms = emailForms(email);
    expect(emailForms(forms.canonical)).toEqual(forms);
    if (forms.google !== undefined) expect(emailForms(forms.google).google).toBe(forms.google);
    if (forms.microsoft !== undefined) expect(emailForms(forms.microsoft).microsoft).toBe(forms.microsoft);
    if (forms.reddit !== undefined) expect(emailForms(forms.reddit).reddit).toBe(forms.reddit);
  },
  { runs: 500 },
);

property(
  "case and outer spaces of an address change none of its hashes",
  [address.chain((email) => fc.tuple(fc.constant(email), inAnyCase(email)))],
  ([email, other]) => {
    expect(personOf(` ${other}\n`)).toEqual(personOf(email));
    expect(readEmailSha256(other)).toBe(sha256Hex(email));
  },
);

property(
  "dots and tags do not matter to Google at Gmail, to Microsoft anywhere",
  [word(3, 10), word(1, 5), domain],
  (local, tag, host) => {
    const styles = [local, `${local}+${tag}`, local.split("").join("."), `${local.slice(0, 1)}.${local.slice(1)}+${tag}.${tag}`];
    const google = styles.map((one) => personOf(`${one}@gmail.com`).emailGoogleSha256);
    const microsoft = styles.map((one) => personOf(`${one}@${host}`).emailMicrosoftSha256);
    expect(new Set(google)).toEqual(new Set([sha256Hex(`${local}@gmail.com`)]));
    expect(new Set(microsoft)).toEqual(new Set([sha256Hex(`${local}@${host}`)]));
  },
);

property(
  "elsewhere Google keeps dots and tags",
  [localPart, domain.filter((host) => !/^g(?:oogle)?mail\.com$/.test(host))],
  (local, host) => {
    expect(personOf(`${local}@${host}`).emailGoogleSha256).toBe(sha256Hex(`${local}@${host}`));
  },
);

const region = fc.constantFrom(undefined, ...getCountries());

property(
  "no text makes a phone number fail, and what is read is E.164 that stays as it is",
  [fc.oneof(anyText, fc.string({ unit: fc.constantFrom(...digitSigns, ..."+-() x".split("")) })), region, region],
  (text, country, other) => {
    const number = toE164(text, country);
    if (number === undefined) return;
    expect(number).toMatch(/^\+[1-9]\d{4,14}$/);
    expect(toE164(number, other)).toBe(number);
  },
  { runs: 500 },
);

const e164 = fc
  .tuple(
    fc.constantFrom("1", "44", "49", "33", "39", "7", "81", "86", "91", "55", "61", "353", "358", "880", "972", "998"),
    fc.array(fc.constantFrom(...digitSigns), { minLength: 4, maxLength: 12 }),
  )
  .map(([code, rest]) => `+${code}${rest.join("")}`);

property(
  "the short way to read an E.164 number agrees with the library",
  [e164, region],
  (number, country) => {
    if (!isPlainE164(number)) return;
    const parsed = parsePhoneNumber(number, { extract: false });
    expect([parsed?.number, parsed?.isPossible()]).toEqual([number, true]);
    expect(toE164(number, country)).toBe(number);
  },
  { runs: 1000 },
);

property(
  "spaces, hyphens, brackets and full-width digits do not change a phone number",
  [e164, fc.array(fc.constantFrom(" ", "-", " (", ") ", "."), { minLength: 1, maxLength: 3 }), fc.integer({ min: 3, max: 6 })],
  (number, signs, at) => {
    if (!isPlainE164(number)) return;
    const spaced = signs.reduce((text, sign, i) => `${text.slice(0, at + i * 2)}${sign}${text.slice(at + i * 2)}`, number);
    const wide = number.replaceAll(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0));
    expect(toE164(wide, undefined)).toBe(number);
    // Unbalanced brackets may make it unreadable, but never another number.
    expect([number, undefined]).toContain(toE164(spaced, undefined));
  },
);

const nameHash = (name: string) => hashPerson({ email: emailOf("ada@example.com"), firstName: new Plain(name) }).firstNameSha256;

property(
  "case, spaces and punctuation do not change the hash of a name",
  [word(1, 10).chain((name) => fc.tuple(fc.constant(name), inAnyCase(name))), fc.constantFrom(" ", "-", "'", ".", "  ", "\t")],
  ([name, other], sign) => {
    expect(nameHash(name)).toBe(sha256Hex(name));
    expect(nameHash(`${sign}${other.slice(0, 1)}${sign}${other.slice(1)}${sign}`)).toBe(sha256Hex(name));
  },
);

property(
  "a name has one hash, however its letters are composed",
  [anyText],
  (name) => {
    expect(nameHash(name.normalize("NFD"))).toBe(nameHash(name.normalize("NFC")));
    expect(nameHash(name)).toBe(nameHash(name.normalize("NFC")));
  },
  { runs: 1000 },
);

property(
  "the name of an event matches in any case, with any separators",
  [fc.array(word(1, 6), { minLength: 1, maxLength: 4 }), fc.constantFrom(" ", "_", "-", "__", " - ")],
  (words, separator) => {
    const folded = foldName(words.join(separator));
    expect(folded).toBe(words.join(""));
    expect(foldName(words.map((one) => one.slice(0, 1).toUpperCase() + one.slice(1)).join(""))).toBe(folded);
  },
);

property("folding a name twice changes nothing", [anyText], (name) => {
  expect(foldName(foldName(name))).toBe(foldName(name));
});

property(
  "a mapped value is hashed once, whatever it is",
  [anyText, fc.constantFrom(...Object.values(placeForms), (text: string) => text)],
  (text, form) => {
    const shaped = hashed(form)(text);
    if (shaped === undefined) return;
    expect(shaped).toMatch(/^[0-9a-f]{64}$/);
    expect(hashed(form)(shaped as string)).toBe(shaped);
  },
);

property("times are written as toISOString does", [fc.integer({ min: 0, max: 4_102_444_800_000 })], (at) => {
  expect(isoTime(at)).toBe(new Date(at).toISOString());
});

property(
  "no platform gets a time in the future",
  [fc.integer({ min: 0, max: 2e12 }), fc.integer({ min: 0, max: 2e12 })],
  (at, now) => {
    expect(unixSeconds(at, now) * 1000).toBeLessThanOrEqual(now);
    expect(unixSeconds(at, now)).toBe(Math.min(Math.floor(at / 1000), Math.floor(now / 1000)));
  },
);

/** Rounds half up in whole numbers, from the shortest decimal text of the value. */
function roundedExactly(value: number, decimals: number): bigint {
  const [, whole = "", fraction = "", exponent = "0"] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  const power = Number(exponent) - fraction.length + decimals + 1;
  const scaled = BigInt(whole + fraction);
  const tenths = power >= 0 ? scaled * 10n ** BigInt(power) : scaled / 10n ** BigInt(-power);
  return (tenths + 5n) / 10n;
}

const currencies = fc.constantFrom("JPY", "EUR", "KWD", "CLF", "XAU");
const money = fc.oneof(
  fc.double({ min: 0, max: 1e12, noNaN: true }),
  fc.integer({ min: 0, max: 1e14 }).map((cents) => cents / 100),
  fc
    .tuple(fc.integer({ min: 0, max: 1e6 }), fc.integer({ min: 0, max: 99_999 }))
    .map(([whole, part]) => Number(`${whole}.${String(part).padStart(5, "0")}`)),
);

property(
  "amounts are rounded half up in decimal, to the digits of their currency",
  [money, currencies],
  (value, currency) => {
    const digits = currencyDigits(currency);
    const exact = roundedExactly(value, digits);
    const text = amountText(value, currency);
    expect(text).toMatch(digits ? new RegExp(`^\\d+\\.\\d{${digits}}$`) : /^\d+$/);
    // Beyond this a number has no place for so many digits.
    if (exact < Number.MAX_SAFE_INTEGER) expect(BigInt(text.replace(".", ""))).toBe(exact);
    expect(amountOf(value, currency)).toBe(Number(text));
    expect(amountOf(amountOf(value, currency), currency)).toBe(amountOf(value, currency));
  },
  { runs: 1000 },
);

property(
  "an amount never has an exponent",
  [fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), fc.integer({ min: 0, max: 4 })],
  (value, decimals) => {
    expect(decimalText(value, decimals)).toMatch(decimals ? new RegExp(`^\\d+\\.\\d{${decimals}}$`) : /^\d+$/);
  },
);

property("an id that is sent is printable ASCII and not a hash", [anyText], (text) => {
  const id = validId(text);
  if (id !== undefined) expect(id).toMatch(/^[!-~]{1,1000}$/);
});

property("what a platform says is one line of limited length", [anyText, fc.integer({ min: 1, max: 100 })], (text, times) => {
  const line = shorten(text.repeat(times));
  expect(line.length).toBeLessThanOrEqual(300);
  expect(line).not.toMatch(/[\n\r\t\0]/);
});

property(
  "the wait that a platform asks for is a positive whole number of seconds, or none",
  [
    fc.oneof(
      anyText,
      fc.integer().map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    ),
    fc.integer({ min: 0, max: 2e12 }),
  ],
  (header, now) => {
    const seconds = retryAfterSeconds(header, now);
    if (seconds !== undefined) expect(Number.isInteger(seconds) && seconds > 0).toBe(true);
  },
);
