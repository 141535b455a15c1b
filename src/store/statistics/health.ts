// Health of the database, sites and connections. Each query reads a bounded number of rows.

import { oldestSchemaSetting } from "../schema/compatibility.ts";
import { readNumber } from "../describeRow.ts";
import { attemptRow, type Attempt } from "../deliveries/delivery.ts";
import { listSentAtOnce } from "../deliveries/readDeliveries.ts";
import type { Database, Value } from "../engine/database.ts";

const newestAttempts = 1000;
const maxCounted = 100_000;
/** For metrics that are read every few seconds. */
const maxBacklog = 10_000;

/** The state of the database. `clock` is its time, null when it has this machine's clock. */
export type Pulse = {
  schema: number;
  /** The oldest schema whose code can use this database. */
  oldest: number;
  migratedAt: number;
  clock: number | null;
};

const timedFields = ["number", "startedAt", "durationMs", "state", "reason"] as const;
/** An attempt without its request and response. */
export type TimedAttempt = Pick<Attempt, (typeof timedFields)[number]>;

type Backlog = {
  /** At most `maxBacklog`. */
  count: number;
  /** The earliest due time; null when the queue is empty. */
  dueAt: number | null;
  /** The id of the oldest event. */
  oldestEvent: string | null;
};

export function healthStore(db: Database) {
  /** Reads one number; null where there is no row. */
  async function readOne(sql: string, params: readonly Value[] = []): Promise<number | null> {
    const [row] = await db.all(sql, params);
    return row ? readNumber(Object.values(row)[0]) : null;
  }

  return {
    async readPulse(): Promise<Pulse> {
      const [row] = await db.all(
        `SELECT MAX(version) AS version, MAX(applied_at) AS applied_at, ${db.serverClock} AS clock,
           (SELECT value FROM settings WHERE name = '${oldestSchemaSetting}') AS oldest FROM migrations`,
      );
      return {
        schema: Number(row?.version ?? 0),
        oldest: Number(row?.oldest ?? 0),
        migratedAt: Number(row?.applied_at ?? 0),
        clock: readNumber(row?.clock),
      };
    },

    /** How many bytes of changes the slowest standby server has yet to apply; 0 without one. */
    async readReplicationLag(): Promise<number> {
      if (!db.isServer) return 0;
      const sql = `SELECT MAX(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)) AS bytes FROM pg_stat_replication`;
      const [row] = await db.background.all(sql);
      return readNumber(row?.bytes) ?? 0;
    },

    /** The number of machines of a sharded database that do not answer, while others do. */
    countDownMachines: () => db.countDownMachines(),
    /** True for an error of one machine of a sharded database: sites on others are not affected. */
    isMachineError: (error: unknown) => db.isMachineError(error),

    /** Reads the database's clock; null where it has this machine's. */
    async readClock(): Promise<number | null> {
      return db.isServer ? readOne(`SELECT ${db.serverClock} AS clock`) : null;
    },

    /** Returns the size of the database in bytes. */
    async readBytes(): Promise<number> {
      const [row] = await db.background.all(
        db.isServer
          ? `SELECT pg_database_size(current_database()) AS bytes`
          : `SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()`,
      );
      return Number(row?.bytes);
    },

    /** Measures the queue of a connection, up to `maxBacklog` deliveries. */
    async measureBacklog(siteId: string, connectionId: string): Promise<Backlog> {
      const [row] = await db.all(
        `SELECT COUNT(*) AS n, MIN(due_at) AS due_at, MIN(event_id) AS event_id FROM (
           SELECT due_at, event_id FROM deliveries
           WHERE site_id = $1 AND connection_id = $2 AND state = 'queued' ORDER BY due_at LIMIT $3) AS waiting`,
        [siteId, connectionId, maxBacklog],
      );
      return {
        count: Number(row?.n),
        dueAt: readNumber(row?.due_at),
        oldestEvent: row?.event_id == null ? null : String(row.event_id),
      };
    },

    /** Returns the end of the oldest queued period of each active webhook that has one. */
    async oldestPushes(): Promise<number[]> {
      const rows = await db.background.all(
        `SELECT MIN(periods.ends_at) AS ends_at FROM webhooks
         JOIN pushes ON pushes.site_id = webhooks.site_id AND pushes.webhook_id = webhooks.id AND pushes.state = 'queued'
         JOIN periods ON periods.site_id = pushes.site_id AND periods.number = pushes.number
         WHERE webhooks.state = 'active' GROUP BY webhooks.site_id, webhooks.id`,
      );
      return rows.map((row) => Number(row.ends_at));
    },

    /** Returns when the newest event was received. */
    lastEventAt: (siteId: string) =>
      readOne(`SELECT received_at FROM events WHERE site_id = $1 ORDER BY id DESC LIMIT 1`, [siteId]),

    /** Returns the newest hour (since the epoch) in which a visit was counted. */
    lastVisitHour: (siteId: string) =>
      readOne(`SELECT hour FROM visit_counts WHERE site_id = $1 ORDER BY hour DESC LIMIT 1`, [siteId]),

    /** Returns when the platform last accepted a delivery, among the newest attempts of a connection. */
    async lastSentAt(siteId: string, connectionId: string): Promise<number | null> {
      const [row] = await db.all(
        `SELECT MAX(started_at) AS at FROM (
           SELECT started_at, state FROM attempts
           WHERE site_id = $1 AND connection_id = $2 AND request <> '(removed)'
           ORDER BY started_at DESC LIMIT $3) AS newest
         WHERE state = 'sent'`,
        [siteId, connectionId, newestAttempts],
      );
      // What was sent at once has no row of its own.
      const { sent } = await listSentAtOnce(db, siteId, connectionId, 0, newestAttempts, 1);
      return Math.max(readNumber(row?.at) ?? 0, ...sent.map(({ startedAt }) => startedAt)) || null;
    },

    /** Lists the newest attempts of a connection since a time, at most `max` of each kind. */
    async listAttempts(
      siteId: string,
      connectionId: string,
      since: number,
      max: number,
    ): Promise<{ attempts: TimedAttempt[]; isComplete: boolean }> {
      const rows = await db.all(
        `SELECT ${attemptRow.columnsOf(timedFields).join(", ")} FROM attempts
         WHERE site_id = $1 AND connection_id = $2 AND request <> '(removed)' AND started_at >= $3
         ORDER BY started_at DESC LIMIT $4`,
        [siteId, connectionId, since, max],
      );
      const later = rows.map((row) => attemptRow.readSome(row, timedFields));
      // What was sent at once has no row of its own.
      const first = await listSentAtOnce(db, siteId, connectionId, since, max);
      const atOnce = first.sent.map(({ startedAt, durationMs }) => ({
        number: 1,
        startedAt,
        durationMs,
        state: "sent" as const,
        reason: null,
      }));
      return { attempts: [...later, ...atOnce], isComplete: rows.length < max && first.isComplete };
    },

    /** Counts parked deliveries, up to `maxCounted`. */
    async countParked(siteId: string, connectionId: string): Promise<number> {
      const parked = `SELECT 1 FROM deliveries WHERE site_id = $1 AND connection_id = $2 AND state = 'parked' LIMIT $3`;
      const params = [siteId, connectionId, maxCounted];
      return Number(await readOne(`SELECT COUNT(*) AS n FROM (${parked}) AS parked`, params));
    },

    /** Returns when a webhook was last called, tests included. */
    lastPushAt: (siteId: string, webhookId: string) =>
      readOne(`SELECT started_at FROM push_log WHERE site_id = $1 AND webhook_id = $2 ORDER BY id DESC LIMIT 1`, [
        siteId,
        webhookId,
      ]),
  };
}
