// Checks the layers and the import rules of src. ARCHITECTURE.md explains them.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { contract } from "../src/contract/contract.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const src = join(root, "src");

/**
 * From the top layer down. A file may import from its own folder and from the layers below. Folders of the top layer may also
 * import each other.
 */
const layers: readonly (readonly string[])[] = [
  ["cli.ts", "main.ts", "commands", "server", "installation", "observability", "doctor"],
  ["import", "mcp"],
  ["inbound", "collect", "oauth", "api"],
  ["configFile", "sharing"],
  ["pipeline.ts", "outbound", "alerts", "statistics", "domains", "maintenance", "reconcile", "export"],
  ["delivery", "access"],
  ["identity", "sites"],
  ["store", "platforms", "traffic", "sources"],
  ["tables"],
  ["http", "contract", "background"],
  ["kernel"],
];

type Source = { path: string; folder: string; text: string; imports: string[] };

const sources: Source[] = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => {
    const text = readFileSync(join(src, path), "utf8");
    const imports = [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(([, target]) =>
      relative(src, resolve(src, dirname(path), target as string)),
    );
    return { path, folder: path.split("/")[0] as string, text, imports };
  });
const code = sources.filter(({ path }) => !path.endsWith(".test.ts"));

const layerOf = (folder: string) => layers.findIndex((names) => names.includes(folder));

describe("the architecture", () => {
  test("every folder of src belongs to a layer", () => {
    expect(code.filter(({ folder }) => layerOf(folder) < 0).map(({ path }) => path)).toEqual([]);
  });

  test("imports only go down a layer, or stay in their folder", () => {
    const upward = code.flatMap(({ path, folder, imports }) =>
      imports
        .map((target) => ({ target, targetFolder: target.split("/")[0] as string }))
        .filter(({ targetFolder }) => targetFolder !== folder)
        .filter(({ targetFolder }) => !(layerOf(folder) === 0 && layerOf(targetFolder) === 0))
        .filter(({ targetFolder }) => layerOf(targetFolder) <= layerOf(folder))
        .map(({ target }) => `${path} imports ${target}`),
    );
    expect(upward).toEqual([]);
  });

  test("no identifier uses a word that a reader has to translate back into the known term", () => {
    const banned =
      /^(?:breath|companions?|company|manner|innocents?|guilty|blames?|foretold|unseen|peek|desk|door|myself|beside|attic|house|rehearsal|examination|whoever|nobody|somebody|patience)$/i;
    // As a first word these stand for max, min and a length.
    const bannedFirst = /^(?:most|least|longest|shortest)$/;
    const found = code.flatMap(({ path, text }) =>
      [...new Set(withoutTexts(text).match(/[A-Za-z_$][\w$]*/g))]
        .filter((name) => {
          const words = name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];
          return words.some((word) => banned.test(word)) || bannedFirst.test(words[0] ?? "");
        })
        .map((name) => `${path}: ${name}`),
    );
    expect(found).toEqual([]);
    expect(withoutTexts('const a = "door"; // door\nconst door = `door`;')).toMatch(/^[^]*const door = ``;$/);
  });

  test("kernel/event.ts imports nothing", () => {
    expect(code.find(({ path }) => path === "kernel/event.ts")?.text).not.toMatch(/^import/m);
  });

  test("only identity/person and the sample events cast to Sha256, apart from the store, which reads hashes from rows", () => {
    const makers = code.filter(({ folder, text }) => folder !== "store" && /\bas Sha256\b/.test(text));
    expect(makers.map(({ path }) => path).toSorted()).toEqual(["identity/person.ts", "platforms/shared/sample.ts"]);
  });

  test("no file of the store accepts a plain email address", () => {
    const takers = code.filter(({ folder, text }) => folder === "store" && /\bPlain(?:Email)?\b/.test(text));
    expect(takers.map(({ path }) => path)).toEqual([]);
  });

  test("only the store contains SQL", () => {
    const sql = /\b(?:SELECT\s.+\sFROM|INSERT INTO|DELETE FROM|UPDATE\s+\w+\s+SET|CREATE TABLE)\b/s;
    expect(
      code.filter(({ folder, text }) => folder !== "store" && sql.test(text)).map(({ path }) => path),
      // A query that people run over exported files; and the Google Ads Query Language, which looks like SQL.
    ).toEqual(["export/query.ts", "platforms/google_ads/pickers.ts"]);
  });

  test("only config.ts reads the environment", () => {
    const readers = code.filter(({ text }) => /process\.env\b/.test(text)).map(({ path }) => path);
    expect(readers).toEqual(["installation/config.ts"]);
  });

  test("only delivery/send.ts, delivery/download.ts and export/upload.ts import undici, and no file calls fetch", () => {
    const callers = code.filter(({ text }) => /from "undici"/.test(text)).map(({ path }) => path);
    expect(callers.toSorted()).toEqual(["delivery/download.ts", "delivery/send.ts", "export/upload.ts"]);
    expect(code.filter(({ text }) => /\bfetch\(/.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test("only tables/formulas.ts writes CSV, and every route of a CSV file ends in .csv: the compiler asks them for escaped texts", () => {
    const writers = code.filter(({ text }) => /from "csv-stringify/.test(text) || /\bas CsvText\b/.test(text));
    expect(writers.map(({ path }) => path)).toEqual(["tables/formulas.ts"]);
    const files = Object.entries(contract).filter(([, { answer }]) => answer === "csv");
    expect(files.map(([name]) => name).filter((name) => !name.endsWith(".csv"))).toEqual([]);
    expect(files.length).toBeGreaterThan(5);
  });

  test("platform files never send: they import nothing outside of platforms but the vocabulary, currencies, time and messages", () => {
    const names = ["event", "confirmation", "quality", "currency", "time", "messages/message"];
    const allowed = names.map((name) => `kernel/${name}.ts`);
    const reaching = code
      .filter(({ folder }) => folder === "platforms")
      .flatMap(({ path, imports }) =>
        imports
          .filter((target) => !target.startsWith("platforms/") && !allowed.includes(target))
          .map((target) => `${path} imports ${target}`),
      );
    expect(reaching).toEqual([]);
  });

  test("examples are no part of the relay: only other examples import them", () => {
    const isExample = (path: string) => /(?:^|\/|[a-z])[eE]xamples?\.ts$/.test(path) && path.startsWith("platforms/");
    expect(code.filter(({ path }) => isExample(path)).length).toBeGreaterThan(20);
    const importing = code.filter(({ path, imports }) => !isExample(path) && imports.some(isExample));
    expect(importing.map(({ path }) => path)).toEqual([]);
  });

  test("ARCHITECTURE.md names every folder of src, and every path that it names exists", () => {
    const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
    const paths = [...page.matchAll(/`((?:src|test|docs|tag|dashboard|standins|bench|scripts)\/[\w./-]*)`/g)].map(
      ([, path]) => path as string,
    );
    expect(paths.length).toBeGreaterThan(20);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    const folders = new Set(code.map(({ folder }) => folder).filter((name) => !name.endsWith(".ts")));
    expect([...folders].filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
  });

  test("no folder of src, the dashboard or the tag holds more than 20 files, not counting tests", () => {
    const pages = ["dashboard", "tag"].flatMap((top) =>
      readdirSync(join(root, top), { recursive: true, encoding: "utf8" }).map((path) => join(top, path)),
    );
    const files = [...code.map(({ path }) => path), ...pages.filter((path) => /\.tsx?$/.test(path))];
    const counts = Map.groupBy(files, (path) => dirname(path));
    // These have a file for each migration, for each section of the texts, and for each platform.
    const isList = (folder: string) => /migrations$|messages\/de$|de\/platforms$/.test(folder);
    const full = [...counts].filter(([folder, found]) => found.length > 20 && !isList(folder));
    expect(full.map(([folder, found]) => `${folder}: ${found.length}`)).toEqual([]);
  });

  test("no file is named utils, helpers, types or the like, and only platforms and kinds of sources have an index.ts", () => {
    const vague = sources.filter(({ path }) => /^(?:utils?|helpers?|types|common|misc|lib)\b/.test(basename(path)));
    expect(vague.map(({ path }) => path)).toEqual([]);
    const barrels = code.filter(({ path }) => basename(path) === "index.ts").map(({ path }) => path);
    expect(barrels.filter((path) => !/^(?:platforms|sources\/kinds)\/(?:\w+\/)?index\.ts$/.test(path))).toEqual([]);
  });

  test("no source file is longer than 400 lines", () => {
    const long = code
      // A migration is one list of statements, however many there are.
      .filter(({ path, text }) => !path.includes("/migrations/") && text.split("\n").length > 401)
      .map(({ path }) => path);
    expect(long).toEqual([]);
  });
});

/** Removes comments, strings, templates and regular expressions, so that identifiers and keywords are left. */
function withoutTexts(text: string): string {
  return text
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/(?<!:)\/\/.*/g, "")
    .replaceAll(/"(?:[^"\\\n]|\\.)*"/g, '""')
    .replaceAll(/`[^`]*`/g, "``")
    .replaceAll(/\/(?:[^/\\\n]|\\.)+\/[gimsuy]*/g, "//");
}
