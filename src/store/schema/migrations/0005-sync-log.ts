import type { Migration } from "../migration.ts";

export const peopleReadTheLog: Migration = {
  kind: "expand",
  version: 5,
  name: "people read the log and are told",
  configuration: [],
  bySite: ["alerts", "alert_turns"],
  statements: [
    // The sync log is read newest first, by connection and by what went wrong. Those that were sent are found by
    // connection alone: an index entry more for each of them would be paid by every event.
    `CREATE INDEX deliveries_by_connection ON deliveries (site_id, connection_id, event_id)`,
    `CREATE INDEX deliveries_ended ON deliveries (site_id, connection_id, state, event_id)
     WHERE state IN ('rejected', 'expired', 'skipped', 'parked')`,
    // Serves the success rate of the last hour, and the removal of texts that are too old.
    `CREATE INDEX attempts_by_age ON attempts (site_id, connection_id, started_at) WHERE request <> '(removed)'`,

    // told: JSON, what each channel was told of it. seen_at: when the condition was last found.
    `CREATE TABLE alerts (
      site_id text NOT NULL,
      kind text NOT NULL,
      subject text NOT NULL,
      began_at bigint NOT NULL,
      seen_at bigint NOT NULL,
      notified_at bigint,
      ended_at bigint,
      text text NOT NULL,
      told text NOT NULL,
      PRIMARY KEY (site_id, kind, subject, began_at)
    )`,
    `CREATE UNIQUE INDEX alerts_open ON alerts (site_id, kind, subject) WHERE ended_at IS NULL`,

    // Which node looks for alerts, and until when it may. One row for all sites, under the empty one.
    `CREATE TABLE alert_turns (
      site_id text NOT NULL PRIMARY KEY,
      owner text NOT NULL,
      until bigint NOT NULL
    ) {COMPACT}`,
  ],
};
