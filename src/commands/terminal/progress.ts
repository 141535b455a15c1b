// Shows how far long work is, on the error output: a bar on a terminal, a line every few seconds elsewhere, JSON lines with
// --json. Results alone go to the standard output.

import { currencyDigits } from "../../kernel/currency.ts";

type Screen = { write(text: string): unknown; isTTY?: boolean; columns?: number };

export type ProgressOptions = { json: boolean; out: Screen; clock: () => number };

type Shown = {
  /** From 0 to 1; null where the end is not known. */
  fraction: number | null;
  words: readonly string[];
  /** The same for programs. */
  json: Record<string, unknown>;
};

const barMs = 100;
const lineMs = 3000;
const barWidth = 24;

export function createProgressLine({ json, out, clock }: ProgressOptions) {
  const isBar = !json && out.isTTY === true;
  // The bar is drawn immediately; the first line elsewhere comes after `lineMs`.
  let shownAt = isBar ? 0 : clock();
  let isDrawn = false;
  return {
    /** Calls `read` when it is time to show something. */
    show(read: () => Shown): void {
      const now = clock();
      if (now - shownAt < (isBar ? barMs : lineMs)) return;
      shownAt = now;
      isDrawn = true;
      const { fraction, words, json: value } = read();
      if (json) return void out.write(`${JSON.stringify({ progress: { percent: percentOf(fraction), ...value } })}\n`);
      const text = [...(fraction === null ? [] : [`${Math.floor(fraction * 100)} %`]), ...words].join("  ");
      out.write(isBar ? `\r${bar(fraction)}${text}`.slice(0, (out.columns ?? 80) - 1).concat("\x1b[K") : `${text}\n`);
    },
    end(): void {
      if (isBar && isDrawn) out.write("\r\x1b[K");
      isDrawn = false;
    },
  };
}

const percentOf = (fraction: number | null) => (fraction === null ? null : Math.round(fraction * 1000) / 10);

function bar(fraction: number | null): string {
  if (fraction === null) return "";
  const filled = Math.round(fraction * barWidth);
  return `${"█".repeat(filled)}${"░".repeat(barWidth - filled)}  `;
}

export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 360) / 10} h`;
}

export const formatCount = (count: number) => count.toLocaleString("en-US");

/** `1,234.50`: with the decimals of the currency. */
export function formatAmount(value: number, currency: string): string {
  const digits = currencyDigits(currency);
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
