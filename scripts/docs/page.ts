// Reads a page of Markdown: its text as HTML, its headings with anchors, and the targets of its links.

import { posix } from "node:path";
import { Marked, type Tokens } from "marked";
import { escapeHtml } from "../../src/kernel/text.ts";
import { diagramFile, themes } from "./diagrams.ts";
import { highlight } from "./highlight.ts";

/** The only page outside docs/. */
export const architecture = "../ARCHITECTURE.md";

type Heading = { depth: number; id: string; title: string };
/** The searchable text between two headings, without markup and code. */
type Part = { id: string; title: string; text: string };

export type Page = {
  /** The path in docs/: `how-to/install.md`. */
  file: string;
  /** The path in dist/docs without its extension: `how-to/install`, `index`. */
  name: string;
  /** `/docs/how-to/install`. */
  address: string;
  title: string;
  /** The first paragraph, as plain text. */
  summary: string;
  /** As written. */
  markdown: string;
  /** The text of `name.md`: its links lead to other pages' Markdown, wherever the page is read. */
  sibling: string;
  html: string;
  headings: Heading[];
  parts: Part[];
  /** Files, relative to docs/ (`../ops/…` is a file of the project), and anchors in them. */
  links: { file: string; anchor: string }[];
};

/** `platforms/README.md` is the page of its folder. */
const nameOf = (file: string) => {
  if (file === "README.md") return "index";
  return file === architecture ? "architecture" : file.replace(/\/README\.md$/, "").replace(/\.md$/, "");
};
const addressOf = (file: string) => `/docs/${nameOf(file).replace(/^index$/, "")}`;
const siblingOf = (file: string) => `/docs/${nameOf(file)}.md`;

/** Returns the path on the site of a linked file of the project: `../.env.example` is `files/env.example.txt`. */
export const projectFileName = (file: string) => `files/${file.slice(3).replaceAll(/(?<=^|\/)\./g, "")}.txt`;

const fileAddressOf = (file: string) => {
  if (file.startsWith("../")) return `/docs/${projectFileName(file)}`;
  return file.endsWith(".schema.json") ? `/docs/${file}` : `/docs/${file}.txt`;
};

export function readPage(file: string, markdown: string, assetOf: (name: string) => string | undefined): Page {
  const headings: Heading[] = [];
  const parts: Part[] = [{ id: "", title: "", text: "" }];
  const links: Page["links"] = [];
  const addresses = new Map<string, string>();
  const taken = new Map<string, number>();
  let summary = "";
  const marked = new Marked({ gfm: true });
  const plain = (tokens: Tokens.Generic[] | undefined): string =>
    (tokens ?? []).map((one) => (one.tokens ? plain(one.tokens) : one.type === "br" ? " " : String(one.text ?? ""))).join("");
  const addText = (text: string) => {
    const part = parts.at(-1);
    if (part) part.text += `${text} `;
  };

  const target = (href: string): string => {
    if (/^(?:https?:|mailto:)/.test(href)) return href;
    const [path = "", anchor = ""] = href.split("#");
    const linked = path === "" ? file : posix.join(posix.dirname(file), path);
    links.push({ file: linked, anchor });
    const hash = anchor ? `#${anchor}` : "";
    if (path === "") return hash;
    const isPage = linked.endsWith(".md") && (!linked.startsWith("../") || linked === architecture);
    const address = isPage ? addressOf(linked) : fileAddressOf(linked);
    addresses.set(href, `${isPage ? siblingOf(linked) : address}${hash}`);
    return `${address}${hash}`;
  };

  /** Shows the drawing of a block (diagrams.ts), one for each theme. The alternative text is the block's title. */
  const diagram = (block: string): string => {
    const title = /^\s*accTitle: (.+)$/m.exec(block)?.[1] ?? "Diagram";
    const images = themes.map((theme) => {
      const name = diagramFile(block, theme);
      links.push({ file: name, anchor: "" });
      return `<img class="on-${theme}" src="${assetOf(name) ?? ""}" alt="${escapeHtml(title)}" loading="lazy">`;
    });
    return `<figure class="diagram">${images.join("")}</figure>\n`;
  };

  marked.use({
    renderer: {
      heading({ tokens, depth }) {
        const title = plain(tokens);
        const slug = slugOf(title);
        const count = taken.get(slug) ?? 0;
        taken.set(slug, count + 1);
        const id = count ? `${slug}-${count}` : slug;
        headings.push({ depth, id, title });
        if (depth > 1) parts.push({ id, title, text: "" });
        const anchor = depth > 1 ? `<a class="anchor" href="#${id}" aria-label="Link to: ${escapeHtml(title)}">#</a>` : "";
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${anchor}</h${depth}>\n`;
      },
      paragraph({ tokens }) {
        const text = plain(tokens);
        summary ||= text;
        addText(text);
        return `<p>${this.parser.parseInline(tokens)}</p>\n`;
      },
      text(token) {
        if ("tokens" in token && token.tokens) {
          addText(plain(token.tokens));
          return this.parser.parseInline(token.tokens);
        }
        return "escaped" in token && token.escaped ? token.text : escapeHtml(token.text);
      },
      table({ header, rows }) {
        const cell = (tag: string, { tokens, align }: Tokens.TableCell) =>
          `<${tag}${align ? ` class="${align}"` : ""}>${this.parser.parseInline(tokens)}</${tag}>`;
        for (const row of [header, ...rows]) addText(row.map(({ tokens }) => plain(tokens)).join(" "));
        const head = header.some(({ text }) => text !== "")
          ? `<thead><tr>${header.map((one) => cell("th", one)).join("")}</tr></thead>`
          : "";
        const body = rows.map((row) => `<tr>${row.map((one) => cell("td", one)).join("")}</tr>`).join("\n");
        return `<div class="table" tabindex="0" role="region" aria-label="Table"><table>${head}<tbody>${body}</tbody></table></div>\n`;
      },
      code({ text, lang = "" }) {
        const [language = "", mark = ""] = lang.split(" ");
        if (language === "mermaid") return diagram(text);
        const label = mark.startsWith("examples/")
          ? `<a class="file" href="${target(posix.relative(posix.dirname(file), mark))}">${escapeHtml(posix.basename(mark))}</a>`
          : mark === "answer"
            ? `<span class="file">Answer</span>`
            : "";
        return `<div class="code${label ? " labelled" : ""}">${label}<pre tabindex="0"><code>${highlight(text, language)}</code></pre></div>\n`;
      },
      link({ href, tokens }) {
        const isOutside = /^https?:/.test(href);
        return `<a href="${escapeHtml(target(href))}"${isOutside ? ' rel="noreferrer"' : ""}>${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text }) {
        const name = posix.join(posix.dirname(file), href);
        links.push({ file: name, anchor: "" });
        const address = assetOf(name) ?? "";
        addresses.set(href, address);
        return `<img src="${address}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
    },
  });
  const html = marked.parse(markdown, { async: false });
  const title = headings.find(({ depth }) => depth === 1)?.title ?? nameOf(file);
  return {
    file,
    name: nameOf(file),
    address: addressOf(file),
    title,
    summary,
    markdown,
    sibling: markdown.replaceAll(/\]\(([^)\s]+)\)/g, (link, href: string) => {
      const address = addresses.get(href);
      return address === undefined ? link : `](${address})`;
    }),
    html,
    headings,
    parts,
    links,
  };
}

/** Builds anchors as code hosts do, so that a link to a heading works in both places. */
export function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, "")
    .replaceAll(" ", "-");
}
