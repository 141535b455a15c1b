// Field mapping: a connection may fill fields of its platform from an event field, a UTM field, an extra inbound field or
// a constant. `map.custom_data.content_name=utm_campaign` in a connection's settings. A field of items stands for all items of
// the event: texts each once and separated by commas, quantities added up, and for prices the price of everything.

import { hash } from "node:crypto";
import type { Conversion } from "../../kernel/event.ts";
import { mapSetting, type ConnectionSettings, type Field } from "../platform.ts";
import { joinTexts, piecesOf, totalOf } from "./items.ts";
import { isEmpty, isSha256, leftOf, listOf } from "./values.ts";

/** The event fields that a mapping may name. */
const eventFields: Readonly<Record<string, (conversion: Conversion) => unknown>> = {
  event: ({ name }) => name,
  value: ({ value }) => value,
  currency: ({ currency }) => currency,
  orderId: ({ orderId }) => orderId,
  leadId: ({ leadId }) => leadId,
  page: ({ browser }) => browser?.page,
  referrer: ({ browser }) => browser?.referrer,
  "items.id": ({ items }) => joinTexts(items, "id"),
  "items.name": ({ items }) => joinTexts(items, "name"),
  "items.category": ({ items }) => joinTexts(items, "category"),
  "items.brand": ({ items }) => joinTexts(items, "brand"),
  "items.price": ({ items, currency }) => items && totalOf(items, currency),
  "items.quantity": ({ items }) => items && piecesOf(items),
};

export const eventFieldNames: readonly string[] = Object.keys(eventFields);

const sources =
  `an event field (${eventFieldNames.join(", ")}), a UTM field (utm_source …), extra.NAME for another ` +
  "field of the inbound request, or const:TEXT";

/** Says what is wrong with a mapping; null when it is fine. */
export function mappingFault(field: string, source: string, fields: readonly Field[]): string | null {
  if (!fields.some((one) => one.name === field)) {
    const names = fields.map((one) => one.name).join(", ");
    return names ? `is not a field that can be mapped; known: ${names}` : "cannot be mapped: this platform has no such fields";
  }
  // Contact data is hashed on receipt and never stored in the clear.
  if (/^extra\.(?:.*[._-])?(?:hashed_?)?(?:e-?mail|phone|(?:first|last)_?name)$/i.test(source))
    return "cannot be contact data: it is hashed on receipt";
  const isKnown =
    eventFieldNames.includes(source) ||
    /^(?:utm_(?:source|medium|campaign|term|content|id|source_platform|creative_format|marketing_tactic)|extra\.[\w.-]{1,100}|const:.{1,500})$/s.test(
      source,
    );
  return isKnown ? null : `must be ${sources}`;
}

/** Lists the extra inbound fields that a connection's mappings use. */
export function extraFieldsOf(settings: ConnectionSettings): string[] {
  return Object.entries(settings).flatMap(([name, source]) =>
    name.startsWith("map.") && source.startsWith("extra.") ? [source.slice("extra.".length)] : [],
  );
}

/** A field that a connection maps: the names of the objects around it, its own name there, and its source. */
type MappedField = { field: Field; path: readonly string[]; last: string; source: string };

const mappedBySettings = new WeakMap<ConnectionSettings, { of: readonly Field[]; mapped: readonly MappedField[] }>();

/** Lists the fields that a connection maps. They are found once for its settings, because mostly there are none. */
function mappedFields(settings: ConnectionSettings, fields: readonly Field[]): readonly MappedField[] {
  const cached = mappedBySettings.get(settings);
  if (cached?.of === fields) return cached.mapped;
  const mapped: MappedField[] = [];
  for (const field of fields) {
    const source = settings[mapSetting(field.name)];
    const path = field.name.split(".");
    const last = path.pop() ?? "";
    if (source !== undefined) mapped.push({ field, path, last, source });
  }
  mappedBySettings.set(settings, { of: fields, mapped });
  return mapped;
}

/**
 * Puts mapped values at their paths in `event`, whose objects the caller owns, each in its platform's shape. Fields below
 * `personal` describe the person and are left out where contact data is withheld.
 */
export function applyMapping(
  event: Record<string, unknown>,
  conversion: Conversion,
  settings: ConnectionSettings,
  { fields, personal }: { fields: readonly Field[]; personal?: string },
): void {
  for (const { field, path, last, source } of mappedFields(settings, fields)) {
    if (!conversion.person && personal && path[0] === personal) continue;
    const value = field.isAmount ? readAmount(conversion, source) : typed(readSource(conversion, source), field.type);
    const shaped = value === undefined || !field.shape ? value : field.shape(value);
    if (isEmpty(shaped)) continue;
    let here = event;
    for (const key of path) here = (here[key] ??= {}) as Record<string, unknown>;
    here[last] = shaped;
  }
}

/** An amount that a sender or the connection gives is that of the whole order; the event's own value is what is left. */
function readAmount(conversion: Conversion, source: string): number | undefined {
  const left = source === "value" ? null : leftOf(conversion);
  const amount = typed(readSource(left ? { ...conversion, items: left.items } : conversion, source), "number");
  return left && typeof amount === "number" ? Math.round(amount * left.share * 1e4) / 1e4 : (amount as number | undefined);
}

function readSource(conversion: Conversion, source: string): unknown {
  if (source.startsWith("const:")) return source.slice("const:".length);
  if (source.startsWith("extra.")) {
    const name = source.slice("extra.".length);
    return Object.hasOwn(conversion.extra, name) ? conversion.extra[name] : undefined;
  }
  if (source.startsWith("utm_")) return conversion.utm[source];
  return Object.hasOwn(eventFields, source) ? eventFields[source]?.(conversion) : undefined;
}

function typed(value: unknown, type: Field["type"]): string | number | undefined {
  if (type === "text") {
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    return typeof value === "string" && value !== "" ? value : undefined;
  }
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

type Shape = NonNullable<Field["shape"]>;

export const textField = (name: string, help: string, shape?: Shape): Field => ({
  name,
  help,
  type: "text",
  ...(shape && { shape }),
});

export const numberField = (name: string, help: string, shape?: Shape): Field => ({
  ...textField(name, help, shape),
  type: "number",
});

export const amountField = (name: string, help: string): Field => ({ ...numberField(name, help), isAmount: true });

/** Normalises a mapped value with `form` and hashes it; a value that is a hash already stays as it is. */
export function hashed(form: (text: string) => string): Shape {
  return (value) => {
    const text = String(value).trim();
    const lower = text.toLowerCase();
    if (isSha256(lower)) return lower;
    const normal = form(text);
    return normal === "" ? undefined : hash("sha256", normal);
  };
}

export function hashedList(form: (text: string) => string): Shape {
  const one = hashed(form);
  return (value) => listOf(one(value) as string | undefined);
}

/** "a, b" is two ids. */
export const idList: Shape = (value) =>
  String(value)
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);

/** A count: a whole number of at least 0. */
export const wholeNumber: Shape = (value) => (Number.isSafeInteger(value) && Number(value) >= 0 ? value : undefined);

/** One of the words that the platform accepts; others are left out. */
export const oneWordOf =
  (words: readonly string[]): Shape =>
  (value) =>
    words.includes(String(value)) ? value : undefined;
