// Reads phone numbers as E.164, the form that platforms hash, with or without its plus.

import { createRequire } from "node:module";

type PhoneLibrary = typeof import("libphonenumber-js/min");

const require = createRequire(import.meta.url);
let loadedLibrary: PhoneLibrary | undefined;

/**
 * Loads the library with the first phone number, because it costs 40 ms and 14 MB. `min` lacks only number types and exact
 * validity; its possible lengths are the same as in `max`.
 */
function phoneLibrary(): PhoneLibrary {
  loadedLibrary ??= require("libphonenumber-js/min") as PhoneLibrary;
  return loadedLibrary;
}

/**
 * Most senders write E.164 already, and parsing such a number costs more than all the hashing of a person. So the rules of
 * each calling code are cached: a number of these lengths that starts with none of these national prefixes is possible in
 * every country of the code, and stays as it is.
 */
type Plan = { lengths: ReadonlySet<number>; prefix: RegExp | null };

const plans = new Map<string, Plan | null>();

/** The library's metadata; its own declarations leave the prefix out. */
type NumberingPlan = { possibleLengths(): number[]; nationalPrefixForParsing(): string | undefined };

function planOf(callingCode: string): Plan | null {
  let plan = plans.get(callingCode);
  if (plan === undefined) {
    plan = readPlan(callingCode);
    plans.set(callingCode, plan);
  }
  return plan;
}

function readPlan(callingCode: string): Plan | null {
  const { Metadata, getCountries, getCountryCallingCode } = phoneLibrary();
  const countries = getCountries().filter((country) => getCountryCallingCode(country) === callingCode);
  if (countries.length === 0) return null;
  const known = countries.map((country) => {
    const metadata = new Metadata();
    metadata.selectNumberingPlan(country);
    return metadata.numberingPlan as unknown as NumberingPlan;
  });
  const lengths = known.map((one) => new Set(one.possibleLengths()));
  const prefixes = new Set(known.map((one) => one.nationalPrefixForParsing()).filter((one) => one));
  return {
    lengths: lengths.reduce((all, one) => all.intersection(one)),
    prefix: prefixes.size ? new RegExp(`^(?:${[...prefixes].join("|")})`) : null,
  };
}

/** True for a possible number in E.164. False where only the library can tell. */
export function isPlainE164(text: string): boolean {
  if (!/^\+[1-9]\d{6,14}$/.test(text)) return false;
  // No calling code is the beginning of another, so at most one of these prefixes is a calling code.
  for (let digits = 1; digits <= 3; digits += 1) {
    const plan = planOf(text.slice(1, 1 + digits));
    if (!plan) continue;
    const national = text.slice(1 + digits);
    return plan.lengths.has(national.length) && !plan.prefix?.test(national);
  }
  return false;
}

/**
 * Returns the number as E.164, or undefined where it would be a guess: no known country, an impossible length, words around
 * it, or two interpretations. A wrong guess is worse than none: it would match another person.
 */
export function toE164(phone: string, siteCountry: string | undefined): string | undefined {
  if (isPlainE164(phone)) return phone;
  const { getCountryCallingCode, isSupportedCountry, parsePhoneNumberFromString } = phoneLibrary();
  // NFKC turns the full-width digits of Japanese keyboards into ASCII.
  const text = phone.trim().normalize("NFKC");
  const upperCase = siteCountry?.trim().toUpperCase() ?? "";
  const country = isSupportedCountry(upperCase) ? upperCase : undefined;

  const parsePossible = (number: string) => {
    // `extract: false`: otherwise "030 1234 EXAMPLE" would be read as the shorter number before the word.
    const parsed = parsePhoneNumberFromString(number, {
      extract: false,
      ...(country !== undefined && { defaultCountry: country }),
    });
    return parsed?.isPossible() ? parsed : undefined;
  };

  const local = parsePossible(text);
  if (!text.startsWith("00")) return local?.number;
  // 00 is the international prefix nearly everywhere, so it is read as a plus. Some countries have longer ones (Australia
  // 0011, Korea 001): where both give numbers of different countries, the number is ambiguous.
  const abroad = parsePossible(`+${text.slice(2)}`);
  const isDomestic = country !== undefined && local?.countryCallingCode === getCountryCallingCode(country);
  if (local === undefined || isDomestic) return abroad?.number;
  return abroad === undefined || abroad.number === local.number ? local.number : undefined;
}
