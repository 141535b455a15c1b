// Compares hourly statistics and totals with the events that they were counted from.

import { dayMs, hourMs } from "../../../kernel/time.ts";
import { finalAt } from "../../statistics/statistics.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Faults } from "./faults.ts";

/** The live events of a site, as its totals count them, and the figures of each hour. */
export type SiteCounts = {
  hours: Map<number, Map<string, number>>;
  conversions: number;
  removed: number;
};

/** Compares the hours that are not due again and whose events were not purged. */
export async function compareHours(snapshot: Snapshot, siteId: string, { hours }: SiteCounts, faults: Faults): Promise<void> {
  const computed = `SELECT hour FROM statistics_hours WHERE site_id = $1 AND due_at = ${finalAt} AND rolled_at < ${finalAt}`;
  const stored = new Map<number, Map<string, number>>();
  for (const row of await snapshot.all(computed, [siteId])) stored.set(Number(row.hour), new Map());
  // Names and reasons vary; of deliveries there are platforms and states.
  const figures = await snapshot.all(
    `SELECT hour, kind, SUM(count) AS n, CASE WHEN kind = 'delivery' THEN name ELSE '' END AS detail FROM statistics
     WHERE site_id = $1 AND kind IN ('conversion', 'source', 'campaign', 'filtered', 'test', 'delivery') AND hour IN (${computed})
     GROUP BY hour, kind, CASE WHEN kind = 'delivery' THEN name ELSE '' END`,
    [siteId],
  );
  for (const row of figures) stored.get(Number(row.hour))?.set(`${row.kind} ${row.detail}`.trim(), Number(row.n));
  for (const [hour, known] of stored) {
    const counted = hours.get(hour) ?? new Map<string, number>();
    const differing = [...new Set([...known.keys(), ...counted.keys()])].filter(
      (figure) => known.get(figure) !== counted.get(figure),
    );
    const example = `${siteId} ${new Date(hour * hourMs).toISOString()}`;
    if (differing.some((figure) => !figure.startsWith("delivery ")))
      faults.add("hours whose statistics differ from their events", "miscounted", example);
    else if (differing.length > 0) faults.add("hours whose statistics differ from their deliveries", "miscounted", example);
  }
}

/** Hours are removed from the statistics after a longer time. Until then they say if their events were purged. */
export const keptHoursMs = 790 * dayMs;

/** Totals count every event once, also those that were purged since. */
export async function compareTotals(
  snapshot: Snapshot,
  siteId: string,
  { conversions, removed }: SiteCounts,
  now: number,
  faults: Faults,
): Promise<void> {
  const [row] = await snapshot.all(
    `SELECT COALESCE(SUM(conversions), 0) AS conversions, COALESCE(SUM(removed_events), 0) AS removed,
       (SELECT COUNT(*) FROM statistics_hours WHERE site_id = $1 AND rolled_at = ${finalAt}) AS purged_hours,
       (SELECT created_at FROM sites WHERE site_id = $1) AS created_at
     FROM totals WHERE site_id = $1`,
    [siteId],
  );
  if (!row) return;
  const total = { conversions: Number(row.conversions), removed: Number(row.removed) };
  if (total.conversions < conversions || total.removed < removed)
    faults.add("sites whose totals lack events", "miscounted", siteId);
  const hasAll = Number(row.purged_hours) === 0 && Number(row.created_at) > now - keptHoursMs;
  if (hasAll && (total.conversions > conversions || total.removed > removed))
    faults.add("sites whose totals exceed their events", "miscounted", siteId);
}
