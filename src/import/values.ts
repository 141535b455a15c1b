// Numbers and times as other programs write them. What can be read in two ways is refused, never guessed: a wrong
// amount or a wrong day would be reported to a platform as the truth.

export type ValueRules = {
  /** Which sign stands before the cents; null reads what only has one reading. */
  decimal: "point" | "comma" | null;
  /** What 03/04/2026 means; null refuses such dates. */
  dates: "mdy" | "dmy" | null;
  /** IANA name; where times without an offset were written. */
  timeZone: string;
};

export class ValueFault {
  readonly sentence: string;
  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

export type NumberRules = Pick<ValueRules, "decimal"> & {
  /** Whether 1.234 may be a thousand and more here. */
  groupsByPoint: boolean;
};

/** `1,234.50`, `1.234,50`, `1'234.50`. */
export function readNumber(text: string, { decimal, groupsByPoint }: NumberRules): number | ValueFault {
  const bare = text.replace(/['’\s]/g, "");
  if (/^-?\d+(?:e\+?\d{1,3}|\.\d+e[+-]?\d{1,3})?$/i.test(bare)) return Number(bare);
  const sign = decimal === null ? decimalIn(bare, groupsByPoint) : decimal === "point" ? "." : ",";
  if (sign === null) {
    return new ValueFault(
      "value can be read in two ways (1,234 or 1.234); say --decimal point or --decimal comma",
    );
  }
  const thousands = sign === "." ? "," : ".";
  const [whole = "", cents, more] = bare.split(sign);
  const isGrouped = RegExp(`^-?\\d{1,3}(?:\\${thousands}\\d{3})*$|^-?\\d*$`).test(whole);
  if (more !== undefined || !isGrouped || !/^\d*$/.test(cents ?? "") || !/\d/.test(bare))
    return new ValueFault("value is not a number");
  return Number(`${whole.replaceAll(thousands, "")}.${cents || "0"}`);
}

/** The sign before the cents, where there is no doubt. */
function decimalIn(text: string, groupsByPoint: boolean): "." | "," | null {
  const points = text.split(".").length - 1;
  const commas = text.split(",").length - 1;
  if (points && commas) return text.lastIndexOf(".") > text.lastIndexOf(",") ? "." : ",";
  if (points > 1) return ",";
  if (commas > 1) return ".";
  // A point with three digits after it is how programs write numbers; a comma is how people group them, or not. No group
  // of thousands begins with a nought.
  const isEither = /^-?(?!0[.,])\d{1,3}[.,]\d{3}$/.test(text);
  if (points) return isEither && groupsByPoint ? null : ".";
  return isEither ? null : ",";
}

const forms = {
  iso: /^(\d{4})-(\d{1,2})-(\d{1,2})(.*)$/,
  dotted: /^(\d{1,2})\.(\d{1,2})\.(\d{4})(.*)$/,
  slashed: /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})(.*)$/,
  yearFirst: /^(\d{4})\/(\d{1,2})\/(\d{1,2})(.*)$/,
} as const;
const clock =
  /^(?:[T ,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*([ap]\.?m\.?)?\s*(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** Milliseconds. `name` is the field, for the sentence. */
export function readTime(name: string, text: string, rules: ValueRules): number | ValueFault {
  const given = text.trim();
  if (/^\d{9,10}(?:\.\d+)?$/.test(given)) return Math.round(Number(given) * 1000);
  if (/^\d{12,13}$/.test(given)) return Number(given);
  const unreadable = new ValueFault(
    `${name} is not a time that can be read; write it like 2026-10-31T12:30:00Z`,
  );
  const date = readDate(given, rules);
  if (date === "ambiguous")
    return new ValueFault(
      `${name} can be read in two ways (3 April or 4 March); say --dates mdy or --dates dmy`,
    );
  const time = date && clock.exec(date.rest);
  if (!time) return unreadable;
  const [, hours = "0", minutes = "0", seconds = "0", fraction = "", half, offset] = time;
  const hour = half ? (Number(hours) % 12) + (/^p/i.test(half) ? 12 : 0) : Number(hours);
  const parts = [date.year, date.month - 1, date.day, hour, Number(minutes), Number(seconds)] as const;
  const wall = Date.UTC(...parts);
  const read = new Date(wall);
  const isReal =
    read.getUTCMonth() === parts[1] &&
    read.getUTCDate() === parts[2] &&
    hour < 24 &&
    parts[4] < 60 &&
    parts[5] < 61;
  if (!isReal) return unreadable;
  const ms = Math.trunc(Number(`0.${fraction || "0"}`) * 1000);
  return wall - (offset ? offsetOf(offset) : zoneOffset(wall, rules.timeZone)) + ms;
}

type DateRead = { year: number; month: number; day: number; rest: string };

function readDate(text: string, { dates }: ValueRules): DateRead | "ambiguous" | null {
  const iso = forms.iso.exec(text) ?? forms.yearFirst.exec(text);
  if (iso) return { year: Number(iso[1]), month: Number(iso[2]), day: Number(iso[3]), rest: iso[4] ?? "" };
  const dotted = forms.dotted.exec(text);
  const slashed = dotted ?? forms.slashed.exec(text);
  if (!slashed) return null;
  const [first, second] = [Number(slashed[1]), Number(slashed[2])];
  const rest = { year: Number(slashed[3]), rest: slashed[4] ?? "" };
  const order = dotted ? "dmy" : (dates ?? (first > 12 ? "dmy" : second > 12 ? "mdy" : null));
  if (order === null) return first === second ? { ...rest, day: first, month: second } : "ambiguous";
  return order === "dmy" ? { ...rest, day: first, month: second } : { ...rest, day: second, month: first };
}

function offsetOf(text: string): number {
  const match = /^([+-])(\d{2}):?(\d{2})?$/.exec(text);
  if (!match) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return (match[1] === "-" ? -minutes : minutes) * 60_000;
}

/** How far the clocks of a zone are ahead when they show `wall`. In the hour that comes twice, the first is meant. */
function zoneOffset(wall: number, timeZone: string): number {
  if (timeZone === "UTC") return 0;
  const before = offsetAt(wall - 86_400_000, timeZone);
  if (offsetAt(wall - before, timeZone) === before) return before;
  return offsetAt(wall - offsetAt(wall + 86_400_000, timeZone), timeZone);
}

const formats = new Map<string, Intl.DateTimeFormat>();

function offsetAt(ms: number, timeZone: string): number {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
    formats.set(timeZone, format);
  }
  const name = format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
  return offsetOf(name.replace("GMT", ""));
}

export function isTimeZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat("en-US", { timeZone: name }));
  } catch {
    return false;
  }
}
