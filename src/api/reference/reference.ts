// The reference page of the management API, drawn from its OpenAPI document: one page, no script, nothing from elsewhere.

import type { Content, OpenApi, Operation } from "./openapi.ts";
import { exampleOf, linesOf, typeOf, type Line, type Named } from "./referenceSchema.ts";
import { referenceStyle } from "./referenceStyle.ts";
import type { Schema } from "./schemas.ts";

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
<title>${escaped(info.title)}</title>
<link rel="icon" href="/dashboard/icon.svg">
<style nonce="${escaped(nonce)}">${referenceStyle}</style>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<div class="page">
<nav aria-label="Sections"><ul>${sections.map(navigation).join("")}</ul></nav>
<main id="content">
<h1>${escaped(info.title)}</h1>
<p>${prose(info.description)}</p>
<p class="soft">Version ${escaped(info.version)} · <a href="/api/openapi.json">OpenAPI document</a></p>
<h4>A first request</h4>
<pre tabindex="0">${escaped(`curl -sS ${base}/sites \\\n  -H 'Authorization: Bearer ccm_…'`)}</pre>
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
    ({ operationId, method, path }) =>
      `<li><a href="#${operationId}">${badge(method)}<span>${escaped(path)}</span></a></li>`,
  );
  return `<li><details><summary>${escaped(name)}</summary><ul>${links.join("")}</ul></details></li>`;
}

const badge = (method: string) => `<span class="method ${method}">${method.toUpperCase()}</span>`;

function section(
  { name, operations }: { name: string; operations: Listed[] },
  base: string,
  named: Named,
): string {
  const articles = operations.map((one) => article(one, base, named));
  return `<section aria-labelledby="${anchor(name)}"><h2 id="${anchor(name)}">${escaped(name)}</h2>${articles.join("")}</section>`;
}

function article(operation: Listed, base: string, named: Named): string {
  const { operationId, method, path, summary, description, parameters, requestBody, responses } = operation;
  const query = parameters
    .filter((one) => one.in === "query")
    .map((one): Line => ({
      name: one.name,
      type: typeOf(one.schema, named),
      required: one.required,
      help: one.description ?? "",
    }));
  const ok = responses["200"];
  const answer = ok && "content" in ok ? ok.content : {};
  const body = schemaIn(requestBody?.content);
  return `<article id="${operationId}">
<h3>${escaped(summary)}</h3>
<div class="address">${badge(method)}<code>${escaped(path)}</code></div>
<p class="soft">${escaped(description)}</p>
${query.length ? `<h4>Query</h4>${table(query)}` : ""}
${body ? `<h4>Body</h4>${table(linesOf(body, named))}` : ""}
${answerOf(answer, named)}
${curl(operation, base, named)}
</article>`;
}

const schemaIn = (content: Content | undefined): Schema | undefined => content?.["application/json"]?.schema;

function answerOf(content: Content, named: Named): string {
  const schema = schemaIn(content);
  if (!schema) return `<h4>Answer</h4><p>${escaped(Object.keys(content).join(", "))}</p>`;
  const lines = linesOf(schema, named);
  if (lines.length === 0) return `<h4>Answer</h4><p class="soft">200, and an empty object.</p>`;
  const fields = `${lines.length} ${lines.length === 1 ? "field" : "fields"}`;
  return `<h4>Answer</h4><details><summary>200, with ${fields}</summary>${table(lines)}</details>`;
}

function table(lines: readonly Line[]): string {
  const rows = lines.map(
    ({ name, type, required, help }) =>
      `<tr><td><code>${escaped(name)}</code>${required ? "" : ` <span class="soft">optional</span>`}</td><td>${escaped(type)}</td><td>${prose(help)}</td></tr>`,
  );
  return `<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

/** What a program would send; what only people may do, only the dashboard does. */
function curl(
  { method, path, parameters, requestBody, security }: Listed,
  base: string,
  named: Named,
): string {
  if (!security.some((one) => "apiKey" in one)) return "";
  const body = schemaIn(requestBody?.content);
  const needed = parameters.filter((one) => one.in === "query" && one.required);
  const query = needed.map(({ name }) => `${name}=${name.toUpperCase()}`);
  const address = `${base}${path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => name.toUpperCase())}`;
  const words = [
    `curl -sS ${method === "get" ? "" : `-X ${method.toUpperCase()} `}'${address}${query.length ? `?${query.join("&")}` : ""}'`,
    `-H 'Authorization: Bearer ccm_…'`,
    ...(body
      ? [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(exampleOf(body, named))}'`]
      : []),
  ];
  return `<h4>Example</h4><pre tabindex="0">${escaped(words.join(" \\\n  "))}</pre>`;
}

function errors({ components }: OpenApi): string {
  const rows = Object.entries(components.responses).map(
    ([code, { description }]) =>
      `<tr><td><code>${escaped(code)}</code></td><td>${prose(description)}</td></tr>`,
  );
  return `<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
}

/** Text with `code` in it. */
const prose = (text: string) => escaped(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");

const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
