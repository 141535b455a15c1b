import type { Migration } from "../migration.ts";

export const peopleSignIn: Migration = {
  kind: "expand",
  version: 3,
  name: "people sign in at platforms",
  configuration: ["oauth_apps"],
  bySite: ["sign_ins", "token_refreshes"],
  statements: [
    // The operator's registration at a platform. credentials: sealed JSON with the client secret.
    `CREATE TABLE oauth_apps (
      platform text NOT NULL PRIMARY KEY,
      client_id text NOT NULL,
      credentials text NOT NULL,
      updated_at bigint NOT NULL
    )`,

    // A sign-in that is under way, or done and waiting to become a connection. record: sealed JSON.
    `CREATE TABLE sign_ins (
      site_id text NOT NULL,
      id text NOT NULL,
      platform text NOT NULL,
      record text NOT NULL,
      expires_at bigint NOT NULL,
      PRIMARY KEY (site_id, id)
    )`,

    // Which node renews a connection's access token, and until when it may take.
    `CREATE TABLE token_refreshes (
      site_id text NOT NULL,
      connection_id text NOT NULL,
      owner text NOT NULL,
      until bigint NOT NULL,
      PRIMARY KEY (site_id, connection_id)
    ) {COMPACT}`,
  ],
};
