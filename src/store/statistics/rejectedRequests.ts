// A sample of rejected inbound requests, to help their senders.

import { dayMs } from "../../kernel/time.ts";
import { idAt, lastId } from "../../kernel/ids.ts";
import { asNumber, asText, asTextOrNull, describeRow } from "../describeRow.ts";
import { insertRows, writeBySite, type Database } from "../engine/database.ts";

export type RejectedRequest = {
  siteId: string;
  id: string;
  at: number;
  status: number;
  /** Our own message, never the sender's text. */
  error: string;
  host: string;
  /** The key of the request, if it is one of the site's. */
  keyId: string | null;
  /** Cut down to its network. */
  address: string | null;
};

export const rejectedRequestRow = describeRow<RejectedRequest, RejectedRequest>({
  siteId: asText,
  id: asText,
  at: asNumber,
  status: asNumber,
  error: asText,
  host: asText,
  keyId: asTextOrNull,
  address: asTextOrNull,
});
const { list } = rejectedRequestRow;

const maxKept = 1000;
const keepMs = 30 * dayMs;

export function rejectedRequestStore(db: Database) {
  return {
    /** Safe to repeat. */
    async add(requests: readonly RejectedRequest[]): Promise<void> {
      await writeBySite(db, requests, async (tx, ofSite) => {
        const rows = ofSite.map((one) => rejectedRequestRow.toRow(one));
        await insertRows(tx, "rejected_requests", rows, "ON CONFLICT DO NOTHING");
      });
    },

    /** Lists the newest first; `before` is the last id of the previous page. */
    async list(siteId: string, page: { before?: string; limit: number }): Promise<RejectedRequest[]> {
      const rows = await db.all(
        `SELECT ${list} FROM rejected_requests WHERE site_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
        [siteId, page.before ?? lastId, page.limit],
      );
      return rows.map(rejectedRequestRow.read);
    },

    /** Keeps the newest requests, for a month at most. */
    async purge(siteId: string, now: number): Promise<void> {
      await db.write(async (tx) => {
        const [oldestKept] = await tx.all(
          `SELECT id FROM rejected_requests WHERE site_id = $1 ORDER BY id DESC LIMIT 1 OFFSET ${maxKept - 1}`,
          [siteId],
        );
        const young = idAt(now - keepMs);
        const kept = oldestKept ? String(oldestKept.id) : young;
        await tx.all(`DELETE FROM rejected_requests WHERE site_id = $1 AND id < $2`, [siteId, kept > young ? kept : young]);
      });
    },
  };
}
