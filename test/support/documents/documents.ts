// Reads the documents of the project and their fenced blocks. CONTRIBUTING.md explains the marks.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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

export const placeOf = ({ page, line }: Block) => `${page}:${line}`;
