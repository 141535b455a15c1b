// Finds every statement in the sources of the store, with gaps for what is put in at run time.

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseAst } from "rolldown/parseAst";

export type SourceStatement = {
  file: string;
  text: string;
  /** The statement has no gaps. */
  isWhole: boolean;
  isIn: (text: string) => boolean;
};

/**
 * Files that never work on the schema of a newer version: they refuse it (backup, check, restore, move, a change of the key),
 * or are the schema itself.
 */
const excluded =
  /\.test\.ts$|^schema\/(?:migrations|migration|distribute|compatibility)|^maintenance\/(?:snapshot|restoreTarget|copy|check|lostKey|reseal)|^engine\/sqlite\/moveLock/;

export function statementsInSource(): SourceStatement[] {
  const folder = fileURLToPath(new URL("../../../src/store/", import.meta.url));
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !excluded.test(file))
    .flatMap((file) => {
      const parts: string[][] = [];
      const source = readFileSync(`${folder}${file}`, "utf8");
      collect(parseAst(source, { lang: "ts" }), parts);
      const names = [...source.matchAll(/"([a-z_]+)"/g)].map((found) => found[1] as string);
      return (
        parts
          .filter(([first]) => /^\s*(?:WITH|SELECT|INSERT|UPDATE|DELETE)\b/.test(first ?? ""))
          // Citus has tables and functions of its own, which no migration changes.
          .filter((some) => !/\b(?:pg_dist_|citus_)/.test(some.join(" ")))
          .map((some) => ({
            file,
            text: some.join("${…}").replaceAll(/\s+/g, " ").trim(),
            isWhole: some.length === 1 && !/\{(?:ROWS|KEYS|\d)\}/.test(some[0] ?? ""),
            isIn: matcherOf(some, names),
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

/** White space is ignored: a gap between two spaces may be empty. */
const withoutSpace = (text: string) => text.replaceAll(/\s+/g, "");
const cache = new Map<string, string>();

/** Caches the result: each text is compared with hundreds of others. */
function withoutSpaceOnce(text: string): string {
  const result = cache.get(text) ?? withoutSpace(text);
  cache.set(text, result);
  return result;
}

/** Returns whether a text contains the statement. A regular expression of the parts would take too long on long texts. */
function matcherOf(parts: readonly string[], names: readonly string[]): (text: string) => boolean {
  const wanted = parts.flatMap((part) => withoutSpace(part).split(/\{(?:ROWS|FIRSTS|KEYS|\d)\}/));
  return (text) => {
    const given = withoutSpaceOnce(text);
    let at = 0;
    for (const [i, part] of wanted.entries()) {
      const found = given.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
      // A table in a gap must be one that the file names: tests have statements of their own.
      const isTable = i < wanted.length - 1 && /(?:FROM|INTO|UPDATE)$/.test(part);
      if (isTable && !names.some((name) => given.startsWith(name, at))) return false;
    }
    return true;
  };
}
