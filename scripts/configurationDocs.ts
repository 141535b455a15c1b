// `npm run docs:configuration` writes the JSON Schema of the configuration file and the reference page of its fields, both from
// src/configFile/schema.ts. test/docs.test.ts fails if they differ from it.

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { toJsonSchema } from "../src/configFile/schema.ts";
import { describeSettings, settingLabels, withDefaults } from "../src/sites/settings.ts";

type Schema = {
  type?: string;
  description?: string;
  const?: string | number | boolean;
  enum?: (string | number | boolean)[];
  default?: unknown;
  examples?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
};

const folder = new URL("../docs/reference/", import.meta.url);

/** Returns the text of each file by its name in docs/reference/. */
export function configurationFiles(): Map<string, string> {
  const schema = toJsonSchema() as Schema;
  return new Map([
    ["cleancast.schema.json", `${JSON.stringify(schema, null, 2)}\n`],
    ["configuration-file.md", pageOf(schema)],
  ]);
}

function pageOf(schema: Schema): string {
  const site = itemsOf(schema, "sites");
  const connection = itemsOf(site, "connections").oneOf ?? itemsOf(site, "connections").anyOf ?? [];
  const [first] = connection;
  const { settings: _settings, platform: _platform, ...common } = first?.properties ?? {};
  return [
    "# Configuration file",
    "The fields of the file that `cleancast apply` reads. This page is generated (`npm run docs:configuration`). How to use the file:\n[configuration as a file](../how-to/configuration-file.md). Editors check it with [the JSON Schema](cleancast.schema.json).",
    "## File",
    tableOf(schema),
    "## Site",
    tableOf(site),
    "## Settings of a site",
    "Values are written as `cleancast site set SITE name=value` takes them. Comma-separated ones may be lists; `true` and `false` mean on and off.",
    settingsTable(),
    "## Inbound key",
    tableOf(itemsOf(site, "keys")),
    "## Connection",
    "`platform` is the id of a platform. Its settings, with those that are secret, are on the [platform's page](../platforms/README.md).",
    tableOf({ properties: { ...common, ...fieldsOf(connection) } }),
    "## Source",
    "`kind` is one of `cleancast source kinds`, which also shows the required settings.",
    tableOf({ properties: sourceFields(site) }),
    "## Webhook",
    tableOf(itemsOf(site, "webhooks")),
    "## Data export",
    tableOf(site.properties?.data_export?.anyOf?.find(({ properties }) => properties) ?? {}),
    "## Member",
    tableOf(itemsOf(schema, "members")),
    "",
  ]
    .join("\n\n")
    .trimEnd()
    .concat("\n");
}

/** The fields that only some platforms have. */
function fieldsOf(forms: readonly Schema[]): Record<string, Schema> {
  const some = (name: string) => forms.find(({ properties }) => properties?.[name])?.properties?.[name];
  const settings = some("settings");
  const names = some("event_names");
  const fields = some("fields");
  return { ...(settings && { settings }), ...(names && { event_names: names }), ...(fields && { fields }) };
}

/** All kinds have the same fields, with other settings. */
function sourceFields(site: Schema): Record<string, Schema> {
  const [form] = itemsOf(site, "sources").oneOf ?? itemsOf(site, "sources").anyOf ?? [];
  const { kind: _kind, ...common } = form?.properties ?? {};
  return common;
}

const itemsOf = (schema: Schema, name: string): Schema => schema.properties?.[name]?.items ?? {};

const head = ["| field | type | default | example | meaning |", "|---|---|---|---|---|"];

function tableOf({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([name, field]) => {
    const isRequired = required.includes(name) && field.default === undefined;
    const fallback = isRequired ? "required" : field.default === undefined ? "" : shown(field.default);
    const [example] = field.examples ?? [];
    return rowOf(name, typeOf(field), fallback, example === undefined ? "" : code(example), field.description ?? "");
  });
  return [...head, ...rows].join("\n");
}

/** The settings of a site are read from their texts, which their schema does not describe. */
function settingsTable(): string {
  const defaults = describeSettings(withDefaults({}));
  const rows = settingLabels.map(({ label, help, type, example }) =>
    rowOf(label, type, defaults[label] === "" ? "empty" : code(defaults[label]), code(example), help),
  );
  return [...head, ...rows].join("\n");
}

function rowOf(name: string, ...cells: string[]): string {
  return `| \`${name}\` | ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** A value as YAML writes it on one line. */
const code = (value: unknown) =>
  `\`${typeof value === "string" ? value : stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trim()}\``;

/** Some defaults are said in words. */
const shown = (value: unknown) =>
  typeof value === "string" && value.includes(" ")
    ? value
    : typeof value === "object" && Object.keys(value ?? {}).length === 0
      ? "none"
      : code(value);

/** Texts, numbers and booleans are read alike. */
const anyScalar = /^text or number or boolean|(?<=`) or boolean/;

function typeOf(field: Schema): string {
  if (field.const !== undefined) return `\`${String(field.const)}\``;
  if (field.enum) return field.enum.map((one) => `\`${String(one)}\``).join(", ");
  const forms = field.anyOf ?? field.oneOf;
  if (forms)
    return [...new Set(forms.map(typeOf))].join(" or ").replace(anyScalar, (found) => (found.startsWith("text") ? "value" : ""));
  if (field.type === "array") return `list of ${typeOf(field.items ?? {}) === "map" ? "maps" : "texts"}`;
  if (field.type === "object") return "map";
  return field.type === "string" ? "text" : (field.type ?? "text");
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const [name, text] of configurationFiles()) writeFileSync(new URL(name, folder), text);
