// Formats counts, money and shares in the user's locale.

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

/** "57%". A share of less than everything is never rounded up to 100%. */
export function percentText(part: number, whole: number): string {
  if (whole === 0) return "–";
  const share = part / whole;
  const shown = share > 0.999 && part < whole ? 0.999 : share;
  const isExact = (shown >= 0.1 && shown <= 0.99) || shown === 0 || shown === 1;
  const digits = isExact ? 0 : 1;
  return numberFormat({ style: "percent", maximumFractionDigits: digits }).format(shown);
}
