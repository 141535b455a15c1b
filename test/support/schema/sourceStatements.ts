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
      collect(parseAst(readFileSync(`${folder}${file}`, "utf8"), { lang: "ts" }), parts);
      return (
        parts
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
