// Every statement that stands in the sources of the store, with gaps: what is put in at run time may be anything.

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseAst } from "rolldown/parseAst";

export type SourceStatement = {
  file: string;
  text: string;
  /** Nothing is put in. */
  isWhole: boolean;
  isIn: (text: string) => boolean;
};

/**
 * Of all files but those that never work on the schema of a newer version: they refuse it (backup, check, restore, move, a
 * change of the key), or are the schema.
 */
const elsewhere =
  /\.test\.ts$|^schema\/(?:migrations|migration|distribute|compatibility)|^maintenance\/(?:snapshot|restoreTarget|copy|check|lostKey|reseal)|^engine\/sqlite\/moveLock/;

export function statementsInSource(): SourceStatement[] {
  const folder = fileURLToPath(new URL("../../src/store/", import.meta.url));
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !elsewhere.test(file))
    .flatMap((file) => {
      const parts: string[][] = [];
      const source = readFileSync(`${folder}${file}`, "utf8");
      collect(parseAst(source, { lang: "ts" }), parts);
      const names = [...source.matchAll(/"([a-z_]+)"/g)].map((found) => found[1] as string);
      return parts
        .filter(([first]) => /^\s*(?:WITH|SELECT|INSERT|UPDATE|DELETE)\b/.test(first ?? ""))
        .map((some) => ({
          file,
          text: some.join("${…}").replaceAll(/\s+/g, " ").trim(),
          isWhole: some.length === 1 && !some[0]?.includes("{ROWS}"),
          isIn: matcherOf(some, names),
        }));
    });
}

/** The texts of all template literals, each cut where something is put in. */
function collect(node: unknown, into: string[][]): void {
  if (Array.isArray(node)) for (const one of node) collect(one, into);
  if (typeof node !== "object" || node === null || Array.isArray(node)) return;
  if ("type" in node && node.type === "TemplateLiteral") {
    const { quasis } = node as unknown as { quasis: { value: { cooked: string } }[] };
    into.push(quasis.map(({ value }) => value.cooked));
  }
  for (const value of Object.values(node)) collect(value, into);
}

/** White space counts nowhere: what is put in may be nothing, between two spaces. */
const bare = (text: string) => text.replaceAll(/\s+/g, "");
const bareTexts = new Map<string, string>();

/** Each is held against hundreds of others. */
function bareOnce(text: string): string {
  const made = bareTexts.get(text) ?? bare(text);
  bareTexts.set(text, made);
  return made;
}

/** Is it this statement, or does it hold it? A pattern of the parts would take for ever on the longer ones. */
function matcherOf(parts: readonly string[], names: readonly string[]): (text: string) => boolean {
  const wanted = parts.flatMap((part) => bare(part).split(/\{(?:ROWS|FIRSTS)\}/));
  return (text) => {
    const given = bareOnce(text);
    let at = 0;
    for (const [i, part] of wanted.entries()) {
      const found = given.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
      // A table that is put in is one that the file names: tests have statements of their own.
      const isTable = i < wanted.length - 1 && /(?:FROM|INTO|UPDATE)$/.test(part);
      if (isTable && !names.some((name) => given.startsWith(name, at))) return false;
    }
    return true;
  };
}
