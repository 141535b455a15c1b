// Field mapping: a connection may fill fields of its platform from an event field, a UTM field, an extra inbound field or
// a constant. `map.custom_data.content_name=utm_campaign` in a connection's settings.

import type { Conversion } from "../../kernel/event.ts";
import type { ConnectionSettings } from "../platform.ts";

/** A field of a platform that a connection may fill. `name` is its place in one event: `custom_data.content_name`. */
export type Field = { name: string; help: string; type: "text" | "number" };

const eventFields = ["event", "value", "currency", "orderId", "page", "referrer"] as const;
type EventField = (typeof eventFields)[number];

const sources =
  "an event field (event, value, currency, orderId, page, referrer), a UTM field (utm_source …), extra.NAME for another " +
  "field of the inbound request, or const:TEXT";

export const mapSetting = (field: string) => `map.${field}`;

/** What is wrong with a mapping; null when it is fine. */
export function mappingFault(field: string, source: string, fields: readonly Field[]): string | null {
  if (!fields.some((one) => one.name === field)) {
    const known = fields.map((one) => one.name).join(", ");
    return known
      ? `is not a field that can be mapped; known: ${known}`
      : "cannot be mapped: this platform has no such fields";
  }
  // These are hashed at the door and never kept as they came.
  if (/^extra\.(?:.*[._-])?(?:hashed_?)?(?:e-?mail|phone|(?:first|last)_?name)$/i.test(source))
    return "cannot be contact data: it is hashed on receipt";
  const isKnown =
    eventFields.includes(source as EventField) ||
    /^(?:utm_(?:source|medium|campaign|term|content|id|source_platform|creative_format|marketing_tactic)|extra\.[\w.-]{1,100}|const:.{1,500})$/s.test(
      source,
    );
  return isKnown ? null : `must be ${sources}`;
}

/** The names of extra inbound fields that a connection's mappings use. */
export function extraFieldsOf(settings: ConnectionSettings): string[] {
  return Object.entries(settings).flatMap(([name, source]) =>
    name.startsWith("map.") && source.startsWith("extra.") ? [source.slice("extra.".length)] : [],
  );
}

const chosen = new WeakMap<ConnectionSettings, { of: readonly Field[]; fields: readonly Field[] }>();

/** The fields that a connection fills: mostly none, which is found out once for its settings and not for each conversion. */
export function chosenFields<Mapped extends Field>(
  settings: ConnectionSettings,
  fields: readonly Mapped[],
): readonly Mapped[] {
  const found = chosen.get(settings);
  if (found?.of === fields) return found.fields as readonly Mapped[];
  const filled = fields.filter(({ name }) => settings[mapSetting(name)] !== undefined);
  chosen.set(settings, { of: fields, fields: filled });
  return filled;
}

/** The mapped fields of one conversion that have a value of their field's type. */
export function mappedFields(
  conversion: Conversion,
  settings: ConnectionSettings,
  fields: readonly Field[],
): Map<string, string | number> {
  const mapped = new Map<string, string | number>();
  for (const field of chosenFields(settings, fields)) {
    const value = mappedValue(conversion, settings, field);
    if (value !== undefined) mapped.set(field.name, value);
  }
  return mapped;
}

export function mappedValue(
  conversion: Conversion,
  settings: ConnectionSettings,
  { name, type }: Field,
): string | number | undefined {
  const source = settings[mapSetting(name)];
  return source === undefined ? undefined : typed(valueOf(conversion, source), type);
}

/** Puts mapped values at their places in `event`, whose objects are the caller's own. */
export function applyMapping(
  event: Record<string, unknown>,
  conversion: Conversion,
  settings: ConnectionSettings,
  fields: readonly Field[],
): void {
  for (const [name, value] of mappedFields(conversion, settings, fields)) {
    const path = name.split(".");
    const last = path.pop() as string;
    let here = event;
    for (const key of path) here = (here[key] ??= {}) as Record<string, unknown>;
    here[last] = value;
  }
}

function valueOf(conversion: Conversion, source: string): unknown {
  if (source.startsWith("const:")) return source.slice("const:".length);
  if (source.startsWith("extra.")) {
    const name = source.slice("extra.".length);
    return Object.hasOwn(conversion.extra, name) ? conversion.extra[name] : undefined;
  }
  if (source.startsWith("utm_")) return conversion.utm[source];
  switch (source as EventField) {
    case "event":
      return conversion.name;
    case "value":
      return conversion.value;
    case "currency":
      return conversion.currency;
    case "orderId":
      return conversion.orderId;
    case "page":
      return conversion.browser?.page;
    case "referrer":
      return conversion.browser?.referrer;
  }
}

function typed(value: unknown, type: Field["type"]): string | number | undefined {
  if (type === "text") {
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    return typeof value === "string" && value !== "" ? value : undefined;
  }
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}
