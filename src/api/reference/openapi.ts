// Generates the OpenAPI document of the management API from the contract that the router validates requests with.

import { z } from "zod";
import { basePath, sections } from "../../contract/contract.ts";
import { errorAnswer, scopesOf, type Route } from "../../contract/route.ts";
import { refusalStatus, type RefusalCode } from "../../kernel/refusal.ts";
import { inboundOperations, inboundSecurity, inboundTag } from "./inboundOperations.ts";

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

type Parameter = {
  name: string;
  in: "path" | "query";
  required: boolean;
  schema: Schema;
  description?: string;
};
export type Content = Record<string, { schema: Schema }>;
export type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  parameters: Parameter[];
  requestBody?: { required: true; content: Content };
  responses: Record<string, { description: string; content: Content } | { $ref: string }>;
  security: Record<string, string[]>[];
  /** Where the address of the operation is another one than the document's. */
  servers?: { url: string; description: string }[];
  /** Missing for operations that are not part of the management API. */
  "x-role"?: Route["allow"];
};
export type OpenApi = {
  openapi: "3.1.0";
  info: {
    title: string;
    version: string;
    description: string;
    license: { name: string; identifier: string };
  };
  servers: { url: string; description: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, { description: string; content: Content }>;
    securitySchemes: Record<string, Record<string, string>>;
  };
};

const about = `Programs can do everything that the dashboard does. Send an API key (\`ccm_…\`, created in Settings > API Keys) as
\`Authorization: Bearer\`. Request bodies are JSON. Times are Unix times in milliseconds. Lists are paged: pass the \`next\` of
one page as the \`cursor\` of the following request. An API key needs the scope that an operation names. Every response other than 200 holds an \`error\` with a code, a message
and, where it applies, the field in question. Conversions are sent to \`/__cc/inbound\` with an inbound key; see the section
Inbound, whose errors have a form of their own.`;

const errorDescriptions: Record<RefusalCode, string> = {
  invalid: "The request is not valid; `field` names the field.",
  signed_out: "The caller is not signed in, or the API key is not valid.",
  code_needed: "The password is correct; a two-factor code is needed as well.",
  forbidden: "The caller does not have the required role or scope.",
  not_found: "Not found, or not visible to the caller.",
  conflict: "The request conflicts with the current state.",
  too_many: "Too many requests. Wait for the time in `Retry-After`.",
  insecure: "HTTPS is required.",
  unavailable: "Temporarily not possible. Try again.",
  internal: "An internal error. The server's log has the details.",
};

export function openapiDocument(version: string, url: string): OpenApi {
  const schemas = createSchemas();
  const error = schemas.answered(errorAnswer);
  const paths: OpenApi["paths"] = {};
  for (const [tag, routes] of Object.entries(sections)) {
    for (const [name, route] of Object.entries(routes) as [string, Route][]) {
      const [method, path] = name.split(" ") as [string, string];
      const operation = describe(schemas, tag, name, route);
      (paths[path.replaceAll(/:(\w+)/g, "{$1}")] ??= {})[method.toLowerCase()] = operation;
    }
  }
  Object.assign(paths, inboundOperations(url, schemas));
  const json = { "application/json": { schema: error } };
  return {
    openapi: "3.1.0",
    info: {
      title: "Cleancast management API",
      version,
      description: about,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: `${url}${basePath}`, description: "This installation" }],
    tags: [inboundTag, ...Object.keys(sections)].map((name) => ({ name })),
    paths,
    components: {
      schemas: schemas.components,
      responses: Object.fromEntries(
        (Object.keys(errorDescriptions) as RefusalCode[]).map((code) => [
          code,
          { description: errorDescriptions[code], content: json },
        ]),
      ),
      securitySchemes: {
        ...inboundSecurity,
        apiKey: { type: "http", scheme: "bearer", description: "An API key, `ccm_…`." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "cleancast.session_token",
          description: "The dashboard's session; over HTTPS the name begins with `__Host-`.",
        },
      },
    },
  };
}

const requirements: Record<Route["allow"], string> = {
  public: "No sign-in required.",
  "signed in": "Requires a signed-in user, who sees only what they have access to.",
  viewer: "Requires the role viewer.",
  admin: "Requires the role admin.",
  owner: "Requires the role owner.",
};

function describe(schemas: Schemas, tag: string, name: string, route: Route): Operation {
  const [method, path] = name.split(" ") as [string, string];
  const { summary, allow, apiKeys, query, body, upload, answer } = route;
  const open = allow === "public";
  const session = { session: [] };
  const scopes = apiKeys === false ? [] : scopesOf(route);
  const forKeys =
    apiKeys === false
      ? " API keys cannot call it: a person has to sign in."
      : ` An API key needs the scope ${scopes.map((scope) => `\`${scope}\``).join(" or ")}.`;
  return {
    operationId: toOperationId(method, path),
    tags: [tag],
    summary,
    description: `${requirements[allow]}${open ? "" : forKeys}`,
    parameters: [...pathParameters(path), ...(query ? queryParameters(schemas.sent(query)) : [])],
    ...(body ? { requestBody: { required: true, content: { "application/json": { schema: schemas.sent(body) } } } } : {}),
    ...(upload ? { requestBody: { required: true, content: uploadContent } } : {}),
    responses: {
      "200": { description: "Success.", content: contentOf(schemas, answer) },
      ...errorResponses(route, path),
    },
    security: open ? [] : [...scopes.map((scope) => ({ apiKey: [scope] })), session],
    "x-role": allow,
  };
}

const uploadContent: Content = {
  "text/csv": { schema: { type: "string" } },
  "application/x-ndjson": { schema: { type: "string" } },
};

function contentOf(schemas: Schemas, answer: Route["answer"]): Content {
  if (answer === "csv") return { "text/csv": { schema: { type: "string" } } };
  if (answer === "stream") return { "text/event-stream": { schema: { type: "string" } } };
  return { "application/json": { schema: schemas.answered(answer) } };
}

/** Lists errors by status; no two of these codes share one. */
function errorResponses({ allow, body, upload, query }: Route, path: string): Operation["responses"] {
  const codes: RefusalCode[] = [
    ...(body || upload || query ? (["invalid"] as const) : []),
    ...(allow === "public" ? [] : (["signed_out", "forbidden"] as const)),
    ...(path.includes(":") ? (["not_found"] as const) : []),
    "too_many",
    "insecure",
  ];
  return Object.fromEntries([
    ...codes.map((code) => [String(refusalStatus[code]), { $ref: `#/components/responses/${code}` }]),
    ["default", { $ref: "#/components/responses/internal" }],
  ]);
}

const pathParameters = (path: string): Parameter[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name: name as string,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));

const queryParameters = ({ properties = {}, required = [] }: Schema): Parameter[] =>
  Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
    ...(description === undefined ? {} : { description }),
  }));

/** `DELETE /sites/:site/keys/:key` becomes deleteSitesKeysOne. */
function toOperationId(method: string, path: string): string {
  const words = path.split(/[/.-]/).filter((part) => part !== "" && !part.startsWith(":"));
  const last = path.slice(path.lastIndexOf("/") + 1).startsWith(":") ? ["One"] : [];
  const named = [...words, ...last].map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`);
  return `${method.toLowerCase()}${named.join("")}`;
}

/** Converts schemas of the contract to JSON Schema. A schema with an id becomes a component of the document. */
type Schemas = {
  /** A request: fields with a default are optional. */
  sent(schema: z.ZodType): Schema;
  answered(schema: z.ZodType): Schema;
  /** Schemas with an id that were used so far. */
  components: Record<string, Schema>;
};

function createSchemas(): Schemas {
  const components: Record<string, Schema> = {};

  function convert(schema: z.ZodType, io: "input" | "output"): Schema {
    const { $schema: _version, ...whole } = z.toJSONSchema(schema, {
      io,
      override: ({ jsonSchema }) => tidy(jsonSchema as Schema),
    }) as Schema & { $schema?: string; $defs?: Record<string, Schema> };
    const { $defs: found, id: name, ...own } = whole as Schema & { $defs?: Record<string, Schema> };
    for (const [key, { id: _id, ...one }] of Object.entries(found ?? {})) components[key] ??= toComponentRefs(one);
    if (typeof name !== "string") return toComponentRefs(own);
    components[name] ??= toComponentRefs(own);
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
const toComponentRefs = (schema: Schema): Schema =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Schema;
