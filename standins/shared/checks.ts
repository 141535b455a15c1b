// Small checks of request fields that can be combined: a check takes a value and its path, and returns its problems. Each
// stand-in turns problems into its platform's own error format.

import { isIP } from "node:net";
import type { Call } from "./standin.ts";

type ProblemKind = "missing" | "unknown" | "type" | "value" | "hash" | "unit" | "old" | "future" | "size" | "count";

export type Problem = {
  /** `events[0].userData.em` */
  path: string;
  kind: ProblemKind;
  message: string;
  value?: unknown;
};

export type Check = (value: unknown, path: string) => Problem[];

/** Messages that several platforms replace with their own. */
export const wording = {
  required: "is required",
  notString: "must be a string",
  notNumber: "must be a number",
} as const;

/** A list of one problem. */
export const problemAt = (kind: ProblemKind, path: string, message: string, value?: unknown): Problem[] => [
  { path, kind, message, ...(value === undefined ? {} : { value }) },
];

/** Accepts any value. */
export const anything: Check = () => [];

export function text(rule: { min?: number; max?: number; oneOf?: readonly string[]; pattern?: RegExp } = {}): Check {
  return (value, path) => {
    if (typeof value !== "string") return problemAt("type", path, wording.notString, value);
    if (value.length < (rule.min ?? 1)) return problemAt("size", path, "must not be empty", value);
    if (rule.max !== undefined && value.length > rule.max)
      return problemAt("size", path, `must not be longer than ${rule.max} characters`, value);
    if (rule.oneOf && !rule.oneOf.includes(value))
      return problemAt("value", path, `must be one of ${rule.oneOf.join(", ")}`, value);
    if (rule.pattern && !rule.pattern.test(value)) return problemAt("value", path, "does not have the right form", value);
    return [];
  };
}

export const flag: Check = (value, path) =>
  typeof value === "boolean" ? [] : problemAt("type", path, "must be true or false", value);

/** A number, never a string with one in it. */
export function number(rule: { min?: number; max?: number; integer?: boolean } = {}): Check {
  return (value, path) => {
    if (typeof value !== "number") return problemAt("type", path, wording.notNumber, value);
    if (rule.integer && !Number.isSafeInteger(value)) return problemAt("type", path, "must be an integer", value);
    if (value < (rule.min ?? -Infinity)) return problemAt("value", path, `must be at least ${rule.min}`, value);
    if (value > (rule.max ?? Infinity)) return problemAt("value", path, `must be at most ${rule.max}`, value);
    return [];
  };
}

/** Money as a string: digits, and a dot with decimals where `decimals` are required. Never a number. */
export function amountText(rule: { decimals?: number } = {}): Check {
  const pattern = rule.decimals === undefined ? /^\d+(?:\.\d+)?$/ : new RegExp(`^\\d+\\.\\d{${rule.decimals}}$`);
  return (value, path) => {
    if (typeof value !== "string") return problemAt("type", path, "must be a string with an amount", value);
    return pattern.test(value) ? [] : problemAt("value", path, "is not an amount like 49.90", value);
  };
}

/** SHA-256 as 64 lower-case hexadecimal digits. Explains what it looks like instead, as the platforms do. */
export const hash: Check = (value, path) => {
  if (typeof value !== "string") return problemAt("type", path, wording.notString, value);
  if (/^[0-9a-f]{64}$/.test(value)) return [];
  if (/^[0-9a-f]{64}$/i.test(value)) return problemAt("hash", path, "must be hashed in lower case", value);
  return problemAt("hash", path, "is not hashed: SHA-256 in 64 hexadecimal digits is expected", value);
};

/** Active codes of ISO 4217. Not Intl's list, which still has the German mark. */
const currencies = new Set(
  `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY
   COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR
   ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK
   MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF
   SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU
   UZS VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG`.split(/\s+/),
);

/** ISO 4217 in upper case. */
export const currency: Check = (value, path) => {
  if (typeof value !== "string") return problemAt("type", path, wording.notString, value);
  return currencies.has(value) ? [] : problemAt("value", path, "is not an ISO 4217 currency code", value);
};

type Window = { now: number; maxAgeSeconds?: number; maxAheadSeconds?: number };

const perSecond = { seconds: 1, milliseconds: 1e3, microseconds: 1e6 } as const;
type EpochUnit = keyof typeof perSecond;

/** The unit in which a time since 1970 lies between 2001 and 2603; null where none fits. */
export function epochUnit(value: number): EpochUnit | null {
  const units = Object.keys(perSecond) as EpochUnit[];
  return units.find((unit) => value / perSecond[unit] >= 1e9 && value / perSecond[unit] < 2e10) ?? null;
}

/** A time since 1970 as an integer in exactly this unit. */
export function epoch(unit: EpochUnit, window: Window): Check {
  return (value, path) => {
    if (typeof value !== "number") return problemAt("type", path, wording.notNumber, value);
    if (!Number.isSafeInteger(value)) return problemAt("type", path, "must be an integer", value);
    const seen = epochUnit(value);
    if (seen !== unit) return problemAt("unit", path, `must be in ${unit}${seen ? `, and looks like ${seen}` : ""}`, value);
    return inWindow((value / perSecond[unit]) * 1000, window, path, value);
  };
}

/** RFC 3339 with a zone. `zulu` requires UTC and milliseconds: 2026-11-14T09:30:00.000Z */
export function isoTime(window: Window, rule: { zulu?: boolean } = {}): Check {
  const pattern = rule.zulu
    ? /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
    : /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
  return (value, path) => {
    if (typeof value !== "string") return problemAt("type", path, wording.notString, value);
    if (!pattern.test(value) || Number.isNaN(Date.parse(value)))
      return problemAt("value", path, "is not a time like 2026-11-14T09:30:00Z", value);
    return inWindow(Date.parse(value), window, path, value);
  };
}

function inWindow(ms: number, { now, maxAgeSeconds, maxAheadSeconds }: Window, path: string, value: unknown) {
  if (maxAgeSeconds !== undefined && ms < now - maxAgeSeconds * 1000)
    return problemAt("old", path, `is older than ${maxAgeSeconds} seconds`, value);
  if (maxAheadSeconds !== undefined && ms > now + maxAheadSeconds * 1000)
    return problemAt("future", path, "is in the future", value);
  return [];
}

export const ipAddress: Check = (value, path) => {
  if (typeof value !== "string") return problemAt("type", path, wording.notString, value);
  return isIP(value) ? [] : problemAt("value", path, "is not an IP address", value);
};

export const webUrl: Check = (value, path) => {
  if (typeof value !== "string") return problemAt("type", path, wording.notString, value);
  return /^https?:\/\//i.test(value) && URL.canParse(value) ? [] : problemAt("value", path, "is not a web address", value);
};

export function list(item: Check, rule: { min?: number; max?: number } = {}): Check {
  return (value, path) => {
    if (!Array.isArray(value)) return problemAt("type", path, "must be a list");
    if (value.length < (rule.min ?? 0)) return problemAt("missing", path, `needs at least ${rule.min} entries`);
    if (value.length > (rule.max ?? Infinity)) return problemAt("count", path, `must not have more than ${rule.max} entries`);
    return value.flatMap((one, index) => item(one, `${path}[${index}]`));
  };
}

/** One value or a list of them, as several platforms accept. */
export function oneOrMany(item: Check): Check {
  return (value, path) => (Array.isArray(value) ? list(item)(value, path) : item(value, path));
}

/** An object with these fields. Others are rejected unless `open`. A null field counts as present and of the wrong type. */
export function object(
  fields: Readonly<Record<string, Check>>,
  rule: { required?: readonly string[]; open?: boolean } = {},
): Check {
  return (value, path) => {
    if (!isObject(value)) return problemAt("type", path, "must be an object");
    const at = (name: string) => (path ? `${path}.${name}` : name);
    return [
      ...(rule.required ?? [])
        .filter((name) => value[name] === undefined)
        .flatMap((name) => problemAt("missing", at(name), wording.required)),
      ...Object.entries(value).flatMap(([name, field]) => {
        const check = Object.hasOwn(fields, name) ? fields[name] : undefined;
        if (check) return check(field, at(name));
        return rule.open ? [] : problemAt("unknown", at(name), "is not a known field", field);
      }),
    ];
  };
}

/** Further checks of an object, for example that two fields are given together. */
export function also(check: Check, further: (value: Record<string, unknown>, path: string) => Problem[]): Check {
  return (value, path) => {
    const found = check(value, path);
    return isObject(value) ? [...found, ...further(value, path)] : found;
  };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The number in the first brackets of a path, which is the index of the event in its batch. */
export function eventIndex(path: string): number | null {
  const found = /\[(\d+)\]/.exec(path);
  return found ? Number(found[1]) : null;
}

/** Describes a problem for the log, without the value: it may be personal data. */
export function describeProblem({ path, message }: Problem): string {
  return path ? `${path} ${message}` : message;
}

/** The body as JSON, or what is wrong with it. */
export function readJson(call: Call): { value: unknown } | { fault: string } {
  if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(call.headers["content-type"] ?? ""))
    return { fault: "the content type is not JSON" };
  try {
    return { value: JSON.parse(call.text) as unknown };
  } catch {
    return { fault: "the body is not JSON" };
  }
}
