// API keys of the management API. Their uses are counted in key_uses under site "".

import type { Scope } from "../../kernel/scopes.ts";
import { writeAudit, writeAudited, type AuditLine } from "../sites/audit.ts";
import { lockRevision, markChanged } from "../sites/revision.ts";
import { asNumber, asNumberOrNull, asText, describeRow } from "../describeRow.ts";
import { hasRows, insertRow, type Database, type Query } from "../engine/database.ts";
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

/** The hash is written, and looked up by. */
export const apiKeyRow = describeRow<ApiKey, ApiKey, string>(
  {
    id: asText,
    site: { column: "site_id", write: ({ site }) => siteIdOf(site), read: siteOf },
    name: asText,
    scopes: { read: (value) => String(value).split(",") as Scope[], pack: (scopes) => scopes.join(",") },
    prefix: asText,
    createdBy: asText,
    createdAt: asNumber,
    expiresAt: asNumberOrNull,
    revokedAt: asNumberOrNull,
  },
  { hash: (_key, hash) => hash },
);

export function apiKeyStore(db: Database, newId: () => string) {
  async function findBy(column: "hash" | "id", value: string): Promise<ApiKey | null> {
    const [row] = await db.all(`SELECT ${apiKeyRow.list} FROM api_keys WHERE ${column} = $1`, [value]);
    return row ? apiKeyRow.read(row) : null;
  }

  return {
    /** False when there are too many usable keys. */
    async add(line: AuditLine, key: ApiKey, hash: string): Promise<boolean> {
      return writeAudited(db, newId, line, async (tx) => {
        await lockMembers(tx);
        const usable = await tx.all(
          `SELECT id FROM api_keys
           WHERE site_id = $1 AND id <> $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)
           LIMIT $4`,
          [siteIdOf(key.site), key.id, line.at, maxUsable],
        );
        if (usable.length >= maxUsable) return false;
        await insertRow(tx, "api_keys", apiKeyRow.toRow(key, hash), "ON CONFLICT (id) DO NOTHING");
        return true;
      });
    },

    async list(): Promise<ApiKey[]> {
      const rows = await db.all(`SELECT ${apiKeyRow.list} FROM api_keys ORDER BY created_at DESC, id`);
      return rows.map(apiKeyRow.read);
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
        const sql = `UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING id`;
        const revoked = await tx.all(sql, [id, line.at]);
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
  return hasRows(tx.all(`SELECT id FROM api_keys WHERE id = $1 AND revoked_at IS NOT NULL`, [id]));
}
