// A schema as rows that people read, and as an example that they can send.

import type { Schema } from "./schemas.ts";

export type Line = { name: string; type: string; required: boolean; help: string };
export type Named = Readonly<Record<string, Schema>>;

const deepest = 3;

/** Fields of fields stand below theirs, as `connection.settings`; those of lists as `items[].id`. */
export function linesOf(schema: Schema, named: Named, prefix = "", depth = 0): Line[] {
  const { properties = {}, required = [] } = resolved(schema, named);
  return Object.entries(properties).flatMap(([key, field]) => {
    const name = `${prefix}${key}`;
    const line = {
      name,
      type: typeOf(field, named),
      required: required.includes(key),
      help: field.description ?? "",
    };
    const inner = insideOf(field, named);
    const below =
      inner && depth < deepest ? linesOf(inner.of, named, `${name}${inner.mark}.`, depth + 1) : [];
    return [line, ...below];
  });
}

function resolved(schema: Schema, named: Named): Schema {
  const name = schema.$ref?.slice("#/components/schemas/".length);
  return name === undefined ? schema : (named[name] ?? {});
}

/** The object in a field, through lists, maps and what may be null. */
function insideOf(field: Schema, named: Named): { of: Schema; mark: string } | null {
  const schema = resolved(field, named);
  if (schema.properties) return { of: schema, mark: "" };
  if (schema.items) return marked(schema.items, "[]", named);
  if (typeof schema.additionalProperties === "object")
    return marked(schema.additionalProperties, ".*", named);
  const other = schema.anyOf?.find((one) => one.type !== "null");
  return other ? insideOf(other, named) : null;
}

function marked(schema: Schema, mark: string, named: Named): { of: Schema; mark: string } | null {
  const inner = insideOf(schema, named);
  return inner && { of: inner.of, mark: `${mark}${inner.mark}` };
}

export function typeOf(field: Schema, named: Named): string {
  const schema = resolved(field, named);
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(one, named)).join(" or ");
  if (schema.enum) return schema.enum.map((one) => String(one)).join(" · ");
  if (schema.items) return `list of ${typeOf(schema.items, named)}`;
  if (Array.isArray(schema.type)) return schema.type.map(wordOf).join(" or ");
  if (typeof schema.additionalProperties === "object")
    return `${typeOf(schema.additionalProperties, named)} by name`;
  return schema.type === undefined ? "anything" : wordOf(schema.type);
}

const words: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  boolean: "true or false",
};
const wordOf = (type: string) => words[type] ?? type;

const samples: Readonly<Record<string, unknown>> = {
  email: "ada@example.com",
  host: "shop.example.com",
  url: "https://hooks.example.com/totals",
  platform: "meta",
  setting: "pixel_id",
  name: "my CRM",
  decision: "denied",
  from: 1_794_700_800_000,
  to: 1_794_787_200_000,
  names: ["dedup_order", "block_disposable"],
  clientId: "…",
  clientSecret: "…",
};

/** What is required, filled with something that could be meant. */
export function exampleOf(schema: Schema, named: Named): Record<string, unknown> {
  const { properties = {}, required = [] } = resolved(schema, named);
  return Object.fromEntries(
    required.map((name) => [
      name,
      Object.hasOwn(samples, name) ? samples[name] : sampleOf(properties[name] ?? {}, named),
    ]),
  );
}

function sampleOf(field: Schema, named: Named): unknown {
  const schema = resolved(field, named);
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return sampleOf(schema.anyOf[0] ?? {}, named);
  if (schema.items) return [sampleOf(schema.items, named)];
  if (schema.properties) return exampleOf(schema, named);
  const byType: Record<string, unknown> = { string: "…", integer: 1, number: 1, boolean: true, object: {} };
  return byType[String(schema.type)] ?? null;
}
