// What the platforms' files share: parts of events that are left out when unknown, ids in a form that can be right, exact
// money, times that are never ahead of the clock, the shapes of fields that a connection maps, and checks of settings.

import { hash } from "node:crypto";
import { currencyDigits } from "../../kernel/currency.ts";
import type { Browser, Conversion } from "../../kernel/event.ts";
import { chosenFields, mappedValue, type Field } from "./mapping.ts";
import { foldName, nameSetting } from "./eventNames.ts";
import type { ConnectionSettings, Setting } from "../platform.ts";

type Body = Record<string, unknown>;

/** Without everything that is not known: no null, no empty text, list or object goes out. */
export function known(fields: Body): Body {
  // A plain loop: this runs several times for every conversion and platform.
  const there: Body = {};
  for (const name in fields) if (!isUnknown(fields[name])) there[name] = fields[name];
  return there;
}

function isUnknown(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (typeof value !== "object") return false;
  for (const _ in value) return false;
  return true;
}

/** A list of the one value that is known. */
export function listOf(value: string | undefined): string[] {
  return value ? [value] : [];
}

/** Unix seconds. A sender's clock may run ahead by minutes, and platforms refuse events of the future. */
export function unixSeconds(time: number, now: number): number {
  return Math.floor(Math.min(time, now) / 1000);
}

/** Click ids of all platforms are far shorter; what is longer was made by somebody else. */
const maxIdLength = 1000;

/**
 * A click id or browser id that can be one: printable ASCII without spaces, not hashed, and of the platform's form where
 * that is known. One that cannot be right finds nobody, and many platforms refuse the conversion for it, so it stays here.
 */
export function idOf(value: string | undefined, form: RegExp = /^/): string | undefined {
  const isId = value !== undefined && value.length <= maxIdLength && /^[\x21-\x7e]+$/.test(value);
  return isId && !isHash(value) && form.test(value) ? value : undefined;
}

export const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const dayMs = 86_400_000;

/** To this many decimals, as people round: shifting the decimal text makes 1.01 of 1.005, where arithmetic sees 1.00499…. */
function rounded(value: number, decimals: number): number {
  // Nearly every value comes rounded: a quotient of whole numbers is the number nearest to that decimal.
  const scale = 10 ** decimals;
  if (Math.abs(value) < 1e12 && Math.round(value * scale) / scale === value) return value;
  const text = String(value);
  // Beyond this there are no cents left to round, and the shifted text would have an exponent already.
  if (text.includes("e") || Math.abs(value) >= 1e15) return Number(value.toFixed(decimals));
  return Number(`${Math.round(Number(`${text}e${decimals}`))}e-${decimals}`);
}

/** Plain digits with exactly this many decimals, never an exponent. */
export function decimalText(value: number, decimals: number): string {
  if (Math.abs(value) < 1e21) return rounded(value, decimals).toFixed(decimals);
  return `${BigInt(value)}${decimals > 0 ? `.${"0".repeat(decimals)}` : ""}`;
}

/** The value in whole minor units of its currency: 0.1 + 0.2 is 0.3, and there are no half yen. */
export function amountOf(value: number, currency: string): number {
  return rounded(value, currencyDigits(currency));
}

export function amountText(value: number, currency: string): string {
  return decimalText(value, currencyDigits(currency));
}

/** Makes of a mapped value what the platform wants; undefined leaves the field out. */
export type Shape = (value: string | number) => unknown;
export type MappedField = Field & { shape?: Shape };

/**
 * Puts mapped fields into `event`, each in its platform's shape. Fields below `personal` describe the person, and stay
 * out where contact data is withheld.
 */
export function mapFields(
  event: Body,
  conversion: Conversion,
  settings: ConnectionSettings,
  fields: readonly MappedField[],
  personal: string,
): void {
  for (const field of chosenFields(settings, fields)) {
    if (!conversion.person && field.name.startsWith(`${personal}.`)) continue;
    const value = mappedValue(conversion, settings, field);
    const [part, key] = field.name.split(".") as [string, string];
    const shaped = value === undefined || !field.shape ? value : field.shape(value);
    if (!isUnknown(shaped)) ((event[part] ??= {}) as Body)[key] = shaped;
  }
}

const sha256 = (text: string) => hash("sha256", text);
const isHash = (text: string) => text.length === 64 && /^[0-9a-f]{64}$/.test(text);

/** Hashes a mapped value after `form` has put it into the platform's form; what came hashed stays as it is. */
export function hashed(form: (text: string) => string): Shape {
  return (value) => {
    const text = String(value).trim();
    const formed = isHash(text) ? "" : form(text);
    return isHash(text) ? text : formed === "" ? undefined : sha256(formed);
  };
}

export function hashedList(form: (text: string) => string): Shape {
  const one = hashed(form);
  return (value) => listOf(one(value) as string | undefined);
}

export const places = {
  /** Letters only, in lower case: cities and states. */
  letters: (text: string) => text.toLowerCase().replace(/[^\p{L}\p{M}]/gu, ""),
  /** Lower case without spaces; the five digits of an American code. */
  zip: (text: string) =>
    text
      .toLowerCase()
      .replace(/\s/g, "")
      .replace(/^(\d{5})-\d{4}$/, "$1"),
  /** Two letters; a name of a country is not guessed at. */
  country: (text: string) => (/^[a-z]{2}$/i.test(text) ? text.toLowerCase() : ""),
};

/** "a, b" is two ids. */
export const idList: Shape = (value) =>
  String(value)
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);

/** A count: whole, and not below nothing. */
export const wholeNumber: Shape = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? value : undefined;

/** One of the words that the platform knows; others are left out. */
export const oneWordOf =
  (words: readonly string[]): Shape =>
  (value) =>
    words.includes(String(value)) ? value : undefined;

export const externalIdField: MappedField = {
  name: "user_data.external_id",
  help: "Your own id of the person, as your pixel has it; hashed before it is sent.",
  type: "text",
  shape: hashedList((text) => text),
};

/** Where the person lives, as Meta, Snapchat and Pinterest name it. */
export const placeFields: readonly MappedField[] = [
  {
    name: "user_data.ct",
    help: "City; hashed before it is sent.",
    type: "text",
    shape: hashedList(places.letters),
  },
  {
    name: "user_data.st",
    help: "State or province, two letters in the United States; hashed before it is sent.",
    type: "text",
    shape: hashedList(places.letters),
  },
  {
    name: "user_data.zp",
    help: "Postal code; hashed before it is sent.",
    type: "text",
    shape: hashedList(places.zip),
  },
  {
    name: "user_data.country",
    help: "Country as two letters (DE); hashed before it is sent.",
    type: "text",
    shape: hashedList(places.country),
  },
];

export const limitedDataSetting = {
  name: "limited_data",
  label: "Limited data use",
  help:
    "denied: limits the use of events of people who refused consent, as far as those are sent at all. always: limits " +
    "every event, which some laws of the United States ask for.",
  default: "denied",
  check: oneOf(["denied", "always"]),
} as const satisfies Setting;

export function isLimited({ consent }: Conversion, settings: ConnectionSettings): boolean {
  return consent === "denied" || settings.limited_data === "always";
}

/**
 * Meta's and Snapchat's "limited data use". 0 and 0 let the platform find the person's state by address, so without an
 * address, and after a refusal, it is told California: there the limits hold.
 */
export function processingOptions(conversion: Conversion, settings: ConnectionSettings): Body {
  if (!isLimited(conversion, settings)) return {};
  const isLocated = conversion.consent !== "denied" && !!conversion.browser?.address;
  return {
    data_processing_options: ["LDU"],
    data_processing_options_country: isLocated ? 0 : 1,
    data_processing_options_state: isLocated ? 0 : 1000,
  };
}

/** The address of a person is personal too: after a refusal it stays here. */
export function browserOf({ browser, consent }: Conversion): Partial<Browser> {
  return consent === "denied" || !browser ? {} : browser;
}

export const testCodeSetting = {
  name: "test_event_code",
  label: "Test event code",
  help: "The code of the platform's page for test events. Only events that come with a test key carry it.",
  check: (value: string) =>
    /^[\w-]{1,64}$/.test(value) ? null : "must be a code of letters, digits, hyphens and underscores",
} as const satisfies Setting;

/** Without its code a test event would count as a live one, so it rather fails. `unfit` says it kindly before. */
export function testCodeOf(conversions: readonly Conversion[], settings: ConnectionSettings): Body {
  if (!conversions.some(({ mode }) => mode === "test")) return {};
  if (!settings.test_event_code) throw new Error("a test event needs the connection's test event code");
  return { test_event_code: settings.test_event_code };
}

export const noTestCode = "a test event, and the connection has no test event code";

/** Tokens travel in headers and addresses: line breaks and spaces from copying would break every request. */
export const tokenCheck = (value: string) =>
  /^[\x21-\x7e]+$/.test(value) ? null : "must be one word of plain letters, digits and signs";

export function oneOf(choices: readonly string[]): (value: string) => string | null {
  const words = choices.length === 2 ? choices.join(" or ") : `one of ${choices.join(", ")}`;
  return (value) => (choices.includes(value) ? null : `must be ${words}`);
}

export function digits(least: number, most: number): (value: string) => string | null {
  const form = new RegExp(`^\\d{${least},${most}}$`);
  return (value) => (form.test(value) ? null : `must be a number of ${least} to ${most} digits`);
}

/** A refund that the connection gave no name of its own: none of the advertising platforms takes money back. */
export function isUnnamedRefund({ name }: Conversion, settings: ConnectionSettings): boolean {
  return foldName(name) === "refund" && settings[nameSetting(name)] === undefined;
}
