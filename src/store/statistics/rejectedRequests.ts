// A sample of the inbound calls that were refused, so that whoever sends them can be helped.

import { idAt, lastId } from "../../kernel/ids.ts";
import { chunks, tuples, type Database, type Row } from "../engine/database.ts";

export type RejectedRequest = {
  siteId: string;
  id: string;
  at: number;
  status: number;
  /** Our own words. */
  error: string;
  host: string;
  /** The key that was used, where it is one of the site's. */
  keyId: string | null;
  /** Cut down to its network. */
  address: string | null;
};

const columns = ["site_id", "id", "at", "status", "error", "host", "key_id", "address"];
const maxKept = 1000;
const keepMs = 30 * 86_400_000;

export function rejectedRequestStore(db: Database) {
  return {
    /** Safe to repeat. */
    async add(calls: readonly RejectedRequest[]): Promise<void> {
      const bySite = Map.groupBy(calls, (call) => call.siteId);
      for (const siteId of [...bySite.keys()].toSorted()) {
        await db.write(async (tx) => {
          for (const some of chunks(bySite.get(siteId) as RejectedRequest[])) {
            await tx.all(
              `INSERT INTO refused_calls (${columns.join(",")}) VALUES ${tuples(some.length, columns.length)}
               ON CONFLICT DO NOTHING`,
              some.flatMap((one) => [
                one.siteId,
                one.id,
                one.at,
                one.status,
                one.error,
                one.host,
                one.keyId,
                one.address,
              ]),
            );
          }
        });
      }
    },

    /** Newest first; `before` is the id of the last one of the page above. */
    async list(siteId: string, page: { before?: string; limit: number }): Promise<RejectedRequest[]> {
      const rows = await db.all(
        `SELECT ${columns.join(", ")} FROM refused_calls WHERE site_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
        [siteId, page.before ?? lastId, page.limit],
      );
      return rows.map(callOf);
    },

    /** Keeps the newest, and none that is older than a month. */
    async purge(siteId: string, now: number): Promise<void> {
      await db.write(async (tx) => {
        const [oldestKept] = await tx.all(
          `SELECT id FROM refused_calls WHERE site_id = $1 ORDER BY id DESC LIMIT 1 OFFSET ${maxKept - 1}`,
          [siteId],
        );
        const young = idAt(now - keepMs);
        const kept = oldestKept ? String(oldestKept.id) : young;
        await tx.all(`DELETE FROM refused_calls WHERE site_id = $1 AND id < $2`, [
          siteId,
          kept > young ? kept : young,
        ]);
      });
    },
  };
}

function callOf(row: Row): RejectedRequest {
  return {
    siteId: String(row.site_id),
    id: String(row.id),
    at: Number(row.at),
    status: Number(row.status),
    error: String(row.error),
    host: String(row.host),
    keyId: row.key_id as string | null,
    address: row.address as string | null,
  };
}
