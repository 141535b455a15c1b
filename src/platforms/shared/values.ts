// Values in the form that platforms accept: plausible ids, exact money, no times in the future, and no empty fields. These are
// undefined, which JSON leaves out: a literal with `value || undefined` is cheaper than a copy without its empty fields.

import { currencyDigits } from "../../kernel/currency.ts";
import { maxIdLength, type Browser, type Conversion } from "../../kernel/event.ts";
import { dayMs, minuteMs, secondMs } from "../../kernel/time.ts";
import type { Platform } from "../platform.ts";

export type Body = Record<string, unknown>;

/** Returns undefined for an object or list without values, so that JSON leaves it out. */
export const unlessEmpty = <T extends object>(value: T): T | undefined => (isEmpty(value) ? undefined : value);

/** An object whose fields are all undefined is empty too. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (typeof value !== "object") return false;
  for (const name in value) if ((value as Body)[name] !== undefined) return false;
  return true;
}

/** Returns a list of the value; undefined where there is none. */
export function listOf(value: string | undefined): string[] | undefined {
  return value ? [value] : undefined;
}

/** Returns Unix seconds, but never the future: a sender's clock may run ahead by minutes, and platforms reject that. */
export function unixSeconds(time: number, now: number): number {
  return Math.floor(Math.min(time, now) / 1000);
}

const padded = Array.from({ length: 1000 }, (_, i) => String(i).padStart(2, "0"));
let day = Number.NaN;
let date = "";

/** Returns what `toISOString` does, in a fifth of its time: most times are of the same day. */
export function isoTime(time: number): string {
  const onDay = Math.floor(time / dayMs);
  if (onDay !== day) {
    date = new Date(onDay * dayMs).toISOString().replace(/T.*/, "T");
    day = onDay;
  }
  const ms = Math.floor(time - day * dayMs);
  const minutes = Math.floor(ms / minuteMs);
  const seconds = Math.floor(ms / secondMs);
  const clock = `${padded[Math.floor(minutes / 60)]}:${padded[minutes % 60]}:${padded[seconds % 60]}`;
  return `${date}${clock}.${ms % 1000 < 100 ? "0" : ""}${padded[ms % 1000]}Z`;
}

/**
 * Returns a click id or browser id if it can be valid: printable ASCII without spaces, not hashed, and of the platform's
 * pattern where that is known. An invalid id matches no one, and many platforms reject the conversion for it, so it is not sent.
 */
export function validId(value: string | undefined, pattern?: RegExp): string | undefined {
  if (value === undefined || value.length > maxIdLength || !/^[\x21-\x7e]+$/.test(value)) return undefined;
  return isSha256(value) || (pattern && !pattern.test(value)) ? undefined : value;
}

/** What share of a conversion is left after a refund, and the items of all of it; null where nothing was refunded. */
export function leftOf({ value, whole, left }: Conversion): NonNullable<Conversion["left"]> | null {
  if (left || !whole) return left ?? null;
  // Of a conversion without a value, all or nothing is left.
  const share = whole.value ? (value ?? 0) / whole.value : value === 0 ? 0 : 1;
  return { share, items: whole.items };
}

export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isSha256 = (text: string) => text.length === 64 && /^[0-9a-f]{64}$/.test(text);

/** Rounds half up in decimal: shifting the decimal text makes 1.01 of 1.005, where arithmetic sees 1.00499…. */
function round(value: number, decimals: number): number {
  // Nearly every value comes rounded: a quotient of whole numbers is the number nearest to that decimal.
  const scale = 10 ** decimals;
  if (Math.abs(value) < 1e12 && Math.round(value * scale) / scale === value) return value;
  const text = String(value);
  // Beyond this there are no cents left to round, and the shifted text would already have an exponent.
  if (text.includes("e") || Math.abs(value) >= 1e15) return Number(value.toFixed(decimals));
  return Number(`${Math.round(Number(`${text}e${decimals}`))}e-${decimals}`);
}

/** Writes plain digits with exactly this many decimals, never an exponent. */
export function decimalText(value: number, decimals: number): string {
  // toFixed() would show the next digits of the binary number: 778080459406.43 as 778080459406.4301.
  const rounded = Math.abs(value) < 1e21 ? String(round(value, decimals)) : String(BigInt(value));
  const [whole = "", fraction = ""] = rounded.split(".");
  return decimals > 0 ? `${whole}.${fraction.padEnd(decimals, "0")}` : whole;
}

/** Rounds to whole minor units of the currency: 0.1 + 0.2 is 0.3, and a yen has no fractions. */
export function amountOf(value: number, currency: string): number {
  return round(value, currencyDigits(currency));
}

export function amountText(value: number, currency: string): string {
  return decimalText(value, currencyDigits(currency));
}

/** Returns value and currency, or neither where the value is unknown. */
export function moneyOf({ value, currency }: Conversion): { value?: number; currency?: string } {
  return value === null ? {} : { value: amountOf(value, currency), currency };
}

/** Returns value, currency and order id as `custom_data` or `properties` of several platforms have them; undefined without any. */
export function orderDataOf({ value, currency, orderId }: Conversion): Body | undefined {
  if (value === null) return orderId ? { order_id: orderId } : undefined;
  return { value: amountOf(value, currency), currency, order_id: orderId || undefined };
}

/** Returns nothing after an opt-out: IP address, page and user agent are personal data too. */
export function browserOf({ browser, consent }: Conversion): Partial<Browser> {
  return consent === "denied" || !browser ? noBrowser : browser;
}

/**
 * Makes requests without anything of a person who refused. The pipeline takes it away before; a platform does not rely on that.
 * `keepsClicks`: the platform has a consent flag of its own for conversions that it is told by their click alone.
 */
export const agreedOnly =
  (toRequest: Platform["toRequest"], { keepsClicks = false } = {}): Platform["toRequest"] =>
  (conversions, settings, now) =>
    toRequest(
      conversions.some(isRefused) ? conversions.map((one) => withoutRefused(one, keepsClicks)) : conversions,
      settings,
      now,
    );

const isRefused = ({ consent }: Conversion) => consent === "denied";

function withoutRefused(conversion: Conversion, keepsClicks: boolean): Conversion {
  if (!isRefused(conversion)) return conversion;
  const { leadId: _leadId, ...rest } = conversion;
  const clickIds = keepsClicks ? conversion.clickIds : {};
  return { ...rest, person: null, clickIds, browserIds: {}, utm: {}, browser: null, extra: {} };
}

const noBrowser: Partial<Browser> = Object.freeze({});

/** Turns a percentage into a share from 0 to 1, without the noise of floating-point numbers. */
export const shareOf = (percentage: number) => Math.round(percentage * 100) / 10_000;
