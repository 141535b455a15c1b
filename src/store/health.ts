// How sites and connections do at a glance. Each question looks at a bounded number of rows.

import type { Database } from "./database.ts";

const newestAttempts = 1000;
const mostCounted = 100_000;

export function healthStore(db: Database) {
  return {
    /** When the newest event came. */
    async lastEventAt(siteId: string): Promise<number | null> {
      const [row] = await db.all(
        `SELECT received_at FROM events WHERE site_id = $1 ORDER BY id DESC LIMIT 1`,
        [siteId],
      );
      return row ? Number(row.received_at) : null;
    },

    /** The newest hour (since the epoch) in which a visit was counted. */
    async lastVisitHour(siteId: string): Promise<number | null> {
      const [row] = await db.all(
        `SELECT hour FROM visit_counts WHERE site_id = $1 ORDER BY hour DESC LIMIT 1`,
        [siteId],
      );
      return row ? Number(row.hour) : null;
    },

    /** When a connection's platform last accepted something, among its newest attempts. */
    async lastSentAt(siteId: string, connectionId: string): Promise<number | null> {
      const [row] = await db.all(
        `SELECT MAX(started_at) AS at FROM (
           SELECT started_at, state FROM attempts
           WHERE site_id = $1 AND connection_id = $2 AND request <> '(removed)'
           ORDER BY started_at DESC LIMIT $3) AS newest
         WHERE state = 'sent'`,
        [siteId, connectionId, newestAttempts],
      );
      return row?.at == null ? null : Number(row.at);
    },

    /** How many deliveries are parked, of those that can be counted quickly. */
    async parked(siteId: string, connectionId: string): Promise<number> {
      const [row] = await db.all(
        `SELECT COUNT(*) AS n FROM (
           SELECT 1 FROM deliveries WHERE site_id = $1 AND connection_id = $2 AND state = 'parked' LIMIT $3) AS parked`,
        [siteId, connectionId, mostCounted],
      );
      return Number(row?.n);
    },

    /** When a webhook was last called, tests included. */
    async lastPushAt(siteId: string, webhookId: string): Promise<number | null> {
      const [row] = await db.all(
        `SELECT started_at FROM push_log WHERE site_id = $1 AND webhook_id = $2 ORDER BY id DESC LIMIT 1`,
        [siteId, webhookId],
      );
      return row ? Number(row.started_at) : null;
    },
  };
}
