// The tables of one site, by what becomes of them when the site moves to another installation.

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
  "heads",
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
