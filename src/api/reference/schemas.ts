// JSON Schema of the contract's declarations, as OpenAPI 3.1 accepts it. A schema with an id becomes a component.

import { z } from "zod";

export type Schema = {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  enum?: unknown[];
  additionalProperties?: Schema | boolean;
  [keyword: string]: unknown;
};

export type Schemas = {
  /** A request: fields with a default are optional. */
  sent(schema: z.ZodType): Schema;
  answered(schema: z.ZodType): Schema;
  /** Schemas with an id that were used so far. */
  components: Record<string, Schema>;
};

export function openSchemas(): Schemas {
  const components: Record<string, Schema> = {};

  function convert(schema: z.ZodType, io: "input" | "output"): Schema {
    const { $schema: _version, ...whole } = z.toJSONSchema(schema, {
      io,
      override: ({ jsonSchema }) => tidy(jsonSchema as Schema),
    }) as Schema & { $schema?: string; $defs?: Record<string, Schema> };
    const { $defs: found, id: name, ...own } = whole as Schema & { $defs?: Record<string, Schema> };
    for (const [key, { id: _id, ...one }] of Object.entries(found ?? {})) components[key] ??= lifted(one);
    if (typeof name !== "string") return lifted(own);
    components[name] ??= lifted(own);
    return { $ref: `#/components/schemas/${name}` };
  }

  return {
    components,
    sent: (schema) => convert(schema, "input"),
    answered: (schema) => convert(schema, "output"),
  };
}

/** Allows fields that later versions add, and drops JavaScript's own number range. */
function tidy(json: Schema): void {
  if (json.additionalProperties === false) delete json.additionalProperties;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
}

/** Points references to the document's own components. */
const lifted = (schema: Schema): Schema =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Schema;
