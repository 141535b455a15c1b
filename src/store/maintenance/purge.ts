// Purges what is past its retention, in small transactions: in the embedded store the relay waits for as long as one takes.
// Rows are found along existing keys, because an index for purging would be a cost of every event.
//
// An event is purged with its deliveries and attempts, and never while one of them waits. The statistics of its hour stay:
// they are marked as final first, because they cannot be computed again.

import { hourMs } from "../../kernel/time.ts";
import { idAt, timeOfId } from "../../kernel/ids.ts";
import { allByKeys, list, padded, type Database, type Query, type Row } from "../engine/database.ts";
import { orderOf } from "../events/claims.ts";
import { finalAt } from "../statistics/statistics.ts";

/** `next` is where the next step begins; null at the end. `removed` counts records: an event with its deliveries is one. */
export type PurgeStep = { removed: number; next: string | null };

/** The last complete run of the purge. `lagMs`: how long the oldest event has been past its retention. */
export type PurgeRun = { at: number; lagMs: number };

/** Events that wait for a parked delivery stay; behind so many of them no other one is looked for. */
const maxWaiting = 1000;

const runName = (owner: string) => `purge run ${owner}`;

export function purgeStore(db: Database) {
  /** Returns the lower of `id` and of the low-water marks of the nodes: a node may have first attempts in hand from its mark on. */
  async function openFrom(id: string): Promise<string> {
    const [row] = await db.all(`SELECT MIN(low_water) AS mark FROM nodes WHERE site_id = ''`);
    return row?.mark == null || id < String(row.mark) ? id : String(row.mark);
  }

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

    /** Returns the oldest run of the nodes that live, and the longest lag. */
    async readRun(): Promise<PurgeRun | null> {
      const [row] = await db.all(
        `SELECT MIN(until) AS at, MAX(CAST(owner AS bigint)) AS lag FROM leases WHERE site_id = '' AND name LIKE '${runName("%")}'`,
      );
      return row?.at == null ? null : { at: Number(row.at), lagMs: Number(row.lag) };
    },

    /** Each node has a row among the leases: settings are on every machine of a sharded database, and one may be down. */
    async saveRun(owner: string, { at, lagMs }: PurgeRun): Promise<void> {
      await db.write(async (tx) => {
        await tx.all(
          `INSERT INTO leases (site_id, name, owner, until) VALUES ('', $1, $2, $3)
           ON CONFLICT (site_id, name) DO UPDATE SET owner = excluded.owner, until = excluded.until`,
          [runName(owner), String(lagMs), at],
        );
        // Of nodes that ended.
        await tx.all(
          `DELETE FROM leases WHERE site_id = '' AND name LIKE '${runName("%")}' AND name <> $1
           AND name NOT IN (SELECT '${runName("")}' || owner FROM nodes WHERE site_id = '')`,
          [runName(owner)],
        );
      });
    },

    /** Returns the latest stored time: of the last run, or the receipt of the newest event; null where there is none. */
    async newestTime(siteIds: Iterable<string>): Promise<number | null> {
      const [run] = await db.all(`SELECT MAX(until) AS at FROM leases WHERE site_id = '' AND name LIKE '${runName("%")}'`);
      let newest = run?.at == null ? null : Number(run.at);
      for (const siteId of siteIds) {
        const [row] = await db.all(`SELECT id FROM events WHERE site_id = $1 ORDER BY id DESC LIMIT 1`, [siteId]);
        if (row) newest = Math.max(newest ?? 0, timeOfId(String(row.id)));
      }
      return newest;
    },

    /**
     * Purges up to `maxEvents` events after the id `after` from the whole hours before `before`, with their deliveries and
     * attempts. Stops at an hour whose statistics are yet to be computed. Statistics from before `statisticsFrom` were purged, and
     * are not waited for. A step ends at an hour without statistics, because it may have had no events.
     */
    async events(
      siteId: string,
      { before, statisticsFrom }: { before: number; statisticsFrom: number },
      after: string,
      maxEvents: number,
    ): Promise<PurgeStep> {
      const end = await openFrom(idAt(Math.floor(before / hourMs) * hourMs));
      const [found] = await db.all(
        `SELECT MIN(id) AS first, MAX(id) AS last FROM (SELECT id FROM events WHERE site_id = $1 AND id > $2 AND id < $3
           ORDER BY id LIMIT $4) AS some_events`,
        [siteId, after, end, maxEvents],
      );
      if (found?.first == null) return { removed: 0, next: null };
      const first = hourOf(timeOfId(String(found.first)));
      const hours = { siteId, first, last: hourOf(timeOfId(String(found.last))), uncountedBefore: hourOf(statisticsFrom) };
      const purgeRange = async (tx: Query) => {
        const endHour = await markFinal(tx, hours, maxEvents);
        if (endHour === first) return { removed: 0, next: null };
        const last = endHour > hours.last ? String(found.last) : await lastBefore(tx, siteId, idAt(endHour * hourMs));
        return removeEvents(tx, { siteId, after, last });
      };
      return db.write(purgeRange, { isRepeatable: true, isBackground: true }).catch((error: unknown) => {
        if (error instanceof Replayed) return { removed: 0, next: after };
        throw error;
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

    /**
     * Reads up to `maxRows` claims after `after`, and removes the expired ones. An order event id stays while a duplicate key of its
     * order lasts: without it, a repeat of the event that holds that key would get the order event id, and count once more.
     */
    async claims(siteId: string, now: number, after: string, maxRows: number): Promise<PurgeStep> {
      const rows = await db.all(
        `SELECT claim, expires_at FROM dedup_claims WHERE site_id = $1 AND claim > $2 ORDER BY claim LIMIT $3`,
        [siteId, after, maxRows],
      );
      const read = rows.map((row) => ({ claim: String(row.claim), lasts: Number(row.expires_at) > now }));
      const isEnd = rows.length < maxRows;
      const last = isEnd ? null : orderOf(read.at(-1)?.claim ?? "");
      // The duplicate keys of an order follow its order event id. Those of the last order may go on after these rows.
      const cut = read.findIndex(({ claim }) => claim === last);
      const whole = cut > 0 ? read.slice(0, cut) : read;
      const lasting = new Set(whole.flatMap(({ claim, lasts }) => (lasts || claim === last ? orderOf(claim) : [])));
      const expired = whole.filter(({ claim, lasts }) => !lasts && !lasting.has(claim)).map(({ claim }) => claim);
      // The condition is checked again: a new event may have renewed the claim.
      const sql = `DELETE FROM dedup_claims WHERE site_id = $1 AND expires_at <= $2 AND claim IN ({KEYS}) RETURNING claim`;
      const gone = expired.length ? await db.write((tx) => allByKeys(tx, sql, [siteId, now], expired)) : [];
      return { removed: gone.length, next: isEnd ? null : (whole.at(-1)?.claim ?? null) };
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

const hourOf = (ms: number) => Math.floor(ms / hourMs);

/** Marks hours as final, up to the first one that has no statistics and should have some. Returns where it ended. */
async function markFinal(
  tx: Query,
  { siteId, first, last, uncountedBefore }: { siteId: string; first: number; last: number; uncountedBefore: number },
  maxHours: number,
): Promise<number> {
  const rows = await tx.all(
    `SELECT hour FROM statistics_hours WHERE site_id = $1 AND hour >= $2 AND hour <= $3 ORDER BY hour LIMIT $4`,
    [siteId, first, last, maxHours],
  );
  const counted = new Set(rows.map((row) => Number(row.hour)));
  let end = first;
  while (end <= last && (counted.has(end) || end < uncountedBefore)) end += 1;
  if (counted.size > 0)
    await tx.all(
      `UPDATE statistics_hours SET rolled_at = $4, due_at = $4
       WHERE site_id = $1 AND hour >= $2 AND hour < $3 AND (rolled_at < $4 OR due_at < $4)`,
      [siteId, first, end, finalAt],
    );
  return end;
}

/** The events of a site after an id, up to another. */
type EventRange = { siteId: string; after: string; last: string };

const rangeParams = ({ siteId, after, last }: EventRange) => [siteId, after, last];

/** A step ends at the last of so many events that deliveries wait for. */
const maxSpared = 64;

/** Lists the events that a delivery waits for. All of the range are settled, so a delivery that waits has a row. */
async function listWaiting(tx: Query, range: EventRange): Promise<string[]> {
  const rows = await tx.all(
    `SELECT DISTINCT event_id FROM deliveries WHERE site_id = $1 AND event_id > $2 AND event_id <= $3
     AND state IN ('queued', 'parked') ORDER BY event_id LIMIT ${maxSpared}`,
    rangeParams(range),
  );
  return rows.map((row) => String(row.event_id));
}

async function lastBefore(tx: Query, siteId: string, end: string): Promise<string> {
  const [row] = await tx.all(`SELECT MAX(id) AS id FROM events WHERE site_id = $1 AND id < $2`, [siteId, end]);
  return String(row?.id);
}

/** A step begins again after a replay of one of its events. */
class Replayed extends Error {}

/**
 * Removes the events of a range with their rows, except those that a delivery waits for. A replay or an erasure locks the events that
 * it changes, so that one of the two sees what the other did: it finds an event that is deleted here gone, and what it queued before
 * is found when the events are deleted.
 */
async function removeEvents(tx: Query, range: EventRange): Promise<PurgeStep> {
  const waiting = await listWaiting(tx, range);
  const last = waiting.length < maxSpared ? range.last : (waiting.at(-1) ?? range.last);
  const some = { ...range, last };
  const [counted] = await tx.all(
    `SELECT COUNT(*) AS n FROM events WHERE site_id = $1 AND id > $2 AND id <= $3`,
    rangeParams(some),
  );
  await removeRows(tx, "events", some, waiting);
  if ((await listWaiting(tx, some)).some((id) => !waiting.includes(id))) throw new Replayed();
  for (const table of ["confirmations", "corrections", "attempts", "deliveries", "outcomes"])
    await removeRows(tx, table, some, waiting);
  return { removed: Number(counted?.n) - waiting.length, next: last };
}

async function removeRows(tx: Query, table: string, range: EventRange, spared: readonly string[]): Promise<void> {
  // Filled up with a key that is in the list, because NOT IN a list with NULL is never true.
  const [keys = []] = padded(spared, spared[0] ?? "");
  const column = table === "events" ? "id" : "event_id";
  const except = keys.length ? `AND ${column} NOT IN (${list(keys.length, 3)})` : "";
  const sql = `DELETE FROM ${table} WHERE site_id = $1 AND ${column} > $2 AND ${column} <= $3 ${except}`;
  await tx.all(sql, [...rangeParams(range), ...keys]);
}
