import type { Migration } from "../migration.ts";

export const theDashboardShowsNumbers: Migration = {
  kind: "expand",
  version: 7,
  name: "the dashboard shows numbers",
  configuration: [],
  bySite: [
    "statistics",
    "statistics_hours",
    "statistics_heads",
    "statistics_turns",
    "inbound_counts",
    "refused_calls",
  ],
  statements: [
    // Numbers of one hour, made from its events and their deliveries; an hour is always replaced whole.
    `CREATE TABLE statistics (
      site_id text NOT NULL,
      hour bigint NOT NULL,
      kind text NOT NULL,
      name text NOT NULL,
      currency text NOT NULL,
      count bigint NOT NULL,
      value double precision NOT NULL,
      PRIMARY KEY (site_id, hour, kind, name, currency)
    ) {COMPACT}`,

    // Which hours were made, from what was there at rolled_at, and when that is worth another look.
    `CREATE TABLE statistics_hours (
      site_id text NOT NULL,
      hour bigint NOT NULL,
      rolled_at bigint NOT NULL,
      due_at bigint NOT NULL,
      PRIMARY KEY (site_id, hour)
    ) {COMPACT}`,
    `CREATE INDEX statistics_hours_due ON statistics_hours (site_id, due_at)`,

    // From one hour to another, the last not included: every hour between that has events was made.
    `CREATE TABLE statistics_heads (
      site_id text NOT NULL PRIMARY KEY,
      from_hour bigint NOT NULL,
      to_hour bigint NOT NULL
    ) {COMPACT}`,

    // Which node makes them, and until when it may. One row for all sites, under the empty one.
    `CREATE TABLE statistics_turns (
      site_id text NOT NULL PRIMARY KEY,
      owner text NOT NULL,
      until bigint NOT NULL
    ) {COMPACT}`,

    // What came in and left no event: duplicates and refused calls. Each process writes its own counts, whole.
    `CREATE TABLE inbound_counts (
      site_id text NOT NULL,
      hour bigint NOT NULL,
      kind text NOT NULL,
      writer text NOT NULL,
      count bigint NOT NULL,
      PRIMARY KEY (site_id, hour, kind, writer)
    ) {COMPACT}`,

    // A sample. Neither key nor body; address: only its network.
    `CREATE TABLE refused_calls (
      site_id text NOT NULL,
      id text NOT NULL,
      at bigint NOT NULL,
      status integer NOT NULL,
      error text NOT NULL,
      host text NOT NULL,
      key_id text,
      address text,
      PRIMARY KEY (site_id, id)
    ) {COMPACT}`,

    // With the id, so that the newest of an order or a person are found however many there are.
    `DROP INDEX events_by_order`,
    `DROP INDEX events_by_email`,
    `CREATE INDEX events_by_order ON events (site_id, order_id, id) WHERE order_id IS NOT NULL`,
    `CREATE INDEX events_by_email ON events (site_id, email_sha256, id)`,
    `CREATE INDEX events_filtered ON events (site_id, id) WHERE status = 'filtered'`,
  ],
};
