// The documentation for assistants: its pages as resources, and a search over the index that the site itself uses.

import { readFile } from "node:fs/promises";
import { packageFolder } from "../kernel/packageFolder.ts";

const built = new URL("dist/docs/", packageFolder);
const scheme = "cleancast-docs:///";

/** An entry of the index: `s` section, `t` page, `h` heading, `u` address, `x` text (scripts/docs/build.ts). */
type Part = { s: string; t: string; h: string; u: string; x: string };

// Read for each call: half a megabyte is not kept for a question now and then.
const readIndex = async (): Promise<Part[]> => JSON.parse(await readFile(new URL("search.json", built), "utf8")) as Part[];

const nameOf = ({ u }: Part) => u.replace(/^\/docs\//, "").replace(/#.*$/, "");

type DocumentPage = { uri: string; name: string; title: string };

/** Lists the pages, each once. */
export async function listPages(): Promise<DocumentPage[]> {
  const pages = new Map((await readIndex()).map((part) => [nameOf(part), part.t]));
  return [...pages].map(([name, title]) => ({ uri: `${scheme}${name}`, name, title }));
}

/** Reads a page as Markdown; null if there is none. */
export async function readPage(name: string): Promise<string | null> {
  if (!/^[\w-]+(?:\/[\w-]+)*$/.test(name)) return null;
  return readFile(new URL(`${name}.md`, built), "utf8").catch(() => null);
}

export const pageUri = `${scheme}{+page}`;

const maxFound = 8;

/** Finds the parts of pages with the most words of the question; a word in a title counts for more. */
export async function searchPages(question: string) {
  const words = [...new Set(question.toLowerCase().match(/[\p{L}\p{N}_-]{2,}/gu))].slice(0, 20);
  const score = ({ t, h, x }: Part) => {
    const [title, heading, text] = [t.toLowerCase(), h.toLowerCase(), x.toLowerCase()];
    return words.reduce(
      (sum, word) => sum + (title.includes(word) ? 4 : 0) + (heading.includes(word) ? 4 : 0) + (text.includes(word) ? 1 : 0),
      0,
    );
  };
  return (await readIndex())
    .map((part) => ({ part, points: score(part) }))
    .filter(({ points }) => points > 0)
    .toSorted((one, other) => other.points - one.points)
    .slice(0, maxFound)
    .map(({ part }) => ({
      page: part.t,
      heading: part.h,
      resource: `${scheme}${nameOf(part)}`,
      address: part.u,
      text: part.x.slice(0, 600),
    }));
}
