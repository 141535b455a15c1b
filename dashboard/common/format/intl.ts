// Formatters of the user's locale. They are kept, because making one costs more than using it many times.

import { locale } from "../../messages/catalogue/language.ts";

const formatters = new Map<string, unknown>();

function kept<Formatter>(kind: string, options: object, make: (locale: string) => Formatter): Formatter {
  const name = locale();
  const key = `${kind} ${name} ${JSON.stringify(options)}`;
  const known = formatters.get(key) ?? make(name);
  formatters.set(key, known);
  return known as Formatter;
}

export const numberFormat = (options: Intl.NumberFormatOptions = {}): Intl.NumberFormat =>
  kept("number", options, (name) => new Intl.NumberFormat(name, options));

export const dateFormat = (options: Intl.DateTimeFormatOptions, timeZone: string | undefined): Intl.DateTimeFormat => {
  const all = timeZone ? { ...options, timeZone } : options;
  return kept("date", all, (name) => new Intl.DateTimeFormat(name, all));
};

export const relativeFormat = (): Intl.RelativeTimeFormat =>
  kept("relative", {}, (name) => new Intl.RelativeTimeFormat(name, { numeric: "auto", style: "short" }));
