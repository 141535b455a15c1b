// Reads numbers, amounts and times as other programs write them. Ambiguous values are refused, never guessed: a wrong
// amount or a wrong day would be reported to a platform as the truth.

import { say } from "../kernel/messages/message.ts";
import { Fault } from "../kernel/refusal.ts";
import { dayMs, hourMs, minuteMs } from "../kernel/time.ts";

export type ValueRules = {
  /** The decimal separator; null accepts only unambiguous numbers. */
  decimal: "point" | "comma" | null;
  /** The order of day and month in 03/04/2026; null refuses such dates. */
  dates: "mdy" | "dmy" | null;
  /** IANA name, for times without an offset. */
  timeZone: string;
};

export class ValueFault extends Fault {}

export type NumberRules = Pick<ValueRules, "decimal"> & {
  /** True where 1.234 may also mean 1234. */
  groupsByPoint: boolean;
};

/** Reads a number such as `1,234.50`, `1.234,50` or `1'234.50`. */
export function readNumber(text: string, { decimal, groupsByPoint }: NumberRules): number | ValueFault {
  const bare = text.replace(/['’\s]/g, "");
  if (/^-?\d+(?:e\+?\d{1,3}|\.\d+e[+-]?\d{1,3})?$/i.test(bare)) return finite(Number(bare));
  const sign = decimal === null ? detectDecimal(bare, groupsByPoint) : decimal === "point" ? "." : ",";
  if (sign === null) {
    return new ValueFault("value is ambiguous (1,234 or 1.234); choose the decimal separator: point or comma");
  }
  const thousands = sign === "." ? "," : ".";
  const [whole = "", cents, more] = bare.split(sign);
  const isGrouped = RegExp(`^-?\\d{1,3}(?:\\${thousands}\\d{3})*$|^-?\\d*$`).test(whole);
  if (more !== undefined || !isGrouped || !/^\d*$/.test(cents ?? "") || !/\d/.test(bare))
    return new ValueFault("value is not a number");
  return finite(Number(`${whole.replaceAll(thousands, "")}.${cents || "0"}`));
}

const finite = (number: number) => (Number.isFinite(number) ? number : new ValueFault("value is too large for a number"));

/** null when the separator is ambiguous. */
function detectDecimal(text: string, groupsByPoint: boolean): "." | "," | null {
  const points = text.split(".").length - 1;
  const commas = text.split(",").length - 1;
  if (points && commas) return text.lastIndexOf(".") > text.lastIndexOf(",") ? "." : ",";
  if (points > 1) return ",";
  if (commas > 1) return ".";
  // 1.234 and 1,234 can be decimals or thousands; programs write only decimal points. Thousands never start with zero.
  const isEither = /^-?(?!0[.,])\d{1,3}[.,]\d{3}$/.test(text);
  if (points) return isEither && groupsByPoint ? null : ".";
  return isEither ? null : ",";
}

const dateForms = {
  iso: /^(\d{4})-(\d{1,2})-(\d{1,2})(.*)$/,
  dotted: /^(\d{1,2})\.(\d{1,2})\.(\d{4})(.*)$/,
  slashed: /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})(.*)$/,
  yearFirst: /^(\d{4})\/(\d{1,2})\/(\d{1,2})(.*)$/,
} as const;
const clock =
  /^(?:[T ,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*([ap]\.?m\.?)?\s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** Returns milliseconds. `name` is the field that a fault names. */
export function readTime(name: string, text: string, rules: ValueRules): number | ValueFault {
  const given = text.trim();
  if (/^\d{9,10}(?:\.\d+)?$/.test(given)) return Math.round(Number(given) * 1000);
  if (/^\d{12,13}$/.test(given)) return Number(given);
  const unreadable = new ValueFault(say("time_unreadable", { field: name }));
  const date = readDate(given, rules);
  if (date === "ambiguous") return new ValueFault(say("time_ambiguous", { field: name }));
  const time = date && clock.exec(date.rest);
  if (!time) return unreadable;
  const [, hours = "0", minutes = "0", seconds = "0", fraction = "", half, offset] = time;
  const hour = half ? (Number(hours) % 12) + (/^p/i.test(half) ? 12 : 0) : Number(hours);
  const parts = [date.year, date.month - 1, date.day, hour, Number(minutes), Number(seconds)] as const;
  const wall = Date.UTC(...parts);
  const read = new Date(wall);
  const isReal =
    // Date.UTC reads the year 26 as 1926.
    read.getUTCFullYear() === parts[0] &&
    read.getUTCMonth() === parts[1] &&
    read.getUTCDate() === parts[2] &&
    (half ? isHalfDayHour(Number(hours)) : hour < 24) &&
    parts[4] < 60 &&
    parts[5] < 61;
  const ahead = offset ? parseOffset(offset) : zoneOffset(wall, rules.timeZone);
  if (!isReal || Math.abs(ahead) > maxOffsetMs) return unreadable;
  const ms = Math.trunc(Number(`0.${fraction || "0"}`) * 1000);
  return wall - ahead + ms;
}

/** 13 o'clock in the morning is a mistake. */
const isHalfDayHour = (hour: number) => hour >= 1 && hour <= 12;

/** No zone is further ahead of UTC. */
const maxOffsetMs = 14 * hourMs;

type DateRead = { year: number; month: number; day: number; rest: string };

function readDate(text: string, { dates }: ValueRules): DateRead | "ambiguous" | null {
  const iso = dateForms.iso.exec(text) ?? dateForms.yearFirst.exec(text);
  if (iso) return { year: Number(iso[1]), month: Number(iso[2]), day: Number(iso[3]), rest: iso[4] ?? "" };
  const dotted = dateForms.dotted.exec(text);
  const slashed = dotted ?? dateForms.slashed.exec(text);
  if (!slashed) return null;
  const [first, second] = [Number(slashed[1]), Number(slashed[2])];
  const rest = { year: Number(slashed[3]), rest: slashed[4] ?? "" };
  const order = dotted ? "dmy" : (dates ?? (first > 12 ? "dmy" : second > 12 ? "mdy" : null));
  if (order === null) return first === second ? { ...rest, day: first, month: second } : "ambiguous";
  return order === "dmy" ? { ...rest, day: first, month: second } : { ...rest, day: second, month: first };
}

function parseOffset(text: string): number {
  const match = /^([+-])(\d{2}):?(\d{2})?$/.exec(text);
  if (!match) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  if (Number(match[3] ?? 0) > 59) return Infinity;
  return (match[1] === "-" ? -minutes : minutes) * minuteMs;
}

/** Finds the UTC offset of a zone whose clocks show `wall`. The hour that occurs twice is read as the first one. */
function zoneOffset(wall: number, timeZone: string): number {
  if (timeZone === "UTC") return 0;
  const before = offsetAt(wall - dayMs, timeZone);
  if (offsetAt(wall - before, timeZone) === before) return before;
  return offsetAt(wall - offsetAt(wall + dayMs, timeZone), timeZone);
}

const formats = new Map<string, Intl.DateTimeFormat>();

function offsetAt(ms: number, timeZone: string): number {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
    formats.set(timeZone, format);
  }
  const name = format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
  return parseOffset(name.replace("GMT", ""));
}

export function isTimeZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat("en-US", { timeZone: name }));
  } catch {
    return false;
  }
}

export type Money = {
  amount: number;
  /** Currency symbols and codes written next to it. */
  marks: string[];
};

/** A symbol, perhaps with letters (US$, $US), or letters alone: a code, or what a country writes (kr, zł, Rs.). */
const mark = String.raw`\p{L}{0,3}\p{Sc}\p{L}{0,3}|\p{L}{1,4}\.?`;
const moneyForm = new RegExp(`^(-?) ?(${mark})?(?!\\p{L})(.*?)(?<!\\p{L})(${mark})?$`, "u");

/** Reads an amount such as `€ 12,50` or `12.50 EUR`. `delimiter` separates the cells of the file; null in NDJSON. */
export function readMoney(text: string, { decimal }: Pick<ValueRules, "decimal">, delimiter: string | null): Money | ValueFault {
  const [, minus = "", before, number = "", after] = moneyForm.exec(text.replaceAll(/\s+/g, " ").trim()) ?? [];
  const marks = [before, after].filter((found) => found !== undefined);
  // An amount with a currency is written for people, and files with semicolons use the comma as decimal separator.
  const groupsByPoint = marks.length > 0 || delimiter === ";";
  const amount = readNumber(minus + number, { decimal, groupsByPoint });
  return amount instanceof ValueFault ? amount : { amount, marks };
}

/** True when every mark can mean this currency: `$` is the symbol of many, `kr` that of several. */
export function matchesCurrency(currency: string, { marks }: Money): boolean {
  return marks.every((found) => {
    const text = found.normalize("NFKC").replace(/\.$/, "").toLowerCase();
    // $US is US$ in French.
    const written = text.replace(/^(\p{Sc})(\p{L}+)$/u, "$2$1");
    const isSign = /^\p{Sc}$/u.test(written);
    return symbolsOf(currency).some((one) => one === written || (isSign && one.includes(written)));
  });
}

const symbols = new Map<string, readonly string[]>();

/** The code and the symbols of a currency, in lower case: `usd`, `$` and `us$`. */
function symbolsOf(currency: string): readonly string[] {
  const known = symbols.get(currency);
  if (known) return known;
  const symbolAs = (currencyDisplay: "narrowSymbol" | "symbol") =>
    new Intl.NumberFormat("en", { style: "currency", currency, currencyDisplay })
      .formatToParts(0)
      .find(({ type }) => type === "currency")?.value ?? currency;
  const narrow = symbolAs("narrowSymbol");
  // Other countries write the country next to it: US$, £GB.
  const found = [currency, narrow, symbolAs("symbol"), currency.slice(0, 2) + narrow];
  const lower = found.map((one) => one.toLowerCase());
  symbols.set(currency, lower);
  return lower;
}
