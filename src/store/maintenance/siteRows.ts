// The rows of one site, for a move to another installation: read in pages, compared by key, and written with their secrets sealed
// by the other installation's key. Neither engine's order of texts matters: pages are ranges of the source alone.

import { hash } from "node:crypto";
import { readObject } from "../damagedRows.ts";
import { rowStatement, type Database, type Query, type Row, type RowQuery, type Value } from "../engine/database.ts";
import { tryUnseal, type Seal } from "../engine/seal.ts";
import { columnsOf, keyWithinSite } from "../schema/tables.ts";
import { sealedColumns, sealedIn } from "./sealedColumns.ts";

/** The tables that are copied while the site works. No node acts on their rows before it knows the site. */
export const historyTables = [
  "events",
  "dedup_claims",
  "outcomes",
  "attempts",
  "confirmations",
  "confirmation_counts",
  "confirmation_requests",
  "quality_snapshots",
  "corrections",
  "cursors",
  "identities",
  "visitors",
  "consents",
  "consent_history",
  "proofs",
  "totals",
  "periods",
  "pushes",
  "push_log",
  "statistics",
  "statistics_segments",
  "statistics_hours",
  "statistics_heads",
  "imports",
  "orders",
  "reconciliation_rows",
  "key_uses",
  "visit_counts",
  "bot_visits",
  "inbound_counts",
  "rejected_requests",
  "audit",
] as const;

/**
 * The tables that are written together with the site itself, in one transaction: its configuration, and the rows that nodes find
 * without knowing the site, such as deliveries that are due.
 */
export const liveTables = [
  "deliveries",
  "backfills",
  "reconciliations",
  "order_feeds",
  "alerts",
  "removed_connections",
  "period_heads",
  "webhooks",
  "connections",
  "inbound_keys",
  "api_keys",
  "hosts",
  "sites",
] as const;

/** Grants and invitations belong to members, who have accounts of their own there. The others end within minutes. */
export const unmovedTables = [
  "grants",
  "invitations",
  "wrong_keys",
  "lockouts",
  "platform_sign_ins",
  "leases",
  "nodes",
  "deleted_sites",
  "site_moves",
] as const;

/** Every accepted event writes here first: with this table locked, no node can accept one. */
export const acceptanceTables = ["dedup_claims"] as const;

/** Nodes claim rows here for what they are about to send, and write here that it was sent. */
export const claimTables = ["deliveries", "webhooks"] as const;

/** Counts and logs, which nodes also write for requests that they refuse. */
export const countTables: readonly string[] = [
  "totals",
  "key_uses",
  "visit_counts",
  "bot_visits",
  "inbound_counts",
  "rejected_requests",
  "audit",
];

/**
 * The tables that are read-only while the last rows are copied. The row of the site itself is not: nodes learn by its revision
 * what becomes of it, and changes of people are refused by its state.
 */
export const lockedTables: readonly string[] = [...historyTables, ...liveTables].filter(
  (table) => table !== "sites" && !countTables.includes(table) && !acceptanceTables.some((one) => one === table),
);

export type SiteTable = { name: string; columns: readonly string[]; key: readonly string[] };
export type Key = readonly Value[];
/** `after` is before the first row, `end` is the last one of the range. */
type PageRange = { after: Key | null; end: Key | null };
type Values = readonly Value[];

/** The keys of tables whose key does not begin with the site. */
const otherKeys: Readonly<Record<string, readonly string[]>> = { hosts: ["host"], api_keys: ["id"] };

export async function readSiteTable(db: Database, name: string): Promise<SiteTable> {
  return { name, columns: await columnsOf(db, name), key: otherKeys[name] ?? keyWithinSite(name) };
}

export const keyOf = (table: SiteTable, row: Row): Key => table.key.map((column) => row[column] ?? null);
const keyText = (table: SiteTable, row: Row) => JSON.stringify(keyOf(table, row));

/** One side of a move. */
export type Side = { db: Database; seal: Seal };

/** Reads up to `limit` rows of a range, in the order of this database, with their secrets open. */
export async function readPage(
  { db, seal }: Side,
  table: SiteTable,
  siteId: string,
  { after, end }: PageRange,
  limit: number,
): Promise<Row[]> {
  const params: Value[] = [siteId];
  const place = (key: Key) => `(${key.map((value) => `$${params.push(value)}`).join(", ")})`;
  const key = table.key.join(", ");
  const bounds = key
    ? `${after ? `AND (${key}) > ${place(after)}` : ""} ${end ? `AND (${key}) <= ${place(end)}` : ""} ORDER BY ${key}`
    : "";
  const rows = await db.all(
    `SELECT ${table.columns.join(", ")} FROM ${table.name} WHERE site_id = $1 ${bounds} LIMIT ${limit}`,
    params,
  );
  return rows.map((row) => unsealRow(seal, table, row));
}

/** Reads the rows that have the keys of these. */
async function readByKeys(on: Query, side: Side, table: SiteTable, siteId: string, rows: readonly Row[]) {
  const { text, params } = byKeys(side.db, table, siteId, rows);
  const found = await on.all(`SELECT ${table.columns.join(", ")} FROM ${table.name} ${text}`, params);
  return found.map((row) => unsealRow(side.seal, table, row));
}

function byKeys(db: Database, table: SiteTable, siteId: string, rows: readonly Row[]) {
  const params: Value[] = [siteId];
  if (table.key.length === 0) return { text: "WHERE site_id = $1", params };
  const tuples = rows.map(
    (row) =>
      `(${keyOf(table, row)
        .map((value) => `$${params.push(value)}`)
        .join(", ")})`,
  );
  // PostgreSQL would take parameters in VALUES for texts; SQLite knows no list of tuples.
  const list = db.engine === "sqlite" ? `VALUES ${tuples.join(", ")}` : tuples.join(", ");
  return { text: `WHERE site_id = $1 AND (${table.key.join(", ")}) IN (${list})`, params };
}

/** Identifies the contents of rows, whatever their order and the key that seals them. */
export const hashRows = (table: SiteTable, rows: readonly Row[]): string =>
  hash(
    "sha256",
    rows
      .map((row) => lineOf(table, row))
      .toSorted()
      .join("\n"),
  );

const lineOf = (table: SiteTable, row: Row) => JSON.stringify(table.columns.map((column) => row[column]));

/** Makes the rows on that side equal to these, and returns how many it had to write. They are read back before the commit. */
export async function putRows(tx: RowQuery, side: Side, table: SiteTable, siteId: string, rows: readonly Row[]): Promise<number> {
  if (rows.length === 0) return 0;
  const found = await readByKeys(tx, side, table, siteId, rows);
  const known = new Map(found.map((row) => [keyText(table, row), lineOf(table, row)]));
  const changed = rows.filter((row) => known.get(keyText(table, row)) !== lineOf(table, row));
  if (changed.length === 0) return 0;
  const { text, params } = byKeys(side.db, table, siteId, changed);
  await tx.all(`DELETE FROM ${table.name} ${text}`, params);
  const insert = rowStatement({
    text: `INSERT INTO ${table.name} (${table.columns.join(",")}) VALUES {ROWS}`,
    columns: table.columns.length,
  });
  await tx.change(
    insert,
    changed.map((row) => valuesOf(side.seal, table, row)),
  );
  const written = await readByKeys(tx, side, table, siteId, changed);
  if (hashRows(table, written) !== hashRows(table, changed)) throw new Error(`rows of ${table.name} are not stored as they are`);
  return changed.length;
}

/** Deletes the rows of `side` among these that the other side does not have. Returns how many. */
export async function removeOthers(
  from: Side,
  side: Side,
  table: SiteTable,
  siteId: string,
  rows: readonly Row[],
): Promise<number> {
  const kept = new Set((await readByKeys(from.db, from, table, siteId, rows)).map((row) => keyText(table, row)));
  const extra = rows.filter((row) => !kept.has(keyText(table, row)));
  if (extra.length === 0) return 0;
  const { text, params } = byKeys(side.db, table, siteId, extra);
  await side.db.run(`DELETE FROM ${table.name} ${text}`, params);
  return extra.length;
}

export async function countSiteRows(db: Query, table: string, siteId: string): Promise<number> {
  const [row] = await db.all(`SELECT COUNT(*) AS n FROM ${table} WHERE site_id = $1`, [siteId]);
  return Number(row?.n);
}

/** Deletes up to `limit` rows of a site; all where the site alone is the key. Returns how many. */
export async function deleteSomeRows(
  db: Database,
  { name, key: columns }: Pick<SiteTable, "name" | "key">,
  siteId: string,
  limit: number,
): Promise<number> {
  const key = columns.join(", ");
  const some = key ? `AND (${key}) IN (SELECT ${key} FROM ${name} WHERE site_id = $1 ORDER BY ${key} LIMIT $2)` : "";
  const sql = `DELETE FROM ${name} WHERE site_id = $1 ${some} RETURNING 1 AS n`;
  return (await db.run(sql, key ? [siteId, limit] : [siteId])).length;
}

/** Marks a value that was opened, and one that could not be: that one is moved as it is, and stays unreadable. */
const [opened, unreadable] = ["o", "u"];

function unsealValue(seal: Seal, sealed: string, place: string): string {
  const plain = tryUnseal(seal, sealed, place);
  return plain === null ? unreadable + sealed : opened + plain;
}

const closeValue = (seal: Seal, text: string, place: string) =>
  text.startsWith(opened) ? seal.seal(text.slice(opened.length), place) : text.slice(unreadable.length);

const unsealRow = (seal: Seal, table: SiteTable, row: Row): Row =>
  changeSecrets(table, row, (value, place) => unsealValue(seal, value, place));

function valuesOf(seal: Seal, table: SiteTable, row: Row): Values {
  const closed = changeSecrets(table, row, (value, place) => closeValue(seal, value, place));
  return table.columns.map((column) => closed[column] ?? null);
}

type Change = (value: string, place: string) => string;

/** Changes the sealed values of a row. */
function changeSecrets(table: SiteTable, row: Row, change: Change): Row {
  const changed: Row = { ...row };
  for (const { column, place } of sealedColumns.filter((one) => one.table === table.name)) {
    const value = row[column];
    if (typeof value === "string") changed[column] = change(value, place(row));
  }
  if (table.name === "sites") changed["settings"] = changeSettings(row, change);
  return changed;
}

/** Changes the sealed values inside the settings of a site. */
function changeSettings(row: Row, change: Change): string {
  const text = String(row["settings"]);
  const settings = readObject(text);
  if (!settings) return text;
  for (const { name, sealed, place } of sealedIn(String(row["site_id"]), text)) settings[name] = change(sealed, place);
  return JSON.stringify(settings);
}
