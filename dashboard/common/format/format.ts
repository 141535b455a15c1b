// Formats numbers, money and times.

import { dayMs, hourMs, minuteMs } from "../../../src/kernel/time.ts";

const counts = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

export const countText = (value: number) => counts.format(value);
/** "1 visit", "2 visits". */
export const counted = (value: number, one: string, many = `${one}s`) =>
  `${countText(value)} ${value === 1 ? one : many}`;
export const shortCount = (value: number) => (value < 10_000 ? counts.format(value) : short.format(value));

/** Turns "wrong keys" into "Wrong keys". */
export const capitalize = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Formats an amount with its currency code: "EUR 49.90". */
export function moneyText(value: number, currency: string): string {
  try {
    return new Intl.NumberFormat("en", { style: "currency", currency, currencyDisplay: "code" })
      .format(value)
      .replace(/\u00a0/g, " ");
  } catch {
    return `${value.toFixed(2)} ${currency}`;
  }
}

export function percentText(part: number, whole: number): string {
  if (whole === 0) return "–";
  const percent = (part / whole) * 100;
  // Never rounds up to 100 %.
  const shown = percent > 99.9 && part < whole ? 99.9 : percent;
  return `${shown >= 10 || shown === 0 ? shown.toFixed(shown % 1 && shown > 99 ? 1 : 0) : shown.toFixed(1)} %`;
}

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * dayMs],
  ["month", 30 * dayMs],
  ["day", dayMs],
  ["hour", hourMs],
  ["minute", minuteMs],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

/** Formats "5 min ago" without the full stop of "min.", which would look like the end of a sentence. */
const ago = (count: number, unit: Intl.RelativeTimeFormatUnit) =>
  relative.format(count, unit).replace(".", "");

export function agoText(at: number, now: number): string {
  const distance = at - now;
  for (const [unit, ms] of steps) if (Math.abs(distance) >= ms) return ago(Math.round(distance / ms), unit);
  return Math.abs(distance) < 10_000 ? "just now" : ago(Math.round(distance / 1000), "second");
}

/** Formats the age of a time, or the date from a week on. */
export function whenText(at: number, now: number, timeZone: string | undefined): string {
  if (Math.abs(at - now) < 7 * dayMs) return agoText(at, now);
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return new Intl.DateTimeFormat("en", {
    month: "short",
    day: "numeric",
    ...(isThisYear ? {} : { year: "numeric" }),
    ...(timeZone ? { timeZone } : {}),
  }).format(at);
}

export function exactTime(at: number, timeZone: string | undefined): string {
  return new Intl.DateTimeFormat("en", {
    dateStyle: "medium",
    timeStyle: "long",
    ...(timeZone ? { timeZone } : {}),
  }).format(at);
}

export function dayText(at: number, timeZone: string | undefined): string {
  return new Intl.DateTimeFormat("en", {
    month: "short",
    day: "numeric",
    ...(timeZone ? { timeZone } : {}),
  }).format(at);
}

export function timeText(at: number, timeZone: string | undefined): string {
  return new Intl.DateTimeFormat("en", {
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    ...(timeZone ? { timeZone } : {}),
  }).format(at);
}

export function hourText(at: number, timeZone: string | undefined): string {
  return new Intl.DateTimeFormat("en", {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    ...(timeZone ? { timeZone } : {}),
  }).format(at);
}

export function durationText(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

/** Formats a long duration or an age: "3 days". */
export function ageText(ms: number): string {
  for (const [unit, size] of steps)
    if (ms >= size)
      return new Intl.NumberFormat("en", { style: "unit", unit, unitDisplay: "long" }).format(
        Math.floor(ms / size),
      );
  return "less than a minute";
}
