// Feeds: the address from which the list of orders of a site is fetched once a day, at most one for each site. `due_at` is
// claimed before a fetch, so of several nodes one fetches, and a fetch whose node died is repeated later.

import { dayMs, hourMs } from "../../kernel/time.ts";
import { unsealObject } from "../damagedRows.ts";
import { asNumber, asNumberOrNull, asObject, asText, asTextOrNull, describeRow } from "../describeRow.ts";
import { hasRows, insertRow, orReplace, type Database } from "../engine/database.ts";
import type { Seal } from "../engine/seal.ts";
import { writeAudited, type AuditLine } from "../sites/audit.ts";

/** The sealed part of a feed: the path may hold a token, and the header is one. */
export type FeedAddress = { url: string; header: { name: string; value: string } | null };

export type Feed = {
  siteId: string;
  /** null where the row is damaged: then nothing is fetched. */
  address: FeedAddress | null;
  /** How the list is read: columns and forms of values. */
  options: Record<string, unknown>;
  dueAt: number;
  /** The last fetch: when it ended, what was wrong with it, and what it wrote. */
  fetchedAt: number | null;
  error: string | null;
  tally: Record<string, unknown>;
  /** The first failure since the last list that was read; null after a success. */
  failingSince: number | null;
  createdAt: number;
};

export const feedPlace = (siteId: string) => `order feed ${siteId}`;

/** A fetch that ended without a result is repeated after this time. */
export const feedRetryMs = hourMs;
/** A later due time was written by a clock that ran ahead. */
export const maxFeedDelayMs = dayMs + hourMs;

export const isDue = ({ dueAt }: Pick<Feed, "dueAt">, now: number): boolean => dueAt <= now || dueAt > now + maxFeedDelayMs;

export function feedStore(db: Database, seal: Seal, newId: () => string) {
  const feedRow = describeRow<Feed, Feed>({
    siteId: asText,
    address: {
      column: "address",
      read: (text, { site_id }) => unsealObject(seal, String(text), feedPlace(String(site_id))) as FeedAddress | null,
    },
    options: asObject,
    dueAt: asNumber,
    fetchedAt: asNumberOrNull,
    error: asTextOrNull,
    tally: asObject,
    failingSince: asNumberOrNull,
    createdAt: asNumber,
  });

  return {
    async find(siteId: string): Promise<Feed | null> {
      const [row] = await db.all(`SELECT ${feedRow.list} FROM order_feeds WHERE site_id = $1`, [siteId]);
      return row ? feedRow.read(row) : null;
    },

    /** Sets the feed of a site; it is due at once. What is known of its fetches stays. */
    async set(line: AuditLine, address: FeedAddress, options: Record<string, unknown>): Promise<void> {
      const sealed = seal.seal(JSON.stringify(address), feedPlace(line.siteId));
      const set = { address: sealed, options: JSON.stringify(options), due_at: 0 };
      const row = { site_id: line.siteId, ...set, tally: "{}", created_at: line.at };
      await writeAudited(db, newId, line, (tx) => insertRow(tx, "order_feeds", row, orReplace("site_id", ...Object.keys(set))));
    },

    /** Returns false where there was none. */
    async remove(line: AuditLine): Promise<boolean> {
      const sql = `DELETE FROM order_feeds WHERE site_id = $1 RETURNING site_id`;
      return writeAudited(db, newId, line, (tx) => hasRows(tx.all(sql, [line.siteId])));
    },

    /** Makes the feed due now. */
    async makeDue(siteId: string): Promise<void> {
      await db.run(`UPDATE order_feeds SET due_at = 0 WHERE site_id = $1`, [siteId]);
    },

    async listDue(now: number): Promise<Feed[]> {
      const rows = await db.all(`SELECT ${feedRow.list} FROM order_feeds WHERE due_at <= $1 OR due_at > $2 LIMIT ${maxDue}`, [
        now,
        now + maxFeedDelayMs,
      ]);
      return rows.map(feedRow.read);
    },

    /** False when another node was first, or the feed was changed. */
    async claim({ siteId, dueAt }: Feed, now: number): Promise<boolean> {
      const rows = await db.run(`UPDATE order_feeds SET due_at = $3 WHERE site_id = $1 AND due_at = $2 RETURNING site_id`, [
        siteId,
        dueAt,
        now + feedRetryMs,
      ]);
      return rows.length > 0;
    },

    /** Writes the result of a fetch; `claimedAt` is the time of its claim. */
    async end(
      { siteId }: Feed,
      claimedAt: number,
      { error, tally, dueAt, at }: { error: string | null; tally: object; dueAt: number; at: number },
    ): Promise<void> {
      await db.run(
        `UPDATE order_feeds SET fetched_at = $3, error = $4, tally = $5,
           due_at = CASE WHEN due_at = $2 THEN $6 ELSE due_at END,
           failing_since = CASE WHEN $7 = 1 THEN COALESCE(failing_since, $3) ELSE NULL END
         WHERE site_id = $1`,
        [siteId, claimedAt + feedRetryMs, at, error, JSON.stringify(tally), dueAt, error === null ? 0 : 1],
      );
    },
  };
}

const maxDue = 100;
