// The OpenAPI document of the management API, made from the contract that the router checks requests by.

import { basePath, sections } from "../../contract/contract.ts";
import { errorAnswer, type Route } from "../../contract/route.ts";
import { refusalStatus, type RefusalCode } from "../../kernel/refusal.ts";
import { openSchemas, type Schema, type Schemas } from "./schemas.ts";

export type Parameter = {
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
  security: Record<string, never[]>[];
  "x-role": Route["allow"];
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

const about = `Everything that the dashboard does, for programs. Send an API key (\`ccm_…\`, made in Settings > API Keys) as
\`Authorization: Bearer\`. Bodies are JSON. Times are milliseconds since 1970. Lists come in pages: pass \`next\` of one page
as \`cursor\` of the following. Every answer that is not 200 holds \`error\` with a code, a sentence, and the field that it is
about. Conversions do not come in here but at \`/__cc/inbound\`, with an inbound key.`;

const faults: Record<RefusalCode, string> = {
  invalid: "Something sent is not valid; `field` says what.",
  signed_out: "Nobody is signed in, or the API key is not valid.",
  code_needed: "The password was right; a code is needed too.",
  forbidden: "The caller may not do this.",
  not_found: "There is nothing here that the caller may see.",
  conflict: "Something changed meanwhile.",
  too_many: "Too many requests: wait as long as `Retry-After` says.",
  insecure: "HTTPS is required.",
  unavailable: "Not possible at this moment; try again.",
  internal: "A defect; it was written to the log.",
};

export function openapiDocument(version: string, url: string): OpenApi {
  const schemas = openSchemas();
  const error = schemas.answered(errorAnswer);
  const paths: OpenApi["paths"] = {};
  for (const [tag, routes] of Object.entries(sections)) {
    for (const [name, route] of Object.entries(routes) as [string, Route][]) {
      const [method, path] = name.split(" ") as [string, string];
      const operation = describe(schemas, tag, name, route);
      (paths[path.replaceAll(/:(\w+)/g, "{$1}")] ??= {})[method.toLowerCase()] = operation;
    }
  }
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
    tags: Object.keys(sections).map((name) => ({ name })),
    paths,
    components: {
      schemas: schemas.components,
      responses: Object.fromEntries(
        (Object.keys(faults) as RefusalCode[]).map((code) => [
          code,
          { description: faults[code], content: json },
        ]),
      ),
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key, `ccm_…`." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "cleancast.session_token",
          description: "The dashboard's own; over HTTPS its name begins with `__Host-`.",
        },
      },
    },
  };
}

const whoMay: Record<Route["allow"], string> = {
  anybody: "Anybody may.",
  "signed in": "Whoever is signed in may, and sees what is theirs.",
  viewer: "Viewers may.",
  admin: "Admins may.",
  owner: "Owners may.",
};

function describe(schemas: Schemas, tag: string, name: string, route: Route): Operation {
  const [method, path] = name.split(" ") as [string, string];
  const { summary, allow, apiKeys, query, body, answer } = route;
  const open = allow === "anybody";
  const session = { session: [] };
  const onlyPeople = apiKeys === false && !open ? " Not with an API key: a person has to sign in." : "";
  return {
    operationId: operationIdOf(method, path),
    tags: [tag],
    summary,
    description: `${whoMay[allow]}${onlyPeople}`,
    parameters: [...pathParameters(path), ...(query ? queryParameters(schemas.sent(query)) : [])],
    ...(body
      ? { requestBody: { required: true, content: { "application/json": { schema: schemas.sent(body) } } } }
      : {}),
    responses: {
      "200": { description: "Done.", content: contentOf(schemas, answer) },
      ...faultsOf(route, path),
    },
    security: open ? [] : apiKeys === false ? [session] : [{ apiKey: [] }, session],
    "x-role": allow,
  };
}

function contentOf(schemas: Schemas, answer: Route["answer"]): Content {
  if (answer === "csv") return { "text/csv": { schema: { type: "string" } } };
  if (answer === "stream") return { "text/event-stream": { schema: { type: "string" } } };
  return { "application/json": { schema: schemas.answered(answer) } };
}

/** By status; of two codes with one status the first is meant. */
function faultsOf({ allow, body, query }: Route, path: string): Operation["responses"] {
  const codes: RefusalCode[] = [
    ...(body || query ? (["invalid"] as const) : []),
    ...(allow === "anybody" ? [] : (["signed_out", "forbidden"] as const)),
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

/** `DELETE /sites/:site/keys/:key` is deleteSitesKeysOne. */
function operationIdOf(method: string, path: string): string {
  const words = path.split(/[/.-]/).filter((part) => part !== "" && !part.startsWith(":"));
  const last = path.slice(path.lastIndexOf("/") + 1).startsWith(":") ? ["One"] : [];
  const named = [...words, ...last].map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`);
  return `${method.toLowerCase()}${named.join("")}`;
}
