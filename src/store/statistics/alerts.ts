// Alerts, their notifications and the facts that they are decided by. One alert is open per site, kind and subject; its
// begin and its end are written once, however many nodes check at the same moment.

import type { AlertKind, DeliveryState } from "../../kernel/event.ts";
import { hourMs, maxSkewMs } from "../../kernel/time.ts";
import { readObject } from "../damagedRows.ts";
import { columns } from "../schema/columns.ts";
import { readNumber } from "../describeRow.ts";
import { attemptsSince, queued, skipScan } from "../deliveries/dueConnections.ts";
import { listSentAtOnce } from "../deliveries/readDeliveries.ts";
import { list, type Database, type Query, type Row } from "../engine/database.ts";

/** A condition that holds. `subject` is a connection, a webhook, a host, or empty for the site. */
export type Finding = { kind: AlertKind; subject: string; text: string };

/** The state of one channel's notifications about an alert. */
export type Notification = {
  notified: "began" | "over" | null;
  notifiedAt: number;
  /** When it was last attempted; `error` is its failure. */
  triedAt: number;
  isTrying: boolean;
  /** The node that wrote this, so that concurrent writes of two nodes differ. */
  by: string;
  error: string | null;
};

export type Alert = Finding & {
  siteId: string;
  beganAt: number;
  notifiedAt: number | null;
  endedAt: number | null;
  /** By channel. */
  notifications: Readonly<Record<string, Notification>>;
  /** The stored text of notifications that cannot be read. Then channels are notified again. */
  damagedNotifications?: string;
};

/** The facts are read every minute, so each query reads a bounded number of rows. */
const maxAttempts = 1000;
const maxQueued = 100_000;
/** Longer than the time over which attempts are counted. */
const attemptsMs = 2 * hourMs;
/** Long enough for a check after each reconciliation. */
const reconciledMs = 24 * hourMs;

type QueueLength = { count: number; isAtLeast: boolean; oldestDueAt: number | null };
type HourOfUse = { hour: number; uses: number; lastUsedAt: number };

export function alertStore(db: Database) {
  return {
    /** Begins alerts for new findings, and ends open alerts that were not found for `quietMs` of their kind. */
    async reconcile(
      siteId: string,
      findings: readonly Finding[],
      now: number,
      quietMs: Readonly<Record<AlertKind, number>>,
    ): Promise<void> {
      const sorted = findings.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      const found = new Set(findings.map(keyOf));
      await db.write(async (tx) => {
        for (const finding of sorted) await beginAlert(tx, siteId, finding, now);
        const open = await tx.all(
          `SELECT kind, subject, seen_at FROM alerts WHERE site_id = $1 AND ended_at IS NULL ORDER BY kind, subject`,
          [siteId],
        );
        for (const row of open) {
          const [kind, subject] = [row.kind as AlertKind, String(row.subject)];
          const sinceSeenMs = now - Number(row.seen_at);
          // A time in the future was written by a clock that ran ahead.
          const isQuiet = sinceSeenMs >= (quietMs[kind] ?? 0) || sinceSeenMs < -maxSkewMs;
          if (found.has(keyOf({ kind, subject })) || !isQuiet) continue;
          const sql = `UPDATE alerts SET ended_at = $4 WHERE site_id = $1 AND kind = $2 AND subject = $3 AND ended_at IS NULL`;
          await tx.all(sql, [siteId, kind, subject, now]);
        }
      });
    },

    /** Begins an alert between two checks. The next check sends it, and later checks end it. */
    begin: (siteId: string, finding: Finding, now: number): Promise<void> =>
      db.write((tx) => beginAlert(tx, siteId, finding, now)),

    /**
     * Returns the sites with something that an alert can be about: alerts that are open or ended after `endedAfter`,
     * lockouts, webhooks, order feeds and exports that fail, recent reconciliations, queued deliveries, recent attempts. Null where the database cannot tell cheaply: then
     * every site is concerned.
     */
    async listConcerned(now: number, endedAfter: number): Promise<Set<string> | null> {
      if (await db.isSharded()) return null;
      const rows = [
        ...(await db.all(`SELECT DISTINCT site_id FROM alerts WHERE ended_at IS NULL OR ended_at > $1`, [endedAfter])),
        ...(await db.all(`SELECT DISTINCT site_id FROM lockouts WHERE locked_until > $1`, [now])),
        ...(await db.all(`SELECT DISTINCT site_id FROM webhooks WHERE state <> 'active' OR failing_since IS NOT NULL`)),
        ...(await db.all(`SELECT DISTINCT site_id FROM order_feeds WHERE failing_since IS NOT NULL`)),
        ...(await db.all(`SELECT site_id FROM data_exports WHERE failing_since IS NOT NULL`)),
        ...(await db.all(`SELECT DISTINCT site_id FROM reconciliations WHERE updated_at > $1`, [now - reconciledMs])),
      ];
      const connections = [
        ...(await skipScan(db, queued, Number.MAX_SAFE_INTEGER)),
        ...(await skipScan(db, attemptsSince, now - attemptsMs)),
      ];
      return new Set([...rows.map((row) => String(row.site_id)), ...connections.map(({ siteId }) => siteId)]);
    },

    /** Ends the open alerts of a subject at once. Channels are notified at the next check. */
    async end(siteId: string, subject: string, kinds: readonly AlertKind[], now: number): Promise<void> {
      await db.run(
        `UPDATE alerts SET ended_at = $3
         WHERE site_id = $1 AND subject = $2 AND ended_at IS NULL AND kind IN (${list(kinds.length, 3)})`,
        [siteId, subject, now, ...kinds],
      );
    },

    /** Lists open alerts and those that ended after `endedAfter`, newest first. */
    async listSince(siteId: string, endedAfter: number, limit = 1000): Promise<Alert[]> {
      const rows = await db.all(
        `SELECT ${columns.alerts} FROM alerts WHERE site_id = $1 AND (ended_at IS NULL OR ended_at > $2)
         ORDER BY began_at DESC, kind, subject LIMIT $3`,
        [siteId, endedAfter, limit],
      );
      return rows.map(alertOf);
    },

    /** Writes the state of a channel; null when another node has written it meanwhile. */
    async saveNotification(alert: Alert, channel: string, notification: Notification): Promise<Alert | null> {
      const { damagedNotifications, ...readable } = alert;
      const notifications = { ...alert.notifications, [channel]: notification };
      const { notified, isTrying, error } = notification;
      const notifiedAt = notified && !isTrying && !error ? notification.notifiedAt : alert.notifiedAt;
      const rows = await db.run(
        `UPDATE alerts SET notifications = $5, notified_at = $6
         WHERE site_id = $1 AND kind = $2 AND subject = $3 AND began_at = $4 AND notifications IN ($7, $5)
         RETURNING kind`,
        [
          alert.siteId,
          alert.kind,
          alert.subject,
          alert.beganAt,
          JSON.stringify(notifications),
          notifiedAt,
          damagedNotifications ?? JSON.stringify(alert.notifications),
        ],
      );
      return rows.length ? { ...readable, notifications, notifiedAt } : null;
    },

    /** Counts the newest attempts of a connection since `since`, by outcome. */
    async countAttempts(siteId: string, connectionId: string, since: number): Promise<Partial<Record<DeliveryState, number>>> {
      const rows = await db.all(
        `SELECT state, COUNT(*) AS n FROM (
           SELECT state FROM attempts
           WHERE site_id = $1 AND connection_id = $2 AND request <> '(removed)' AND started_at > $3
           ORDER BY started_at DESC LIMIT $4) AS newest
         GROUP BY state`,
        [siteId, connectionId, since, maxAttempts],
      );
      const counts: Partial<Record<DeliveryState, number>> = Object.fromEntries(
        rows.map((row) => [String(row.state), Number(row.n)]),
      );
      // What was sent at once has no row of its own.
      const { sent } = await listSentAtOnce(db, siteId, connectionId, since, maxAttempts);
      return sent.length ? { ...counts, sent: (counts.sent ?? 0) + sent.length } : counts;
    },

    /** Counts the queued deliveries of a connection, and finds the due time of the oldest. */
    async measureQueue(siteId: string, connectionId: string): Promise<QueueLength> {
      const [row] = await db.all(
        `SELECT COUNT(*) AS n, MIN(due_at) AS oldest FROM (
           SELECT due_at FROM deliveries WHERE site_id = $1 AND connection_id = $2 AND state = 'queued'
           ORDER BY due_at LIMIT $3) AS queued`,
        [siteId, connectionId, maxQueued],
      );
      const count = Number(row?.n);
      return { count, isAtLeast: count >= maxQueued, oldestDueAt: readNumber(row?.oldest) };
    },

    /** Lists the uses of a key by hour. */
    async listKeyUses(siteId: string, keyId: string, fromHour: number): Promise<HourOfUse[]> {
      const rows = await db.all(
        `SELECT hour, uses, last_used_at FROM key_uses WHERE site_id = $1 AND key_id = $2 AND hour >= $3`,
        [siteId, keyId, fromHour],
      );
      return rows.map((row) => ({
        hour: Number(row.hour),
        uses: Number(row.uses),
        lastUsedAt: Number(row.last_used_at),
      }));
    },

    /** Deletes alerts that ended before `before`. Returns how many there were. */
    async purge(siteId: string, before: number): Promise<number> {
      const rows = await db.run(`DELETE FROM alerts WHERE site_id = $1 AND ended_at < $2 RETURNING kind`, [siteId, before]);
      return rows.length;
    },
  };
}

/** Begins an alert, or records that the condition of an open one was found again. */
export async function beginAlert(tx: Query, siteId: string, { kind, subject, text }: Finding, now: number): Promise<void> {
  await tx.all(
    `INSERT INTO alerts (site_id, kind, subject, began_at, seen_at, text, notifications)
     VALUES ($1, $2, $3, $4, $4, $5, '{}')
     ON CONFLICT (site_id, kind, subject) WHERE ended_at IS NULL
     DO UPDATE SET seen_at = excluded.seen_at, text = excluded.text`,
    [siteId, kind, subject, now, text],
  );
}

export const keyOf = ({ kind, subject }: Pick<Finding, "kind" | "subject">) => `${kind} ${subject}`;

function alertOf(row: Row): Alert {
  const stored = String(row.notifications);
  const notifications = readObject(stored) as Alert["notifications"] | null;
  return {
    siteId: String(row.site_id),
    kind: row.kind as AlertKind,
    subject: String(row.subject),
    text: String(row.text),
    beganAt: Number(row.began_at),
    notifiedAt: readNumber(row.notified_at),
    endedAt: readNumber(row.ended_at),
    notifications: notifications ?? {},
    ...(notifications === null && { damagedNotifications: stored }),
  };
}
