// Reads the table of contents: the lists of docs/README.md, and the decisions in the order of their numbers.

import type { Page } from "./page.ts";

export type Listed = { title: string; page: Page };
export type Section = { title: string; pages: Listed[]; isQuiet: boolean };

export function contentsOf(pages: readonly Page[]): Section[] {
  const byFile = new Map(pages.map((page) => [page.file, page]));
  const sections: Section[] = [];
  for (const line of byFile.get("README.md")?.markdown.split("\n") ?? []) {
    const heading = /^## (.+)$/.exec(line)?.[1];
    if (heading) sections.push({ title: heading, pages: [], isQuiet: false });
    const [, title, file] = /^- \[([^\]]+)\]\(([^)]+)\)/.exec(line) ?? [];
    const page = byFile.get(file ?? "");
    if (title && page) sections.at(-1)?.pages.push({ title, page });
  }
  const decisions = pages
    .filter(({ file }) => file.startsWith("decisions/"))
    .map((page) => ({ title: page.title.replace(/^\d+[.:]?\s*/, ""), page }));
  if (decisions.length) sections.push({ title: "Decisions", pages: decisions, isQuiet: true });
  return sections;
}
