// Statements as a relay sends them to PostgreSQL, and what a sharded one asks of each.

import { Client } from "pg";
import { migrations } from "../src/store/schema.ts";

export type Sent = { text: string; values: unknown[] };
/** The statements of one transaction; a statement alone is one. */
export type Transaction = Sent[];

const bySite = new Set(migrations.flatMap((one) => one.bySite));
const configuration = new Set(["migrations", ...migrations.flatMap((one) => one.configuration)]);

/** Listens to every connection of this process. `stop` gives the driver back as it was. */
export function listen(): { transactions: Transaction[]; stop: () => void } {
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

/** A statement and the queries in it, each without those inside it. */
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

const tablesIn = (text: string) =>
  [...text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE) (\w+)/g)]
    .map((one) => one[1] as string)
    .filter((one) => one !== "SET");

export const writesConfiguration = ({ text }: Sent) =>
  /^(?:INSERT|UPDATE|DELETE)/.test(text) &&
  tablesIn(levels(text)[0] ?? "").some((one) => configuration.has(one));

/** What is wrong with a statement of a hot path; empty where nothing is. */
export function faultsOf(sent: Sent): string[] {
  const { text } = sent;
  const faults: string[] = [];
  if (writesConfiguration(sent)) faults.push("writes what every node has a copy of");
  if (text.startsWith("INSERT")) {
    if (!/\bVALUES \(/.test(text)) faults.push("writes rows without VALUES");
    if (bySite.has(tablesIn(text)[0] ?? "") && !/^INSERT INTO \w+ \(site_id\b/.test(text))
      faults.push("the site is not the first column");
  }
  if (/ON CONFLICT.*\b\w+\(/.test(text.replace(/ON CONFLICT \(/, "ON CONFLICT ").replace(/CASE.*END/, "")))
    faults.push("has a function inside ON CONFLICT");
  for (const level of levels(text.startsWith("INSERT") ? "" : text)) {
    const tables = tablesIn(level).filter((one) => bySite.has(one));
    const named = [...level.matchAll(/\b(?:\w+\.)?site_id = (?:\$\d+|\w+\.site_id|'')/g)].length;
    if (tables.length > named) faults.push(`does not name the site of each of ${tables.join(", ")}`);
  }
  return faults;
}

/** The sites that a statement touches, from its parameters. */
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

/** With the number of rows left out: the same statement over 1 or 64 rows is one. */
export const shapeOf = (text: string) =>
  text
    .replaceAll(
      /(\((?:CAST\(\$\d+ AS \w+\)|\$\d+|[^()$]*?)(?:, ?(?:CAST\(\$\d+ AS \w+\)|\$\d+|[^(),]*))*\)),(?:\((?:CAST\(\$\d+ AS \w+\)|\$\d+|[^()$]*?)(?:, ?(?:CAST\(\$\d+ AS \w+\)|\$\d+|[^(),]*))*\),?)+/g,
      "$1…",
    )
    .replaceAll(/\$\d+(?:, ?\$\d+)+/g, "$…");
