import type { Migration } from "../migration.ts";

export const recordsTakeLessRoom: Migration = {
  kind: "expand",
  version: 12,
  name: "records take less room",
  configuration: [],
  bySite: [],
  statements: [
    // People are gone through by key once a day: see purgePeople.
    `DROP INDEX identities_by_age`,
  ],
};
