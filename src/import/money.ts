// An amount as other programs write it, with or without the currency beside it: `1,234.50`, `€ 12,50`, `12.50 EUR`.

import { readNumber, ValueFault, type ValueRules } from "./values.ts";

export type Money = {
  amount: number;
  /** Signs and codes of currencies that stand beside it. */
  marks: string[];
};

const form = /^(-?) ?([A-Z]{3}\b|\p{Sc})?(.*?)(\b[A-Z]{3}|\p{Sc})?$/iu;

/** `delimiter`: what separates the cells of the file; null where nothing does. */
export function readMoney(
  text: string,
  { decimal }: Pick<ValueRules, "decimal">,
  delimiter: string | null,
): Money | ValueFault {
  const [, minus = "", before, number = "", after] = form.exec(text.replaceAll(/\s+/g, " ").trim()) ?? [];
  const marks = [before, after].filter((mark) => mark !== undefined);
  // Who puts a currency beside a number writes for people, and who separates cells by semicolons needs the comma for cents.
  const groupsByPoint = marks.length > 0 || delimiter === ";";
  const amount = readNumber(minus + number, { decimal, groupsByPoint });
  return amount instanceof ValueFault ? amount : { amount, marks };
}

/** Whether all that stands beside an amount can mean this currency: `$` is the sign of many. */
export function canBeIn(currency: string, { marks }: Money): boolean {
  return marks.every(
    (mark) => mark.toUpperCase() === currency || signOf(currency).includes(mark.normalize("NFKC")),
  );
}

const signs = new Map<string, string>();

function signOf(currency: string): string {
  const known = signs.get(currency);
  if (known !== undefined) return known;
  const format = new Intl.NumberFormat("en", {
    style: "currency",
    currency,
    currencyDisplay: "narrowSymbol",
  });
  const sign = format.formatToParts(0).find(({ type }) => type === "currency")?.value ?? currency;
  signs.set(currency, sign);
  return sign;
}
