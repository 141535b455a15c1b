// `npm run docs:sources` writes docs/sources/: a page for each kind of source, from the kind's own object. test/docs.test.ts fails
// if the pages differ from it.

import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { withMapping } from "../src/sources/customRules.ts";
import { examplesOf } from "../src/sources/examples.ts";
import { mappedFields, settingsOf, type Kind, type KindSetting, type Rule } from "../src/sources/kind.ts";
import { kinds } from "../src/sources/kinds/index.ts";
import type { Scheme } from "../src/sources/verify.ts";
import { code, page, table } from "./docs/markdown.ts";

const folder = new URL("../docs/sources/", import.meta.url);

/** Returns the text of each page by its file name. */
export function sourcePages(): Map<string, string> {
  const pages = new Map(kinds.map((kind) => [`${kind.id}.md`, pageOf(kind)]));
  return pages.set("README.md", overview());
}

function overview(): string {
  const rows = kinds.map((kind) => [`[${kind.name}](${kind.id}.md)`, `\`${kind.id}\``, kind.about, proofOf(kind)]);
  return page([
    "# Kinds of sources",
    [
      "Each page is generated from the kind's own code (`npm run docs:sources`). [Sources](../reference/sources.md) explains the address,",
      "the answers and the mapping language. Add a source with",
    ].join("\n"),
    code("text", "npx cleancast source add SITE KIND name=value …"),
    "or choose it on the page **Sources** of the dashboard:",
    picture("choose", "A card for each kind of sender: payments and subscriptions, shops, CRM"),
    table(["sender", "kind", "", "known by"], rows),
  ]);
}

function pageOf(kind: Kind): string {
  const { name, about, docs, guide } = kind;
  return page([
    `# ${name}`,
    `${about}${docs.url ? ` Its documents: <${docs.url}>, last compared on ${docs.checked}.` : ""}`,
    "## Set up",
    "Add the source. The command prints its address, which is a secret.",
    code("sh run", addLine(kind)),
    [...guide.steps.map(withAddress), lastStep].map((step, i) => `${i + 1}. ${step}`).join("\n"),
    "## Settings",
    settingsTable(kind),
    `**Verification.** A request is known by ${proofOf(kind)}.`,
    "## What becomes of a request",
    ...(kind.isMapped ? [] : [rulesTable(kind)]),
    ...(kind.isMapped
      ? [
          "The settings above say it: the first path that has a value counts ([the language](../reference/sources.md#mapping)). The dashboard has an editor for them, with the fields of real requests:",
          picture("mapping", "The lines of the conversion, and the fields of a request with masked values to choose from"),
          picture("preview", "The preview: what a request would become"),
        ]
      : [
          "Everything else is ignored, as *not used*.",
          "## Fields",
          "Paths in the request, of which the first that has a value counts ([the language](../reference/sources.md#mapping)).",
          ...kind.rules.flatMap(fieldsTable),
        ]),
    ...lookUpText(kind),
    "## When a request fails",
    [...guide.retries, ...(guide.notes ?? [])].map((line) => `- ${line}`).join("\n"),
    ...exampleText(kind),
  ]);
}

/** `npm run screenshots -- --guides` takes them. */
const picture = (name: string, text: string) => `![${text}](../images/source-${name}.png)`;

/** "with the callback URL ADDRESS" names the field of the sender. */
const withAddress = (step: string) =>
  step
    .replace(/\b(the (?:\w+ )?(?:URL|endpoint)) ADDRESS/, "the address of the source as $1")
    .replace(/(?:the address )?ADDRESS/, "the address of the source");

const lastStep = "Check that the first request arrived: `npx cleancast source show ID`.";

function addLine(kind: Kind): string {
  const needed = settingsOf(kind).filter(({ required }) => required);
  // Without it the address alone would be the secret, though the sender can sign.
  const keys = Object.values(kind.lookUps ?? {}).map(({ key }) => key);
  const secrets = settingsOf(kind).filter(
    ({ name, secret, required, requiredUnless }) => secret && !required && !requiredUnless && !keys.includes(name),
  );
  const words = [...needed, ...secrets].map(({ name, secret }) => `${name}=${secret ? "@file" : "…"}`);
  return ["npx cleancast source add SITE", kind.id, ...words, ...(kind.isMapped ? ["email=customer.email"] : [])].join(" ");
}

function proofOf(kind: Kind): string {
  const ways = new Set(kind.verification.map(wayOf));
  const isOptional = settingsOf(kind).some(({ name, required }) => name === "signing_secret" && !required) && !kind.isMapped;
  return [...ways].join(", or ") + (isOptional ? "; by its secret address alone where no secret is given" : "");
}

function wayOf(scheme: Scheme): string {
  const only = scheme.onlyWhen ? ` (\`${scheme.onlyWhen.setting}=${scheme.onlyWhen.is.join("|")}\`)` : "";
  switch (scheme.by) {
    case "address":
      return `its secret address${only}`;
    case "basic":
      return "a user name and a password";
    case "header":
      return `a header with the secret${only}`;
    case "ed25519":
      return `\`${scheme.headers[0]}\`, an Ed25519 signature${only}`;
    case "hmac":
    case "hash": {
      const header = "setting" in scheme.headers ? "a header of your choice" : `\`${scheme.headers[0]}\``;
      const algorithm = `${scheme.by === "hmac" ? "HMAC-" : ""}${scheme.algorithm.toUpperCase().replace("SHA", "SHA-")}`;
      return `${header}, ${scheme.by === "hmac" ? "an" : "a"} ${algorithm}${scheme.time ? " with its time" : ""}${only}`;
    }
  }
}

function settingsTable(kind: Kind): string {
  const words = ({ label, required, secret, default: value }: KindSetting) => [
    label,
    required ? "required" : value === undefined ? "" : `default \`${value}\``,
    secret ? "secret" : "",
  ];
  return table(
    ["setting", "", ""],
    settingsOf(kind).map((one) => [`\`${one.name}\``, words(one).filter(Boolean).join(", "), one.help]),
  );
}

const becomes = (rule: Rule) =>
  rule.gives === "ignore"
    ? `ignored: ${rule.reason}`
    : rule.gives === "learn"
      ? "remembered: whom a customer id belongs to"
      : rule.gives;

const rulesTable = (kind: Kind) =>
  table(
    ["", "when", "becomes"],
    withMapping(kind, {}).rules.map((rule) => [rule.name, `\`${rule.when}\``, becomes(rule)]),
  );

function fieldsTable(rule: Rule): string[] {
  if (rule.gives === "ignore") return [];
  const { fields } = rule;
  const others = [
    ["the sender's customer id", fields.customer],
    ["another id of the order", fields.orderRef],
    ["click ids", fields.clickIds?.map((one) => (typeof one === "string" ? one : one[1])).join(" ; ")],
    ["the visit, by the token of its link", fields.link?.token],
    ["items", fields.items?.from],
  ] as const;
  const rows = [...mappedFields.map((name) => [`\`${name}\``, fields[name]] as const), ...others].flatMap(([name, path]) =>
    path === undefined ? [] : [[name, `\`${path}\``]],
  );
  const sum = "The value is what was refunded of the order so far: what is counted already is taken off.";
  const isSum = rule.gives === "refund" && rule.sums;
  return [`**${rule.name[0]?.toUpperCase()}${rule.name.slice(1)}**`, ...(isSum ? [sum] : []), table(["field", "from"], rows)];
}

function lookUpText({ name, rules, lookUps = {} }: Kind): string[] {
  const parts = Object.entries(lookUps).flatMap(([id, { key, steps, fields }]) => [
    `**${rules
      .filter(({ lookUp }) => lookUp === id)
      .map((rule) => `${rule.name[0]?.toUpperCase()}${rule.name.slice(1)}`)
      .join(", ")}**, with the key in \`${key}\`:`,
    steps.map(({ url, permission }, i) => `${i + 1}. \`GET ${url}\` (the key needs ${permission})`).join("\n"),
    table(
      ["field", "from the answers"],
      mappedFields.flatMap((field) => (fields[field] === undefined ? [] : [[`\`${field}\``, `\`${fields[field]}\``]])),
    ),
  ]);
  return parts.length === 0
    ? []
    : [
        "## Look-ups",
        `Where neither the request nor the relay knows the person, or the order of a refund, the relay asks ${name}, after the request was answered ([look-ups](../reference/sources.md#look-ups)).`,
        ...parts,
      ];
}

function exampleText(kind: Kind): string[] {
  const [example] = examplesOf(kind.id);
  if (!example) return [];
  const body = typeof example.body === "string" ? example.body.trim() : JSON.stringify(example.body, null, 2);
  const language = typeof example.body !== "string" ? "json" : body.startsWith("<") ? "xml" : "text";
  const outcomes = example.outcomes.map((one) => JSON.stringify({ becomes: one.is, ...one.fields }, null, 2)).join("\n");
  const [first = "", ...rest] = example.name;
  return [
    "## Example",
    `${first.toUpperCase()}${rest.join("")}:`,
    code(language, body),
    "What is made of it, before it is hashed:",
    code("json", outcomes),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of sourcePages()) writeFileSync(new URL(name, folder), text);
}
