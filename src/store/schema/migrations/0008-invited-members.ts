import type { Migration } from "../migration.ts";

export const membersHaveComeByInvitation: Migration = {
  kind: "expand",
  version: 8,
  name: "members have come by invitation",
  configuration: [],
  bySite: [],
  statements: [
    `ALTER TABLE users ADD COLUMN invited_by text`,
    // 1: the link was shown to the owner of one site, who may have opened it instead of the person that was invited.
    `ALTER TABLE invitations ADD COLUMN shown integer`,
    `CREATE INDEX api_keys_by_site ON api_keys (site_id)`,
  ],
};
