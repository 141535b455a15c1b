// Finds the site that a statement is about, by the text of the statement: every statement on rows of a site names it as a
// parameter. Statements about configuration, or about all sites, have none.

import type { Value } from "../database.ts";

type SiteOf = (params: readonly Value[]) => string | null;

/** Returns a function that reads texts, each once. `tables` are those that are sharded by site. */
export function createStatementSites(tables: ReadonlySet<string>): (text: string, params?: readonly Value[]) => string | null {
  const known = new Map<string, SiteOf | null>();
  return (text, params = []) => {
    let siteOf = known.get(text);
    if (siteOf === undefined) known.set(text, (siteOf = readText(text, tables)));
    return siteOf ? siteOf(params) : null;
  };
}

const firstTable = /\b(?:FROM|INTO|UPDATE) ([a-z_]+)\b/;
const condition = /\bsite_id = (?:\$(\d+)|'')/;
/** A list of sites that are on one machine: the first says which. */
const anyOf = /\bsite_id = ANY\(CAST\(\$(\d+) AS text\[\]\)\)/;
/** The site is the first column of every insert. */
const firstValue = /\bVALUES\s*\((?:CAST\()?(?:\$(\d+)|'')/;

function readText(text: string, tables: ReadonlySet<string>): SiteOf | null {
  const table = firstTable.exec(text)?.[1];
  if (table === undefined || !tables.has(table)) return null;
  const isInsert = /^\s*INSERT\b/.test(text);
  const list = isInsert ? null : anyOf.exec(text);
  const found = list ?? (isInsert ? firstValue : condition).exec(text);
  if (!found) return null;
  if (found[1] === undefined) return () => "";
  const index = Number(found[1]) - 1;
  return (params) => {
    const value = params[index];
    if (typeof value !== "string") return null;
    return list ? (/^\{([^,}]+)/.exec(value)?.[1] ?? null) : value;
  };
}
