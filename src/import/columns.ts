// Which column is which field: what the operator says, else what a column's name gives away. Names match without regard
// to case, spaces and signs.

import { browserIds, clickIds, utmFields } from "../identity/clickIds.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { ImportKind } from "../store/sites/imports.ts";

/** Field → column. */
export type Mapping = Record<string, string>;

const who = {
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

const times = ["time", "timestamp", "date", "datetime", "date time", "created at", "created"];

const fieldsOf: Record<ImportKind, Record<string, readonly string[]>> = {
  conversions: {
    ...who,
    event: ["event name", "conversion name", "conversion action", "conversion type"],
    value: ["conversion value", "revenue", "amount", "total", "order total", "order value", "total price", "grand total"],
    currency: ["conversion currency", "currency code", "order currency"],
    orderId: ["order", "order number", "order no", "order reference", "transaction id", "transaction"],
    eventTime: ["conversion time", "conversion date", "order date", "purchase date", "purchased at", "paid at", "occurred at", ...times],
    phone: ["phone number", "telephone", "mobile", "mobile phone", "billing phone"],
    firstName: ["given name", "billing first name"],
    lastName: ["surname", "family name", "billing last name"],
  },
  identities: {
    ...who,
    seenAt: ["click time", "click date", "clicked at", "visit time", "visited at", "first seen", "last seen", ...times],
    consent: ["consent state", "consent status"],
    ...Object.fromEntries([...browserIds, ...clickIds].map(({ name }) => [name, []])),
    ...Object.fromEntries(utmFields.map((name) => [name, []])),
    gclid: ["google click id"],
    fbclid: ["facebook click id"],
    msclkid: ["microsoft click id"],
  },
}; // prettier-ignore

const fold = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

export type Chosen = { mapping: Mapping; unused: string[] };

/** `said`: what --map says; an empty column leaves a field out. `filled`: fields that have a value for every row. */
export function chooseColumns(
  kind: ImportKind,
  columns: readonly string[],
  said: Mapping,
  filled: readonly string[],
): Chosen {
  const fields = fieldsOf[kind];
  for (const field of [...Object.keys(said), ...filled]) {
    if (!Object.hasOwn(fields, field))
      throw new Refusal(
        field,
        `${field} is not a field of ${kind}. Fields: ${Object.keys(fields).join(", ")}.`,
      );
  }
  const mapping: Mapping = {};
  for (const [field, others] of Object.entries(fields)) {
    const column = Object.hasOwn(said, field)
      ? saidColumn(field, said, columns)
      : guess(field, others, columns, said);
    if (column) mapping[field] = column;
  }
  requireFields(kind, [...Object.keys(mapping), ...filled], columns);
  const used = new Set(Object.values(mapping));
  return { mapping, unused: columns.filter((name) => !used.has(name)) };
}

function saidColumn(field: string, said: Mapping, columns: readonly string[]): string | undefined {
  const wanted = said[field] as string;
  if (wanted === "") return undefined;
  const found = columns.filter((name) => name === wanted);
  const similar = found.length ? found : columns.filter((name) => fold(name) === fold(wanted));
  if (similar.length === 1) return similar[0];
  const what = similar.length ? "more than once" : "not";
  throw new Refusal(
    field,
    `The column "${wanted}" for ${field} is ${what} in the file. Its columns: ${listed(columns)}.`,
  );
}

function guess(
  field: string,
  others: readonly string[],
  columns: readonly string[],
  said: Mapping,
): string | undefined {
  const taken = new Set(Object.values(said));
  const free = columns.filter((name) => !taken.has(name));
  const own = free.filter((name) => fold(name) === fold(field));
  const folded = new Set(others.map(fold));
  const candidates = own.length ? own : free.filter((name) => folded.has(fold(name)));
  if (candidates.length > 1) {
    throw new Refusal(
      field,
      `More than one column could be ${field}: ${listed(candidates)}. Say which with --map ${field}=COLUMN.`,
    );
  }
  return candidates[0];
}

function requireFields(kind: ImportKind, there: readonly string[], columns: readonly string[]): void {
  const missing: string[] = [];
  if (!there.includes("email") && !there.includes("hashed_email")) missing.push("email (or hashed_email)");
  if (kind === "conversions" && !there.includes("event"))
    missing.push("event (or --event NAME for all rows)");
  if (kind === "conversions" && !there.includes("eventTime")) missing.push("eventTime");
  if (kind === "identities") missing.push(...missingOfVisit(there));
  if (missing.length === 0) return;
  throw new Refusal(
    "map",
    `No column was found for ${missing.join(", ")}. The file's columns: ${listed(columns)}. ` +
      `Say which it is with --map FIELD=COLUMN.`,
  );
}

/** What people decided needs no visit; a visit needs its time. */
function missingOfVisit(there: readonly string[]): string[] {
  const hasIds = there.some((field) => !["email", "hashed_email", "seenAt", "consent"].includes(field));
  if (hasIds) return there.includes("seenAt") ? [] : ["seenAt"];
  return there.includes("consent") ? [] : ["a click id, a UTM field, a browser id or consent"];
}

/** A header that is none (a row of data) must not be printed at length. */
function listed(columns: readonly string[]): string {
  const shown = columns.slice(0, 40).map((name) => (name.length > 60 ? `${name.slice(0, 60)}…` : name));
  return shown.join(", ") + (columns.length > 40 ? " …" : "");
}
