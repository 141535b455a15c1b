// The fields of imported files: the names of their columns, and which of them a file must have.

import { browserIds, clickIds, utmFields } from "../identity/clickIds.ts";
import { missingFields, type MissingField, type UploadKind } from "../kernel/imports.ts";
import { chooseOrderColumns } from "../reconcile/readOrder.ts";
import type { ImportKind } from "../store/sites/imports.ts";
import { matchColumns, refuseMissing, suggestColumns, type Chosen, type FieldAliases, type Mapping } from "../tables/columns.ts";

const personFields = {
  email: ["email address", "e-mail address", "mail", "customer email", "user email", "contact email", "billing email"],
  hashed_email: ["hashed email", "email hash", "email sha256", "sha256 email", "hashed email address"],
};

const timeNames = ["time", "timestamp", "date", "datetime", "date time", "created at", "created"];

const fieldAliases: Record<UploadKind, FieldAliases> = {
  conversions: {
    ...personFields,
    event: ["event name", "conversion name", "conversion action", "conversion type"],
    value: ["conversion value", "revenue", "amount", "total", "order total", "order value", "total price", "grand total"],
    currency: ["conversion currency", "currency code", "order currency"],
    // See `leadIdColumn`.
    leadId: [],
    orderId: ["order", "order number", "order no", "order reference", "transaction id", "transaction"],
    eventTime: [
      "conversion time",
      "conversion date",
      "order date",
      "purchase date",
      "purchased at",
      "paid at",
      "occurred at",
      ...timeNames,
    ],
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
};

/** Columns such as *Lead ID* hold the ids of a CRM, with which every row would be refused. */
function leadIdColumn(columns: readonly string[]): string | null {
  if (columns.includes("leadId")) return "leadId";
  const [found] = suggestColumns({ "meta lead id": ["facebook lead id"] }, columns);
  return found?.column ?? null;
}

/** See `suggestColumns`. */
export const suggestFields = (kind: UploadKind, columns: readonly string[]) =>
  suggestColumns(fieldAliases[kind], columns).map((one) =>
    one.name === "leadId" ? { ...one, column: leadIdColumn(columns) } : one,
  );

/** Chooses the column of the lead id where nobody did. */
function withLeadId(columns: readonly string[], requested: Mapping): Mapping {
  if (Object.hasOwn(requested, "leadId")) return requested;
  const taken = new Set(Object.values(requested));
  return { ...requested, leadId: leadIdColumn(columns.filter((name) => !taken.has(name))) ?? "" };
}

/** See `matchColumns`. Refuses a file without a field that every row needs. */
export function chooseColumns(
  kind: ImportKind,
  columns: readonly string[],
  requested: Mapping,
  constants: readonly string[],
): Chosen {
  if (kind === "orders") return chooseOrderColumns(columns, requested, constants);
  const wanted = kind === "conversions" ? withLeadId(columns, requested) : requested;
  const chosen = matchColumns(kind, fieldAliases[kind], columns, wanted, constants);
  const present = [...Object.keys(chosen.mapping), ...constants];
  refuseMissing(
    missingFields(kind, present).map((field) => missingTexts[field]),
    columns,
  );
  return chosen;
}

const missingTexts: Record<MissingField, string> = {
  person: "email (or hashed_email)",
  event: "event (or --event NAME for all rows)",
  eventTime: "eventTime",
  seenAt: "seenAt",
  content: "a click id, a UTM field, a browser id or consent",
};
