// An export is a promise to other files: no file exports what no other file uses.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const folders = ["src", "dashboard", "tag", "standins", "bench", "scripts", "test"];

/** Vite, vitest, the fault simulation (decisions.ts writes an import of itself into what it watches) and the list of examples load these files by their paths. */
const isLoadedByPath =
  /\.config\.ts$|^src\/(?:platforms|sources\/kinds)\/\w+\/examples\.ts$|^test\/support\/runner\/|^test\/simulation\/(?:substitutes\/|runtime\/hooks\.ts|decisions\.ts)/;

type Files = ReadonlyMap<string, string>;

function readFiles(): Files {
  const paths = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`),
  );
  const own = [...paths, "vitest.config.ts"].filter((path) => /\.tsx?$/.test(path) && !path.includes("node_modules"));
  return new Map(own.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

const namesIn = (list: string) =>
  list
    .split(",")
    .map((item) => item.replace(/^\s*type\s+/, "").trim())
    .filter(Boolean);

function exportsOf(text: string): string[] {
  const declared = text.matchAll(
    /^export (?:declare )?(?:async )?(?:function\*?|const|let|class|abstract class|type|interface|enum) (\w+)/gm,
  );
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = ""]) =>
    namesIn(list).map((item) => item.split(/\s+as\s+/).at(-1) as string),
  );
  return [...[...declared].map(([, name]) => name as string), ...listed, ...(/^export default /m.test(text) ? ["default"] : [])];
}

/** The names that a text takes from other files, by file. `*` stands for all of them. */
function importsOf(path: string, text: string): { from: string; name: string }[] {
  const target = (specifier: string) => relative(root, resolve(root, dirname(path), specifier));
  const clauses = text.matchAll(/^\s*(?:import|export)\s+(?:type\s+)?([^"';]*?)\s*from\s+"(\.[^"]+)"/gm);
  const named = [...clauses].flatMap(([, clause = "", specifier = ""]) => {
    const list = /\{([^}]*)\}/.exec(clause)?.[1] ?? "";
    const names = namesIn(list).map((item) => item.split(/\s+as\s+/)[0] as string);
    if (clause.includes("*")) names.push("*");
    if (/^\w/.test(clause)) names.push("default");
    return names.map((name) => ({ from: target(specifier), name }));
  });
  const whole = [...text.matchAll(/import\(\s*"(\.[^"]+)"/g)].map(([, specifier = ""]) => ({
    from: target(specifier),
    name: "*",
  }));
  return [...named, ...whole];
}

function needlessExports(files: Files): string[] {
  const used = new Map<string, Set<string>>();
  for (const [path, text] of files)
    for (const { from, name } of importsOf(path, text)) used.set(from, (used.get(from) ?? new Set()).add(name));
  return [...files].flatMap(([path, text]) => {
    const names = used.get(path) ?? new Set();
    if (names.has("*") || isLoadedByPath.test(path)) return [];
    return exportsOf(text)
      .filter((name) => !names.has(name))
      .map((name) => `${path}: ${name}`);
  });
}

test("every export is used by another file", () => {
  expect(needlessExports(readFiles())).toEqual([]);
});

test("a needless export is found, whatever its form", () => {
  const files = new Map([
    [
      "src/a.ts",
      `export const used = 1;\nexport function* needless() {}\nexport type Needless = 1;\nconst b = 1;\nexport { b as c };\nexport default b;`,
    ],
    ["src/b.ts", `import { used as other, type\n  Other } from "./a.ts";`],
    ["src/c.ts", `export const some = 1;`],
    ["src/d.ts", `const { some } = await import("./c.ts");`],
    ["src/e.ts", `export { used } from "./a.ts";`],
  ]);
  expect(needlessExports(files)).toEqual([
    "src/a.ts: needless",
    "src/a.ts: Needless",
    "src/a.ts: c",
    "src/a.ts: default",
    "src/e.ts: used",
  ]);
});
