// Corrects due times that a clock which ran ahead has written. Such a row was changed in the future (updated_at), so the delay
// that was meant is known: it begins again now. A row that was changed in the past waits no longer than was meant.
//
// The time is the database's where it has a clock: a node whose own clock is wrong must not change the rows of others. Nodes may
// differ from it by the permitted skew, so such rows are left alone. A lease that is corrected lasts its whole length from now
// on, so its holder keeps it for at least as long as it believes.

import { setTimeout as sleep } from "node:timers/promises";
import { maxSkewMs, minuteMs } from "../../kernel/time.ts";
import type { ConnectionKey } from "../deliveries/delivery.ts";
import { chunks, list, type Database, type Row, type RowQuery } from "../engine/database.ts";

/** Rows of one read. In the embedded store the relay waits for it. */
const pageSize = 200;
/** The lock after wrong codes of an authenticator app. */
const codeLockMs = 15 * minuteMs;

export function dueTimeStore(db: Database, now: () => number = Date.now) {
  async function readClock(): Promise<{ now: number; latest: number }> {
    const [row] = await db.all(`SELECT COALESCE(${db.serverClock}, CAST($1 AS bigint)) AS now`, [now()]);
    const at = Math.round(Number(row?.now));
    return { now: at, latest: at + (db.isServer ? maxSkewMs : 0) };
  }

  return {
    /** Corrects the queued deliveries of one connection. Returns how many. Stops between two steps when `signal` is aborted. */
    async correctDeliveries(
      { siteId, connectionId }: ConnectionKey,
      maxDelayMs: number,
      signal?: AbortSignal,
    ): Promise<number> {
      const clock = await readClock();
      let corrected = 0;
      for (let after = { dueAt: clock.now, eventId: "" }; ;) {
        const begunAt = performance.now();
        const rows = await db.all(
          `SELECT event_id, due_at, updated_at FROM deliveries
           WHERE site_id = $1 AND connection_id = $2 AND state = 'queued' AND due_at >= $3
             AND (due_at > $3 OR event_id > $4)
           ORDER BY due_at, event_id LIMIT ${pageSize}`,
          [siteId, connectionId, after.dueAt, after.eventId],
        );
        const ahead = rows.filter((row) => Number(row.updated_at) > clock.latest);
        const { now: at, latest } = clock;
        if (ahead.length)
          corrected += await db.write((tx) =>
            correctRows(tx, ahead, { siteId, connectionId, now: at, latest, maxDelayMs }),
          );
        const last = rows.at(-1);
        if (!last || rows.length < pageSize || signal?.aborted) return corrected;
        after = { dueAt: Number(last.due_at), eventId: String(last.event_id) };
        await sleep(performance.now() - begunAt);
      }
    },

    /** Corrects the webhooks of all sites, and the locks of accounts after wrong codes. */
    async correctOthers(maxPushDelayMs: number): Promise<void> {
      const clock = await readClock();
      const ahead = await db.all(`SELECT site_id, id FROM webhooks WHERE updated_at > $1`, [clock.latest]);
      for (const row of ahead) {
        await db.write((tx) =>
          tx.all(
            `UPDATE webhooks SET due_at = ${corrected("$3", "$5")}, updated_at = $3,
               failing_since = CASE WHEN failing_since > $3 THEN $3 ELSE failing_since END
             WHERE site_id = $1 AND id = $2 AND updated_at > $4`,
            [String(row.site_id), String(row.id), clock.now, clock.latest, maxPushDelayMs],
          ),
        );
      }
      const lockedUntil = clock.latest + codeLockMs;
      await db.write((tx) =>
        tx.all(`UPDATE two_factors SET locked_until = $1 WHERE locked_until > $1`, [lockedUntil]),
      );
    },
  };
}

/** The delay that was meant, from `now` on; 0 stays 0, and no delay exceeds `max`. */
const corrected = (now: string, max: string) =>
  `CASE WHEN due_at <= updated_at THEN CASE WHEN due_at < ${now} THEN due_at ELSE ${now} END
     WHEN due_at - updated_at > ${max} THEN ${now} + ${max} ELSE ${now} + (due_at - updated_at) END`;

type Correction = ConnectionKey & { now: number; latest: number; maxDelayMs: number };

async function correctRows(tx: RowQuery, rows: readonly Row[], correction: Correction): Promise<number> {
  const { siteId, connectionId, now, latest, maxDelayMs } = correction;
  // Sorted, so that two transactions that change the same rows cannot deadlock.
  const ids = rows.map((row) => String(row.event_id)).toSorted();
  let changed = 0;
  for (const some of chunks(ids)) {
    const done = await tx.all(
      `UPDATE deliveries SET due_at = ${corrected("$3", "$5")}, updated_at = $3
       WHERE site_id = $1 AND connection_id = $2 AND state || '' = 'queued' AND updated_at > $4
         AND event_id IN (${list(some.length, 5)})
       RETURNING event_id`,
      [siteId, connectionId, now, latest, maxDelayMs, ...some],
    );
    changed += done.length;
  }
  return changed;
}
