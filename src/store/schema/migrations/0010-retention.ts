import type { Migration } from "../migration.ts";

export const whatIsOldGoes: Migration = {
  kind: "expand",
  version: 10,
  name: "what is old goes",
  configuration: [],
  bySite: ["purge_turns"],
  statements: [
    // Which node forgets what is too old, and until when it may. One row for all sites, under the empty one.
    `CREATE TABLE purge_turns (
      site_id text NOT NULL PRIMARY KEY,
      owner text NOT NULL,
      until bigint NOT NULL
    ) {COMPACT}`,
  ],
};
