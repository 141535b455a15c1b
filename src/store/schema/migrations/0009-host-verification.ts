import type { Migration } from "../migration.ts";

export const hostsAreVerified: Migration = {
  kind: "expand",
  version: 9,
  name: "hosts are verified, paused and removed",
  configuration: [],
  bySite: [],
  statements: [
    // 1: somebody who answers for the whole installation added it, so it is served without being verified.
    `ALTER TABLE hosts ADD COLUMN vouched integer NOT NULL DEFAULT 1`,
    `ALTER TABLE hosts ADD COLUMN paused_at bigint`,
    // When a check last found that it leads here, and how.
    `ALTER TABLE hosts ADD COLUMN verified_at bigint`,
    `ALTER TABLE hosts ADD COLUMN verified_by text`,
    `ALTER TABLE hosts ADD COLUMN checked_at bigint`,
    // What the last check found wrong, what it saw, and since when something is.
    `ALTER TABLE hosts ADD COLUMN finding text`,
    `ALTER TABLE hosts ADD COLUMN seen text`,
    `ALTER TABLE hosts ADD COLUMN failing_since bigint`,
    `ALTER TABLE hosts ADD COLUMN next_check_at bigint NOT NULL DEFAULT 0`,
  ],
};
