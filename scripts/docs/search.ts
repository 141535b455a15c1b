// What the search of the site reads: the parts of all pages, without markup and code.

import type { Section } from "./contents.ts";
import type { Page } from "./page.ts";

/** Short keys: it is loaded by everybody who searches. `s`: section, `t`: page, `h`: heading, `u`: address, `x`: text. */
export type Found = { s: string; t: string; h: string; u: string; x: string };

export function searchIndex(pages: readonly Page[], sections: readonly Section[]): Found[] {
  const listed = new Map(
    sections.flatMap((section) =>
      section.pages.map(({ title, page }) => [page.file, { title, section: section.title }]),
    ),
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
