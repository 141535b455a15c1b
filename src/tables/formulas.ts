// Cells of CSV files that people open in a spreadsheet, which would calculate a text that looks like a formula.

import { stringify } from "csv-stringify/sync";
import { english } from "../kernel/messages/message.ts";

export type Cell = string | number | null;

declare const isEscaped: unique symbol;
/** Rows of a CSV file. Only `writeCsv` makes it, so that no export can forget to escape a cell. */
export type CsvText = string & { readonly [isEscaped]: true };

export const writeCsv = (rows: readonly (readonly Cell[])[]) => stringify(rows.map((row) => row.map(escapeFormula))) as CsvText;

/**
 * Writes an apostrophe before every sign that would begin a formula, because senders choose the texts. A spreadsheet that
 * separates cells by semicolons or tabs ignores our commas and quotes: it begins a cell after each such sign, and a row after
 * each line break.
 */
function escapeFormula(cell: Cell): string {
  if (typeof cell !== "string") return cell === null ? "" : String(cell);
  const escaped = english(cell).replaceAll(beforeSign, (all, before: string, sign: string, at: number) =>
    sign !== "" && (at === 0 || cellSeparator.test(before)) ? `${before}'${sign}` : all,
  );
  return /^[\t\r]/.test(escaped) ? `'${escaped}` : escaped;
}

/** Spreadsheets skip spaces and quotes before a formula. The sign is optional, so that no text takes quadratic time. */
const beforeSign = /(^[;\s"]*|[;\s"]+)([=+\-@＝＋－＠]?)/g;
const cellSeparator = /[;\t\r\n]/;

/** Reads a cell as it was before it was escaped: our own exports can be imported. */
export const unescapeFormula = (text: string): string => (/^'[=+\-@＝＋－＠]/.test(text) ? text.slice(1) : text);
