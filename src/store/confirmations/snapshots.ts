// Snapshots of the platforms' own reports of quality, one a day for each connection.

import type { QualityReport } from "../../kernel/quality.ts";
import { tryParse } from "../damagedRows.ts";
import { insertRow, type Database } from "../engine/database.ts";
import { columns } from "../schema/columns.ts";
import type { ConnectionKey } from "../deliveries/delivery.ts";

export type QualitySnapshot = {
  /** In UTC: 2026-11-15. */
  day: string;
  reports: QualityReport[];
};

/** The day of a time, in UTC. */
export const snapshotDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);

export function snapshotStore(db: Database) {
  return {
    /** Stores the snapshot of a day, unless there is one. */
    async add({ siteId, connectionId }: ConnectionKey, { day, reports }: QualitySnapshot): Promise<void> {
      const row = { site_id: siteId, connection_id: connectionId, day, reports: JSON.stringify(reports) };
      await insertRow(db, "quality_snapshots", row, "ON CONFLICT DO NOTHING");
    },

    /** Deletes the snapshots from before a day. There is one a day, so they are few. */
    async purge(siteId: string, before: number): Promise<number> {
      const sql = `DELETE FROM quality_snapshots WHERE site_id = $1 AND day < $2 RETURNING day`;
      const rows = await db.run(sql, [siteId, snapshotDay(before)]);
      return rows.length;
    },

    /** Lists the newest first. A damaged one is left out. */
    async list({ siteId, connectionId }: ConnectionKey, limit: number): Promise<QualitySnapshot[]> {
      const rows = await db.all(
        `SELECT ${columns.quality_snapshots} FROM quality_snapshots WHERE site_id = $1 AND connection_id = $2
         ORDER BY day DESC LIMIT $3`,
        [siteId, connectionId, limit],
      );
      return rows.flatMap((row) => {
        const reports = tryParse(String(row.reports));
        return Array.isArray(reports) ? [{ day: String(row.day), reports }] : [];
      });
    },
  };
}
