// The proofs of connections: what each platform said when it was last asked, before or between conversions.

import { asNumber, asNumberOrNull, asText, asTextOrNull, describeRow } from "../describeRow.ts";
import type { Database, Query } from "../engine/database.ts";

export type ProofRow = {
  connectionId: string;
  /** The last time that a check succeeded, with the present settings. */
  provenAt: number | null;
  checkedAt: number;
  /** Why the last check did not succeed; null where it did. */
  reason: string | null;
};

const proofRow = describeRow<ProofRow, ProofRow>({
  connectionId: asText,
  provenAt: asNumberOrNull,
  checkedAt: asNumber,
  reason: asTextOrNull,
});
const columns = proofRow.list;

export function proofStore(db: Database) {
  return {
    /** Writes the result of a check; a failed one keeps the time of the last success. */
    async save(siteId: string, connectionId: string, reason: string | null, at: number): Promise<void> {
      await db.run(
        `INSERT INTO proofs (site_id, ${columns}) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (site_id, connection_id) DO UPDATE SET
           proven_at = CASE WHEN excluded.proven_at IS NULL THEN proofs.proven_at ELSE excluded.proven_at END,
           checked_at = excluded.checked_at, reason = excluded.reason`,
        [siteId, connectionId, reason === null ? at : null, at, reason],
      );
    },

    async find(siteId: string, connectionId: string): Promise<ProofRow | null> {
      const [row] = await db.all(`SELECT ${columns} FROM proofs WHERE site_id = $1 AND connection_id = $2`, [
        siteId,
        connectionId,
      ]);
      return row ? proofRow.read(row) : null;
    },
  };
}

/** What was sent before the settings changed proves nothing. Part of the transaction that changes them. */
export async function resetProof(tx: Query, siteId: string, connectionId: string, at: number): Promise<void> {
  await tx.all(
    `INSERT INTO proofs (site_id, ${columns}) VALUES ($1, $2, NULL, $3, $4)
     ON CONFLICT (site_id, connection_id) DO UPDATE SET
       proven_at = excluded.proven_at, checked_at = excluded.checked_at, reason = excluded.reason`,
    [siteId, connectionId, at, "not checked yet"],
  );
}

/** Part of the transaction that removes the connection. */
export async function removeProof(tx: Query, siteId: string, connectionId: string): Promise<void> {
  await tx.all(`DELETE FROM proofs WHERE site_id = $1 AND connection_id = $2`, [siteId, connectionId]);
}
