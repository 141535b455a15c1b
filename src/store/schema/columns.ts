// The columns of whole rows that this version reads, by table. Statements never select `*`: a newer node may add a column
// while this one runs, and PostgreSQL then refuses every prepared statement whose result would change ("cached plan must not
// change result type").

export const columns = {
  alerts: "site_id, kind, subject, began_at, seen_at, notified_at, ended_at, text, notifications",
  api_keys: "id, site_id, name, scopes, hash, prefix, created_by, created_at, expires_at, revoked_at",
  audit: "site_id, id, at, actor, action, detail",
  backfills:
    "site_id, connection_id, state, reason, days, per_minute, from_id, to_id, cursor, chunk, total, tally, due_at, started_by, started_at, updated_at",
  bot_visits: "site_id, id, seen_at, reason, record",
  confirmation_counts: "site_id, hour, connection_id, state, reason, platform, count",
  confirmation_heads: "site_id, connection_id, event_id, attempt_at, attempt_event_id",
  confirmation_requests: "site_id, connection_id, subject, events, accepted_at, asked, due_at",
  confirmations: "site_id, event_id, connection_id, state, reason, detail, retries, counted, updated_at",
  connections:
    "site_id, id, platform, account, settings, credentials, events, state, state_reason, created_at, updated_at",
  consent_history: "site_id, subject, id, given_by, state, decided_at",
  consents: "site_id, subject, given_by, state, decided_at",
  corrections: "site_id, event_id, connection_id, state, value, source, reason, attempts, due_at, updated_at",
  grants: "user_id, site_id, role, created_at",
  hosts:
    "host, site_id, created_at, trusted, paused_at, verified_at, verified_by, checked_at, finding, seen, failing_since, next_check_at",
  imports: "site_id, id, kind, file, options, state, line, tally, owner, lease_until, started_at, updated_at",
  inbound_keys: "site_id, id, name, mode, hash, prefix, created_at, expires_at, revoked_at, api_key_id",
  invitations: "id, hash, email, site_id, role, invited_by, created_at, expires_at, shown",
  lockouts: "site_id, host, started_at, locked_until",
  oauth_apps: "platform, client_id, credentials, updated_at",
  passwords:
    "id, user_id, account_id, provider_id, password, access_token, refresh_token, id_token, access_token_expires_at, refresh_token_expires_at, scope, created_at, updated_at",
  period_heads: "site_id, number, ends_at, closed_at, conversions, removed",
  periods: "site_id, number, starts_at, ends_at, conversions, removed, closed_at",
  platform_sign_ins: "site_id, id, platform, record, expires_at",
  push_log: "site_id, webhook_id, id, number, started_at, duration_ms, ok, http_status, error, response",
  quality_snapshots: "site_id, connection_id, day, reports",
  sessions: "id, user_id, token, address, user_agent, created_at, updated_at, expires_at, seen_at",
  sites: "site_id, name, settings, revision, created_at",
  two_factors: "id, user_id, secret, backup_codes, verified, failures, locked_until",
  users: "id, email, name, email_verified, image, two_factor, created_at, updated_at, seen_at, invited_by",
  verifications: "id, identifier, value, expires_at, created_at, updated_at",
  webhooks:
    "site_id, id, url, secrets, send_empty, state, state_reason, disabled_by, failing_since, attempts, due_at, owner, created_at, updated_at",
} as const;

/** Returns the columns with the table in front of each, for a join. */
export const qualified = (table: keyof typeof columns) =>
  columns[table]
    .split(", ")
    .map((column) => `${table}.${column}`)
    .join(", ");
