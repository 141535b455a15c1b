// Formats counts, money and shares in the user's locale.

import { shownPercent } from "../../../src/kernel/text.ts";
import { numberFormat } from "./intl.ts";

export const countText = (value: number) => numberFormat().format(value);

/** "2.7": one digit after the point. */
export const decimalText = (value: number) => numberFormat({ minimumFractionDigits: 1, maximumFractionDigits: 1 }).format(value);

/** "12.3K" from 10,000 on, for axes and tiles. */
export const shortCount = (value: number) => (value < 10_000 ? countText(value) : shorten(value, {}));

/** Some languages write thousands in full, also in the compact notation: such a number is not rounded to three digits. */
function shorten(value: number, options: Intl.NumberFormatOptions): string {
  const compact = numberFormat({ ...options, notation: "compact", maximumSignificantDigits: 3 });
  const isShorter = compact.formatToParts(value).some(({ type }) => type === "compact");
  return (isShorter ? compact : numberFormat({ ...options, maximumFractionDigits: 0 })).format(value);
}

/** "€49.90", and "49,90 €" in German. A currency that Intl refuses is shown as its code. */
export function moneyText(value: number, currency: string): string {
  try {
    return numberFormat({ style: "currency", currency }).format(value);
  } catch {
    return `${numberFormat({ minimumFractionDigits: 2, maximumFractionDigits: 2 }).format(value)} ${currency}`;
  }
}

/** A shortened amount, without cents from 1,000 on: "€12.3K". */
export function shortMoney(value: number, currency: string): string {
  if (value < 1000) return moneyText(value, currency);
  try {
    return shorten(value, { style: "currency", currency });
  } catch {
    return `${shortCount(Math.round(value))} ${currency}`;
  }
}

/** "57%". */
export function percentText(part: number, whole: number): string {
  if (whole === 0) return "–";
  return numberFormat({ style: "percent", maximumFractionDigits: 1 }).format(shownPercent(part, whole) / 100);
}

/** A rate in tenths of a percent: only everything is 1000. */
export function tenthsOf(part: number, whole: number): number {
  const tenths = whole === 0 ? 0 : Math.round((part / whole) * 1000);
  return tenths === 1000 && part < whole ? 999 : tenths;
}

/** "98.6%": always with one digit, because a rate of deliveries moves between 98 and 100. */
export function rateText(part: number, whole: number): string {
  if (whole === 0) return "–";
  const digits = part === whole ? 0 : 1;
  return numberFormat({ style: "percent", minimumFractionDigits: digits, maximumFractionDigits: digits }).format(
    tenthsOf(part, whole) / 1000,
  );
}
