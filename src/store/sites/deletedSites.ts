// Deletes sites. The configuration goes at once, in one transaction: keys stop, deliveries and pushes end. Everything that
// grows is purged in the background, in small steps. A row in `deleted_sites` stays, so that every node learns of the deletion
// by its revision, however late, and what a node wrote in between is purged too.

import type { AuditLine } from "./audit.ts";
import { insertRow, type Database } from "../engine/database.ts";
import type { PurgeStep } from "../maintenance/purge.ts";
import { readSetting } from "../settings.ts";
import { unlockTables } from "../maintenance/siteLock.ts";
import { deleteSomeRows } from "../copy/rows.ts";
import { acceptanceTables, lockedTables } from "../copy/siteTables.ts";
import { Conflict } from "../../kernel/refusal.ts";
import { changeConfiguration } from "./revision.ts";
import { readSiteMove } from "./siteMoves.ts";

/** The tables whose rows go with the site itself. `webhooks` is one of them, because it holds secrets. */
export const configurationTables = [
  "hosts",
  "inbound_keys",
  "connections",
  "removed_connections",
  "sources",
  "data_exports",
  "shared_links",
  "weekly_reports",
  "webhooks",
  "period_heads",
  "grants",
  "invitations",
  "api_keys",
  "site_moves",
  "sites",
] as const;

/** The tables that are purged in steps. Rows go before those that they refer to, so that `check` finds nothing wrong in between. */
export const purgedTables = [
  "backfills",
  "connection_checks",
  "confirmation_requests",
  "quality_snapshots",
  "corrections",
  "confirmation_counts",
  "confirmations",
  "attempts",
  "deliveries",
  "outcomes",
  "events",
  "dedup_claims",
  "cursors",
  "identities",
  "visitors",
  "consent_history",
  "consents",
  "wrong_keys",
  "lockouts",
  "key_uses",
  "audit",
  "visit_counts",
  "bot_visits",
  "platform_sign_ins",
  "leases",
  "totals",
  "push_log",
  "pushes",
  "webhooks",
  "periods",
  "period_heads",
  "alerts",
  "statistics",
  "statistics_segments",
  "statistics_hours",
  "statistics_heads",
  "inbound_counts",
  "rejected_requests",
  "source_requests",
  "source_shapes",
  "sender_refs",
  "imports",
  "reconciliation_rows",
  "reconciliations",
  "orders",
  "order_feeds",
];

type DeletedSite = { id: string; deletedAt: number };

export function deletedSiteStore(db: Database, newId: () => string) {
  return {
    /** `line` belongs to the installation: the audit log of the site is purged with it. */
    delete(line: AuditLine, siteId: string): Promise<void> {
      return changeConfiguration(db, newId(), line, async (tx) => {
        const move = await readSiteMove(tx, siteId);
        if (move?.state === "copying" || move?.state === "locked")
          throw new Conflict("site", "This site is being moved to another installation. End the move first.");
        const row = { site_id: siteId, revision: Number(await readSetting(tx, "revision")), deleted_at: line.at };
        await insertRow(tx, "deleted_sites", row, "ON CONFLICT (site_id) DO NOTHING");
        for (const table of configurationTables) await tx.all(`DELETE FROM ${table} WHERE site_id = $1`, [siteId]);
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
      const table = purgedTables[at];
      if (table === undefined) return { removed: 0, next: null };
      const removed = await deleteSomeRows(db, table, siteId, maxRows);
      return { removed, next: String(removed < maxRows ? at + 1 : at) };
    },

    /** Nothing of the site can be written any more, so that the lock of one that was moved is not needed either. */
    async markPurged(siteId: string, now: number): Promise<void> {
      await unlockTables(db, siteId, [...acceptanceTables, ...lockedTables]);
      await db.run(`UPDATE deleted_sites SET purged_at = $2 WHERE site_id = $1`, [siteId, now]);
    },
  };
}
