// Builds the documents to a small site in dist/docs, which the relay serves under /docs. Run by `npm run build`; fails when a
// link leads nowhere, or a page is in no list.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { contentsOf, type Section } from "./contents.ts";
import { deadLinks } from "./links.ts";
import { architecture, besideName, readPage, type Page } from "./page.ts";
import { searchIndex } from "./search.ts";
import { frame } from "./frame.ts";

/** Beside the texts. */
const own = fileURLToPath(new URL("./", import.meta.url));
const icon = fileURLToPath(new URL("../../dashboard/public/icon.svg", import.meta.url));

/** Writes the site and returns what is wrong with the documents, in sentences; then nothing is written. */
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
  for (const name of ["site.css", "site.js", "theme.js"]) keep(name, readFileSync(join(own, name)));
  keep("icon.svg", readFileSync(icon));
  for (const file of files)
    if (file.startsWith("examples/")) content.set(`${file}.txt`, readFileSync(join(docs, file)));
  const imageOf = (file: string) => {
    if (!assets.has(file) && files.includes(file)) keep(file, readFileSync(join(docs, file)));
    return assets.get(file);
  };

  const pages = [...files, ...(existsSync(join(docs, architecture)) ? [architecture] : [])]
    .filter((file) => file.endsWith(".md"))
    .map((file) => readPage(file, readFileSync(join(docs, file), "utf8"), imageOf));
  const sections = contentsOf(pages);
  // Files of the project that a page points at come along.
  const beside = pages
    .flatMap(({ links }) => links.map(({ file }) => file))
    .filter((file) => file.startsWith("../") && file !== architecture && existsSync(join(docs, file)));
  for (const file of beside) content.set(besideName(file), readFileSync(join(docs, file)));
  const faults = [
    ...deadLinks(pages, new Set([...files, ...beside, architecture])),
    ...unlisted(pages, sections),
  ];
  if (faults.length) return faults;

  keep("search.json", Buffer.from(JSON.stringify(searchIndex(pages, sections))));
  const order = sections.flatMap((section) => section.pages);
  for (const page of pages)
    content.set(`${page.name}.html`, Buffer.from(frame(page, sections, order, assets)));
  rmSync(out, { recursive: true, force: true });
  for (const [path, bytes] of content) {
    const target = join(out, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, bytes);
    if (/\.(?:html|css|js|json|svg|txt)$/.test(path))
      writeFileSync(`${target}.gz`, gzipSync(bytes, { level: 9 }));
  }
  return [];
}

/** Nobody finds a page that no list leads to. */
function unlisted(pages: readonly Page[], sections: readonly Section[]): string[] {
  const listed = new Set(sections.flatMap((section) => section.pages.map(({ page }) => page.file)));
  return pages
    .filter(({ file }) => file !== "README.md" && !listed.has(file))
    .map(({ file }) => `docs/${file} is not in the table of contents, docs/README.md.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const faults = buildSite(join(root, "docs/"), join(root, "dist/docs"));
  for (const fault of faults) console.error(fault);
  if (faults.length) process.exit(1);
}
