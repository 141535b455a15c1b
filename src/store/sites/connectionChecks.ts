// The checks of connections: what each platform said when it was last asked, before or between conversions.

import { asNumber, asNumberOrNull, asText, asTextOrNull, describeRow } from "../describeRow.ts";
import { insertRow, orReplace, type Database, type Query } from "../engine/database.ts";

export type ConnectionCheck = {
  connectionId: string;
  /** The last time that a check succeeded, with the present settings. */
  verifiedAt: number | null;
  checkedAt: number;
  /** Why the last check did not succeed; null where it did. */
  reason: string | null;
};

const checkRow = describeRow<ConnectionCheck, ConnectionCheck>({
  connectionId: asText,
  verifiedAt: asNumberOrNull,
  checkedAt: asNumber,
  reason: asTextOrNull,
});
const columns = checkRow.list;

export function connectionCheckStore(db: Database) {
  return {
    /** Writes the result of a check; a failed one keeps the time of the last success. */
    async save(siteId: string, connectionId: string, reason: string | null, at: number): Promise<void> {
      await db.run(
        `INSERT INTO connection_checks (site_id, ${columns}) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (site_id, connection_id) DO UPDATE SET
           verified_at = CASE WHEN excluded.verified_at IS NULL THEN connection_checks.verified_at ELSE excluded.verified_at END,
           checked_at = excluded.checked_at, reason = excluded.reason`,
        [siteId, connectionId, reason === null ? at : null, at, reason],
      );
    },

    async find(siteId: string, connectionId: string): Promise<ConnectionCheck | null> {
      const sql = `SELECT ${columns} FROM connection_checks WHERE site_id = $1 AND connection_id = $2`;
      const [row] = await db.all(sql, [siteId, connectionId]);
      return row ? checkRow.read(row) : null;
    },
  };
}

/** What was sent before the settings changed proves nothing. Part of the transaction that changes them. */
export async function resetCheck(tx: Query, siteId: string, connectionId: string, at: number): Promise<void> {
  const set = { verified_at: null, checked_at: at, reason: "not checked yet" };
  const row = { site_id: siteId, connection_id: connectionId, ...set };
  await insertRow(tx, "connection_checks", row, orReplace("site_id, connection_id", ...Object.keys(set)));
}

/** Part of the transaction that removes the connection. */
export async function removeCheck(tx: Query, siteId: string, connectionId: string): Promise<void> {
  await tx.all(`DELETE FROM connection_checks WHERE site_id = $1 AND connection_id = $2`, [siteId, connectionId]);
}
