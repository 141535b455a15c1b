import type { Migration } from "../migration.ts";

export const filesAreImported: Migration = {
  kind: "expand",
  version: 11,
  name: "files are imported",
  configuration: [],
  bySite: ["imports"],
  statements: [
    // id: made from the site, the file's content and how its columns are read, so that the same command finds its row again.
    // line: the last one whose outcome is in the tally. owner and lease_until: the process that is at it.
    `CREATE TABLE imports (
      site_id text NOT NULL,
      id text NOT NULL,
      kind text NOT NULL,
      file text NOT NULL,
      options text NOT NULL,
      state text NOT NULL,
      line bigint NOT NULL,
      tally text NOT NULL,
      owner text NOT NULL,
      lease_until bigint NOT NULL,
      started_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      PRIMARY KEY (site_id, id)
    ) {COMPACT}`,
  ],
};
