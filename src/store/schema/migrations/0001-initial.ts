import type { Migration } from "../migration.ts";

export const theRelayStands: Migration = {
  kind: "expand",
  version: 1,
  name: "the relay stands",
  configuration: ["settings", "sites", "hosts", "inbound_keys", "connections"],
  bySite: [
    "events",
    "dedup_claims",
    "deliveries",
    "attempts",
    "identities",
    "visitors",
    "consents",
    "consent_history",
    "wrong_keys",
    "lockouts",
    "key_uses",
    "audit",
  ],
  statements: [
    // name -> value of the whole installation; `revision` counts the changes of configuration.
    `CREATE TABLE settings (name text NOT NULL PRIMARY KEY, value text NOT NULL) {COMPACT}`,
    `INSERT INTO settings (name, value) VALUES ('revision', '0')`,

    `CREATE TABLE sites (
      site_id text NOT NULL PRIMARY KEY,
      name text NOT NULL,
      settings text NOT NULL,
      revision bigint NOT NULL,
      created_at bigint NOT NULL
    )`,
    `CREATE INDEX sites_by_revision ON sites (revision)`,

    `CREATE TABLE hosts (
      host text NOT NULL PRIMARY KEY,
      site_id text NOT NULL,
      created_at bigint NOT NULL
    )`,
    `CREATE INDEX hosts_by_site ON hosts (site_id)`,

    `CREATE TABLE inbound_keys (
      site_id text NOT NULL,
      id text NOT NULL,
      name text NOT NULL,
      mode text NOT NULL,
      hash text NOT NULL,
      prefix text NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint,
      revoked_at bigint,
      PRIMARY KEY (site_id, id)
    )`,
    `CREATE UNIQUE INDEX inbound_keys_by_hash ON inbound_keys (hash)`,

    // credentials: sealed JSON. account: what makes two connections of one platform the same.
    `CREATE TABLE connections (
      site_id text NOT NULL,
      id text NOT NULL,
      platform text NOT NULL,
      account text NOT NULL,
      settings text NOT NULL,
      credentials text NOT NULL,
      events text NOT NULL,
      state text NOT NULL,
      state_reason text,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      PRIMARY KEY (site_id, id)
    )`,
    `CREATE UNIQUE INDEX connections_by_account ON connections (site_id, platform, account)`,

    // id is a UUIDv7, so its order is the order of receipt. platform_event_id is the event id that platforms see.
    `CREATE TABLE events (
      site_id text NOT NULL,
      id text NOT NULL,
      platform_event_id text NOT NULL,
      key_id text NOT NULL,
      mode text NOT NULL,
      status text NOT NULL,
      reasons text,
      name text NOT NULL,
      value double precision,
      currency text NOT NULL,
      order_id text,
      email_sha256 text NOT NULL,
      time bigint NOT NULL,
      received_at bigint NOT NULL,
      person text NOT NULL,
      attribution text NOT NULL,
      extra text,
      PRIMARY KEY (site_id, id)
    )`,
    `CREATE INDEX events_by_order ON events (site_id, order_id) WHERE order_id IS NOT NULL`,
    `CREATE INDEX events_by_email ON events (site_id, email_sha256)`,

    // Who holds a claim may process: one row per duplicate key, one per event id that a browser can foretell.
    `CREATE TABLE dedup_claims (
      site_id text NOT NULL,
      claim text NOT NULL,
      event_id text NOT NULL,
      expires_at bigint NOT NULL,
      PRIMARY KEY (site_id, claim)
    ) {COMPACT}`,

    // owner and due_at together are a lease: see delivery/worker.ts.
    `CREATE TABLE deliveries (
      site_id text NOT NULL,
      event_id text NOT NULL,
      connection_id text NOT NULL,
      platform text NOT NULL,
      state text NOT NULL,
      reason text,
      attempts integer NOT NULL,
      due_at bigint NOT NULL,
      owner text NOT NULL,
      updated_at bigint NOT NULL,
      PRIMARY KEY (site_id, event_id, connection_id)
    ) {COMPACT}`,
    `CREATE INDEX deliveries_due ON deliveries (site_id, connection_id, due_at) WHERE state = 'queued'`,
    `CREATE INDEX deliveries_parked ON deliveries (site_id, connection_id) WHERE state = 'parked'`,

    `CREATE TABLE attempts (
      site_id text NOT NULL,
      event_id text NOT NULL,
      connection_id text NOT NULL,
      number integer NOT NULL,
      started_at bigint NOT NULL,
      duration_ms integer NOT NULL,
      state text NOT NULL,
      reason text,
      http_status integer,
      batch integer NOT NULL,
      request text NOT NULL,
      response text,
      PRIMARY KEY (site_id, event_id, connection_id, number)
    )`,

    // oldest_at: of the visits and click ids in the record, so that retention finds what is too old.
    `CREATE TABLE identities (
      site_id text NOT NULL,
      email_sha256 text NOT NULL,
      record text NOT NULL,
      oldest_at bigint NOT NULL,
      PRIMARY KEY (site_id, email_sha256)
    ) {COMPACT}`,
    `CREATE INDEX identities_by_age ON identities (site_id, oldest_at)`,

    `CREATE TABLE visitors (
      site_id text NOT NULL,
      visitor_id text NOT NULL,
      record text NOT NULL,
      oldest_at bigint NOT NULL,
      PRIMARY KEY (site_id, visitor_id)
    ) {COMPACT}`,
    `CREATE INDEX visitors_by_age ON visitors (site_id, oldest_at)`,

    // A decision stands until the one who gave it changes it. subject: a hashed email or a visitor id; given_by: for
    // a person the visitor or the operator, for a visitor the source. No check on state: a value that nobody knows
    // must read as a refusal, and the code that does so is tested against real garbage.
    `CREATE TABLE consents (
      site_id text NOT NULL,
      subject text NOT NULL,
      given_by text NOT NULL,
      state text NOT NULL,
      decided_at bigint NOT NULL,
      PRIMARY KEY (site_id, subject, given_by)
    ) {COMPACT}`,
    `CREATE INDEX consents_by_giver ON consents (site_id, given_by)`,
    `CREATE TABLE consent_history (
      site_id text NOT NULL,
      subject text NOT NULL,
      id text NOT NULL,
      given_by text NOT NULL,
      state text NOT NULL,
      decided_at bigint NOT NULL,
      PRIMARY KEY (site_id, subject, id)
    ) {COMPACT}`,

    // site_id is '' for a host that no site owns.
    `CREATE TABLE wrong_keys (
      site_id text NOT NULL,
      host text NOT NULL,
      at bigint NOT NULL,
      id text NOT NULL,
      PRIMARY KEY (site_id, host, at, id)
    ) {COMPACT}`,
    `CREATE TABLE lockouts (
      site_id text NOT NULL,
      host text NOT NULL,
      started_at bigint NOT NULL,
      locked_until bigint NOT NULL,
      PRIMARY KEY (site_id, host)
    ) {COMPACT}`,

    `CREATE TABLE key_uses (
      site_id text NOT NULL,
      key_id text NOT NULL,
      hour bigint NOT NULL,
      uses bigint NOT NULL,
      last_used_at bigint NOT NULL,
      PRIMARY KEY (site_id, key_id, hour)
    ) {COMPACT}`,

    `CREATE TABLE audit (
      site_id text NOT NULL,
      id text NOT NULL,
      at bigint NOT NULL,
      actor text NOT NULL,
      action text NOT NULL,
      detail text NOT NULL,
      PRIMARY KEY (site_id, id)
    )`,
  ],
};
