// Where links lead: to a file that is there, and to an anchor that it has.

import type { Page } from "./page.ts";

export function deadLinks(pages: readonly Page[], files: ReadonlySet<string>): string[] {
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
