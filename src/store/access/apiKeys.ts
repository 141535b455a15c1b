// API keys of the management API. Their uses are counted in key_uses under site "".

import type { Scope } from "../../kernel/scopes.ts";
import { writeAudit, type AuditLine } from "../sites/audit.ts";
import { lockRevision, markChanged } from "../sites/revision.ts";
import { columns } from "../schema/columns.ts";
import { readNumber } from "../describeRow.ts";
import type { Database, Query, Row } from "../engine/database.ts";
import { siteIdOf, siteOf, lockMembers } from "./members.ts";

/** The limit of usable keys per site, and of keys for all sites. */
export const maxUsable = 50;

export type ApiKey = {
  id: string;
  /** Null is every site. */
  site: string | null;
  name: string;
  scopes: Scope[];
  prefix: string;
  createdBy: string;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
};

const apiKeyOf = (row: Row): ApiKey => ({
  id: String(row.id),
  site: siteOf(row.site_id),
  name: String(row.name),
  scopes: String(row.scopes).split(",") as Scope[],
  prefix: String(row.prefix),
  createdBy: String(row.created_by),
  createdAt: Number(row.created_at),
  expiresAt: readNumber(row.expires_at),
  revokedAt: readNumber(row.revoked_at),
});

export function apiKeyStore(db: Database, newId: () => string) {
  async function findBy(column: "hash" | "id", value: string): Promise<ApiKey | null> {
    const [row] = await db.all(`SELECT ${columns.api_keys} FROM api_keys WHERE ${column} = $1`, [value]);
    return row ? apiKeyOf(row) : null;
  }

  return {
    /** False when there are too many usable keys. */
    async add(line: AuditLine, key: ApiKey, hash: string): Promise<boolean> {
      const lineId = newId();
      return db.write(async (tx) => {
        await lockMembers(tx);
        const usable = await tx.all(
          `SELECT id FROM api_keys
           WHERE site_id = $1 AND id <> $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)
           LIMIT $4`,
          [siteIdOf(key.site), key.id, line.at, maxUsable],
        );
        if (usable.length >= maxUsable) return false;
        await tx.all(
          `INSERT INTO api_keys (id, site_id, name, scopes, hash, prefix, created_by, created_at, expires_at, revoked_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL) ON CONFLICT (id) DO NOTHING`,
          [
            key.id,
            siteIdOf(key.site),
            key.name,
            key.scopes.join(","),
            hash,
            key.prefix,
            key.createdBy,
            key.createdAt,
            key.expiresAt,
          ],
        );
        await writeAudit(tx, lineId, line);
        return true;
      });
    },

    async list(): Promise<ApiKey[]> {
      const rows = await db.all(`SELECT ${columns.api_keys} FROM api_keys ORDER BY created_at DESC, id`);
      return rows.map(apiKeyOf);
    },

    findByHash: (hash: string) => findBy("hash", hash),
    findById: (id: string) => findBy("id", id),

    /** Revokes the inbound keys that it made too, unless they are kept. Returns their ids. */
    async revoke(line: AuditLine, id: string, inboundKeys: "revoke" | "keep"): Promise<string[]> {
      const lineId = newId();
      const lineIds = new Map<string, string>();
      return db.write(async (tx) => {
        // Locked first, so that an inbound key is either found below or refused.
        const revision = await lockRevision(tx);
        const revoked = await tx.all(
          `UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING id`,
          [id, line.at],
        );
        if (revoked.length) await writeAudit(tx, lineId, line);
        if (inboundKeys === "keep") return [];
        const made = await tx.all(
          `UPDATE inbound_keys SET revoked_at = $2 WHERE api_key_id = $1 AND revoked_at IS NULL
           RETURNING site_id, id, name`,
          [id, line.at],
        );
        for (const row of made) {
          const siteId = String(row.site_id);
          const keyId = String(row.id);
          const keyLineId = lineIds.get(keyId) ?? newId();
          lineIds.set(keyId, keyLineId);
          const detail = { id: keyId, name: String(row.name), madeBy: id };
          await writeAudit(tx, keyLineId, { ...line, siteId, action: "key revoked", detail });
          await markChanged(tx, siteId, revision);
        }
        return made.map((row) => String(row.id));
      });
    },
  };
}

/** Must run after the revision was locked. */
export async function isApiKeyRevoked(tx: Query, id: string): Promise<boolean> {
  const rows = await tx.all(`SELECT id FROM api_keys WHERE id = $1 AND revoked_at IS NOT NULL`, [id]);
  return rows.length > 0;
}
