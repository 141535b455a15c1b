// Purges what is past its retention, in small transactions: in the embedded store the relay waits for as long as one takes.
// Rows are found along existing keys, because an index for purging would be a cost of every event.
//
// An event is purged with its deliveries and attempts, and never while one of them waits. The statistics of its hour stay:
// they are marked as final first, because they cannot be computed again.

import { hourMs } from "../../kernel/time.ts";
import { idAt, timeOfId } from "../../kernel/ids.ts";
import { allByKeys, type Database, type Query, type Row } from "../engine/database.ts";
import { deliverySource, readDeliveries } from "../deliveries/readDeliveries.ts";
import { finalAt } from "../statistics/statistics.ts";

/** `next` is where the next step begins; null at the end. `removed` counts rows of all tables. */
export type PurgeStep = { removed: number; next: string | null };

/** The events of one step, however few rows belong to each. */
const maxEvents = 100;

/** The last complete run of the purge. `lagMs`: how long the oldest event has been past its retention. */
export type PurgeRun = { at: number; lagMs: number };

/** Events that wait for a parked delivery stay; behind so many of them no other one is looked for. */
const maxWaiting = 1000;

export function purgeStore(db: Database) {
  return {
    /** Returns when the oldest event before `before` was received, of those that no waiting delivery needs. */
    async oldestDueAt(siteId: string, before: number): Promise<number | null> {
      const [row] = await db.all(
        `SELECT MIN(oldest.id) AS id FROM
           (SELECT id FROM events WHERE site_id = $1 AND id < $2 ORDER BY id LIMIT $3) AS oldest
         WHERE NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.site_id = $1
           AND deliveries.event_id = oldest.id AND deliveries.state IN ('queued', 'parked'))`,
        [siteId, idAt(Math.floor(before / hourMs) * hourMs), maxWaiting],
      );
      return row?.id == null ? null : timeOfId(String(row.id));
    },

    async readRun(): Promise<PurgeRun | null> {
      const [row] = await db.all(`SELECT owner, until FROM leases WHERE site_id = '' AND name = 'purge run'`);
      return row ? { at: Number(row.until), lagMs: Number(row.owner) } : null;
    },

    /** The row is next to the lease of the purge: settings are on every machine of a sharded database, and one may be down. */
    async saveRun({ at, lagMs }: PurgeRun): Promise<void> {
      await db.run(
        `INSERT INTO leases (site_id, name, owner, until) VALUES ('', 'purge run', $1, $2)
         ON CONFLICT (site_id, name) DO UPDATE SET owner = excluded.owner, until = excluded.until`,
        [String(lagMs), at],
      );
    },

    /** Returns the latest stored time: the end of the last lease, or the receipt of the newest event; null where there is none. */
    async newestTime(siteIds: Iterable<string>): Promise<number | null> {
      const [lease] = await db.all(`SELECT until FROM leases WHERE site_id = '' AND name = 'purge'`);
      let newest = lease ? Number(lease.until) : null;
      for (const siteId of siteIds) {
        const [row] = await db.all(`SELECT id FROM events WHERE site_id = $1 ORDER BY id DESC LIMIT 1`, [siteId]);
        if (row) newest = Math.max(newest ?? 0, timeOfId(String(row.id)));
      }
      return newest;
    },

    /**
     * Purges events after the id `after` from the whole hours before `before`, with their deliveries and attempts: at most
     * `maxRows` rows, but at least one event. Stops at an hour whose statistics are yet to be computed. Statistics from before
     * `statisticsFrom` were purged, and are not waited for.
     */
    async events(
      siteId: string,
      { before, statisticsFrom }: { before: number; statisticsFrom: number },
      after: string,
      maxRows: number,
    ): Promise<PurgeStep> {
      const end = idAt(Math.floor(before / hourMs) * hourMs);
      const [first] = await db.all(`SELECT id FROM events WHERE site_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT 1`, [
        siteId,
        after,
        end,
      ]);
      if (!first) return { removed: 0, next: null };
      const hour = Math.floor(timeOfId(String(first.id)) / hourMs);
      return db.write(async (tx) => {
        const isFinal = (await markFinal(tx, siteId, hour)) || hour < Math.floor(statisticsFrom / hourMs);
        if (!isFinal) return { removed: 0, next: null };
        // A replay or an erasure locks these rows too, so that one of the two sees what the other did.
        const rows = await tx.all(
          `SELECT id, received_at, ${deliverySource} FROM events WHERE site_id = $1 AND id > $2 AND id < $3
           ORDER BY id LIMIT $4 ${db.forUpdate}`,
          [siteId, after, idAt((hour + 1) * hourMs), Math.min(maxRows, maxEvents)],
        );
        const { ids, purgeable } = await selectEvents(tx, siteId, rows, maxRows);
        return { removed: await removeEvents(tx, siteId, purgeable), next: ids.at(-1) ?? String(first.id) };
      });
    },

    /** Returns the sites with rows that last minutes: wrong keys, lockouts, sign-ins at platforms. There are few such rows. */
    async sitesOfShortLived(): Promise<string[]> {
      const rows = [
        ...(await db.all(`SELECT site_id FROM wrong_keys GROUP BY site_id`)),
        ...(await db.all(`SELECT site_id FROM lockouts GROUP BY site_id`)),
        ...(await db.all(`SELECT site_id FROM platform_sign_ins GROUP BY site_id`)),
      ];
      return [...new Set(rows.map((row) => String(row.site_id)))];
    },

    /** Reads up to `maxRows` claims after `after`, and removes the expired ones. */
    async claims(siteId: string, now: number, after: string, maxRows: number): Promise<PurgeStep> {
      const rows = await db.all(
        `SELECT claim, expires_at FROM dedup_claims WHERE site_id = $1 AND claim > $2 ORDER BY claim LIMIT $3`,
        [siteId, after, maxRows],
      );
      const expired = rows.filter((row) => Number(row.expires_at) <= now).map((row) => String(row.claim));
      // The condition is checked again: a new event may have renewed the claim.
      const sql = `DELETE FROM dedup_claims WHERE site_id = $1 AND expires_at <= $2 AND claim IN ({KEYS}) RETURNING claim`;
      const gone = expired.length ? await db.write((tx) => allByKeys(tx, sql, [siteId, now], expired)) : [];
      return { removed: gone.length, next: rows.length < maxRows ? null : String(rows.at(-1)?.claim) };
    },

    /**
     * Reads up to `maxRows` consent decisions after `after`: an agreement is removed with its history when it is older than
     * `before` and nothing else is stored of its person or visitor. A refusal stays, and so does a decision of the operator.
     */
    async agreements(siteId: string, before: number, after: string, maxRows: number): Promise<PurgeStep> {
      const [subject = "", givenBy = ""] = after.split("\n");
      const rows = await db.all(
        `SELECT subject, given_by, state, decided_at,
           EXISTS (SELECT 1 FROM identities WHERE identities.site_id = $1 AND email_sha256 = consents.subject)
           OR EXISTS (SELECT 1 FROM visitors WHERE visitors.site_id = $1 AND visitor_id = consents.subject) AS known
         FROM consents WHERE site_id = $1 AND (subject, given_by) > ($2, $3) ORDER BY subject, given_by LIMIT $4`,
        [siteId, subject, givenBy, maxRows],
      );
      let removed = 0;
      for (const row of rows.filter((one) => isObsolete(one, before))) {
        removed += await db.write(async (tx) => {
          const params = [siteId, String(row.subject), String(row.given_by), before];
          const condition = `site_id = $1 AND subject = $2 AND given_by = $3 AND decided_at < $4 AND state <> 'denied'`;
          const decisions = await tx.all(`DELETE FROM consents WHERE ${condition} RETURNING subject`, params);
          if (decisions.length === 0) return 0;
          const lines = await tx.all(`DELETE FROM consent_history WHERE ${condition} RETURNING id`, params);
          return decisions.length + lines.length;
        });
      }
      const last = rows.at(-1);
      return {
        removed,
        next: rows.length < maxRows ? null : `${String(last?.subject)}\n${String(last?.given_by)}`,
      };
    },

    /** Removes hours of a key from before `before`; the newest stays, because it holds when the key was last used. */
    async keyUses(siteId: string, keyId: string, before: number, maxRows: number): Promise<PurgeStep> {
      const rows = await db.run(
        `DELETE FROM key_uses WHERE site_id = $1 AND key_id = $2 AND hour IN (
           SELECT hour FROM key_uses WHERE site_id = $1 AND key_id = $2 AND hour < $3
             AND hour < (SELECT MAX(hour) FROM key_uses WHERE site_id = $1 AND key_id = $2) ORDER BY hour LIMIT $4)
         RETURNING hour`,
        [siteId, keyId, Math.floor(before / hourMs), maxRows],
      );
      return { removed: rows.length, next: rows.length < maxRows ? null : "" };
    },

    /** Removes counts by hour from before `before`: of one table, up to `maxHours` hours at a time. */
    async hours(
      siteId: string,
      table:
        | "statistics"
        | "statistics_segments"
        | "statistics_hours"
        | "visit_counts"
        | "inbound_counts"
        | "confirmation_counts",
      before: number,
      maxHours: number,
    ): Promise<PurgeStep> {
      const end = Math.floor(before / hourMs);
      const rows = await db.run(
        `DELETE FROM ${table} WHERE site_id = $1 AND hour < $2 AND hour < (
           SELECT MIN(hour) + $3 FROM ${table} WHERE site_id = $1) RETURNING hour`,
        [siteId, end, maxHours],
      );
      return { removed: rows.length, next: rows.length ? "" : null };
    },

    async audit(siteId: string, before: number, maxRows: number): Promise<PurgeStep> {
      const rows = await db.run(
        `DELETE FROM audit WHERE site_id = $1 AND id IN (
           SELECT id FROM audit WHERE site_id = $1 AND id < $2 ORDER BY id LIMIT $3) RETURNING id`,
        [siteId, idAt(before), maxRows],
      );
      return { removed: rows.length, next: rows.length < maxRows ? null : "" };
    },
  };
}

const isObsolete = (row: Row, before: number) =>
  Number(row.known) === 0 && row.state === "granted" && row.given_by !== "operator" && Number(row.decided_at) < before;

/** Returns false where the hour has no statistics. */
async function markFinal(tx: Query, siteId: string, hour: number): Promise<boolean> {
  const rows = await tx.all(
    `UPDATE statistics_hours SET rolled_at = $3, due_at = $3 WHERE site_id = $1 AND hour = $2 RETURNING hour`,
    [siteId, hour, finalAt],
  );
  return rows.length > 0;
}

/** Returns the first of the events that make about `maxRows` rows together, at least one, and those of them without waiting deliveries. */
async function selectEvents(
  tx: Query,
  siteId: string,
  events: readonly Row[],
  maxRows: number,
): Promise<{ ids: string[]; purgeable: string[] }> {
  const byEvent = await readDeliveries(tx, siteId, events);
  const taken: string[] = [];
  const purgeable: string[] = [];
  let rows = 0;
  for (const event of events) {
    const id = String(event.id);
    const own = byEvent.get(id) ?? [];
    rows += 2 + own.reduce((sum, { state, attempts }) => sum + (state === "sent" ? 0 : 1 + attempts), 0);
    if (rows > maxRows && taken.length) break;
    taken.push(id);
    if (!own.some(({ state }) => state === "queued" || state === "parked")) purgeable.push(id);
  }
  return { ids: taken, purgeable };
}

async function removeEvents(tx: Query, siteId: string, ids: readonly string[]): Promise<number> {
  let removed = 0;
  for (const table of ["confirmations", "corrections", "attempts", "deliveries", "outcomes", "events"]) {
    const column = table === "events" ? "id" : "event_id";
    const sql = `DELETE FROM ${table} WHERE site_id = $1 AND ${column} IN ({KEYS}) RETURNING 1 AS n`;
    removed += (await allByKeys(tx, sql, [siteId], ids)).length;
  }
  return removed;
}
