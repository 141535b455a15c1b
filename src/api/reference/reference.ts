// Renders the reference page of the management API from its OpenAPI document: one page, no script, nothing from other
// origins (docs/decisions/0013).

import { escapeHtml } from "../../kernel/text.ts";
import type { Content, OpenApi, Operation, Schema } from "./openapi.ts";
import { referenceStyle } from "./referenceStyle.ts";

type Listed = Operation & { method: string; path: string };

export function referencePage(document: OpenApi, nonce: string): string {
  const { info, servers, components } = document;
  const base = servers[0]?.url ?? "";
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]): Listed => ({ ...one, method, path })),
  );
  const sections = document.tags.map(({ name }) => ({
    name,
    operations: operations.filter(({ tags }) => tags.includes(name)),
  }));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(info.title)}</title>
<link rel="icon" href="/dashboard/icon.svg">
<style nonce="${escapeHtml(nonce)}">${referenceStyle}</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<div class="page">
<nav aria-label="Sections"><ul>${sections.map(navigation).join("")}</ul></nav>
<main id="content">
<h1>${escapeHtml(info.title)}</h1>
<p>${prose(info.description)}</p>
<p class="soft">Version ${escapeHtml(info.version)} · <a href="/api/openapi.json">OpenAPI document</a></p>
<h4>A first request</h4>
<pre tabindex="0">${escapeHtml(`curl -sS ${base}/sites \\\n  -H 'Authorization: Bearer ccm_…'`)}</pre>
<h4>Errors</h4>
${errors(document)}
${sections.map((one) => section(one, base, components.schemas)).join("\n")}
</main>
</div>
</body>
</html>
`;
}

const anchor = (name: string) => name.toLowerCase().replaceAll(/[^a-z]+/g, "-");

function navigation({ name, operations }: { name: string; operations: Listed[] }): string {
  const links = operations.map(
    ({ operationId, method, path }) => `<li><a href="#${operationId}">${badge(method)}<span>${escapeHtml(path)}</span></a></li>`,
  );
  return `<li><details><summary>${escapeHtml(name)}</summary><ul>${links.join("")}</ul></details></li>`;
}

const badge = (method: string) => `<span class="method ${method}">${method.toUpperCase()}</span>`;

function section({ name, operations }: { name: string; operations: Listed[] }, base: string, named: Named): string {
  const articles = operations.map((one) => article(one, base, named));
  return `<section aria-labelledby="${anchor(name)}"><h2 id="${anchor(name)}">${escapeHtml(name)}</h2>${articles.join("")}</section>`;
}

function article(operation: Listed, base: string, named: Named): string {
  const { operationId, method, path, summary, description, parameters, requestBody, responses } = operation;
  const query = parameters
    .filter((one) => one.in === "query")
    .map((one): Line => ({
      name: one.name,
      type: describeType(one.schema, named),
      required: one.required,
      help: one.description ?? "",
    }));
  const ok = responses["200"];
  const answer = ok && "content" in ok ? ok.content : {};
  const body = jsonSchema(requestBody?.content);
  return `<article id="${operationId}">
<h3>${escapeHtml(summary)}</h3>
<div class="address">${badge(method)}<code>${escapeHtml(path)}</code></div>
<p class="soft">${escapeHtml(description)}</p>
${query.length ? `<h4>Query</h4>${table(query)}` : ""}
${body ? `<h4>Body</h4>${table(toLines(body, named))}` : ""}
${response(answer, named)}
${curl(operation, base, named)}
</article>`;
}

const jsonSchema = (content: Content | undefined): Schema | undefined => content?.["application/json"]?.schema;

function response(content: Content, named: Named): string {
  const schema = jsonSchema(content);
  if (!schema) return `<h4>Response</h4><p>${escapeHtml(Object.keys(content).join(", "))}</p>`;
  const lines = toLines(schema, named);
  if (lines.length === 0) return `<h4>Response</h4><p class="soft">200 with an empty object.</p>`;
  const fields = `${lines.length} ${lines.length === 1 ? "field" : "fields"}`;
  return `<h4>Response</h4><details><summary>200 with ${fields}</summary>${table(lines)}</details>`;
}

function table(lines: readonly Line[]): string {
  const rows = lines.map(
    ({ name, type, required, help }) =>
      `<tr><td><code>${escapeHtml(name)}</code>${required ? "" : ` <span class="soft">optional</span>`}</td><td>${escapeHtml(type)}</td><td>${prose(help)}</td></tr>`,
  );
  return `<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

/** Renders a curl example; routes that only people may call have none. */
function curl({ method, path, parameters, requestBody, security, servers }: Listed, base: string, named: Named): string {
  const schemes = security.flatMap((one) => Object.keys(one));
  const credential = schemes.includes("apiKey") ? "Authorization: Bearer ccm_…" : "X-CC-Api-Key: cc_live_…";
  if (!schemes.includes("apiKey") && !schemes.includes("inboundKey")) return "";
  const body = jsonSchema(requestBody?.content);
  const needed = parameters.filter((one) => one.in === "query" && one.required);
  const query = needed.map(({ name }) => `${name}=${name.toUpperCase()}`);
  const address = `${servers?.[0]?.url ?? base}${path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => name.toUpperCase())}`;
  const lines = [
    `curl -sS ${method === "get" ? "" : `-X ${method.toUpperCase()} `}'${address}${query.length ? `?${query.join("&")}` : ""}'`,
    `-H '${credential}'`,
    ...(body ? [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(toExample(body, named))}'`] : []),
  ];
  return `<h4>Example</h4><pre tabindex="0">${escapeHtml(lines.join(" \\\n  "))}</pre>`;
}

function errors({ components }: OpenApi): string {
  const rows = Object.entries(components.responses).map(
    ([code, { description }]) => `<tr><td><code>${escapeHtml(code)}</code></td><td>${prose(description)}</td></tr>`,
  );
  return `<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

/** Renders `code` within text. */
const prose = (text: string) => escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");

type Line = { name: string; type: string; required: boolean; help: string };
type Named = Readonly<Record<string, Schema>>;

const maxDepth = 3;

/** Lists nested fields below their parent, as `connection.settings`; fields of lists as `items[].id`. */
function toLines(schema: Schema, named: Named, prefix = "", depth = 0): Line[] {
  const { properties = {}, required = [] } = resolve(schema, named);
  return Object.entries(properties).flatMap(([key, field]) => {
    const name = `${prefix}${key}`;
    const line = {
      name,
      type: describeType(field, named),
      required: required.includes(key),
      help: field.description ?? "",
    };
    const inner = innerObject(field, named);
    const below = inner && depth < maxDepth ? toLines(inner.of, named, `${name}${inner.mark}.`, depth + 1) : [];
    return [line, ...below];
  });
}

function resolve(schema: Schema, named: Named): Schema {
  const name = schema.$ref?.slice("#/components/schemas/".length);
  return name === undefined ? schema : (named[name] ?? {});
}

/** Finds the object in a field, through lists, maps and nullable types. */
function innerObject(field: Schema, named: Named): { of: Schema; mark: string } | null {
  const schema = resolve(field, named);
  if (schema.properties) return { of: schema, mark: "" };
  if (schema.items) return marked(schema.items, "[]", named);
  if (typeof schema.additionalProperties === "object") return marked(schema.additionalProperties, ".*", named);
  const other = schema.anyOf?.find((one) => one.type !== "null");
  return other ? innerObject(other, named) : null;
}

function marked(schema: Schema, mark: string, named: Named): { of: Schema; mark: string } | null {
  const inner = innerObject(schema, named);
  return inner && { of: inner.of, mark: `${mark}${inner.mark}` };
}

function describeType(field: Schema, named: Named): string {
  const schema = resolve(field, named);
  if (schema.anyOf) return schema.anyOf.map((one) => describeType(one, named)).join(" or ");
  if (schema.enum) return schema.enum.map((one) => String(one)).join(" · ");
  if (schema.items) return `list of ${describeType(schema.items, named)}`;
  if (Array.isArray(schema.type)) return schema.type.map(wordOf).join(" or ");
  if (typeof schema.additionalProperties === "object") return `${describeType(schema.additionalProperties, named)} by name`;
  return schema.type === undefined ? "anything" : wordOf(schema.type);
}

const typeWords: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  boolean: "true or false",
};
const wordOf = (type: string) => typeWords[type] ?? type;

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

/** Builds an example of the required fields with plausible values. */
function toExample(schema: Schema, named: Named): Record<string, unknown> {
  const { properties = {}, required = [] } = resolve(schema, named);
  return Object.fromEntries(
    required.map((name) => [name, Object.hasOwn(samples, name) ? samples[name] : toSample(properties[name] ?? {}, named)]),
  );
}

function toSample(field: Schema, named: Named): unknown {
  const schema = resolve(field, named);
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return toSample(schema.anyOf[0] ?? {}, named);
  if (schema.items) return [toSample(schema.items, named)];
  if (schema.properties) return toExample(schema, named);
  const byType: Record<string, unknown> = { string: "…", integer: 1, number: 1, boolean: true, object: {} };
  return byType[String(schema.type)] ?? null;
}
