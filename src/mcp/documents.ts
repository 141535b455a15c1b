// The documentation for assistants: its pages as resources, and a search over the index that the site itself uses.

import { readFile } from "node:fs/promises";
import { packageFolder } from "../kernel/packageFolder.ts";
import { rankParts, type Part } from "./rankParts.ts";

const built = new URL("dist/docs/", packageFolder);
const scheme = "cleancast-docs:///";

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

export async function searchPages(question: string) {
  return rankParts(await readIndex(), question, maxFound).map((part) => ({
    page: part.t,
    heading: part.h,
    resource: `${scheme}${nameOf(part)}`,
    address: part.u,
    text: part.x.slice(0, 600),
  }));
}
