// Builds the documentation site in dist/docs, which the relay serves under /docs. `npm run build` runs this; it fails for a broken
// link, and for a page that is in no list.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { transformSync } from "rolldown/utils";
import type { Part } from "../../src/mcp/rankParts.ts";
import { contentsOf, type Listed, type Section } from "./contents.ts";
import { architecture, projectFileName, readPage, type Page } from "./page.ts";
import { frame } from "./frame.ts";

const ownFolder = fileURLToPath(new URL("./", import.meta.url));
const ranking = fileURLToPath(new URL("../../src/mcp/rankParts.ts", import.meta.url));
const icon = fileURLToPath(new URL("../../dashboard/public/icon.svg", import.meta.url));

/** Writes the site, or returns the faults of the documents as sentences and writes nothing. */
export function buildSite(docs: string, out: string): string[] {
  const files = readdirSync(docs, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(docs.length).replace(/^\//, ""))
    .toSorted();
  const assets = new Map<string, string>();
  const content = new Map<string, Buffer>();
  const keep = (name: string, bytes: Buffer) => {
    const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 10);
    const path = `assets/${name.replace(/(\.\w+)$/, `.${hash}$1`)}`;
    assets.set(name, `/docs/${path}`);
    content.set(path, bytes);
  };
  for (const name of ["site.css", "theme.js"]) keep(name, readFileSync(join(ownFolder, name)));
  const { code } = transformSync(ranking, readFileSync(ranking, "utf8"));
  const names = "{ folded, wordsOf, rankParts }";
  const rank = `const ${names} = (() => {\n${code.replaceAll(/^export (?:\{.*)?/gm, "")}\nreturn ${names};\n})();\n`;
  keep("site.js", Buffer.from(`${rank}${readFileSync(join(ownFolder, "site.js"), "utf8")}`));
  keep("icon.svg", readFileSync(icon));
  for (const file of files)
    if (file.startsWith("examples/")) content.set(`${file}.txt`, readFileSync(join(docs, file)));
    // Editors read a schema at the address that a file names.
    else if (file.endsWith(".schema.json")) content.set(file, readFileSync(join(docs, file)));
  const imageOf = (file: string) => {
    if (!assets.has(file) && files.includes(file)) keep(file, readFileSync(join(docs, file)));
    return assets.get(file);
  };

  const pages = [...files, ...(existsSync(join(docs, architecture)) ? [architecture] : [])]
    .filter((file) => file.endsWith(".md"))
    .map((file) => readPage(file, readFileSync(join(docs, file), "utf8"), imageOf));
  const sections = contentsOf(pages);
  // Files of the project that a page links to are copied too.
  const projectFiles = pages
    .flatMap(({ links }) => links.map(({ file }) => file))
    .filter((file) => file.startsWith("../") && file !== architecture && existsSync(join(docs, file)));
  for (const file of projectFiles) content.set(projectFileName(file), readFileSync(join(docs, file)));
  const faults = [...deadLinks(pages, new Set([...files, ...projectFiles, architecture])), ...unlisted(pages, sections)];
  if (faults.length) return faults;

  // The relay reads the index too, so its name has no hash.
  content.set("search.json", Buffer.from(JSON.stringify(searchIndex(pages, sections))));
  const order = sections.flatMap((section) => section.pages);
  for (const page of pages) {
    content.set(`${page.name}.html`, Buffer.from(frame(page, sections, order, assets)));
    content.set(`${page.name}.md`, Buffer.from(page.sibling));
  }
  content.set("llms.txt", Buffer.from(indexForAssistants(sections)));
  rmSync(out, { recursive: true, force: true });
  for (const [path, bytes] of content) {
    const target = join(out, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, bytes);
    if (/\.(?:html|md|css|js|json|svg|txt)$/.test(path)) writeFileSync(`${target}.gz`, gzipSync(bytes, { level: 9 }));
  }
  return [];
}

/** Lists the pages to which the table of contents does not lead. */
function unlisted(pages: readonly Page[], sections: readonly Section[]): string[] {
  const listed = new Set(sections.flatMap((section) => section.pages.map(({ page }) => page.file)));
  return pages
    .filter(({ file }) => file !== "README.md" && !listed.has(file))
    .map(({ file }) => `docs/${file} is not in the table of contents, docs/README.md.`);
}

/** Lists the links to files and anchors that do not exist. */
function deadLinks(pages: readonly Page[], files: ReadonlySet<string>): string[] {
  const byFile = new Map(pages.map((page) => [page.file, page]));
  return pages.flatMap((page) =>
    page.links.flatMap(({ file, anchor }) => {
      const from = `docs/${page.file}: the link to`;
      if (!files.has(file)) return [`${from} ${file} leads nowhere.`];
      const headings = byFile.get(file)?.headings;
      if (!anchor || headings?.some(({ id }) => id === anchor)) return [];
      return [`${from} ${file}#${anchor} leads to a heading that is not there.`];
    }),
  );
}

/** Writes llms.txt (llmstxt.org): the pages as Markdown, each with a note. Readers with little room may skip "Optional". */
function indexForAssistants(sections: readonly Section[]): string {
  const link = ({ title, page }: Listed) => `- [${title}](/docs/${page.name}.md): ${noteOf(page)}`;
  const lists = sections
    .filter(({ isQuiet }) => !isQuiet)
    .map(({ title, pages }) => `## ${title}\n\n${pages.map(link).join("\n")}`);
  const optional = sections.filter(({ isQuiet }) => isQuiet).flatMap(({ pages }) => pages.map(link));
  return `${[
    "# Cleancast",
    "> Cleancast is an open-source conversion relay: it takes conversions from your systems, finds the ad click behind them, honours consent, removes bots, and delivers to every platform, with each platform's verdict in the answer.",
    "Every page is also at its address with `.md`. The management API is described at `/api/openapi.json` of the same relay.",
    ...lists,
    ["## Optional\n", ...optional].join("\n"),
  ].join("\n\n")}\n`;
}

/** The first sentence of a page, on one line. A paragraph that only leads to a list or a block is none. */
const noteOf = ({ summary, parts: [first], title }: Page) => {
  const text = (summary.endsWith(":") ? (first?.text.replace(summary, "") ?? "") : summary).replaceAll(/\s+/g, " ").trim();
  return /^.{1,400}?\.(?=\s|$)/.exec(text.replace(/^Decision\. /, ""))?.[0] ?? `${title}.`;
};

/** Lists the parts of all pages for the search of the site. */
function searchIndex(pages: readonly Page[], sections: readonly Section[]): Part[] {
  const listed = new Map(
    sections.flatMap((section) => section.pages.map(({ title, page }) => [page.file, { title, section: section.title }])),
  );
  return pages
    .filter(({ file }) => file !== "README.md")
    .flatMap((page) =>
      page.parts
        .filter(({ text, title }) => text.trim() !== "" || title !== "")
        .map(({ id, title, text }) => ({
          s: listed.get(page.file)?.section ?? "",
          t: page.title,
          h: title,
          u: `${page.address}${id ? `#${id}` : ""}`,
          x: text.replaceAll(/\s+/g, " ").trim().slice(0, 1200),
        })),
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const faults = buildSite(join(root, "docs/"), join(root, "dist/docs"));
  for (const fault of faults) console.error(fault);
  if (faults.length) process.exit(1);
}
