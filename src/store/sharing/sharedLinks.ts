// Shared links: people without an account read one site through them. Only the hash of a link's token is stored.

import { asNumber, asNumberOrNull, asText, asTextOrNull, describeRow } from "../describeRow.ts";
import { hasRows, insertRow, type Database } from "../engine/database.ts";
import { writeAudited, type AuditLine } from "../sites/audit.ts";
import { dayMs, minuteMs } from "../../kernel/time.ts";
import type { LinkScope } from "../../kernel/scopes.ts";

export type SharedLink = {
  id: string;
  siteId: string;
  scope: LinkScope;
  name: string;
  hash: string;
  /** An argon2id hash; null for a link without a password. */
  password: string | null;
  createdBy: string;
  createdAt: number;
  expiresAt: number;
  openedAt: number | null;
  revokedAt: number | null;
};

/** The limit of usable links per site. */
export const maxLinks = 50;
/** Links that ended longer ago are deleted. */
const keepEndedMs = 90 * dayMs;
/** A wall reads every few seconds: the time of the last use is written once in a while. */
const openedEveryMs = 10 * minuteMs;

export const sharedLinkRow = describeRow<SharedLink, SharedLink>({
  id: asText,
  siteId: asText,
  scope: { read: (value) => (value === "wall" ? "wall" : "report") },
  name: asText,
  hash: asText,
  password: asTextOrNull,
  createdBy: asText,
  createdAt: asNumber,
  expiresAt: asNumber,
  openedAt: asNumberOrNull,
  revokedAt: asNumberOrNull,
});

export function sharedLinkStore(db: Database, newId: () => string) {
  const all = `SELECT ${sharedLinkRow.list} FROM shared_links`;
  return {
    /** False when there are too many usable links. */
    async add(line: AuditLine, link: SharedLink): Promise<boolean> {
      return writeAudited(db, newId, line, async (tx) => {
        await tx.all(`DELETE FROM shared_links WHERE site_id = $1 AND (expires_at < $2 OR revoked_at < $2)`, [
          link.siteId,
          line.at - keepEndedMs,
        ]);
        const usable = await tx.all(
          `SELECT id FROM shared_links WHERE site_id = $1 AND id <> $2 AND revoked_at IS NULL AND expires_at > $3 LIMIT $4`,
          [link.siteId, link.id, line.at, maxLinks],
        );
        if (usable.length >= maxLinks) return false;
        await insertRow(tx, "shared_links", sharedLinkRow.toRow(link), "ON CONFLICT (id) DO NOTHING");
        return true;
      });
    },

    async find(id: string): Promise<SharedLink | null> {
      const [row] = await db.all(`${all} WHERE id = $1`, [id]);
      return row ? sharedLinkRow.read(row) : null;
    },

    /** Lists the newest first. */
    async list(siteId: string): Promise<SharedLink[]> {
      const rows = await db.all(`${all} WHERE site_id = $1 ORDER BY created_at DESC, id LIMIT 500`, [siteId]);
      return rows.map(sharedLinkRow.read);
    },

    /** Returns false for a link that was revoked before. */
    async revoke(line: AuditLine, id: string): Promise<boolean> {
      const sql = `UPDATE shared_links SET revoked_at = $3 WHERE site_id = $1 AND id = $2 AND revoked_at IS NULL RETURNING id`;
      return writeAudited(db, newId, line, (tx) => hasRows(tx.all(sql, [line.siteId, id, line.at])));
    },

    async noteOpened({ id, openedAt }: SharedLink, now: number): Promise<void> {
      if (openedAt !== null && now - openedAt < openedEveryMs) return;
      await db.run(`UPDATE shared_links SET opened_at = $2 WHERE id = $1`, [id, now]);
    },
  };
}
