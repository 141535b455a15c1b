// Finds texts and uses of the message catalogue in the dashboard's sources, with a real parser.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";

export const dashboard = fileURLToPath(new URL("../../dashboard/", import.meta.url));

export type Node = { type: string; start: number; [key: string]: unknown };
type Source = { path: string; text: string; program: Node };

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Types are not read; an expression with a type is. */
const isType = ({ type }: Node) =>
  type.startsWith("TS") && !["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"].includes(type);

export function readSource(path: string, text: string): Source {
  const { program, errors } = parseSync(path, text, { lang: path.endsWith("x") ? "tsx" : "ts" });
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  return { path, text, program: program as unknown as Node };
}

/** Reads every source of the dashboard outside of the catalogue. */
export function readSources(): Source[] {
  return readdirSync(dashboard, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path) && !path.startsWith("messages/") && !/^(build|vite\.config)\.ts$/.test(path))
    .map((path) => readSource(path, readFileSync(join(dashboard, path), "utf8")));
}

/** Calls `visit` for each node with its ancestors, the nearest first. `visit` returns false to leave out what is below. */
export function walk(node: Node, visit: (node: Node, above: readonly Node[]) => boolean, above: readonly Node[] = []): void {
  if (!visit(node, above)) return;
  for (const value of Object.values(node))
    for (const one of Array.isArray(value) ? value : [value]) if (isNode(one)) walk(one, visit, [node, ...above]);
}

/** Attributes and properties whose value is shown or read aloud. */
const shownNames = new Set([
  "about",
  "alt",
  "aria-label",
  "confirm",
  "consequence",
  "counts",
  "description",
  "help",
  "label",
  "message",
  "none",
  "notice",
  "nothing",
  "nothingFound",
  "nothingFoundMessage",
  "placeholder",
  "question",
  "suffix",
  "text",
  "title",
  "word",
]);

/** Values that are the same in every language: names, examples, commands and addresses. */
const sameEverywhere =
  /^(?:Cleancast|⌘K|123456|[\w@.]*example\.com|our-uptime-monitor|MyCrawler\/\*|Mozilla\/5\.0 …|purchase|Edge|Opera|Firefox|Chrome|Safari|Android|Windows|ChromeOS|Linux|(?:curl|npx) [^]+|https:\/\/\S+|[\W\d_]*)$/;

/** Codes of the relay that read like texts. */
const codes = new Set(["needs reconnection", "own name", "not sent"]);

/** Files that write code for the user to copy. */
const codeFiles = /(?:proxyRules|inboundSamples|assistantSamples|jumpCommands)\.ts$/;

/** The attributes whose value is a name, not a text. */
const technicalNames = /^(?:style|className|bd|to|component|of|href|rel|search|fontFamily)$/;

/** A sentence, or a word that begins with a capital letter. */
const isProse = (text: string) => /[A-Za-z]{2,}[,.:]? [a-z]{2,}/.test(text) || /^[A-Z][a-z]{2,}/.test(text);

const nameOf = (node: Node | undefined): string => {
  const name = (node?.type === "JSXAttribute" ? node["name"] : node?.["key"]) as Node | undefined;
  return textOf(name?.["name"]) || textOf(name?.["value"]);
};

const tagOf = (element: Node) => textOf(((element["openingElement"] as Node)["name"] as Node)["name"]);

/** Lists literal texts that a user would see. */
export function findTexts({ path, text, program }: Source): string[] {
  const found: string[] = [];
  if (codeFiles.test(path)) return found;
  walk(program, (node, above) => {
    if (node.type === "ImportDeclaration" || isType(node)) return false;
    const value =
      node.type === "JSXText" || (node.type === "Literal" && typeof node["value"] === "string")
        ? textOf(node["value"])
        : node.type === "TemplateElement"
          ? ((node["value"] as { cooked?: string }).cooked ?? "")
          : null;
    if (value === null || sameEverywhere.test(value.trim())) return true;
    const [parent] = above;
    const isKey = parent?.type === "Property" && (parent["key"] as Node).start === node.start;
    const holder = above.find(({ type }) => type === "JSXAttribute" || type === "Property" || type === "JSXElement");
    // Messages of defects are for developers.
    const isThrown = above.some(({ type }) => type === "ThrowStatement");
    const isShown = node.type === "JSXText" || (!isKey && shownNames.has(nameOf(holder)));
    const isTechnical =
      // A compared value or a key is a code of the relay, and the content of <Code> is copied, not read.
      ["BinaryExpression", "SwitchCase", "MemberExpression"].includes(parent?.type ?? "") ||
      codes.has(value) ||
      above.some((one) => ["JSXAttribute", "Property"].includes(one.type) && technicalNames.test(nameOf(one))) ||
      (holder?.type === "JSXElement" && tagOf(holder) === "Code");
    if (!isKey && !isThrown && !isTechnical && (isShown ? /[A-Za-z]{2}/.test(value) : isProse(value)))
      found.push(`${path}:${text.slice(0, node.start).split("\n").length}: ${value.trim()}`);
    return true;
  });
  return found;
}

type Use = { section: string; keys: string[]; isAtModuleLevel: boolean; where: string };

/** Lists reads of the catalogue: `eventsText.title` is the key "title" of the section "eventsText". */
export function findUses({ path, text, program }: Source): Use[] {
  const uses: Use[] = [];
  walk(program, (node, above) => {
    if (node.type === "ImportDeclaration" || isType(node)) return false;
    if (node.type !== "Identifier" || !/^[a-z]\w*Text$/.test(textOf(node["name"]))) return true;
    const keys: string[] = [];
    let inner = node;
    for (const one of above) {
      if (one.type !== "MemberExpression" || (one["object"] as Node).start !== node.start) break;
      const property = one["property"] as Node;
      if (one["computed"] && property.type !== "Literal") break;
      keys.push(textOf(property["name"]) || textOf(property["value"]));
      inner = one;
    }
    if (inner === node && above[0]?.type !== "MemberExpression") return true;
    uses.push({
      section: textOf(node["name"]),
      keys,
      isAtModuleLevel: !above.some(({ type }) => /Function/.test(type)),
      where: `${path}:${text.slice(0, node.start).split("\n").length}`,
    });
    return true;
  });
  return uses;
}
