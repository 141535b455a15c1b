// Corrects due times that a clock which ran ahead has written. Such a row was changed in the future (updated_at), so the delay
// that was meant is known: it begins again now. Whatever the times of a row are, it waits no longer than the longest delay.
//
// The time is the database's where it has a clock, and nothing is corrected while it differs from the node's by more than the
// permitted skew: one of the two is wrong. Rows that are ahead by no more than the skew are left alone. A lease that is corrected
// lasts its whole length from now on, so its holder keeps it for at least as long as it believes.

import { setTimeout as sleep } from "node:timers/promises";
import { hourMs, maxSkewMs, minuteMs } from "../../kernel/time.ts";
import type { ConnectionKey } from "../deliveries/delivery.ts";
import { readLeaseTime } from "../deliveries/dueTime.ts";
import { allByKeys, type Database, type Row, type RowQuery } from "../engine/database.ts";
import { finalAt } from "../statistics/statistics.ts";

/** Rows of one read. In the embedded store the relay waits for it. */
const pageSize = 200;
/** The lock after wrong codes of an authenticator app. */
const codeLockMs = 15 * minuteMs;
/** How far back hours are looked at that a clock which ran ahead may have taken for closed. */
const correctedHours = 48;

export function dueTimeStore(db: Database, now: () => number = Date.now) {
  /** `latest` is the last time that a right clock may show; null where it is not known which clock is right. */
  async function readClock(): Promise<Clock | null> {
    const at = await readLeaseTime(db, db, now());
    return Math.abs(at - now()) > maxSkewMs ? null : { now: at, latest: at + maxSkewMs };
  }

  return {
    /** Corrects the queued deliveries of one connection. Returns how many. Stops between two steps when `signal` is aborted. */
    async correctDeliveries(key: ConnectionKey, maxDelayMs: number, signal?: AbortSignal): Promise<number> {
      let corrected = 0;
      for (let after: { dueAt: number; eventId: string } | null = null; ;) {
        const begunAt = performance.now();
        // Read for every page: rows that were changed since the last page are not ahead.
        const clock = await readClock();
        if (!clock || signal?.aborted) return corrected;
        after ??= { dueAt: clock.now, eventId: "" };
        const rows = await db.all(
          `SELECT event_id, due_at, updated_at FROM deliveries
           WHERE site_id = $1 AND connection_id = $2 AND state = 'queued' AND due_at >= $3
             AND (due_at > $3 OR event_id > $4)
           ORDER BY due_at, event_id LIMIT ${pageSize}`,
          [key.siteId, key.connectionId, after.dueAt, after.eventId],
        );
        const ahead = rows.filter(
          (row) => Number(row.updated_at) > clock.latest || Number(row.due_at) > clock.latest + maxDelayMs,
        );
        if (ahead.length) corrected += await db.write((tx) => correctRows(tx, key, ahead, { ...clock, maxDelayMs }));
        const last = rows.at(-1);
        if (!last || rows.length < pageSize) return corrected;
        after = { dueAt: Number(last.due_at), eventId: String(last.event_id) };
        await sleep(performance.now() - begunAt);
      }
    },

    /** Corrects the webhooks of all sites, and the locks of accounts after wrong codes. */
    async correctOthers(maxDelayMs: number): Promise<void> {
      let clock = await readClock();
      if (!clock) return;
      const { latest } = clock;
      const sql = `SELECT site_id, id FROM webhooks WHERE updated_at > $1 OR due_at > $2`;
      const ahead = await db.all(sql, [latest, latest + maxDelayMs]);
      for (const { site_id, id } of ahead) {
        clock = await readClock();
        if (!clock) return;
        const values = [String(site_id), String(id), clock.now, clock.latest, maxDelayMs];
        await db.run(
          `UPDATE webhooks SET due_at = ${corrected("$3", "$5")}, updated_at = $3,
             failing_since = CASE WHEN failing_since > $3 THEN $3 ELSE failing_since END
           WHERE site_id = $1 AND id = $2 AND (updated_at > $4 OR due_at > $4 + $5)`,
          values,
        );
      }
      const lockedUntil = latest + codeLockMs;
      const locked = await db.all(`SELECT 1 AS found FROM two_factors WHERE locked_until > $1 LIMIT 1`, [lockedUntil]);
      // A write, even of no row, needs every machine of a sharded database.
      if (locked.length === 0) return;
      await db.run(`UPDATE two_factors SET locked_until = $1 WHERE locked_until > $1`, [lockedUntil]);
    },

    /**
     * Lets hours be computed again that were computed before they were closed. Otherwise events that arrive in them after the
     * correction would never be counted.
     */
    async correctStatistics(): Promise<void> {
      const clock = await readClock();
      if (!clock) return;
      const { latest } = clock;
      const hour = Math.floor(clock.now / hourMs);
      const first = hour - correctedHours;
      const isAhead = `hour >= $1 AND rolled_at > $2 AND rolled_at < ${finalAt}`;
      const sites = await db.all(
        `SELECT site_id FROM statistics_heads AS heads WHERE to_hour > $3 OR EXISTS (
           SELECT 1 FROM statistics_hours WHERE site_id = heads.site_id AND ${isAhead})`,
        [first, latest, Math.floor(latest / hourMs)],
      );
      for (const { site_id } of sites) {
        await db.write(async (tx) => {
          await tx.all(
            `UPDATE statistics_heads SET to_hour = $2, from_hour = CASE WHEN from_hour > $2 THEN $2 ELSE from_hour END
             WHERE site_id = $1 AND to_hour > $2`,
            [String(site_id), hour],
          );
          await tx.all(`UPDATE statistics_hours SET rolled_at = $4, due_at = $4 WHERE site_id = $3 AND ${isAhead}`, [
            first,
            latest,
            String(site_id),
            clock.now,
          ]);
        });
      }
    },
  };
}

type Clock = { now: number; latest: number };

/** The delay that was meant, from `now` on; 0 stays 0, and no delay exceeds `max`. */
const corrected = (now: string, max: string) =>
  `CASE WHEN due_at <= updated_at THEN CASE WHEN due_at < ${now} THEN due_at ELSE ${now} END
     WHEN due_at - updated_at > ${max} THEN ${now} + ${max} ELSE ${now} + (due_at - updated_at) END`;

async function correctRows(
  tx: RowQuery,
  { siteId, connectionId }: ConnectionKey,
  rows: readonly Row[],
  { now, latest, maxDelayMs }: Clock & { maxDelayMs: number },
): Promise<number> {
  // Sorted, so that two transactions that change the same rows cannot deadlock.
  const ids = rows.map((row) => String(row.event_id)).toSorted();
  const changed = await allByKeys(
    tx,
    `UPDATE deliveries SET due_at = ${corrected("$3", "$5")}, updated_at = $3
     WHERE site_id = $1 AND connection_id = $2 AND state || '' = 'queued' AND (updated_at > $4 OR due_at > $4 + $5)
       AND event_id IN ({KEYS})
     RETURNING event_id`,
    [siteId, connectionId, now, latest, maxDelayMs],
    ids,
  );
  return changed.length;
}
