import type { Migration } from "../migration.ts";

export const visitsHaveVerdicts: Migration = {
  kind: "expand",
  version: 2,
  name: "visits have verdicts",
  configuration: [],
  bySite: ["visit_counts", "bot_visits"],
  statements: [
    // A filtered event that somebody said was no bot's.
    `ALTER TABLE events ADD COLUMN released_at bigint`,

    // Each process writes its own counts, whole every time: a write that is repeated counts nothing twice.
    `CREATE TABLE visit_counts (
      site_id text NOT NULL,
      hour bigint NOT NULL,
      bucket text NOT NULL,
      reason text NOT NULL,
      writer text NOT NULL,
      visits bigint NOT NULL,
      PRIMARY KEY (site_id, hour, bucket, reason, writer)
    ) {COMPACT}`,

    // A sample; record: what was seen, sealed JSON.
    `CREATE TABLE bot_visits (
      site_id text NOT NULL,
      id text NOT NULL,
      seen_at bigint NOT NULL,
      reason text NOT NULL,
      record text NOT NULL,
      PRIMARY KEY (site_id, id)
    )`,
  ],
};
