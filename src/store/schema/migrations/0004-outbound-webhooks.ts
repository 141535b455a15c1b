import type { Migration } from "../migration.ts";

export const webhooksReceiveTotals: Migration = {
  kind: "expand",
  version: 4,
  name: "webhooks receive totals",
  configuration: [],
  bySite: ["totals", "period_heads", "periods", "webhooks", "pushes", "push_log"],
  statements: [
    // What a process has counted since it started; together, everything since ever. A row for each process, so that
    // nodes never wait for each other. Nothing is ever taken away here: a period is the difference of two sums.
    `CREATE TABLE totals (
      site_id text NOT NULL,
      writer text NOT NULL,
      conversions bigint NOT NULL,
      removed_events bigint NOT NULL,
      bot_visits bigint NOT NULL,
      PRIMARY KEY (site_id, writer)
    ) {COMPACT}`,

    // Where the last closed period ended, and the sums at that moment.
    `CREATE TABLE period_heads (
      site_id text NOT NULL PRIMARY KEY,
      number bigint NOT NULL,
      ends_at bigint NOT NULL,
      closed_at bigint NOT NULL,
      conversions bigint NOT NULL,
      removed bigint NOT NULL
    ) {COMPACT}`,

    // By number and not by time: a clock that was set back gives two periods the same hour.
    `CREATE TABLE periods (
      site_id text NOT NULL,
      number bigint NOT NULL,
      starts_at bigint NOT NULL,
      ends_at bigint NOT NULL,
      conversions bigint NOT NULL,
      removed bigint NOT NULL,
      closed_at bigint NOT NULL,
      PRIMARY KEY (site_id, number)
    ) {COMPACT}`,

    // url and secrets: sealed. owner and due_at together are a lease, as with deliveries. attempts: failures in a row.
    `CREATE TABLE webhooks (
      site_id text NOT NULL,
      id text NOT NULL,
      url text NOT NULL,
      secrets text NOT NULL,
      send_empty integer NOT NULL,
      state text NOT NULL,
      state_reason text,
      failing_since bigint,
      attempts integer NOT NULL,
      due_at bigint NOT NULL,
      owner text NOT NULL,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      PRIMARY KEY (site_id, id)
    )`,

    `CREATE TABLE pushes (
      site_id text NOT NULL,
      webhook_id text NOT NULL,
      number bigint NOT NULL,
      state text NOT NULL,
      attempts integer NOT NULL,
      sent_at bigint,
      PRIMARY KEY (site_id, webhook_id, number)
    ) {COMPACT}`,
    `CREATE INDEX pushes_queued ON pushes (site_id, webhook_id, number) WHERE state = 'queued'`,

    // One row a call. number is null for a test.
    `CREATE TABLE push_log (
      site_id text NOT NULL,
      webhook_id text NOT NULL,
      id text NOT NULL,
      number bigint,
      started_at bigint NOT NULL,
      duration_ms integer NOT NULL,
      ok integer NOT NULL,
      http_status integer,
      error text,
      response text,
      PRIMARY KEY (site_id, webhook_id, id)
    )`,
  ],
};
