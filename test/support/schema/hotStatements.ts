// Records the statements that a relay sends to PostgreSQL, and checks them against the rules of a sharded database.

import { Client } from "pg";
import { migrations } from "../../../src/store/schema/schema.ts";

export type Sent = { text: string; values: unknown[] };
/** The statements of one transaction; a statement outside of any is a transaction of its own. */
export type Transaction = Sent[];

const bySite = new Set(migrations.flatMap((one) => one.bySite));
const configuration = new Set(["migrations", ...migrations.flatMap((one) => one.configuration)]);

/** Records the statements of every connection of this process. `stop` restores the driver. */
export function recordTransactions(): { transactions: Transaction[]; stop: () => void } {
  const transactions: Transaction[] = [];
  const open = new WeakMap<object, Transaction>();
  // oxlint-disable-next-line typescript/unbound-method -- called on the client that it was taken from
  const query = Client.prototype.query;
  Client.prototype.query = function (this: Client, ...args: unknown[]) {
    const [config] = args as [string | { text?: string; values?: unknown[] }];
    const text = (typeof config === "string" ? config : (config.text ?? "")).replaceAll(/\s+/g, " ").trim();
    const values = typeof config === "string" ? [] : (config.values ?? []);
    if (text === "BEGIN") open.set(this, []);
    else if (text === "COMMIT" || text === "ROLLBACK") {
      const ended = open.get(this);
      open.delete(this);
      if (ended?.length) transactions.push(ended);
    } else if (open.has(this)) open.get(this)?.push({ text, values });
    else transactions.push([{ text, values }]);
    return Reflect.apply(query, this, args) as never;
  };
  return { transactions, stop: () => void (Client.prototype.query = query) };
}

/** Returns a statement and its subqueries, each without those inside it. */
function levels(text: string): string[] {
  const found: string[] = [];
  let outer = "";
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] !== "(" || !/^\(\s*(?:SELECT|WITH)\b/.test(text.slice(at))) {
      outer += text[at];
      continue;
    }
    let depth = 0;
    let end = at;
    do {
      if (text[end] === "(") depth += 1;
      if (text[end] === ")") depth -= 1;
      end += 1;
    } while (depth > 0);
    found.push(...levels(text.slice(at + 1, end - 1)));
    outer += "(…)";
    at = end - 1;
  }
  return [outer, ...found];
}

/** Removes everything inside brackets or quotes. */
function outside(text: string): string {
  let depth = 0;
  let found = "";
  for (const sign of text.replaceAll(/'[^']*'/g, "''")) {
    if (sign === ")") depth -= 1;
    if (depth === 0) found += sign;
    if (sign === "(") depth += 1;
  }
  return found;
}

/** Matches a table with its alias. */
const named = String.raw`\w+(?: (?:AS )?(?!(?:WHERE|SET|ON|USING|JOIN|LEFT|INNER|CROSS|GROUP|ORDER|LIMIT|RETURNING|VALUES|FOR)\b)\w+)?`;
const places = new RegExp(String.raw`\b(?:FROM|JOIN|INTO|UPDATE|USING) (${named}(?:, ?${named})*)`, "g");

/** Returns every table of one query, also those in a list. */
const tablesIn = (text: string) =>
  [...outside(text).matchAll(places)]
    .flatMap((one) => (one[1] as string).split(","))
    .map((one) => one.trim().split(" ")[0] as string)
    .filter((one) => one !== "SET");

export const namesShardedTable = (text: string) => levels(text).some((level) => tablesIn(level).some((one) => bySite.has(one)));

export const writesConfiguration = ({ text }: Pick<Sent, "text">) =>
  /^(?:INSERT|UPDATE|DELETE)/.test(text) && tablesIn(levels(text)[0] ?? "").some((one) => configuration.has(one));

/** Lists the faults of a statement that one database node has to answer. */
export function faultsOf({ text }: Pick<Sent, "text">): string[] {
  const faults: string[] = [];
  if (writesConfiguration({ text })) faults.push("writes configuration, which every node has a copy of");
  const isInsert = text.startsWith("INSERT");
  if (isInsert) {
    if (!/\bVALUES\b/.test(outside(text))) faults.push("writes rows without VALUES");
    if (bySite.has(tablesIn(text)[0] ?? "") && !/^INSERT INTO \w+ \(site_id\b/.test(text))
      faults.push("the site is not the first column");
  }
  const [, conflict = ""] = text.split(/\bON CONFLICT\b/);
  if (/\(\s*SELECT\b/.test(conflict)) faults.push("has a subquery inside ON CONFLICT");
  if (/\b(?!IN\b|AND\b|OR\b|WHEN\b|THEN\b|CASE\b|CAST\b|COALESCE\b|NOT\b|CONFLICT\b)[A-Za-z_]\w*\(/.test(conflict))
    faults.push("has a function inside ON CONFLICT");
  const [outer = "", ...inner] = levels(text);
  // An INSERT names its site by its first column; its subqueries are queries like any other.
  for (const level of isInsert ? inner : [outer, ...inner]) faults.push(...faultsOfQuery(level));
  return faults;
}

/** Returns the conditions of a query. */
const conditionsIn = (level: string) => outside(level).replace(/^.*?(?=\b(?:WHERE|ON)\b)/, "");
const siteNamed = /\b(?:\w+\.)?site_id = (?:\$\d+|\w+\.site_id|''|ANY\()/g;

/**
 * Lists the faults of a statement over all sites: each database node must be able to answer it for its own sites, so tables
 * are joined and compared by site.
 */
export function faultsOfAllSites(text: string): string[] {
  const [outer = "", ...inner] = levels(text);
  const sharded = (level: string) => tablesIn(level).filter((one) => bySite.has(one)).length;
  const sites = (level: string) => [...conditionsIn(level).matchAll(siteNamed)].length;
  const isBySite = (level: string) => /\bGROUP BY site_id\b|^SELECT site_id FROM \w+$/.test(level);
  const faults = inner
    .filter((level) => sharded(level) > sites(level) && !isBySite(level) && !/site_id = v\.column1/.test(level))
    .map((level) => `is not bound to a site: ${level}`);
  if (sharded(outer) - 1 > sites(outer)) faults.push("is joined by something else than the site");
  if (/FOR (?:UPDATE|SHARE)|\{db\.skipLocked\}/.test(text)) faults.push("locks");
  return faults;
}

function faultsOfQuery(level: string): string[] {
  const tables = tablesIn(level).filter((one) => bySite.has(one));
  if (tables.length === 0) return [];
  const conditions = conditionsIn(level);
  const sites = [...conditions.matchAll(siteNamed)].length;
  const faults: string[] = [];
  if (tables.length > sites) faults.push(`does not name the site of each of ${tables.join(", ")}`);
  if (/\bOR\b/.test(conditions)) faults.push("the site is only one of several alternatives");
  return faults;
}

/** Returns the sites that a statement touches, from its parameters. */
export function sitesOf({ text, values }: Sent): Set<string> {
  const found = new Set<string>();
  for (const [, n] of text.matchAll(/\bsite_id = \$(\d+)/g)) found.add(String(values[Number(n) - 1]));
  if (/^INSERT INTO \w+ \(site_id\b/.test(text) && bySite.has(tablesIn(text)[0] ?? "")) {
    const rows = /\bVALUES (.*?)(?: ON CONFLICT| RETURNING|$)/.exec(text)?.[1] ?? "";
    for (const [, n] of rows.matchAll(/(?:^|,) ?\(\$(\d+)/g)) found.add(String(values[Number(n) - 1]));
    if (rows.startsWith("(''")) found.add("");
  }
  return found;
}

/**
 * Returns the statement without its number of rows. Each pattern can match a text in one way only, so that the time grows with the
 * length of the statement and not with the ways to read it.
 */
export const shapeOf = (text: string) =>
  text
    .replaceAll(/CAST\((\$\d+) AS \w+\)/g, "$1")
    .replaceAll(/(\([^()]*\))(?:,\([^()]*\))+/g, "$1…")
    .replaceAll(/\$\d+(?:, ?\$\d+)+/g, "$…");
