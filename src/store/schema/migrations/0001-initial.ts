import { shardOthers, type Migration } from "../migration.ts";

export const initial: Migration = shardOthers({
  kind: "expand",
  version: 1,
  name: "initial schema",
  configuration: [
    "settings",
    "sites",
    "deleted_sites",
    "site_moves",
    "hosts",
    "inbound_keys",
    "connections",
    "removed_connections",
    "sources",
    "data_exports",
    "shared_links",
    "weekly_reports",
    "oauth_apps",
    "users",
    "sessions",
    "passwords",
    "two_factors",
    "verifications",
    "grants",
    "invitations",
    "one_time_links",
    "push_devices",
    "api_keys",
    "rate_counters",
  ],
  statements: [
    // Holds values of the whole installation by name; `revision` counts the changes of configuration.
    `CREATE TABLE settings (name text NOT NULL PRIMARY KEY, value text NOT NULL) {COMPACT}`,
    `INSERT INTO settings (name, value) VALUES ('revision', '0')`,
    // Changes of members lock this row, so that two of them cannot remove the last two owners at once.
    `INSERT INTO settings (name, value) VALUES ('members', '0')`,

    `CREATE TABLE sites (
      site_id text NOT NULL PRIMARY KEY,
      name text NOT NULL,
      settings text NOT NULL,
      revision bigint NOT NULL,
      created_at bigint NOT NULL
    )`,
    `CREATE INDEX sites_by_revision ON sites (revision)`,

    // Holds the ids of deleted sites. revision tells the nodes; purged_at is null while rows of the site may be left.
    `CREATE TABLE deleted_sites (
      site_id text NOT NULL PRIMARY KEY,
      revision bigint NOT NULL,
      deleted_at bigint NOT NULL,
      purged_at bigint
    ) {COMPACT}`,

    // Holds the move of a site to or from another installation: maintenance/siteMove. state is copying, locked or moved where the
    // site comes from, and arriving or live where it goes to. run_id is the process that continues the move; an earlier one
    // that is only slow finds another id here, and stops. peer names the other installation.
    `CREATE TABLE site_moves (
      site_id text NOT NULL PRIMARY KEY,
      move_id text NOT NULL,
      run_id text NOT NULL,
      state text NOT NULL,
      peer text NOT NULL,
      started_at bigint NOT NULL,
      updated_at bigint NOT NULL
    ) {COMPACT}`,

    // trusted is 1 where an operator of the whole installation added the host: it is served without verification.
    // verified_at and verified_by say when and how a check last found that the host leads here; finding and seen say what
    // the last check found wrong and what it saw.
    `CREATE TABLE hosts (
      host text NOT NULL PRIMARY KEY,
      site_id text NOT NULL,
      created_at bigint NOT NULL,
      trusted integer NOT NULL DEFAULT 1,
      paused_at bigint,
      verified_at bigint,
      verified_by text,
      checked_at bigint,
      finding text,
      seen text,
      failing_since bigint,
      next_check_at bigint NOT NULL DEFAULT 0
    )`,
    `CREATE INDEX hosts_by_site ON hosts (site_id)`,

    // api_key_id is the API key that made the key; null where a person or the command line did.
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
      api_key_id text,
      PRIMARY KEY (site_id, id)
    )`,
    `CREATE UNIQUE INDEX inbound_keys_by_hash ON inbound_keys (hash)`,

    // credentials is sealed JSON. account is equal for two connections of one platform to the same account.
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

    // Holds the accounts of removed connections: a later connection to the same account must not send again what the
    // platform accepted through the removed one.
    `CREATE TABLE removed_connections (
      site_id text NOT NULL,
      id text NOT NULL,
      platform text NOT NULL,
      account text NOT NULL,
      removed_at bigint NOT NULL,
      PRIMARY KEY (site_id, id)
    ) {COMPACT}`,

    // tokens is JSON: the hashes of the addresses that are valid, each with the time until which it is. credentials is sealed
    // JSON: the addresses themselves, and the secrets with which the sender signs.
    `CREATE TABLE sources (
      site_id text NOT NULL,
      id text NOT NULL,
      kind text NOT NULL,
      name text NOT NULL,
      settings text NOT NULL,
      tokens text NOT NULL,
      credentials text NOT NULL,
      state text NOT NULL,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      PRIMARY KEY (site_id, id)
    )`,

    // Holds the scheduled export of each site that has one. target is sealed JSON. next_hour begins the next hour that is written;
    // hours from live_hour on also get the later changes of earlier ones. begun is 1 while the files of next_hour may be there in
    // part. Hours before redo_until are written although they were before. options and runs are JSON; runs and error are of the last
    // hours.
    `CREATE TABLE data_exports (
      site_id text NOT NULL PRIMARY KEY,
      target text NOT NULL,
      options text NOT NULL,
      from_hour bigint NOT NULL,
      live_hour bigint NOT NULL,
      next_hour bigint NOT NULL,
      begun integer NOT NULL,
      redo_until bigint NOT NULL,
      due_at bigint NOT NULL,
      runs text NOT NULL,
      error text,
      failing_since bigint,
      created_at bigint NOT NULL
    ) {COMPACT}`,

    // Holds the links through which people without an account read one site: scope is report or wall. hash is of the token in the
    // link; password, of those that have one, is an argon2id hash.
    `CREATE TABLE shared_links (
      id text NOT NULL PRIMARY KEY,
      site_id text NOT NULL,
      scope text NOT NULL,
      name text NOT NULL,
      hash text NOT NULL,
      password text,
      created_by text NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint NOT NULL,
      opened_at bigint,
      revoked_at bigint
    )`,
    `CREATE INDEX shared_links_by_site ON shared_links (site_id)`,

    // Holds the weekly message of each site that has one. schedule is the one that next_at was computed from. due_at is the time of
    // the last message, and results is JSON: what became of it in each channel.
    `CREATE TABLE weekly_reports (
      site_id text NOT NULL PRIMARY KEY,
      schedule text NOT NULL,
      next_at bigint NOT NULL,
      due_at bigint NOT NULL,
      results text NOT NULL
    ) {COMPACT}`,

    // Holds the operator's registrations at platforms. credentials is sealed JSON with the client secret.
    `CREATE TABLE oauth_apps (
      platform text NOT NULL PRIMARY KEY,
      client_id text NOT NULL,
      credentials text NOT NULL,
      updated_at bigint NOT NULL
    )`,

    // users, sessions, passwords, two_factors and verifications belong to better-auth, under our names: access/betterAuth.ts
    // maps its fields to our columns. Some columns stay empty here; they exist because better-auth may read them.
    `CREATE TABLE users (
      id text NOT NULL PRIMARY KEY,
      email text NOT NULL,
      name text NOT NULL,
      email_verified integer NOT NULL,
      image text,
      two_factor integer,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      seen_at bigint,
      invited_by text
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

    // Holds sign-ins that wait for their second factor.
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

    // site_id is '' for a role in the whole installation.
    `CREATE TABLE grants (
      user_id text NOT NULL,
      site_id text NOT NULL,
      role text NOT NULL,
      created_at bigint NOT NULL,
      PRIMARY KEY (user_id, site_id)
    ) {COMPACT}`,
    `CREATE INDEX grants_by_site ON grants (site_id, role)`,

    // hash is the SHA-256 of the secret in the link, which is stored nowhere. shown is 1 where the link was shown to the
    // owner of one site, who may have opened it in place of the invitee.
    `CREATE TABLE invitations (
      id text NOT NULL PRIMARY KEY,
      hash text NOT NULL,
      email text NOT NULL,
      site_id text NOT NULL,
      role text NOT NULL,
      invited_by text NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint NOT NULL,
      shown integer
    )`,
    `CREATE UNIQUE INDEX invitations_by_hash ON invitations (hash)`,
    `CREATE UNIQUE INDEX invitations_by_email ON invitations (email, site_id)`,

    // Holds one-time links. purpose is 'set-up' (user_id '') or 'reset'. by_operator is 1 where an owner or the command
    // line made the link.
    `CREATE TABLE one_time_links (
      hash text NOT NULL PRIMARY KEY,
      purpose text NOT NULL,
      user_id text NOT NULL,
      by_operator integer NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint NOT NULL
    )`,
    `CREATE INDEX one_time_links_by_user ON one_time_links (purpose, user_id)`,

    // Holds the browsers and phones that show alerts; id is the hash of the address inside of the sealed subscription.
    `CREATE TABLE push_devices (
      id text NOT NULL PRIMARY KEY,
      user_id text NOT NULL,
      name text NOT NULL,
      subscription text NOT NULL,
      created_at bigint NOT NULL
    ) {COMPACT}`,
    `CREATE INDEX push_devices_by_user ON push_devices (user_id)`,

    `CREATE TABLE api_keys (
      id text NOT NULL PRIMARY KEY,
      site_id text NOT NULL,
      name text NOT NULL,
      scopes text NOT NULL,
      hash text NOT NULL,
      prefix text NOT NULL,
      created_by text NOT NULL,
      created_at bigint NOT NULL,
      expires_at bigint,
      revoked_at bigint
    )`,
    `CREATE UNIQUE INDEX api_keys_by_hash ON api_keys (hash)`,
    `CREATE INDEX api_keys_by_site ON api_keys (site_id)`,

    // Counts attempts until their window ends. key is a hash, so that no address or email is stored here.
    `CREATE TABLE rate_counters (
      key text NOT NULL PRIMARY KEY,
      count integer NOT NULL,
      until bigint NOT NULL
    ) {COMPACT}`,
    `CREATE INDEX rate_counters_by_end ON rate_counters (until)`,

    // id sorts by time. order_id is the sender's spelling, and order_key the form in which order ids are compared: kernel/reconciliation.ts.
    // owner is the node that attempts the event first, and plan says for each connection what was decided:
    // deliveries/plan.ts. email_ref is the first 52 bits of the email hash, and null when the person was erased.
    // uses_order_event_id is 1 where platforms receive the order event id and not the id. order_event_id holds it where
    // an address was masked in the name or order id: it cannot be computed from them then. released_at is set where an
    // operator let a filtered event through.
    `CREATE TABLE events (
      site_id text NOT NULL,
      id text NOT NULL,
      key_id text NOT NULL,
      mode text NOT NULL,
      status text NOT NULL,
      reasons text,
      name text NOT NULL,
      value double precision,
      currency text NOT NULL,
      order_id text,
      order_key text,
      order_event_id text,
      email_ref bigint,
      time bigint NOT NULL,
      received_at bigint NOT NULL,
      person text NOT NULL,
      attribution text NOT NULL,
      extra text,
      plan text NOT NULL,
      owner text NOT NULL,
      uses_order_event_id integer NOT NULL,
      released_at bigint,
      PRIMARY KEY (site_id, id)
    )`,
    // These end with the id, so that the newest events of an order or a person are found however many there are. No index
    // has a column that changes on the path of an event, so PostgreSQL updates no index after accepting it.
    `CREATE INDEX events_by_order ON events (site_id, order_key, id) WHERE order_key IS NOT NULL`,
    `CREATE INDEX events_by_email ON events (site_id, email_ref, id)`,
    `CREATE INDEX events_filtered ON events (site_id, id) WHERE status = 'filtered'`,
    // Files of data list what changed in an hour: this and the other indexes named by_change or by_start.
    `CREATE INDEX events_by_release ON events (site_id, released_at, id) WHERE released_at IS NOT NULL`,

    // The event that inserts a claim is processed, a later one is a duplicate: events/claims.ts.
    `CREATE TABLE dedup_claims (
      site_id text NOT NULL,
      claim text NOT NULL,
      event_id text NOT NULL,
      person_ref bigint NOT NULL,
      expires_at bigint NOT NULL,
      PRIMARY KEY (site_id, claim)
    ) {COMPACT}`,

    // Holds the results of first attempts that ended at the same moment. Rows are only appended: inserting the next number
    // of an event is the fence between its owner and a node that takes it over. deliveries/outcomes.ts has the format.
    `CREATE TABLE outcomes (
      site_id text NOT NULL,
      event_id text NOT NULL,
      number integer NOT NULL,
      results text NOT NULL,
      PRIMARY KEY (site_id, event_id, number)
    ) {COMPACT}`,

    // Holds a row per node, all under site '': until when its lease on its events lasts, by the database's clock, and the
    // id below which all its events are settled.
    `CREATE TABLE nodes (
      site_id text NOT NULL,
      owner text NOT NULL,
      low_water text NOT NULL,
      until bigint NOT NULL,
      PRIMARY KEY (site_id, owner)
    ) {COMPACT}`,

    // Holds deliveries that did not end as sent with their first attempt. owner and due_at together are a lease: see
    // delivery/worker.ts.
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
    // The sync log lists deliveries newest first, by connection and by what went wrong.
    `CREATE INDEX deliveries_ended ON deliveries (site_id, connection_id, state, event_id)
     WHERE state IN ('rejected', 'expired', 'skipped', 'parked')`,
    `CREATE INDEX deliveries_by_change ON deliveries (site_id, updated_at, event_id, connection_id)`,

    // Holds the last backfill of each connection. The events between from_id and to_id are read in order; cursor is the last
    // one that was judged. chunk is JSON: the events that were queued last. tally is JSON.
    `CREATE TABLE backfills (
      site_id text NOT NULL,
      connection_id text NOT NULL,
      state text NOT NULL,
      reason text,
      days integer NOT NULL,
      per_minute integer NOT NULL,
      from_id text NOT NULL,
      to_id text NOT NULL,
      cursor text NOT NULL,
      chunk text NOT NULL,
      total bigint,
      tally text NOT NULL,
      due_at bigint NOT NULL,
      started_by text NOT NULL,
      started_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      PRIMARY KEY (site_id, connection_id)
    ) {COMPACT}`,

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
    // Serves the success rate of the last hour, and the removal of texts that are too old.
    `CREATE INDEX attempts_by_age ON attempts (site_id, connection_id, started_at) WHERE request <> '(removed)'`,
    `CREATE INDEX attempts_by_start ON attempts (site_id, started_at, event_id, connection_id, number)`,

    // Holds what platforms said later of deliveries that they accepted. A delivery without a row is unconfirmed. retries
    // counts how often it was sent again because of a temporary reason. counted is what it adds to confirmation_counts.
    `CREATE TABLE confirmations (
      site_id text NOT NULL,
      event_id text NOT NULL,
      connection_id text NOT NULL,
      state text NOT NULL,
      reason text,
      detail text,
      retries integer NOT NULL,
      counted text NOT NULL,
      updated_at bigint NOT NULL,
      PRIMARY KEY (site_id, event_id, connection_id)
    ) {COMPACT}`,
    // The sync log lists what was not counted, newest first.
    `CREATE INDEX confirmations_not_counted ON confirmations (site_id, event_id, connection_id)
     WHERE state = 'not counted'`,
    `CREATE INDEX confirmations_by_change ON confirmations (site_id, updated_at, event_id, connection_id)`,

    // Holds the sums of confirmations by the hour of their events. reason is empty where there is none.
    `CREATE TABLE confirmation_counts (
      site_id text NOT NULL,
      hour bigint NOT NULL,
      connection_id text NOT NULL,
      state text NOT NULL,
      reason text NOT NULL,
      platform text NOT NULL,
      count bigint NOT NULL,
      PRIMARY KEY (site_id, hour, connection_id, state, reason)
    ) {COMPACT}`,

    // Holds the questions to platforms that are open. subject is the platform's name of what is asked, as its request id.
    // events is a JSON list of ids. asked counts the times that the platform was asked.
    `CREATE TABLE confirmation_requests (
      site_id text NOT NULL,
      connection_id text NOT NULL,
      subject text NOT NULL,
      events text NOT NULL,
      accepted_at bigint NOT NULL,
      asked integer NOT NULL,
      due_at bigint NOT NULL,
      PRIMARY KEY (site_id, connection_id, subject)
    )`,
    `CREATE INDEX confirmation_requests_due ON confirmation_requests (site_id, connection_id, due_at)`,

    // Holds what platforms say of the quality of the events that they received, once a day. reports is JSON.
    `CREATE TABLE quality_snapshots (
      site_id text NOT NULL,
      connection_id text NOT NULL,
      day text NOT NULL,
      reports text NOT NULL,
      PRIMARY KEY (site_id, connection_id, day)
    )`,

    // Holds corrections of conversions whose orders were refunded or cancelled. value is what is left of the conversion's own.
    `CREATE TABLE corrections (
      site_id text NOT NULL,
      event_id text NOT NULL,
      connection_id text NOT NULL,
      state text NOT NULL,
      value double precision NOT NULL,
      source text NOT NULL,
      reason text,
      attempts integer NOT NULL,
      due_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      PRIMARY KEY (site_id, event_id, connection_id)
    ) {COMPACT}`,
    `CREATE INDEX corrections_due ON corrections (site_id, due_at) WHERE state = 'waiting'`,
    `CREATE INDEX corrections_by_change ON corrections (site_id, updated_at, event_id, connection_id)`,

    // Holds how far work has read the rows of a site, by the name of the work: cursors.ts.
    `CREATE TABLE cursors (
      site_id text NOT NULL,
      name text NOT NULL,
      reached text NOT NULL,
      PRIMARY KEY (site_id, name)
    ) {COMPACT}`,

    // oldest_at is the time of the oldest visit or click id in the record. It has no index here: purging reads all identities
    // by key once a day (people/purgePeople.ts).
    `CREATE TABLE identities (
      site_id text NOT NULL,
      email_sha256 text NOT NULL,
      record text NOT NULL,
      oldest_at bigint NOT NULL,
      PRIMARY KEY (site_id, email_sha256)
    ) {COMPACT}`,

    `CREATE TABLE visitors (
      site_id text NOT NULL,
      visitor_id text NOT NULL,
      record text NOT NULL,
      oldest_at bigint NOT NULL,
      PRIMARY KEY (site_id, visitor_id)
    ) {COMPACT}`,
    `CREATE INDEX visitors_by_age ON visitors (site_id, oldest_at)`,

    // A decision is valid until its giver changes it. subject is a hashed email or a visitor id. given_by is, for a person,
    // the visitor or the operator, and for a visitor the source. state has no CHECK: an unknown value must read as a
    // refusal, and tests write real garbage here to prove it.
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

    // Each process writes its own counts, as totals: a repeated write counts nothing twice.
    `CREATE TABLE visit_counts (
      site_id text NOT NULL,
      hour bigint NOT NULL,
      bucket text NOT NULL,
      reason text NOT NULL,
      writer text NOT NULL,
      visits bigint NOT NULL,
      PRIMARY KEY (site_id, hour, bucket, reason, writer)
    ) {COMPACT}`,

    // Holds for a minute what each node observed of ad clicks, in hashes, for the memory of the others; all under site ''.
    `CREATE TABLE shared_traffic (
      site_id text NOT NULL,
      writer text NOT NULL,
      number bigint NOT NULL,
      written_at bigint NOT NULL,
      record text NOT NULL,
      PRIMARY KEY (site_id, writer, number)
    ) {COMPACT}`,

    // Holds a sample of the visits by bots, and their clicks on advertisements. record is sealed JSON.
    `CREATE TABLE bot_visits (
      site_id text NOT NULL,
      id text NOT NULL,
      seen_at bigint NOT NULL,
      reason text NOT NULL,
      click_hash text,
      record text NOT NULL,
      PRIMARY KEY (site_id, id)
    )`,
    `CREATE INDEX bot_visits_by_click ON bot_visits (site_id, click_hash) WHERE click_hash IS NOT NULL`,

    // Holds platform sign-ins that are under way, or done and waiting to become a connection. record is sealed JSON.
    `CREATE TABLE platform_sign_ins (
      site_id text NOT NULL,
      id text NOT NULL,
      platform text NOT NULL,
      record text NOT NULL,
      expires_at bigint NOT NULL,
      PRIMARY KEY (site_id, id)
    )`,

    // Holds the result of the last check of each connection. verified_at is the last time that it succeeded; reason is why the
    // last check did not.
    `CREATE TABLE connection_checks (
      site_id text NOT NULL,
      connection_id text NOT NULL,
      verified_at bigint,
      checked_at bigint NOT NULL,
      reason text,
      PRIMARY KEY (site_id, connection_id)
    ) {COMPACT}`,

    // Each process writes what it has counted since it started, so that nodes never wait for each other. Rows are never
    // removed: a period is the difference of two sums over all of them.
    `CREATE TABLE totals (
      site_id text NOT NULL,
      writer text NOT NULL,
      conversions bigint NOT NULL,
      removed_events bigint NOT NULL,
      bot_visits bigint NOT NULL,
      PRIMARY KEY (site_id, writer)
    ) {COMPACT}`,

    // Holds where the last closed period ended, and the sums at that moment.
    `CREATE TABLE period_heads (
      site_id text NOT NULL PRIMARY KEY,
      number bigint NOT NULL,
      ends_at bigint NOT NULL,
      closed_at bigint NOT NULL,
      conversions bigint NOT NULL,
      removed bigint NOT NULL
    ) {COMPACT}`,

    // The key is a number and not a time: a clock that was set back gives two periods the same hour.
    `CREATE TABLE periods (
      site_id text NOT NULL,
      number bigint NOT NULL,
      starts_at bigint NOT NULL,
      ends_at bigint NOT NULL,
      conversions bigint NOT NULL,
      removed bigint NOT NULL,
      closed_at bigint NOT NULL,
      PRIMARY KEY (site_id, number)
    ) {COMPACT}`,

    // url and secrets are sealed. owner and due_at together are a lease, as with deliveries. attempts counts consecutive
    // failures. disabled_by is 'person' where a person has disabled it, and NULL where the relay has.
    `CREATE TABLE webhooks (
      site_id text NOT NULL,
      id text NOT NULL,
      url text NOT NULL,
      secrets text NOT NULL,
      send_empty integer NOT NULL,
      state text NOT NULL,
      state_reason text,
      disabled_by text,
      failing_since bigint,
      attempts integer NOT NULL,
      due_at bigint NOT NULL,
      owner text NOT NULL,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      PRIMARY KEY (site_id, id)
    )`,

    `CREATE TABLE pushes (
      site_id text NOT NULL,
      webhook_id text NOT NULL,
      number bigint NOT NULL,
      state text NOT NULL,
      attempts integer NOT NULL,
      sent_at bigint,
      PRIMARY KEY (site_id, webhook_id, number)
    ) {COMPACT}`,
    `CREATE INDEX pushes_queued ON pushes (site_id, webhook_id, number) WHERE state = 'queued'`,

    // Holds one row per call. number is null for a test.
    `CREATE TABLE push_log (
      site_id text NOT NULL,
      webhook_id text NOT NULL,
      id text NOT NULL,
      number bigint,
      started_at bigint NOT NULL,
      duration_ms integer NOT NULL,
      ok integer NOT NULL,
      http_status integer,
      error text,
      response text,
      PRIMARY KEY (site_id, webhook_id, id)
    )`,

    // notifications is JSON: the last notification of each channel. seen_at is when the condition was last found.
    `CREATE TABLE alerts (
      site_id text NOT NULL,
      kind text NOT NULL,
      subject text NOT NULL,
      began_at bigint NOT NULL,
      seen_at bigint NOT NULL,
      notified_at bigint,
      ended_at bigint,
      text text NOT NULL,
      notifications text NOT NULL,
      PRIMARY KEY (site_id, kind, subject, began_at)
    )`,
    `CREATE UNIQUE INDEX alerts_open ON alerts (site_id, kind, subject) WHERE ended_at IS NULL`,
    `CREATE INDEX alerts_by_end ON alerts (ended_at)`,

    // Holds the statistics of one hour, computed from its events and their deliveries; all rows of an hour are replaced
    // together.
    // charted_hour is the hour in which charts show a figure of the events of this hour: earlier for those that arrived late.
    `CREATE TABLE statistics (
      site_id text NOT NULL,
      hour bigint NOT NULL,
      charted_hour bigint NOT NULL,
      kind text NOT NULL,
      name text NOT NULL,
      currency text NOT NULL,
      count bigint NOT NULL,
      value double precision NOT NULL,
      PRIMARY KEY (site_id, hour, charted_hour, kind, name, currency)
    ) {COMPACT}`,
    `CREATE INDEX statistics_charted ON statistics (site_id, charted_hour)`,

    // Holds the figures of one hour for the conversions of one event name, source, campaign or platform: a list of
    // [kind, name, currency, count, value]. An hour has a bounded number of rows, replaced together with its statistics.
    `CREATE TABLE statistics_segments (
      site_id text NOT NULL,
      segment text NOT NULL,
      name text NOT NULL,
      hour bigint NOT NULL,
      charted_hour bigint NOT NULL,
      figures text NOT NULL,
      PRIMARY KEY (site_id, segment, name, charted_hour, hour)
    ) {COMPACT}`,
    `CREATE INDEX statistics_segments_hour ON statistics_segments (site_id, hour)`,

    // Holds the hours that were computed: from the data of rolled_at, and to be computed again at due_at, unless no event was added to
    // settled_events, whose deliveries had all ended.
    `CREATE TABLE statistics_hours (
      site_id text NOT NULL,
      hour bigint NOT NULL,
      rolled_at bigint NOT NULL,
      due_at bigint NOT NULL,
      settled_events bigint,
      PRIMARY KEY (site_id, hour)
    ) {COMPACT}`,
    `CREATE INDEX statistics_hours_due ON statistics_hours (site_id, due_at)`,

    // Every hour with events from from_hour up to and without to_hour was computed.
    `CREATE TABLE statistics_heads (
      site_id text NOT NULL PRIMARY KEY,
      from_hour bigint NOT NULL,
      to_hour bigint NOT NULL
    ) {COMPACT}`,

    // Counts duplicates and rejected requests, which leave no event. Each process writes its own counts, as totals.
    `CREATE TABLE inbound_counts (
      site_id text NOT NULL,
      hour bigint NOT NULL,
      kind text NOT NULL,
      writer text NOT NULL,
      count bigint NOT NULL,
      PRIMARY KEY (site_id, hour, kind, writer)
    ) {COMPACT}`,

    // Holds a sample of the rejected requests, with neither key nor body. address is only the network.
    `CREATE TABLE rejected_requests (
      site_id text NOT NULL,
      id text NOT NULL,
      at bigint NOT NULL,
      status integer NOT NULL,
      error text NOT NULL,
      host text NOT NULL,
      key_id text,
      address text,
      PRIMARY KEY (site_id, id)
    ) {COMPACT}`,

    // Holds what senders' own ids stand for: ref is the hash of a customer id or of another id of an order. A customer that an event
    // named is the person of that event, event_id. One that no stored event names has a person of its own, as in events, and
    // email_ref. An order has order_id. What a row does not have is null.
    `CREATE TABLE sender_refs (
      site_id text NOT NULL,
      source_id text NOT NULL,
      ref text NOT NULL,
      event_id text,
      email_ref bigint,
      person text,
      order_id text,
      seen_at bigint NOT NULL,
      PRIMARY KEY (site_id, source_id, ref)
    ) {COMPACT}`,
    `CREATE INDEX sender_refs_by_email ON sender_refs (site_id, email_ref) WHERE email_ref IS NOT NULL`,

    // Holds a sample of the requests of sources and what became of them, without their content. event_id is the event that one
    // became. One that waits, for a look-up or another request, is always here: waiting is what was read of it, sealed, and due_at
    // the time of the next attempt. Both are null for the others.
    `CREATE TABLE source_requests (
      site_id text NOT NULL,
      source_id text NOT NULL,
      id text NOT NULL,
      at bigint NOT NULL,
      outcome text NOT NULL,
      reason text,
      detail text,
      type text NOT NULL,
      delivery_id text,
      event_id text,
      due_at bigint,
      attempts integer NOT NULL,
      waiting text,
      PRIMARY KEY (site_id, source_id, id)
    ) {COMPACT}`,
    `CREATE INDEX source_requests_due ON source_requests (site_id, source_id, due_at) WHERE due_at IS NOT NULL`,

    // Holds the shapes of the last requests of each source: names and types of fields, with masked values. shape is JSON. request is
    // the whole request, sealed, for a day; null where it is not kept.
    `CREATE TABLE source_shapes (
      site_id text NOT NULL,
      source_id text NOT NULL,
      id text NOT NULL,
      at bigint NOT NULL,
      type text NOT NULL,
      shape text NOT NULL,
      request text,
      PRIMARY KEY (site_id, source_id, id)
    ) {COMPACT}`,

    // id is made from the site, the file's content and how its columns are read, so that the same command finds its row
    // again. line is the last one whose outcome is in the tally. owner and lease_until are the lease of the process that
    // imports.
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

    // Holds the customer's list of orders: the last one that was given of each. id is "=" with the order's key
    // (kernel/reconciliation.ts), or "~" with a hash of the other fields where it has no id. order_id is as the list spells it. email_ref is
    // as in events. Nothing but the list is written here: results are in reconciliation_rows.
    `CREATE TABLE orders (
      site_id text NOT NULL,
      id text NOT NULL,
      order_id text,
      time bigint NOT NULL,
      value double precision,
      currency text NOT NULL,
      status text NOT NULL,
      email_ref bigint,
      email_sha256 text,
      listed_at bigint NOT NULL,
      PRIMARY KEY (site_id, id)
    ) {COMPACT}`,
    `CREATE INDEX orders_by_time ON orders (site_id, time, id)`,
    `CREATE INDEX orders_by_email ON orders (site_id, email_ref) WHERE email_ref IS NOT NULL`,

    // Holds the address from which the list of orders of a site is fetched once a day. address is sealed JSON. error and tally
    // are of the last fetch; options and tally are JSON.
    `CREATE TABLE order_feeds (
      site_id text NOT NULL,
      address text NOT NULL,
      options text NOT NULL,
      due_at bigint NOT NULL,
      fetched_at bigint,
      error text,
      tally text NOT NULL,
      failing_since bigint,
      created_at bigint NOT NULL,
      PRIMARY KEY (site_id)
    ) {COMPACT}`,

    // Holds comparisons of orders with events. phase and cursor say how far one is; each step writes them with its rows, so the
    // tally always equals the rows. tally is JSON.
    `CREATE TABLE reconciliations (
      site_id text NOT NULL,
      id text NOT NULL,
      state text NOT NULL,
      phase text NOT NULL,
      cursor text NOT NULL,
      from_time bigint NOT NULL,
      to_time bigint NOT NULL,
      event text NOT NULL,
      tolerance double precision NOT NULL,
      tally text NOT NULL,
      started_by text NOT NULL,
      started_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      PRIMARY KEY (site_id, id)
    ) {COMPACT}`,
    // One at a time on a site. It also finds those that run, on all sites.
    `CREATE UNIQUE INDEX reconciliations_running ON reconciliations (site_id) WHERE state = 'running'`,
    `CREATE INDEX reconciliations_by_change ON reconciliations (updated_at)`,

    // Holds a row per order of a comparison, and one per event without an order: id is "!" with the event id then. outcomes is
    // JSON: the state of each delivery when the row was written.
    `CREATE TABLE reconciliation_rows (
      site_id text NOT NULL,
      run_id text NOT NULL,
      id text NOT NULL,
      order_id text,
      class text NOT NULL,
      found_by text,
      event_id text,
      events integer NOT NULL,
      time bigint NOT NULL,
      order_value double precision,
      order_currency text,
      order_status text,
      event_value double precision,
      event_currency text,
      filtered text,
      outcomes text NOT NULL,
      PRIMARY KEY (site_id, run_id, id)
    ) {COMPACT}`,
    `CREATE INDEX reconciliation_rows_by_class ON reconciliation_rows (site_id, run_id, class, id)`,
    `CREATE INDEX reconciliation_rows_by_event ON reconciliation_rows (site_id, run_id, event_id) WHERE event_id IS NOT NULL`,

    // Holds the leases of work that one node at a time does: engine/leases.ts. Those of work for all sites are under site ''.
    `CREATE TABLE leases (
      site_id text NOT NULL,
      name text NOT NULL,
      owner text NOT NULL,
      until bigint NOT NULL,
      PRIMARY KEY (site_id, name)
    ) {COMPACT}`,
  ],
});
