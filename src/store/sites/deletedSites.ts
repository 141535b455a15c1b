// Deletes sites. The configuration goes at once, in one transaction: keys stop, deliveries and pushes end. Everything that
// grows is purged in the background, in small steps. A row in `deleted_sites` stays, so that every node learns of the deletion
// by its revision, however late, and what a node wrote in between is purged too.

import type { AuditLine } from "./audit.ts";
import type { Database } from "../engine/database.ts";
import type { PurgeStep } from "../maintenance/purge.ts";
import { changeConfiguration } from "./revision.ts";

/** The tables whose rows go with the site itself. `webhooks` is one of them, because it holds secrets. */
export const configurationTables = [
  "hosts",
  "inbound_keys",
  "connections",
  "removed_connections",
  "webhooks",
  "period_heads",
  "grants",
  "invitations",
  "api_keys",
  "sites",
] as const;

/**
 * The tables that are purged in steps, with the rest of their keys after the site. Rows go before those that they refer to,
 * so that `check` finds nothing wrong in between.
 */
export const purgedTables: readonly (readonly [table: string, key: string])[] = [
  ["backfills", "connection_id"],
  ["proofs", "connection_id"],
  ["confirmation_requests", "connection_id, subject"],
  ["confirmation_heads", "connection_id"],
  ["quality_snapshots", "connection_id, day"],
  ["corrections", "event_id, connection_id"],
  ["correction_heads", "event_id"],
  ["confirmation_counts", "hour, connection_id, state, reason"],
  ["confirmations", "event_id, connection_id"],
  ["attempts", "event_id, connection_id, number"],
  ["deliveries", "event_id, connection_id"],
  ["outcomes", "event_id, number"],
  ["events", "id"],
  ["dedup_claims", "claim"],
  ["purge_heads", ""],
  ["identities", "email_sha256"],
  ["visitors", "visitor_id"],
  ["consent_history", "subject, id"],
  ["consents", "subject, given_by"],
  ["wrong_keys", "host, at, id"],
  ["lockouts", "host"],
  ["key_uses", "key_id, hour"],
  ["audit", "id"],
  ["visit_counts", "hour, bucket, reason, writer"],
  ["bot_visits", "id"],
  ["platform_sign_ins", "id"],
  ["token_refreshes", "connection_id"],
  ["totals", "writer"],
  ["push_log", "webhook_id, id"],
  ["pushes", "webhook_id, number"],
  ["webhooks", "id"],
  ["periods", "number"],
  ["period_heads", ""],
  ["alerts", "kind, subject, began_at"],
  ["statistics", "hour, kind, name, currency"],
  ["statistics_hours", "hour"],
  ["statistics_heads", ""],
  ["inbound_counts", "hour, kind, writer"],
  ["rejected_requests", "id"],
  ["imports", "id"],
  ["reconciliation_rows", "run_id, id"],
  ["reconciliations", "id"],
  ["orders", "id"],
  ["order_feeds", ""],
];

type DeletedSite = { id: string; deletedAt: number };

export function deletedSiteStore(db: Database, newId: () => string) {
  return {
    /** `line` belongs to the installation: the audit log of the site is purged with it. */
    delete(line: AuditLine, siteId: string): Promise<void> {
      return changeConfiguration(db, newId(), line, async (tx) => {
        const [revision] = await tx.all(`SELECT value FROM settings WHERE name = 'revision'`);
        await tx.all(
          `INSERT INTO deleted_sites (site_id, revision, deleted_at) VALUES ($1, $2, $3) ON CONFLICT (site_id) DO NOTHING`,
          [siteId, Number(revision?.value), line.at],
        );
        for (const table of configurationTables)
          await tx.all(`DELETE FROM ${table} WHERE site_id = $1`, [siteId]);
      });
    },

    /** Lists the ids of sites that were deleted after a revision. */
    async listSince(revision: number): Promise<string[]> {
      const rows = await db.all(`SELECT site_id FROM deleted_sites WHERE revision > $1`, [revision]);
      return rows.map((row) => String(row.site_id));
    },

    /** Lists the sites of which rows may be left. */
    async listUnpurged(): Promise<DeletedSite[]> {
      const rows = await db.all(
        `SELECT site_id, deleted_at FROM deleted_sites WHERE purged_at IS NULL ORDER BY deleted_at, site_id`,
      );
      return rows.map((row) => ({ id: String(row.site_id), deletedAt: Number(row.deleted_at) }));
    },

    /** Deletes up to `maxRows` rows of one table. `after` and `next` are places in the list of tables. */
    async purge(siteId: string, after: string, maxRows: number): Promise<PurgeStep> {
      const at = Number(after);
      const [table, key] = purgedTables[at] ?? [];
      if (table === undefined) return { removed: 0, next: null };
      const params = key ? [siteId, maxRows] : [siteId];
      const some = key
        ? `AND (${key}) IN (SELECT ${key} FROM ${table} WHERE site_id = $1 ORDER BY ${key} LIMIT $2)`
        : "";
      const rows = await db.write((tx) =>
        tx.all(`DELETE FROM ${table} WHERE site_id = $1 ${some} RETURNING 1 AS n`, params),
      );
      return { removed: rows.length, next: String(rows.length < maxRows ? at + 1 : at) };
    },

    async markPurged(siteId: string, now: number): Promise<void> {
      await db.write((tx) =>
        tx.all(`UPDATE deleted_sites SET purged_at = $2 WHERE site_id = $1`, [siteId, now]),
      );
    },
  };
}
