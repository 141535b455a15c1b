// The tables of one site, by what becomes of them when the site moves to another installation.

import { migrations } from "../schema/schema.ts";

/**
 * The tables that are written together with the site itself, in one transaction: its configuration, and the rows that nodes find
 * without knowing the site, such as deliveries that are due.
 */
export const liveTables: readonly string[] = [
  "deliveries",
  "backfills",
  "reconciliations",
  "order_feeds",
  "alerts",
  "removed_connections",
  "period_heads",
  "webhooks",
  "connections",
  "sources",
  "data_exports",
  "shared_links",
  "weekly_reports",
  "inbound_keys",
  "api_keys",
  "hosts",
  "sites",
];

/** Their rows end within minutes. */
const brief = ["wrong_keys", "lockouts", "platform_sign_ins", "leases", "nodes", "shared_traffic"];

/** The tables that are copied while the site works: all others that grow. No node acts on their rows before it knows the site. */
export const historyTables: readonly string[] = migrations
  .flatMap(({ bySite }) => bySite)
  .filter((table) => !brief.includes(table) && !liveTables.includes(table));

/** Every accepted event writes here first: with this table locked, no node can accept one. */
export const acceptanceTables: readonly string[] = ["dedup_claims"];

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
  "source_requests",
  "source_shapes",
  "audit",
];

/**
 * The tables that are read-only while the last rows are copied. The row of the site itself is not: nodes learn by its revision
 * what becomes of it, and changes of people are refused by its state.
 */
export const lockedTables: readonly string[] = [...historyTables, ...liveTables].filter(
  (table) => table !== "sites" && !countTables.includes(table) && !acceptanceTables.includes(table),
);
