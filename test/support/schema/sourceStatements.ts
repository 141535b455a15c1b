// Finds every statement in the sources of the store, with gaps for what is put in at run time.

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseAst } from "rolldown/parseAst";

type SourceStatement = {
  file: string;
  text: string;
};

/**
 * Files that never work on the schema of a newer version: they refuse it (backup, check, restore, move, a change of the key),
 * or are the schema itself.
 */
const excluded =
  /\.test\.ts$|^schema\/(?:migrations|migration|distribute|compatibility)|^copy\/|^maintenance\/(?:snapshot|restoreTarget|check|lostKey|reseal)|^engine\/sqlite\/moveLock/;

export function statementsInSource(): SourceStatement[] {
  const folder = fileURLToPath(new URL("../../../src/store/", import.meta.url));
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !excluded.test(file))
    .flatMap((file) => {
      const parts: string[][] = [];
      const ast = parseAst(readFileSync(`${folder}${file}`, "utf8"), { lang: "ts" });
      collect(ast, parts);
      return (
        [...parts, ...inserts(ast).map((text) => [text])]
          .filter(([first]) => /^\s*(?:WITH|SELECT|INSERT|UPDATE|DELETE)\b/.test(first ?? ""))
          // Citus has tables and functions of its own, which no migration changes.
          .filter((some) => !/\b(?:pg_dist_|citus_)/.test(some.join(" ")))
          .map((some) => ({
            file,
            text: some.join("${…}").replaceAll(/\s+/g, " ").trim(),
          }))
      );
    });
}

/** Collects the texts of all template literals, each cut at its gaps. */
function collect(node: unknown, into: string[][]): void {
  if (Array.isArray(node)) for (const one of node) collect(one, into);
  if (typeof node !== "object" || node === null || Array.isArray(node)) return;
  if ("type" in node && node.type === "TemplateLiteral") {
    const { quasis } = node as unknown as { quasis: { value: { cooked: string } }[] };
    into.push(quasis.map(({ value }) => value.cooked));
  }
  for (const value of Object.values(node)) collect(value, into);
}

type Node = { type: string; start: number } & Record<string, unknown>;

/** What `insertRow` and `insertRows` run, as far as their columns and the key of `orReplace` are written in the file. */
function inserts(ast: unknown): string[] {
  const nodes: Node[] = [];
  walk(ast, nodes);
  const texts = (list: unknown) => (list as Node[]).flatMap(({ type, value }) => (type === "Literal" ? [String(value)] : []));
  const callsOf = (all: readonly Node[], ...names: string[]) =>
    all.filter(({ type, callee }) => type === "CallExpression" && names.includes(String((callee as Node)["name"])));
  const constants = nodes.filter(({ type }) => type === "VariableDeclarator");
  /** What an argument holds: itself, or what the last constant of its name before it was set to. */
  const within = (argument: unknown, before: number): Node[] => {
    const { type, name } = (argument ?? {}) as Partial<Node>;
    const isNamed = ({ id, start }: Node) => start < before && (id as Node)["name"] === name;
    const found: Node[] = [];
    walk(type === "Identifier" ? constants.findLast(isNamed)?.["init"] : argument, found);
    return found;
  };
  return callsOf(nodes, "insertRow", "insertRows").flatMap((call) => {
    const [, table, row, more] = call["arguments"] as Node[];
    const [name] = texts(table ? [table] : []);
    const object = within(row, call.start).find(({ type }) => type === "ObjectExpression");
    const named = ((object?.["properties"] ?? []) as Node[]).flatMap(({ key }) => (key ? [String((key as Node)["name"])] : []));
    const [replace] = callsOf(within(more, call.start), "orReplace");
    const [key = "", ...replaced] = replace ? texts(replace["arguments"]) : [];
    // Other names are of an object that becomes a row.
    const columns = [...new Set([...named, ...key.split(", "), ...replaced])].filter((one) => /^[a-z_]+$/.test(one));
    if (name === undefined || columns.length === 0) return [];
    const values = columns.map((_, i) => `$${i + 1}`).join(", ");
    const conflict = key === "" ? "" : ` ON CONFLICT (${key}) DO NOTHING`;
    return [`INSERT INTO ${name} (${columns.join(", ")}) VALUES (${values})${conflict}`];
  });
}

function walk(node: unknown, into: Node[]): void {
  if (typeof node !== "object" || node === null) return;
  if ("type" in node) into.push(node as Node);
  for (const value of Object.values(node)) walk(value, into);
}
