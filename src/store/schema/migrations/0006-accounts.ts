import type { Migration } from "../migration.ts";

export const peopleHaveAccounts: Migration = {
  kind: "expand",
  version: 6,
  name: "people have accounts",
  configuration: [
    "users",
    "sessions",
    "passwords",
    "two_factors",
    "verifications",
    "grants",
    "invitations",
    "tickets",
    "api_keys",
    "tries",
  ],
  bySite: [],
  statements: [
    // The first five belong to the sign-in library, under our names: access/betterAuth.ts says which column is which of its
    // fields. Columns that it never fills here are there because it may read them.
    `CREATE TABLE users (
      id text NOT NULL PRIMARY KEY,
      email text NOT NULL,
      name text NOT NULL,
      email_verified integer NOT NULL,
      image text,
      two_factor integer,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      seen_at bigint
    )`,
    `CREATE UNIQUE INDEX users_by_email ON users (email)`,

    `CREATE TABLE sessions (
      id text NOT NULL PRIMARY KEY,
      user_id text NOT NULL,
      token text NOT NULL,
      address text,
      user_agent text,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      expires_at bigint NOT NULL,
      seen_at bigint
    )`,
    `CREATE UNIQUE INDEX sessions_by_token ON sessions (token)`,
    `CREATE INDEX sessions_by_user ON sessions (user_id)`,
    `CREATE INDEX sessions_by_end ON sessions (expires_at)`,

    `CREATE TABLE passwords (
      id text NOT NULL PRIMARY KEY,
      user_id text NOT NULL,
      account_id text NOT NULL,
      provider_id text NOT NULL,
      password text,
      access_token text,
      refresh_token text,
      id_token text,
      access_token_expires_at bigint,
      refresh_token_expires_at bigint,
      scope text,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL
    )`,
    `CREATE UNIQUE INDEX passwords_by_user ON passwords (user_id, provider_id)`,

    `CREATE TABLE two_factors (
      id text NOT NULL PRIMARY KEY,
      user_id text NOT NULL,
      secret text NOT NULL,
      backup_codes text NOT NULL,
      verified integer,
      failures integer,
      locked_until bigint
    )`,
    `CREATE UNIQUE INDEX two_factors_by_user ON two_factors (user_id)`,

    // Sign-ins that wait for their second factor.
    `CREATE TABLE verifications (
      id text NOT NULL PRIMARY KEY,
      identifier text NOT NULL,
      value text NOT NULL,
      expires_at bigint NOT NULL,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL
    )`,
    `CREATE INDEX verifications_by_identifier ON verifications (identifier)`,
    `CREATE INDEX verifications_by_value ON verifications (value)`,
    `CREATE INDEX verifications_by_end ON verifications (expires_at)`,

    // site_id is '' for the whole installation.
    `CREATE TABLE grants (
      user_id text NOT NULL,
      site_id text NOT NULL,
      role text NOT NULL,
      created_at bigint NOT NULL,
      PRIMARY KEY (user_id, site_id)
    ) {COMPACT}`,
    `CREATE INDEX grants_by_site ON grants (site_id, role)`,

    // hash: SHA-256 of the ticket in the link. The ticket itself is nowhere.
    `CREATE TABLE invitations (
      id text NOT NULL PRIMARY KEY,
      hash text NOT NULL,
      email text NOT NULL,
      site_id text NOT NULL,
      role text NOT NULL,
      invited_by text NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint NOT NULL
    )`,
    `CREATE UNIQUE INDEX invitations_by_hash ON invitations (hash)`,
    `CREATE UNIQUE INDEX invitations_by_email ON invitations (email, site_id)`,

    // purpose: 'set-up' (user_id '') or 'reset'. by_operator: the link came from an owner or the command line.
    `CREATE TABLE tickets (
      hash text NOT NULL PRIMARY KEY,
      purpose text NOT NULL,
      user_id text NOT NULL,
      by_operator integer NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint NOT NULL
    )`,
    `CREATE INDEX tickets_by_user ON tickets (purpose, user_id)`,

    `CREATE TABLE api_keys (
      id text NOT NULL PRIMARY KEY,
      site_id text NOT NULL,
      name text NOT NULL,
      access text NOT NULL,
      hash text NOT NULL,
      prefix text NOT NULL,
      created_by text NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint,
      revoked_at bigint
    )`,
    `CREATE UNIQUE INDEX api_keys_by_hash ON api_keys (hash)`,

    // How often something was tried, until the window ends. key: a hash, so that no address or email stands here.
    `CREATE TABLE tries (
      key text NOT NULL PRIMARY KEY,
      count integer NOT NULL,
      until bigint NOT NULL
    ) {COMPACT}`,
    `CREATE INDEX tries_by_end ON tries (until)`,

    // Changes of members take turns by this row: one owner always remains.
    `INSERT INTO settings (name, value) VALUES ('members', '0')`,
  ],
};
