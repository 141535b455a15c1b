// Reads the documents of the project and their fenced blocks. docs/contributing/documentation.md explains the marks.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Paths from the project's folder. */
export const documents = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
].toSorted();

export type Block = { page: string; line: number; language: string; mark: string; text: string };

export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let open: { indent: string; fence: string; block: Block; lines: string[] } | null = null;
  for (const [i, line] of readFileSync(join(root, page), "utf8").split("\n").entries()) {
    const [, indent = "", fence = "", info = ""] = /^(\s*)(`{3,})(.*)$/.exec(line) ?? [];
    if (open) {
      if (fence.length >= open.fence.length && info.trim() === "") {
        blocks.push({ ...open.block, text: open.lines.join("\n") });
        open = null;
      } else open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
    } else if (fence) {
      const [, language = "", mark = ""] = /^(\S*)\s*(.*)$/.exec(info.trim()) ?? [];
      open = { indent, fence, block: { page, line: i + 1, language, mark, text: "" }, lines: [] };
    }
  }
  if (open) throw new Error(`${page}:${open.block.line}: the block is not closed`);
  return blocks;
}

const runMark = /^(?:run|exits (?<code>\d+))(?: after (?<preparation>.+))?$/;

/** Returns the commands that a mark `run after …` names: they bring the installation into the state that the text describes. */
export const preparationOf = ({ mark }: Block): string | null => runMark.exec(mark)?.groups?.["preparation"] ?? null;

/** Returns the exit code that a block must have. */
export const exitCodeOf = ({ mark }: Block): number => Number(runMark.exec(mark)?.groups?.["code"] ?? 0);

/** Tells the blocks that test/guides.test.ts runs itself. */
export const isRun = ({ mark }: Block) => mark === "sent" || runMark.test(mark);

export const placeOf = ({ page, line }: Block) => `${page}:${line}`;

/**
 * Lists the pages that a page recommends to read next: the links of a paragraph "Next: …" or of a section "Next steps". The lists
 * of the platforms and of the kinds of sources lead to the page of each.
 */
function nextPages(page: string): string[] {
  if (/^docs\/(?:platforms|sources)\/README\.md$/.test(page))
    return documents.filter((other) => other !== page && dirname(other) === dirname(page));
  const text = readFileSync(join(root, page), "utf8");
  const passages = [
    ...text.matchAll(/^Next: [^]*?(?=\n\n|\n*$(?![^]))/gm),
    ...text.matchAll(/^##[^\n]* next steps\n[^]*?(?=\n## |$(?![^]))/gim),
  ].map(([passage]) => passage);
  const links = passages.flatMap((passage) => [...passage.matchAll(/\]\(([^)#\s]+\.md)(?:#[^)]*)?\)/g)]);
  return [...new Set(links.map(([, target = ""]) => normalize(join(dirname(page), target))))].filter((target) =>
    documents.includes(target),
  );
}

/**
 * Returns the trails that readers follow: each begins with a page that no other page leads to, or that `beginsAnew`, and has the
 * pages that it leads to, directly or through others, in the order in which they are read.
 */
export function trailsOf(pages: readonly string[], beginsAnew: (page: string) => boolean): string[][] {
  const ledTo = new Set(pages.flatMap(nextPages));
  return pages
    .filter((page) => !ledTo.has(page) || beginsAnew(page))
    .map((first) => {
      const trail: string[] = [];
      const follow = (page: string) => {
        if (trail.includes(page) || (page !== first && beginsAnew(page))) return;
        trail.push(page);
        for (const next of nextPages(page)) follow(next);
      };
      follow(first);
      return trail;
    });
}
