// Replaces the tables in docs/explanation/capacity-planning.md, which stand between marker comments. The text is written by hand.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Table } from "../part.ts";
import { tableText } from "../report.ts";
import { heads } from "./tables.ts";

const file = fileURLToPath(new URL("../../docs/explanation/capacity-planning.md", import.meta.url));

type Name = keyof typeof heads;
const opening = (name: Name) => `<!-- simulated: ${name} -->`;
const ending = "<!-- end -->";

function regionOf(page: string, name: Name): { before: string; text: string; after: string } {
  const [before, rest] = page.split(opening(name));
  const end = rest?.indexOf(ending) ?? -1;
  if (before === undefined || rest === undefined || end < 0)
    throw new Error(`docs/explanation/capacity-planning.md has no place for the table ${name}`);
  return { before, text: rest.slice(0, end).trim(), after: rest.slice(end) };
}

export function writePage(tables: Readonly<Record<Name, Table>>): void {
  let page = readFileSync(file, "utf8");
  for (const name of Object.keys(heads) as Name[]) {
    const { before, after } = regionOf(page, name);
    page = `${before}${opening(name)}\n\n${tableText(tables[name])}\n\n${after}`;
  }
  writeFileSync(file, page);
}

/** Lists the differences in form between the page and the tables that would be written. */
export function faultsOf(page = readFileSync(file, "utf8")): string[] {
  return (Object.keys(heads) as Name[]).flatMap((name) => {
    const { text } = regionOf(page, name);
    const [head, , ...rows] = text.split("\n");
    const wanted = `| ${heads[name].join(" | ")} |`;
    const cells = heads[name].length + 1;
    return [
      ...(head === wanted ? [] : [`the table ${name} begins with ${head}; it should be ${wanted}`]),
      ...(rows.length ? [] : [`the table ${name} is empty`]),
      ...rows.filter((row) => row.split("|").length !== cells + 1).map((row) => `${name}: ${row}`),
    ];
  });
}
