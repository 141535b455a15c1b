// JSON Schema of the contract's declarations, as OpenAPI 3.1 takes it. What several routes answer has a name.

import { z } from "zod";
import { eventSummary, statistics, trace } from "../../contract/events.ts";
import { connection, platform } from "../../contract/integrations.ts";
import { webhook } from "../../contract/webhooks.ts";
import { errorAnswer, time } from "../../contract/route.ts";
import { grant, session } from "../../contract/session.ts";
import { site } from "../../contract/sites.ts";
import { fieldHelp } from "./fieldHelp.ts";

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

const named = z.registry<{ id?: string; description?: string }>();
const names: Record<string, z.ZodType> = {
  Error: errorAnswer,
  Site: site,
  Platform: platform,
  Connection: connection,
  Webhook: webhook,
  Event: eventSummary,
  Trace: trace,
  Statistics: statistics,
  Session: session,
  Grant: grant,
};
for (const [name, schema] of Object.entries(names)) named.add(schema, { id: name });
named.add(time, { description: "Milliseconds since 1970." });

export type Schemas = {
  /** What callers send: what has a default may be left out. */
  sent(schema: z.ZodType): Schema;
  answered(schema: z.ZodType): Schema;
  /** Those with a name, found so far. */
  components: Record<string, Schema>;
};

export function openSchemas(): Schemas {
  const components: Record<string, Schema> = {};

  function made(schema: z.ZodType, io: "input" | "output"): Schema {
    const { $schema: _version, ...whole } = z.toJSONSchema(schema, {
      io,
      metadata: named,
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
    sent: (schema) => made(schema, "input"),
    answered: (schema) => made(schema, "output"),
  };
}

/** The contract says what is there, and may say more tomorrow; numbers are as large as JavaScript's. */
function tidy(json: Schema): void {
  if (json.additionalProperties === false) delete json.additionalProperties;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
}

/** References lead to the document's own components. A copy: what is declared once stands in many places. */
function lifted(schema: Schema): Schema {
  const copy = JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/');
  return explained(JSON.parse(copy) as Schema);
}

function explained(schema: Schema): Schema {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    explained(field);
    if (Object.hasOwn(fieldHelp, name) && field.$ref === undefined)
      field.description = fieldHelp[name] as string;
  }
  for (const one of [schema.items, schema.additionalProperties, ...(schema.anyOf ?? [])])
    if (typeof one === "object") explained(one);
  return schema;
}
