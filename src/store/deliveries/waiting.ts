// One look at what waits on some sites: deliveries, pushes, periods, backfills, reconciliations and feeds of orders. On a sharded
// database a statement costs each shard that it reads, so there is one for all of them.

import { asNumber, asOneOf, asText, describeRow } from "../describeRow.ts";
import type { Database } from "../engine/database.ts";
import { maxFeedDelayMs } from "../reconciliation/feeds.ts";

export type Waiting = {
  kind: "delivery" | "parked" | "push" | "period" | "backfill" | "reconciliation" | "feed";
  siteId: string;
  /** The connection, the webhook, the number of the period, or the reconciliation; of a feed, its site. */
  id: string;
  /** When it is due, 0 for at once; of a period, when it ended. */
  at: number;
};

const waitingRow = describeRow<Waiting, Waiting>({
  kind: asOneOf<Waiting["kind"]>(),
  siteId: asText,
  id: asText,
  at: asNumber,
});

export type DueBounds = {
  /** What falls due by then is listed. */
  by: number;
  /** Periods that ended before, or end after, are listed. */
  endedBefore: number;
  endsAfter: number;
};

export function waitingStore(db: Database) {
  return {
    /** Lists what waits on sites that are on one machine. Every table names the sites: else Citus reads all shards. */
    async find(siteIds: readonly string[], { by, endedBefore, endsAfter }: DueBounds): Promise<Waiting[]> {
      const rows = await db.background.all(
        `SELECT ${waitingRow.list} FROM (
           SELECT 'delivery' AS kind, site_id, connection_id AS id, MIN(due_at) AS at FROM deliveries
             WHERE site_id = ANY(CAST($1 AS text[])) AND state = 'queued' AND due_at <= $2 GROUP BY site_id, connection_id
           UNION ALL SELECT 'parked' AS kind, site_id, connection_id AS id, CAST(0 AS bigint) AS at FROM deliveries
             WHERE site_id = ANY(CAST($1 AS text[])) AND state = 'parked' GROUP BY site_id, connection_id
           UNION ALL SELECT 'push' AS kind, site_id, id, due_at AS at FROM webhooks
             WHERE site_id = ANY(CAST($1 AS text[])) AND state = 'active' AND due_at <= $2 AND EXISTS (SELECT 1 FROM pushes
               WHERE pushes.site_id = ANY(CAST($1 AS text[])) AND pushes.site_id = webhooks.site_id AND pushes.webhook_id = webhooks.id AND pushes.state = 'queued')
           UNION ALL SELECT 'period' AS kind, site_id, CAST(number AS text) AS id, ends_at AS at FROM period_heads
             WHERE site_id = ANY(CAST($1 AS text[])) AND (ends_at < $3 OR ends_at > $4)
               AND EXISTS (SELECT 1 FROM webhooks
                 WHERE webhooks.site_id = ANY(CAST($1 AS text[])) AND webhooks.site_id = period_heads.site_id)
           UNION ALL SELECT 'backfill' AS kind, site_id, connection_id AS id, due_at AS at FROM backfills
             WHERE site_id = ANY(CAST($1 AS text[])) AND state = 'running' AND due_at <= $2
           UNION ALL SELECT 'reconciliation' AS kind, site_id, id, CAST(0 AS bigint) AS at FROM reconciliations
             WHERE site_id = ANY(CAST($1 AS text[])) AND state = 'running'
           UNION ALL SELECT 'feed' AS kind, site_id, site_id AS id, CASE WHEN due_at > $2 THEN 0 ELSE due_at END AS at FROM order_feeds
             WHERE site_id = ANY(CAST($1 AS text[])) AND (due_at <= $2 OR due_at > $2 + ${maxFeedDelayMs})
         ) AS waiting`,
        [`{${siteIds.join(",")}}`, by, endedBefore, endsAfter],
      );
      return rows.map(waitingRow.read);
    },
  };
}
