// Counts of inbound requests by hour: duplicates and rejected requests, which leave no event row, and uses of valid keys.

import { hourMs } from "../../kernel/time.ts";
import { insertRows, orReplace, writeBySite, type Database, type Query } from "../engine/database.ts";

/** `duplicate`, `used` (keyUse.ts), `refused:` and the HTTP status, or `source:`, its id, and what became of a request. */
export type InboundKind = "duplicate" | "used" | `refused:${number}` | `source:${string}`;

/** `hour` counts from the epoch. */
export type InboundCount = { siteId: string; hour: number; kind: InboundKind; count: number };

/** No process writes counts of earlier hours any more, so they may be merged. */
const firstUnsettledHour = (now: number) => Math.floor(now / hourMs) - 24;

export function inboundCountStore(db: Database) {
  return {
    /** Replaces this writer's counts of the same hours: safe to repeat. */
    async save(writer: string, counts: readonly InboundCount[]): Promise<void> {
      await writeBySite(db, counts, async (tx, ofSite) => {
        const rows = ofSite.map(({ siteId, hour, kind, count }) => ({ site_id: siteId, hour, kind, writer, count }));
        await insertRows(tx, "inbound_counts", rows, orReplace("site_id, hour, kind, writer", "count"));
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

    mergeWriters: (siteId: string, now: number): Promise<number> =>
      db.write((tx) => mergeWriters(tx, inboundCounts, siteId, now), { isBackground: true }),
  };
}

/** A table in which each process counts in rows of its own, by site, hour and the columns of `keys`. */
type CountTable = { name: "inbound_counts" | "visit_counts"; keys: readonly string[]; count: string };

const inboundCounts: CountTable = { name: "inbound_counts", keys: ["kind"], count: "count" };

/** Older hours are merged, or were left by a relay that did not run. To look for them would be to read two years of counts. */
const mergedHours = 30 * 24;

/** Merges the counts of several writers, for hours that are no longer written. Returns how many rows there were. */
export async function mergeWriters(tx: Query, { name, keys, count }: CountTable, siteId: string, now: number): Promise<number> {
  const until = firstUnsettledHour(now);
  const columns = ["hour", ...keys];
  const rows = await tx.all(
    `DELETE FROM ${name} WHERE site_id = $1 AND hour >= $2 AND hour < $3 AND writer <> '' RETURNING ${columns.join(", ")}, ${count}`,
    [siteId, until - mergedHours, until],
  );
  const groups = Map.groupBy(rows, (row) => JSON.stringify(columns.map((column) => row[column])));
  const merged = Array.from(groups.values(), (ofKey) => {
    const sum = ofKey.reduce((total, row) => total + Number(row[count]), 0);
    return { site_id: siteId, ...ofKey[0], writer: "", [count]: sum };
  });
  const added = `DO UPDATE SET ${count} = ${name}.${count} + excluded.${count}`;
  const key = ["site_id", ...columns, "writer"].join(", ");
  await insertRows(tx, name, merged, `ON CONFLICT (${key}) ${added}`);
  return rows.length;
}
