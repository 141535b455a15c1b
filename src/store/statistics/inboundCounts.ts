// Counts of inbound requests by hour: duplicates and rejected requests, which leave no event row, and uses of valid keys.

import { hourMs } from "../../kernel/time.ts";
import { chunks, tuples, writeBySite, type Database } from "../engine/database.ts";

/** `duplicate`, `used` (keyUse.ts), `refused:` and the HTTP status, or `source:`, its id, and what became of a request. */
export type InboundKind = "duplicate" | "used" | `refused:${number}` | `source:${string}`;

/** `hour` counts from the epoch. */
export type InboundCount = { siteId: string; hour: number; kind: InboundKind; count: number };

/** No process writes counts of earlier hours any more, so they may be merged. */
export const firstUnsettledHour = (now: number) => Math.floor(now / hourMs) - 24;

export function inboundCountStore(db: Database) {
  return {
    /** Replaces this writer's counts of the same hours: safe to repeat. */
    async save(writer: string, counts: readonly InboundCount[]): Promise<void> {
      await writeBySite(db, counts, async (tx, ofSite) => {
        for (const some of chunks(ofSite)) {
          await tx.all(
            `INSERT INTO inbound_counts (site_id, hour, kind, writer, count) VALUES ${tuples(some.length, 5)}
             ON CONFLICT (site_id, hour, kind, writer) DO UPDATE SET count = excluded.count`,
            some.flatMap((one) => [one.siteId, one.hour, one.kind, writer, one.count]),
          );
        }
      });
    },

    /** Sums the counts from `fromHour` to before `toHour` by hour and kind. */
    async list(siteId: string, fromHour: number, toHour: number): Promise<InboundCount[]> {
      const rows = await db.all(
        `SELECT hour, kind, SUM(count) AS count FROM inbound_counts
         WHERE site_id = $1 AND hour >= $2 AND hour < $3 GROUP BY hour, kind ORDER BY hour, kind`,
        [siteId, fromHour, toHour],
      );
      return rows.map((row) => ({
        siteId,
        hour: Number(row.hour),
        kind: row.kind as InboundKind,
        count: Number(row.count),
      }));
    },

    /** Sums the counts of all sources from `fromHour` on, by kind, with the last hour of each. */
    async sumSources(siteId: string, fromHour: number): Promise<{ kind: string; count: number; lastHour: number }[]> {
      const rows = await db.all(
        `SELECT kind, SUM(count) AS count, MAX(hour) AS last_hour FROM inbound_counts
         WHERE site_id = $1 AND hour >= $2 AND kind LIKE 'source:%' GROUP BY kind`,
        [siteId, fromHour],
      );
      return rows.map((row) => ({ kind: String(row.kind), count: Number(row.count), lastHour: Number(row.last_hour) }));
    },

    /** Merges the counts of several writers, for hours that are no longer written. */
    async mergeWriters(siteId: string, now: number): Promise<void> {
      const unsettledFrom = firstUnsettledHour(now);
      await db.write(async (tx) => {
        const rows = await tx.all(
          `DELETE FROM inbound_counts WHERE site_id = $1 AND hour >= $2 AND hour < $3 AND writer <> ''
           RETURNING hour, kind, count`,
          [siteId, unsettledFrom - 30 * 24, unsettledFrom],
        );
        for (const { hour, kind, count } of rows) {
          await tx.all(
            `INSERT INTO inbound_counts (site_id, hour, kind, writer, count) VALUES ($1, $2, $3, '', $4)
             ON CONFLICT (site_id, hour, kind, writer) DO UPDATE SET count = inbound_counts.count + excluded.count`,
            [siteId, hour as number, kind as string, count as number],
          );
        }
      });
    },
  };
}
