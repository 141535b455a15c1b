// Decides which column is which field, by --map or by the column's name, and reads cells by field. Names match without regard
// to case, spaces and signs.

import { browserIds, clickIds, utmFields } from "../identity/clickIds.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { ImportKind } from "../store/sites/imports.ts";
import type { Cells } from "./table.ts";
import type { ValueRules } from "./values.ts";

/** Field → column. */
export type Mapping = Record<string, string>;

const personFields = {
  email: [
    "email address",
    "e-mail address",
    "mail",
    "customer email",
    "user email",
    "contact email",
    "billing email",
  ],
  hashed_email: ["hashed email", "email hash", "email sha256", "sha256 email", "hashed email address"],
};

const timeNames = ["time", "timestamp", "date", "datetime", "date time", "created at", "created"];

const fieldAliases: Record<ImportKind, Record<string, readonly string[]>> = {
  conversions: {
    ...personFields,
    event: ["event name", "conversion name", "conversion action", "conversion type"],
    value: ["conversion value", "revenue", "amount", "total", "order total", "order value", "total price", "grand total"],
    currency: ["conversion currency", "currency code", "order currency"],
    orderId: ["order", "order number", "order no", "order reference", "transaction id", "transaction"],
    eventTime: ["conversion time", "conversion date", "order date", "purchase date", "purchased at", "paid at", "occurred at", ...timeNames],
    phone: ["phone number", "telephone", "mobile", "mobile phone", "billing phone"],
    firstName: ["given name", "billing first name"],
    lastName: ["surname", "family name", "billing last name"],
    // Other names would find columns with a count or a text.
    items: [],
  },
  identities: {
    ...personFields,
    seenAt: ["click time", "click date", "clicked at", "visit time", "visited at", "first seen", "last seen", ...timeNames],
    consent: ["consent state", "consent status"],
    ...Object.fromEntries([...browserIds, ...clickIds].map(({ name }) => [name, []])),
    ...Object.fromEntries(utmFields.map((name) => [name, []])),
    gclid: ["google click id"],
    fbclid: ["facebook click id"],
    msclkid: ["microsoft click id"],
  },
}; // prettier-ignore

const fold = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

type Chosen = { mapping: Mapping; unused: string[] };

/** `requested` comes from --map; an empty column leaves a field out. `constants` are fields with a value for every row. */
export function chooseColumns(
  kind: ImportKind,
  columns: readonly string[],
  requested: Mapping,
  constants: readonly string[],
): Chosen {
  const fields = fieldAliases[kind];
  for (const field of [...Object.keys(requested), ...constants]) {
    if (!Object.hasOwn(fields, field))
      throw new Refusal(
        field,
        `${field} is not a field of ${kind}. Fields: ${Object.keys(fields).join(", ")}.`,
      );
  }
  const mapping: Mapping = {};
  for (const [field, aliases] of Object.entries(fields)) {
    const column = Object.hasOwn(requested, field)
      ? findRequested(field, requested, columns)
      : guessColumn(field, aliases, columns, requested);
    if (column) mapping[field] = column;
  }
  requireFields(kind, [...Object.keys(mapping), ...constants], columns);
  const used = new Set(Object.values(mapping));
  return { mapping, unused: columns.filter((name) => !used.has(name)) };
}

function findRequested(field: string, requested: Mapping, columns: readonly string[]): string | undefined {
  const name = requested[field] as string;
  if (name === "") return undefined;
  const found = columns.filter((one) => one === name);
  const similar = found.length ? found : columns.filter((one) => fold(one) === fold(name));
  if (similar.length === 1) return similar[0];
  const what = similar.length ? "more than once" : "not";
  throw new Refusal(
    field,
    `The column "${name}" for ${field} is ${what} in the file. Its columns: ${listColumns(columns)}.`,
  );
}

function guessColumn(
  field: string,
  aliases: readonly string[],
  columns: readonly string[],
  requested: Mapping,
): string | undefined {
  const taken = new Set(Object.values(requested));
  const free = columns.filter((name) => !taken.has(name));
  const exact = free.filter((name) => fold(name) === fold(field));
  const folded = new Set(aliases.map(fold));
  const candidates = exact.length ? exact : free.filter((name) => folded.has(fold(name)));
  if (candidates.length > 1) {
    throw new Refusal(
      field,
      `More than one column could be ${field}: ${listColumns(candidates)}. Choose one with --map ${field}=COLUMN.`,
    );
  }
  return candidates[0];
}

function requireFields(kind: ImportKind, present: readonly string[], columns: readonly string[]): void {
  const missing: string[] = [];
  if (!present.includes("email") && !present.includes("hashed_email"))
    missing.push("email (or hashed_email)");
  if (kind === "conversions" && !present.includes("event"))
    missing.push("event (or --event NAME for all rows)");
  if (kind === "conversions" && !present.includes("eventTime")) missing.push("eventTime");
  if (kind === "identities") missing.push(...missingVisitFields(present));
  if (missing.length === 0) return;
  throw new Refusal(
    "map",
    `No column was found for ${missing.join(", ")}. The file's columns: ${listColumns(columns)}. ` +
      `Name it with --map FIELD=COLUMN.`,
  );
}

/** Consent needs no visit; a visit needs its time. */
function missingVisitFields(present: readonly string[]): string[] {
  const hasIds = present.some((field) => !["email", "hashed_email", "seenAt", "consent"].includes(field));
  if (hasIds) return present.includes("seenAt") ? [] : ["seenAt"];
  return present.includes("consent") ? [] : ["a click id, a UTM field, a browser id or consent"];
}

/** Bounds the list: a file without a header has a row of data here. */
function listColumns(columns: readonly string[]): string {
  const shown = columns.slice(0, 40).map((name) => (name.length > 60 ? `${name.slice(0, 60)}…` : name));
  return shown.join(", ") + (columns.length > 40 ? " …" : "");
}

export type RowFormat = {
  mapping: Mapping;
  /** Values of --constant, for blank cells and missing columns. */
  defaults: Record<string, string>;
  rules: ValueRules;
  /** null in NDJSON. */
  delimiter: string | null;
};

/** Returns undefined for a blank cell. Lists and objects of NDJSON are left for readFields to refuse. */
export function readCell(cells: Cells, field: string, { mapping, defaults }: RowFormat): unknown {
  const column = mapping[field];
  const cell = column !== undefined && Object.hasOwn(cells, column) ? cells[column] : undefined;
  const isBlank = cell === undefined || cell === null || (typeof cell === "string" && cell.trim() === "");
  return isBlank ? defaults[field] : cell;
}

/** Returns an empty text for a cell that is not text. */
export function readCellText(cells: Cells, field: string, format: RowFormat): string {
  const cell = readCell(cells, field, format);
  return typeof cell === "string" ? cell.trim() : "";
}
