// Making a filtered event an accepted one.

import type { Attribution } from "../../kernel/event.ts";
import type { Database, Query } from "../engine/database.ts";
import type { NewDelivery } from "./events.ts";
import { markHours } from "../statistics/statistics.ts";
import { addTotals } from "../outbound/totals.ts";

export type Release = {
  siteId: string;
  eventId: string;
  attribution: Attribution;
  deliveries: readonly NewDelivery[];
  /** The event id that a browser computes; it is this event's when no other has it. */
  orderEventId: string | null;
  claimUntil: number;
  now: number;
};

export function releaseStore(db: Database) {
  return {
    /** Writes the deliveries of an event that had none, due at once. False when it was not filtered. */
    release: (release: Release): Promise<boolean> => db.write((tx) => releaseOne(tx, release)),
  };
}

async function releaseOne(tx: Query, release: Release): Promise<boolean> {
  const { siteId, eventId, attribution, deliveries, orderEventId, claimUntil, now } = release;
  const [row] = await tx.all(
    `UPDATE events SET status = 'accepted', attribution = $3, released_at = $4
     WHERE site_id = $1 AND id = $2 AND status = 'filtered' AND email_sha256 <> '' RETURNING mode`,
    [siteId, eventId, JSON.stringify(attribution), now],
  );
  if (!row) return wasReleasedAt(tx, siteId, eventId, now);
  await markHours(tx, siteId, [eventId], now);
  // From now on it is a conversion. That it was removed once stays counted: that was reported long ago.
  if (row.mode === "live")
    await addTotals(tx, [{ siteId, writer: "release", conversions: 1, removedEvents: 0 }]);
  if (orderEventId) {
    const [claimed] = await tx.all(
      `INSERT INTO dedup_claims (site_id, claim, event_id, expires_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (site_id, claim) DO UPDATE SET event_id = excluded.event_id, expires_at = excluded.expires_at
       WHERE dedup_claims.expires_at <= $5 OR dedup_claims.event_id = excluded.event_id RETURNING claim`,
      [siteId, orderEventId, eventId, claimUntil, now],
    );
    if (claimed)
      await tx.all(`UPDATE events SET platform_event_id = $3 WHERE site_id = $1 AND id = $2`, [
        siteId,
        eventId,
        orderEventId,
      ]);
  }
  for (const { connectionId, platform, state, reason } of deliveries) {
    await tx.all(
      `INSERT INTO deliveries (site_id, event_id, connection_id, platform, state, reason, attempts, due_at, owner, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, 0, $7, '', $7) ON CONFLICT DO NOTHING`,
      [siteId, eventId, connectionId, platform, state, reason, now],
    );
  }
  return true;
}

/** The transaction is run again, after a commit that we did not hear of: everything is written already. */
async function wasReleasedAt(tx: Query, siteId: string, eventId: string, now: number): Promise<boolean> {
  const rows = await tx.all(`SELECT id FROM events WHERE site_id = $1 AND id = $2 AND released_at = $3`, [
    siteId,
    eventId,
    now,
  ]);
  return rows.length > 0;
}
