// All-time totals for the outbound webhook. Each process adds to a row of its own, in the transaction that writes the
// counted event, so that totals and events agree.

import type { NewEvent } from "../events/events.ts";
import { insertRow, insertRows, orReplace, type Query } from "../engine/database.ts";

/** conversions: accepted live events. removed: live events filtered as bots', and visits of bots. */
export type Totals = { conversions: number; removed: number };

type Counted = { siteId: string; writer: string; conversions: number; removedEvents: number };

/**
 * Computes the increments of the totals. Takes only events that were inserted: a transaction that runs again, because its
 * commit was not confirmed, inserts none and must add nothing.
 */
export function toCounted(written: readonly Pick<NewEvent, "event" | "filterReasons" | "ownership">[]): Counted[] {
  const bySite = new Map<string, Counted>();
  for (const { event, filterReasons, ownership } of written) {
    const { owner } = ownership;
    const { siteId, mode } = event;
    const isConversion = filterReasons.length === 0;
    const isRemoval = filterReasons.some(({ code }) => code === "only bot visits");
    if (mode !== "live" || !(isConversion || isRemoval)) continue;
    const key = `${siteId} ${owner}`;
    const counted = bySite.get(key) ?? { siteId, writer: owner, conversions: 0, removedEvents: 0 };
    if (isConversion) counted.conversions += 1;
    else counted.removedEvents += 1;
    bySite.set(key, counted);
  }
  return [...bySite.values()];
}

/** Adds the increments, up to 64 in one statement. */
export async function addTotals(tx: Query, counted: readonly Counted[]): Promise<void> {
  const sorted = counted.toSorted((one, other) => (one.siteId < other.siteId ? -1 : 1));
  const rows = sorted.map(({ siteId, writer, conversions, removedEvents }) => {
    return { site_id: siteId, writer, conversions, removed_events: removedEvents, bot_visits: 0 };
  });
  const added = ["conversions", "removed_events"].map((one) => `${one} = totals.${one} + excluded.${one}`).join(", ");
  await insertRows(tx, "totals", rows, `ON CONFLICT (site_id, writer) DO UPDATE SET ${added}`);
}

/** `botVisits` is the all-time count of this writer: safe to repeat, and it never decreases. */
export async function saveBotVisits(tx: Query, siteId: string, writer: string, botVisits: number): Promise<void> {
  const row = { site_id: siteId, writer, conversions: 0, removed_events: 0, bot_visits: botVisits };
  const raised = `${orReplace("site_id, writer", "bot_visits")} WHERE totals.bot_visits < excluded.bot_visits`;
  await insertRow(tx, "totals", row, raised);
}

/** Sums up what is committed. */
export async function sumTotals(tx: Query, siteId: string): Promise<Totals> {
  const [row] = await tx.all(
    `SELECT COALESCE(SUM(conversions), 0) AS conversions, COALESCE(SUM(removed_events + bot_visits), 0) AS removed
     FROM totals WHERE site_id = $1`,
    [siteId],
  );
  return { conversions: Number(row?.conversions), removed: Number(row?.removed) };
}
