// Promises of CSV files and of the values that other programs write: what is exported is read again, no cell runs as a
// formula, and an amount or a time is read as it was meant or refused, never as another one.

import { Readable } from "node:stream";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import * as fc from "fast-check";
import { expect } from "vitest";
import { toCsv, type Column } from "../../src/api/lists.ts";
import { createCsvTable } from "../../src/tables/csv.ts";
import { createNdjsonTable } from "../../src/tables/ndjson.ts";
import type { Table } from "../../src/tables/table.ts";
import { matchesCurrency, readMoney, readNumber, readTime, ValueFault } from "../../src/tables/values.ts";
import { anyText, digitSigns, property, storableText, word } from "./property.ts";

const cell = fc.oneof(
  storableText({ maxLength: 12 }),
  fc.constantFrom("=1+1", "+49", "-1", "@a", "\t=x", "\r\n=y", "a;=z", 'say "=1"'),
  fc.integer(),
  fc.constant(null),
);
const rows = fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { maxLength: 12 });
const columns = ["one", "two", "three"].map((title, i): Column<readonly (string | number | null)[]> => ({
  title,
  cell: (row) => row[i] ?? null,
}));

/** An export, read in pages of any size. */
async function exported(table: readonly (readonly (string | number | null)[])[], size: number, limit?: number): Promise<string> {
  let text = "";
  const readPage = async (cursor: number | null, wanted: number) => {
    const from = cursor ?? 0;
    const to = from + Math.min(size, wanted);
    return { rows: table.slice(from, to), next: to < table.length ? to : null };
  };
  for await (const part of toCsv(columns, { siteId: "s", timeZone: "UTC" }, readPage, limit)) text += part;
  return text;
}

/** A quote before a formula is the only difference that an export may make. */
const unquoted = (text: string) => text.replaceAll("'", "");

property(
  "an exported list has all its rows, whatever is in their cells, and no cell begins a formula",
  [rows, fc.integer({ min: 1, max: 5 })],
  async (table, size) => {
    const [header, ...read] = parse(await exported(table, size));
    expect(header).toEqual(["one", "two", "three"]);
    expect(read.map((row) => row.map(unquoted))).toEqual(table.map((row) => row.map((one) => unquoted(String(one ?? "")))));
    const texts = read.flat().filter((_text, i) => typeof table.flat()[i] === "string");
    for (const text of texts) expect(text).not.toMatch(/^[=+\-@\t\r]/);
  },
);

property(
  "an export that is cut says so in its last line",
  [fc.integer({ min: 0, max: 30 }), fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 7 })],
  async (count, limit, size) => {
    const table = Array.from({ length: count }, (_, i) => [i, i, i]);
    const read = parse(await exported(table, size, limit), { relax_column_count: true });
    expect(read.length).toBe(1 + Math.min(count, limit) + (count > limit ? 1 : 0));
    if (count > limit) expect(read.at(-1)?.[0]).toMatch(/^Only the newest /);
  },
);

/** Text with what has a meaning in CSV files. */
const withSigns = fc
  .array(fc.oneof(word(1, 3), fc.constantFrom('"', ",", ";", "\t", "\n", "\r", "\r\n", " ")), {
    minLength: 1,
    maxLength: 5,
  })
  .map((parts) => parts.join(""));

const header = fc
  .uniqueArray(fc.oneof(word(1, 8), storableText({ minLength: 1, maxLength: 8 }), withSigns), {
    minLength: 2,
    maxLength: 4,
    selector: (name) => name.trim(),
  })
  .filter((names) => names.every((name) => name.trim() !== "" && !name.startsWith("\ufeff")));

/** A file, in pieces of any size. */
const inPieces = (text: string, size: number) => Readable.from(text.match(new RegExp(`[^]{1,${size}}`, "gu")) ?? []);

async function rowsOf({ rows: found }: Table) {
  const all = [];
  for await (const row of found) all.push(row);
  return all;
}

property(
  "a CSV file is read as it was written, with any delimiter, line end and pieces",
  [
    header,
    fc.array(fc.array(fc.oneof(storableText({ maxLength: 12 }), withSigns), { minLength: 4, maxLength: 4 }), {
      maxLength: 8,
    }),
    fc.constantFrom(",", ";", "\t"),
    fc.constantFrom("\n", "\r\n"),
    fc.integer({ min: 1, max: 40 }),
  ],
  async (names, cells, delimiter, lineEnd, size) => {
    const body = cells.map((row) => row.slice(0, names.length));
    const text = stringify([names, ...body], { delimiter, record_delimiter: lineEnd, quoted: true });
    const table = await createCsvTable(inPieces(text, size), text.slice(0, 2000));
    expect(table.columns).toEqual(names.map((name) => name.trim()));
    const read = await rowsOf(table);
    expect(read.map((row) => ("cells" in row ? Object.values(row.cells) : row.fault))).toEqual(body);
    // Every reader of the file counts its lines by \n, whatever its cells have.
    const ends = [names, ...body].map((_row, i, all) => {
      const upTo = stringify(all.slice(0, i + 1), { record_delimiter: lineEnd, quoted: true });
      return upTo.split("\n").length - 1;
    });
    expect(table.headerLines).toBe(ends[0]);
    expect(read.map(({ line }) => line)).toEqual(ends.slice(0, -1).map((end) => end + 1));
    if (read.length) expect(read.at(-1)?.bytes).toBe(Buffer.byteLength(text));
  },
);

property(
  "no text makes reading a CSV file fail with anything but a sentence",
  [anyText, fc.integer({ min: 1, max: 10 })],
  async (text, size) => {
    try {
      await rowsOf(await createCsvTable(inPieces(text, size), text));
    } catch (error) {
      expect(String(error)).toMatch(/quote|valid CSV|longer than/);
    }
  },
);

property(
  "an NDJSON file is read as it was written, and every number keeps its digits",
  [
    fc.array(
      fc.dictionary(word(1, 4), fc.oneof(storableText({ maxLength: 10 }), fc.boolean(), fc.constant(null)), {
        maxKeys: 4,
      }),
      { maxLength: 8 },
    ),
    fc.bigInt({ min: 0n, max: 10n ** 30n }),
    fc.integer({ min: 1, max: 30 }),
  ],
  async (objects, number, size) => {
    const text = [...objects.map((one) => JSON.stringify(one)), `{"n":${number}}`].join("\n");
    const read = await rowsOf(await createNdjsonTable(inPieces(text, size)));
    expect(read.map((row) => ("cells" in row ? row.cells : row.fault))).toEqual([...objects, { n: String(number) }]);
    expect(read.map(({ line }) => line)).toEqual(read.map((_row, i) => i + 1));
  },
);

const amount = fc.oneof(
  fc.integer({ min: 0, max: 10_000_000 }).map((cents) => cents / 100),
  fc.integer({ min: 0, max: 1_000_000 }),
  fc.integer({ min: 0, max: 9_999_999 }).map((mills) => mills / 1000),
);
const locales = [
  { locale: "en-US", decimal: "point" },
  { locale: "de-DE", decimal: "comma" },
  { locale: "de-CH", decimal: "point" },
  { locale: "fr-FR", decimal: "comma" },
  { locale: "es-ES", decimal: "comma" },
] as const;

property(
  "a number of any country is read as it was meant when the separator is known, and else so or not at all",
  [amount, fc.constantFrom(...locales), fc.integer({ min: 0, max: 3 }), fc.boolean()],
  (value, { locale, decimal }, digits, useGrouping) => {
    const format = new Intl.NumberFormat(locale, {
      minimumFractionDigits: digits,
      maximumFractionDigits: 3,
      useGrouping,
    });
    const text = format.format(value);
    expect(readNumber(text, { decimal, groupsByPoint: true })).toBe(value);
    const guessed = readNumber(text, { decimal: null, groupsByPoint: true });
    if (!(guessed instanceof ValueFault)) expect(guessed).toBe(value);
  },
  { runs: 1000 },
);

property(
  "no text is read as anything but a finite number or a sentence",
  [
    fc.oneof(anyText, fc.string({ unit: fc.constantFrom(...digitSigns, ...".,'-+eE ".split("")) })),
    fc.constantFrom("point", "comma", null),
    fc.boolean(),
  ],
  (text, decimal, groupsByPoint) => {
    const read = readNumber(text, { decimal, groupsByPoint });
    if (read instanceof ValueFault) expect(read.message).toMatch(/^value /);
    else expect(Number.isFinite(read)).toBe(true);
  },
  { runs: 1000 },
);

const currency = fc.constantFrom("USD", "EUR", "GBP", "JPY", "CHF", "PLN");

property(
  "an amount with its currency is read, before or behind it, as a code or a symbol",
  [amount, currency, fc.constantFrom(...locales), fc.constantFrom("code", "symbol", "narrowSymbol")],
  (value, code, { locale, decimal }, currencyDisplay) => {
    const text = new Intl.NumberFormat(locale, { style: "currency", currency: code, currencyDisplay }).format(value);
    const read = readMoney(text, { decimal }, ",");
    if (read instanceof ValueFault) throw new Error(`${text}: ${read.message}`);
    const digits =
      new Intl.NumberFormat("en", { style: "currency", currency: code }).resolvedOptions().maximumFractionDigits ?? 2;
    expect(read.amount).toBe(
      Number(
        new Intl.NumberFormat("en", {
          maximumFractionDigits: digits,
          minimumFractionDigits: digits,
          useGrouping: false,
        }).format(value),
      ),
    );
    expect([text, matchesCurrency(code, read)]).toEqual([text, true]);
  },
  { runs: 500 },
);

const zones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kolkata",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "America/St_Johns",
];
const moment = fc
  .integer({ min: Date.UTC(2000, 0, 1) / 1000, max: Date.UTC(2035, 0, 1) / 1000 })
  .map((seconds) => seconds * 1000);

function wallClock(at: number, timeZone: string) {
  const parts: Record<string, string> = {};
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
  for (const { type, value } of format.formatToParts(at)) parts[type] = value;
  const { year = "", month = "", day = "", hour = "", minute = "", second = "" } = parts;
  return { year, month, day, hour, minute, second };
}

property(
  "a local time is read as a moment at which the clocks of its zone showed it",
  [moment, fc.constantFrom(...zones), fc.constantFrom("iso", "dotted", "us", "slashes")],
  (at, timeZone, form) => {
    const wall = wallClock(at, timeZone);
    const { year, month, day, hour, minute, second } = wall;
    const date = {
      iso: `${year}-${month}-${day}T`,
      dotted: `${day}.${month}.${year} `,
      us: `${month}/${day}/${year} `,
      slashes: `${year}/${month}/${day} `,
    }[form];
    const read = readTime("time", `${date}${hour}:${minute}:${second}`, {
      decimal: null,
      dates: form === "us" ? "mdy" : null,
      timeZone,
    });
    if (read instanceof ValueFault) throw new Error(read.message);
    expect(wallClock(read, timeZone)).toEqual(wall);
    // The hour that the clocks show twice is read as the first one.
    expect(read === at || (read < at && at - read <= 2 * 3_600_000)).toBe(true);
  },
  { runs: 500 },
);

property(
  "a time with an offset is the moment that it names, in 24 and in 12 hours",
  [moment, fc.integer({ min: -14 * 60, max: 14 * 60 }), fc.boolean()],
  (at, minutes, isHalfDay) => {
    const shown = new Date(at + minutes * 60_000);
    const hour = shown.getUTCHours();
    const pad = (number: number) => String(Math.abs(number)).padStart(2, "0");
    const clock = isHalfDay
      ? `${hour % 12 || 12}:${pad(shown.getUTCMinutes())}:${pad(shown.getUTCSeconds())} ${hour < 12 ? "AM" : "pm"}`
      : `${pad(hour)}:${pad(shown.getUTCMinutes())}:${pad(shown.getUTCSeconds())}`;
    const zone = `${minutes < 0 ? "-" : "+"}${pad(Math.trunc(minutes / 60))}:${pad(minutes % 60)}`;
    expect(
      readTime("time", `${shown.toISOString().slice(0, 10)} ${clock} ${zone}`, {
        decimal: null,
        dates: null,
        timeZone: "UTC",
      }),
    ).toBe(at);
  },
);

property(
  "a date that does not exist, or a clock that shows no such time, is refused",
  [
    fc.integer({ min: 0, max: 9999 }),
    fc.integer({ min: 0, max: 15 }),
    fc.integer({ min: 0, max: 33 }),
    fc.integer({ min: 0, max: 27 }),
    fc.integer({ min: 0, max: 70 }),
    fc.constantFrom("", " am", " PM"),
    fc.constantFrom("", "Z", "+01:00", "+24:00", "-99:99", "+0560"),
  ],
  (year, month, day, hour, minute, half, offset) => {
    const text = `${String(year).padStart(4, "0")}-${month}-${day} ${hour}:${String(minute).padStart(2, "0")}${half}${offset}`;
    const read = readTime("time", text, { decimal: null, dates: null, timeZone: "UTC" });
    const [, offsetHours = 0, offsetMinutes = 0] = /^[+-](\d\d):?(\d\d)$/.exec(offset)?.map(Number) ?? [];
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    // No sale was made in the first century, but a year of two digits is easily taken for one.
    const isDate = year >= 100 && date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
    const isClock = minute < 60 && (half ? hour >= 1 && hour <= 12 : hour < 24);
    const isOffset = offsetHours <= 14 && offsetMinutes < 60;
    expect([text, read instanceof ValueFault]).toEqual([text, !(isDate && isClock && isOffset)]);
    if (!(read instanceof ValueFault) && offset === "") {
      const hours = half ? (hour % 12) + (/p/i.test(half) ? 12 : 0) : hour;
      expect(read).toBe(date.getTime() + hours * 3_600_000 + minute * 60_000);
    }
  },
  { runs: 1000 },
);
