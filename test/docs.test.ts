// Generated documents match the code, links are not broken, and the relay serves the documentation site.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { Marked, type Tokens } from "marked";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { buildSite } from "../scripts/docs/build.ts";
import { commandPages, unmatchedNotes } from "../scripts/commandDocs.ts";
import { withStateDiagram } from "../scripts/docs/stateDiagram.ts";
import { configurationFiles } from "../scripts/configurationDocs.ts";
import { rankParts } from "../src/mcp/rankParts.ts";
import { settingsPage } from "../scripts/settingsDocs.ts";
import { platformPages } from "../scripts/platformDocs.ts";
import { sourcePages } from "../scripts/sourceDocs.ts";
import { readConfig } from "../src/installation/config.ts";
import { platforms } from "../src/platforms/index.ts";
import { freshFolder } from "./support/databases.ts";
import { blocksOf, documents, placeOf, root } from "./support/documents/documents.ts";
import { call, newInstallation, type Relay } from "./support/relay.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");

test("the pages of the platforms match what the platforms declare (npm run docs:platforms)", () => {
  const folder = join(root, "docs", "platforms");
  const pages = platformPages();
  expect(readdirSync(folder).toSorted()).toEqual([...pages.keys()].toSorted());
  for (const [name, text] of pages) expect(readFileSync(join(folder, name), "utf8"), name).toBe(text);
});

test("the pages of the kinds of sources match what the kinds declare (npm run docs:sources)", () => {
  const folder = join(root, "docs", "sources");
  const pages = sourcePages();
  expect(readdirSync(folder).toSorted()).toEqual([...pages.keys()].toSorted());
  for (const [name, text] of pages) expect(readFileSync(join(folder, name), "utf8"), name).toBe(text);
});

test("the pages of the commands match what the commands declare (npm run docs:commands), and each has an example", async () => {
  const folder = join(root, "docs/reference/commands");
  const pages = await commandPages();
  expect(await unmatchedNotes()).toEqual([]);
  expect(readdirSync(folder).toSorted()).toEqual([...pages.keys()].toSorted());
  for (const [name, text] of pages) expect(readFileSync(join(folder, name), "utf8"), name).toBe(text);
});

test("every command describes itself in one line of the help", async () => {
  const rows = ((await commandPages()).get("README.md") ?? "").matchAll(/^\| \[`(.+?)`\]\(.+?\) \| (.+) \|$/gm);
  const all = [...rows].map(([, name, text = ""]) => ({ name, length: text.length }));
  expect(all.length).toBeGreaterThan(100);
  expect(all.filter(({ length }) => length > 75)).toEqual([]);
});

test("the schema and the fields of the configuration file are those that apply checks (npm run docs:configuration)", () => {
  for (const [name, text] of configurationFiles())
    expect(readFileSync(join(root, "docs/reference", name), "utf8"), name).toBe(text);
});

test("the settings are those that the relay reads (npm run docs:settings)", () => {
  expect(read("docs/reference/settings.md")).toBe(settingsPage());
});

test.each([
  ["Invalid API key", "how-to/troubleshooting#the-endpoint-refuses-the-request"],
  ["PORT", "reference/settings#host-port"],
  ["dedup", "reference/inbound#duplicates-deduplication"],
  ["duplicate", "reference/inbound#duplicates-deduplication"],
  ["GDPR", "how-to/privacy-settings"],
  ["rate limit", "reference/inbound#rate-limit"],
  ["environment variables", "reference/settings"],
  ["CLEANCAST_URL", "reference/settings#cleancast_url"],
  ["consent", "explanation/consent"],
  ["Calendly", "sources/calendly"],
  ["refund", "how-to/refunds"],
  ["refunds", "how-to/refunds"],
  ["backup", "reference/commands/backup"],
  ["why google counts fewer", "how-to/why-google-counts-fewer"],
])("who searches for %s finds the right page first", (question, address) => {
  const parts = JSON.parse(readFileSync(join(root, "dist/docs/search.json"), "utf8"));
  expect(rankParts(parts, question, 1).map(({ u }) => u)).toEqual([`/docs/${address}`]);
});

test("the example of the configuration file is valid for editors that check it with the schema", () => {
  const { $schema: _, ...schema } = JSON.parse(read("docs/reference/cleancast.schema.json"));
  const form = z.fromJSONSchema(schema);
  const example = parse(read("docs/examples/cleancast.yaml"));
  expect(form.safeParse(example).error).toBeUndefined();
  const [site] = example.sites;
  for (const bad of [
    { ...example, version: 2 },
    { ...example, sites: [{ ...site, keys: [{ name: "CRM", key: "short" }] }] },
    { ...example, sites: [{ ...site, webhooks: [{ url: "https://example.com", secret: "plain" }] }] },
    { ...example, sites: [{ ...site, setting: {} }] },
  ])
    expect(form.safeParse(bad).success).toBe(false);
});

test("the drawing of the delivery states is the one that their model gives (npm run docs:diagrams)", () => {
  const page = readFileSync(join(root, "docs/explanation/concepts.md"), "utf8");
  expect(page).toContain("stateDiagram-v2");
  expect(withStateDiagram(page)).toBe(page);
});

test("the comparison counts the platforms, and repeats the figures of the performance pages", () => {
  const comparison = read("docs/explanation/comparison.md");
  // Everything but the sandbox; Klaviyo, HubSpot, Segment and webhooks are no ad or analytics platforms.
  const count = platforms.length - 1;
  expect(comparison).toContain(`[${count}](../platforms/README.md): ${count - 4} ad and analytics platforms`);
  const performance = read("docs/explanation/performance.md");
  const [, rate = ""] = /^\| 3 \| ([\d,]+) \|/m.exec(performance) ?? [];
  const [, idle = ""] = /uses (\d+ MB) when idle/.exec(performance) ?? [];
  expect(comparison).toContain(`${idle} when idle, ${rate} events a second with three connections`);
  const [, size = ""] =
    /bytes at rest per event, without answers \|[^|]+\| ([\d.]+ KB)/.exec(read("docs/explanation/benchmarks.md")) ?? [];
  expect(comparison).toContain(`[${size}](benchmarks.md) on disk for each event`);
});

/** Files that pages name, and files of this project in their place. */
const namedFiles: Readonly<Record<string, string>> = {
  "/etc/cleancast/backup-hook": join(root, "docs/examples/backup-hook.sh"),
  "/etc/cleancast/ca.crt": join(root, "test/fixtures/tls-cert.pem"),
};

const settingBlocks = documents.flatMap(blocksOf).filter(({ language, text }) => language === "ini" && /^[A-Z_]+=/m.test(text));

test("pages have blocks of settings", () => expect(settingBlocks.length).toBeGreaterThan(8));

test.each(settingBlocks.map((block) => [placeOf(block), block] as const))(
  "the settings of %s are valid, and the relay knows each of them",
  (_, { text }) => {
    // A value that only the reader knows is a key or a password.
    const filled = text.replaceAll("…", "ab".repeat(32));
    const variables = parseEnv(Object.entries(namedFiles).reduce((all, [named, own]) => all.replaceAll(named, own), filled));
    expect(readConfig(variables).unknownVariables).toEqual([]);
  },
);

test("no two pages send the same order, so that a reader of both never gets `deduped`", () => {
  const pagesOf = new Map<string, Set<string>>();
  for (const { page, text } of documents.flatMap(blocksOf).filter(({ mark }) => /^(?:run|examples\/)/.test(mark)))
    for (const [, order = ""] of text.matchAll(/\borderId["']?\s*(?::|=>)\s*["']([^"'{]+)["']/g))
      pagesOf.set(order, (pagesOf.get(order) ?? new Set()).add(page));
  expect(pagesOf.size).toBeGreaterThan(8);
  expect([...pagesOf].filter(([, pages]) => pages.size > 1).map(([order, pages]) => [order, ...pages])).toEqual([]);
});

test("commands are written one way, `npx cleancast`, in pages and in the output of the relay", () => {
  const files = [...documents, "src/installation/firstStart.ts", "src/commands/terminal/invocation.ts"];
  expect(files.filter((file) => readFileSync(join(root, file), "utf8").includes("--no-install"))).toEqual([]);
  const bare = documents
    .flatMap(blocksOf)
    .filter(({ language, text }) => language === "sh" && /^(?:sudo )?cleancast /m.test(text))
    .map(({ page }) => page);
  // A completion script needs the command itself on the PATH.
  expect(bare).toEqual(["docs/reference/cli.md"]);
});

/** The guides for systems that send conversions. */
const senderGuides = documents.filter((page) => /^# Send (?!past)/.test(readFileSync(join(root, page), "utf8")));

test.each(senderGuides)("%s says how to fill a gap with an import", (page) => {
  const [, section = ""] = readFileSync(join(root, page), "utf8").split("\n## Fill a gap\n");
  expect(section).toMatch(/import-conversions\.md#fill-a-gap|cleancast import conversions/);
});

test.each(senderGuides)("%s has a table of the fields that it sends", (page) => {
  const [, section = ""] = readFileSync(join(root, page), "utf8").split("\n## Fields\n");
  const table = section.split("\n## ")[0] ?? "";
  for (const field of ["email", "event", "orderId"]) expect(table).toMatch(new RegExp(`^\\| .*\`${field}\``, "m"));
});

test.each(documents)("every relative link in %s leads to an existing file", (document) => {
  const text = readFileSync(join(root, document), "utf8");
  const targets = [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, target]) => target as string);
  for (const target of targets) expect(existsSync(resolve(root, dirname(document), target)), target).toBe(true);
});

const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

test.each(documents)("every npm script and every file of the project that %s names exists", (document) => {
  const text = readFileSync(join(root, document), "utf8");
  const named = [...text.matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, name]) => name as string);
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  const paths = [...text.matchAll(/`((?:src|test|docs|tag|dashboard|standins|bench|scripts)\/[\w./-]*)`/g)];
  expect(paths.map(([, path]) => path as string).filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("docs/explanation/promises.md names a test or a benchmark for each promise and each long run, and they exist", () => {
  const text = readFileSync(join(root, "docs/explanation/promises.md"), "utf8");
  const rows = [...text.matchAll(/^\| (?!promise |test |run )(.+) \|$/gm)].map(([, row]) => row as string);
  expect(rows.length).toBeGreaterThan(30);
  const isBenchmark = (name: string) => name.startsWith("bench/") && existsSync(join(root, name));
  const isTest = (name: string) => existsSync(join(root, name)) && (name.endsWith(".test.ts") || hasTest(join(root, name)));
  const untested = rows.filter((row) => {
    const names = [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string);
    return !names.some((name) => isBenchmark(name) || isTest(name));
  });
  expect(untested).toEqual([]);
});

const hasTest = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).some((name) => name.endsWith(".test.ts"));

describe("the documentation site", () => {
  const built = freshFolder();
  let faults: readonly string[];
  beforeAll(() => {
    faults = buildSite(join(root, "docs/"), built);
  });

  test("the documentation site has every document and no broken link", () => {
    expect(faults).toEqual([]);
    const files = readdirSync(built, { recursive: true, encoding: "utf8" });
    const pages = files.filter((name) => name.endsWith(".html"));
    expect(pages.length).toBe(documents.filter((name) => name.startsWith("docs/") || name === "ARCHITECTURE.md").length);
    for (const name of pages) {
      const html = readFileSync(join(built, name), "utf8");
      // The Content-Security-Policy of these pages forbids inline scripts, styles and handlers.
      expect(html).not.toMatch(/<script>|<style|<[^>]*\s(?:style|on\w+)=/);
      for (const [, address = "", anchor] of html.matchAll(/(?:href|src|data-index)="(\/docs\/[^"#]*)(?:#([^"]*))?"/g)) {
        const path = address.slice("/docs/".length) || "index";
        const file = [path, `${path}.html`].find((one) => existsSync(join(built, one)) && /\.\w+$/.test(one));
        expect(file, `${name} → ${address}`).toBeDefined();
        if (anchor) expect(readFileSync(join(built, file ?? ""), "utf8")).toContain(`id="${anchor}"`);
      }
    }
  });

  test("every page has a Markdown sibling, and llms.txt and the siblings link only to files of the site", () => {
    const files = readdirSync(built, { recursive: true, encoding: "utf8" });
    const siblings = files.filter((name) => name.endsWith(".md"));
    expect(siblings.map((name) => name.replace(/md$/, "html")).toSorted()).toEqual(
      files.filter((name) => name.endsWith(".html")).toSorted(),
    );
    const linksOf = (name: string) => {
      const hrefs: string[] = [];
      const reader = new Marked({
        gfm: true,
        walkTokens: (token) => {
          if (token.type === "link" || token.type === "image") hrefs.push((token as Tokens.Link).href);
        },
      });
      void reader.parse(readFileSync(join(built, name), "utf8"));
      return hrefs.filter((href) => !/^(?:https?:|mailto:|#)/.test(href));
    };
    for (const name of ["llms.txt", ...siblings])
      for (const href of linksOf(name)) {
        expect(href, name).toMatch(/^\/docs\/./);
        expect(existsSync(join(built, href.replace(/#.*/, "").slice("/docs/".length))), `${name} → ${href}`).toBe(true);
      }
    const listed = new Set(linksOf("llms.txt").map((href) => href.slice("/docs/".length)));
    expect(siblings.filter((name) => !listed.has(name))).toEqual(["index.md"]);
    const index = readFileSync(join(built, "llms.txt"), "utf8");
    expect(index).toMatch(/^# Cleancast\n\n> .+\n\n[^#]+\n\n## Tutorials\n\n- \[/);
    expect(index.split("\n").filter((line) => line.startsWith("- ") && !/^- \[[^\]]+\]\([^)]+\): .{8,}\.$/.test(line))).toEqual(
      [],
    );
    for (const name of siblings) {
      const html = readFileSync(join(built, name.replace(/md$/, "html")), "utf8");
      expect(html).toContain(`<link rel="alternate" type="text/markdown" href="/docs/${name}">`);
      expect(html).toContain('<link rel="describedby" type="text/markdown" href="/docs/llms.txt">');
    }
  });

  test("the documentation site is not built if there is a broken link, a missing anchor or an unlisted page", () => {
    const docs = `${freshFolder()}/`;
    mkdirSync(join(docs, "guides"));
    writeFileSync(join(docs, "README.md"), "# Docs\n\n## Begin\n\n- [One](guides/one.md)\n");
    writeFileSync(
      join(docs, "guides/one.md"),
      "# One\n\n## A part\n\n[a](#a-part) [b](two.md#no-part) [c](three.md) ![d](no.png)\n",
    );
    writeFileSync(join(docs, "guides/two.md"), "# Two\n\n[up](../../nothing.yml)\n");
    const out = join(freshFolder(), "site");
    expect(buildSite(docs, out)).toEqual([
      "docs/guides/one.md: the link to guides/two.md#no-part leads to a heading that is not there.",
      "docs/guides/one.md: the link to guides/three.md leads nowhere.",
      "docs/guides/one.md: the link to guides/no.png leads nowhere.",
      "docs/guides/two.md: the link to ../nothing.yml leads nowhere.",
      "docs/guides/two.md is not in the table of contents, docs/README.md.",
    ]);
    expect(existsSync(out)).toBe(false);
  });
});

describe("documentation under /docs", () => {
  let relay: Relay;
  beforeAll(async () => {
    const home = await newInstallation("sqlite");
    await home.addSite("shop.example.com");
    relay = await home.start();
  });
  const ask = (path: string, headers: Record<string, string> = {}) => call(relay.url, { method: "GET", path, headers });

  test("the JSON Schema of the configuration file has the address that the documents name", async () => {
    const { status, headers, text } = await ask("/docs/reference/cleancast.schema.json");
    expect([status, headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
    expect(JSON.parse(text)).toMatchObject({ title: "Cleancast configuration file", type: "object" });
  });

  test("pages under /docs have clean addresses, are compressed, and are revalidated instead of sent twice", async () => {
    const bare = await ask("/docs");
    expect([bare.status, bare.headers.location]).toEqual([308, "/docs/"]);
    const folder = await ask("/docs/platforms/");
    expect([folder.status, folder.headers.location]).toEqual([308, "/docs/platforms"]);
    for (const path of ["/docs/", "/docs/tutorials/quick-start", "/docs/platforms", "/docs/platforms/meta"]) {
      const page = await ask(path);
      expect([path, page.status, page.headers["content-type"], page.headers["cache-control"]]).toEqual([
        path,
        200,
        "text/html; charset=utf-8",
        "no-cache",
      ]);
      expect(page.headers["content-security-policy"]).toMatch(/default-src 'none'; script-src 'self'; style-src 'self';/);
      expect(page.text).toContain("<!doctype html>");
      const again = await ask(path, { "if-none-match": String(page.headers.etag) });
      expect([again.status, again.text]).toEqual([304, ""]);
    }
    const zipped = await ask("/docs/", { "accept-encoding": "gzip" });
    expect(zipped.headers["content-encoding"]).toBe("gzip");
  });

  test("assets under /docs are cached for ever, and examples are plain text", async () => {
    const { text } = await ask("/docs/");
    for (const kind of ["css", "js", "svg"]) {
      const address = new RegExp(`"(/docs/assets/[^"]+\\.${kind})"`).exec(text)?.[1] ?? "";
      const asset = await ask(address);
      expect([kind, asset.status, asset.headers["cache-control"]]).toEqual([kind, 200, "public, max-age=31536000, immutable"]);
    }
    const example = await ask("/docs/examples/event-receiver.mjs.txt");
    expect([example.status, example.headers["content-type"]]).toEqual([200, "text/plain; charset=utf-8"]);
    expect(example.text).toBe(readFileSync(join(root, "docs/examples/event-receiver.mjs"), "utf8"));
    const settings = await ask("/docs/files/env.example.txt");
    expect([settings.status, settings.headers["content-type"]]).toEqual([200, "text/plain; charset=utf-8"]);
  });

  test("pages under /docs are Markdown at their address with .md, and for readers that ask for it", async () => {
    const sibling = await ask("/docs/platforms/meta.md");
    expect([sibling.status, sibling.headers["content-type"]]).toEqual([200, "text/markdown; charset=utf-8"]);
    expect(sibling.text).toMatch(/^# Meta\n/);
    const asked = await ask("/docs/platforms/meta", { accept: "text/markdown, text/html;q=0.8" });
    expect([asked.text, asked.headers["content-type"]]).toEqual([sibling.text, sibling.headers["content-type"]]);
    expect(asked.headers.vary).toBe("accept, accept-encoding");
    const browser = await ask("/docs/platforms/meta", { accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
    expect(browser.headers["content-type"]).toBe("text/html; charset=utf-8");
    const index = await ask("/docs/llms.txt");
    expect([index.status, index.headers["content-type"]]).toEqual([200, "text/plain; charset=utf-8"]);
  });

  test("/docs serves no other file, and nothing on a customer's domain", async () => {
    for (const path of [
      "/docs/nothing",
      "/docs/nothing/",
      "/docs//example.com/",
      "/docs/tag.html",
      "/docs/nothing.md",
      "/docs/..%2fpackage.json",
      "/docs/%2e%2e/relay/cli.js",
      "/docs/.x",
      "/docs//tag",
    ])
      expect([path, (await ask(path)).status]).toEqual([path, 404]);
    expect((await ask("/docs/", { host: "shop.example.com" })).status).toBe(404);
    expect((await ask("/docs/tag", { host: "shop.example.com" })).status).toBe(404);
  });
});
