// The functions of the mapping language. Each takes a value and a few others, and returns a value, or undefined where it has
// none. None takes longer than its input is long, and none throws but where a request has become too much work.

import { currencyDigits } from "../../kernel/currency.ts";
import { minuteMs } from "../../kernel/time.ts";
import { unitsOf, type Work } from "./work.ts";

/** Elements of a list, or fields of an object, that a function looks at. */
export const maxElements = 1000;

type MappingFunction = {
  /** The fewest and the most values in its brackets. */
  min: number;
  max: number;
  help: string;
  run(this: void, value: unknown, given: readonly unknown[], work: Work): unknown;
};

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns an own property: nothing that every object inherits can be reached. */
export const ownValue = (value: unknown, name: string): unknown =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;

export const isPresent = (value: unknown): boolean =>
  value !== undefined && value !== null && !(typeof value === "string" && value.trim() === "");

/** Returns texts, numbers and booleans as text; undefined for everything else. */
export function toText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

const decimal = /^[+-]?\d{1,15}(?:\.\d{1,15})?$/;

/** Reads a number, or a decimal text such as `49.90`; undefined for everything else. */
export function toNumber(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  return decimal.test(text) ? Number(text) : undefined;
}

const exponential = /^[+-]?\d(?:\.\d{1,15})?e\+?\d{1,2}$/i;
/** As large as a decimal text can be. */
const maxExponential = 1e15;

/**
 * Reads also `1.25E7`, as Java writes amounts from ten million on. Only `number` does: to conditions such texts are ids, and two
 * that differ are not equal.
 */
function readNumber(value: unknown): number | undefined {
  const text = typeof value === "string" ? value.trim() : "";
  if (!exponential.test(text)) return toNumber(value);
  const number = Number(text);
  return Math.abs(number) < maxExponential ? number : undefined;
}

/** Sums of cents are exact, and sums of decimals are not: rounded to what every currency can hold. */
const rounded = (value: number) => Math.round(value * 1e4) / 1e4;

const elementsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value.slice(0, maxElements) : []);

const onText =
  (change: (text: string, ...given: string[]) => string | undefined) => (value: unknown, given: readonly unknown[]) => {
    const text = toText(value);
    return text === undefined ? undefined : change(text, ...given.map((one) => toText(one) ?? ""));
  };

/** A request names one time in several places, and writing it costs as much as ten fields. */
let lastTime = { ms: 0, text: new Date(0).toISOString() };

function timeOf(ms: number): string | undefined {
  if (ms === lastTime.ms) return lastTime.text;
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return undefined;
  lastTime = { ms, text: date.toISOString() };
  return lastTime.text;
}

/** Reads pairs such as `won=purchase, qualified=lead`. A name without a pair stands for itself. The last one counts. */
function readPairs(text: string): Map<string, string> {
  const pairs = new Map<string, string>();
  for (const pair of text.split(",")) {
    const equals = pair.indexOf("=");
    const name = (equals < 0 ? pair : pair.slice(0, equals)).trim();
    if (name !== "") pairs.set(name.toLowerCase(), (equals < 0 ? "" : pair.slice(equals + 1).trim()) || name);
  }
  return pairs;
}

const space = /\s/;
const address = /^[^\s@,;<>"]{1,64}@[^\s@,;<>"]{1,190}\.[^\s@,;<>".]{2,}$/;

/** Walks the values of an object, and those of the objects in it, without calling itself. */
function firstAddress(value: unknown, work: Work): string | undefined {
  let level: unknown[] = [value];
  for (let depth = 0, seen = 0; depth < 4 && level.length > 0; depth++) {
    const below: unknown[] = [];
    for (const one of level) {
      if ((seen += 1) > maxElements) return undefined;
      if (typeof one === "string" && one.length < 256 && address.test(one.trim())) return one.trim();
      if (Array.isArray(one)) below.push(...one.slice(0, maxElements));
      else if (isRecord(one)) for (const name of work.fieldsOf(one).slice(0, maxElements)) below.push(one[name]);
    }
    work.spend(below.length * unitsOf.element);
    level = below;
  }
  return undefined;
}

function param(url: string, name: string): string | undefined {
  const query = url.slice(0, 8192).split("#", 1)[0]?.split("?").slice(1).join("?") ?? "";
  return new URLSearchParams(query).get(name) ?? undefined;
}

/** An offset of a time zone, of which only whole minutes exist. */
const offsetMs = (text: string) => Math.round(Number(text)) * minuteMs;

export const functions = {
  trim: { min: 0, max: 0, help: "without spaces around it", run: onText((text) => text.trim()) },
  lower: { min: 0, max: 0, help: "in lower case", run: onText((text) => text.toLowerCase()) },
  upper: { min: 0, max: 0, help: "in upper case", run: onText((text) => text.toUpperCase()) },
  digits: { min: 0, max: 0, help: "only its digits", run: onText((text) => text.replace(/\D/g, "")) },
  number: { min: 0, max: 0, help: "a number, also from text such as `49.90` or `1.25E7`", run: readNumber },
  abs: {
    min: 0,
    max: 0,
    help: "a number without its sign",
    run: (value) => {
      const number = toNumber(value);
      return number === undefined ? undefined : Math.abs(number);
    },
  },
  positive: {
    min: 0,
    max: 0,
    help: "a number above zero; others are absent",
    run: (value) => {
      const number = toNumber(value);
      return number !== undefined && number > 0 ? number : undefined;
    },
  },
  minus: {
    min: 1,
    max: 1,
    help: "less another number; `minus(before)`",
    run: (value, [other]) => {
      const number = toNumber(value);
      return number === undefined ? undefined : rounded(number - (toNumber(other) ?? 0));
    },
  },
  cents: {
    min: 1,
    max: 2,
    help: "an amount in the smallest unit of a currency: `amount cents(currency)`. Currencies of the second list have two digits",
    run: (value, [currency, twoDigits]) => {
      const number = toNumber(value);
      const code = toText(currency)?.trim().toUpperCase() ?? "";
      if (number === undefined || code === "") return undefined;
      const isException = toText(twoDigits)?.toUpperCase().split(" ").includes(code) ?? false;
      return number / 10 ** (isException ? 2 : currencyDigits(code));
    },
  },
  seconds: {
    min: 0,
    max: 0,
    help: "a time in Unix seconds",
    run: (value) => {
      const number = toNumber(value);
      return number === undefined ? undefined : timeOf(number * 1000);
    },
  },
  millis: {
    min: 0,
    max: 0,
    help: "a time in milliseconds",
    run: (value) => {
      const number = toNumber(value);
      return number === undefined ? undefined : timeOf(number);
    },
  },
  iso: {
    min: 0,
    max: 1,
    help: "a time as text; one without a zone is UTC, or that many minutes ahead of it",
    run: onText((text, ahead) => {
      const match = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(Z|[+-]\d{2}:?\d{2})?$/i.exec(text.trim());
      if (!match) return undefined;
      const [, date = "", time = "", zone] = match;
      const offset = zone === undefined || zone.length < 5 ? "Z" : `${zone.slice(0, 3)}:${zone.slice(-2)}`;
      const ms = Date.parse(`${date}T${time}${offset.toUpperCase()}`);
      return timeOf(zone === undefined && ahead ? ms - offsetMs(ahead) : ms);
    }),
  },
  first: { min: 0, max: 0, help: "the first element of a list", run: (value) => elementsOf(value)[0] },
  split: {
    min: 2,
    max: 2,
    help: 'a part of a text: `split("/", -1)` is the last one',
    run: onText((text, separator = "", index = "0") =>
      separator === "" ? undefined : text.split(separator, maxElements).at(Number(index) || 0),
    ),
  },
  start: {
    min: 1,
    max: 1,
    help: "the first characters of a text: `start(15)`",
    run: onText((text, length = "0") => text.slice(0, Math.max(0, Number(length) || 0))),
  },
  words: {
    min: 1,
    max: 1,
    help: "`words(first)` or `words(last)` of a name; a name of one word has no last one",
    run: onText((text, which) => {
      const name = text.trim();
      const end = name.search(space);
      if (end < 0) return which === "first" ? name : undefined;
      if (which === "first") return name.slice(0, end);
      let last = name.length - 1;
      while (!space.test(name.charAt(last - 1))) last -= 1;
      return name.slice(last);
    }),
  },
  append: {
    min: 1,
    max: 1,
    help: "with another text at its end",
    run: (value, [other]) => {
      const text = toText(value);
      const end = toText(other);
      return text === undefined || end === undefined ? undefined : text + end;
    },
  },
  lookup: {
    min: 1,
    max: 1,
    help: "the right side of a pair: `stage lookup($settings.stages)` with `won=purchase, new=lead`",
    run: (value, [pairs], work) => {
      const wanted = toText(value)?.trim().toLowerCase();
      return wanted === undefined ? undefined : work.tableOf(toText(pairs) ?? "", readPairs).get(wanted);
    },
  },
  param: {
    min: 1,
    max: 1,
    help: 'a parameter of an address: `page param("gclid")`',
    run: onText((text, name = "") => param(text, name)),
  },
  email: {
    min: 0,
    max: 0,
    help: "the first email address among the fields of an object",
    run: (value, _given, work) => firstAddress(value, work),
  },
  where: {
    min: 2,
    max: 2,
    help: "the elements of a list in which a field has this value",
    run: (value, [key, wanted]) => elementsOf(value).filter((one) => toText(ownValue(one, toText(key) ?? "")) === toText(wanted)),
  },
  sum: {
    min: 1,
    max: 1,
    help: "the sum of a field over the elements of a list",
    run: (value, [key]) => {
      const numbers = elementsOf(value).flatMap((one) => toNumber(ownValue(one, toText(key) ?? "")) ?? []);
      return numbers.length === 0 ? undefined : rounded(numbers.reduce((sum, one) => sum + one, 0));
    },
  },
} as const satisfies Record<string, MappingFunction>;

export type FunctionName = keyof typeof functions;
