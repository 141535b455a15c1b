// The columns of whole rows that this version reads, by table. Statements never select `*`: a newer node may add a column
// while this one runs, and PostgreSQL then refuses every prepared statement whose result would change ("cached plan must not
// change result type").

export const columns = {
  alerts: "site_id, kind, subject, began_at, seen_at, notified_at, ended_at, text, notifications",
  audit: "site_id, id, at, actor, action, detail",
  bot_visits: "site_id, id, seen_at, reason, click_hash, record",
  connections: "site_id, id, platform, account, settings, credentials, events, state, state_reason, created_at, updated_at",
  consent_history: "site_id, subject, id, given_by, state, decided_at",
  consents: "site_id, subject, given_by, state, decided_at",
  oauth_apps: "platform, client_id, credentials, updated_at",
  passwords:
    "id, user_id, account_id, provider_id, password, access_token, refresh_token, id_token, access_token_expires_at, refresh_token_expires_at, scope, created_at, updated_at",
  period_heads: "site_id, number, ends_at, closed_at, conversions, removed",
  platform_sign_ins: "site_id, id, platform, record, expires_at",
  quality_snapshots: "site_id, connection_id, day, reports",
  sessions: "id, user_id, token, address, user_agent, created_at, updated_at, expires_at, seen_at",
  sites: "site_id, name, settings, revision, created_at",
  sources: "site_id, id, kind, name, settings, tokens, credentials, state, created_at, updated_at",
  two_factors: "id, user_id, secret, backup_codes, verified, failures, locked_until",
  users: "id, email, name, email_verified, image, two_factor, created_at, updated_at, seen_at, invited_by",
  verifications: "id, identifier, value, expires_at, created_at, updated_at",
  webhooks:
    "site_id, id, url, secrets, send_empty, state, state_reason, disabled_by, failing_since, attempts, due_at, owner, created_at, updated_at",
} as const;
