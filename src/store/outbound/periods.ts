// Periods of the outbound webhook. Closing one is a single transaction: the head's row is locked, the totals are
// summed, the difference to the head becomes the period, the head moves to the sum, and every webhook gets a push.
//
// Invariant: the periods since the head was set sum up to the growth of the totals until the head's sums. So every
// conversion and every removal is in exactly one period: a commit after a sum was read is in the next difference, and of
// two nodes that close at once one finds that the head has moved.

import { columns } from "../schema/columns.ts";
import { asNumber, asText, describeRow } from "../describeRow.ts";
import { insertRow, type Database, type Query, type Row } from "../engine/database.ts";
import { sumTotals, type Totals } from "./totals.ts";

/** `number` counts up within a site, in the order in which periods were closed. */
export type Period = Totals & {
  siteId: string;
  number: number;
  startsAt: number;
  endsAt: number;
  closedAt: number;
};

export const periodRow = describeRow<Period, Period>({
  siteId: asText,
  number: asNumber,
  startsAt: asNumber,
  endsAt: asNumber,
  conversions: asNumber,
  removed: asNumber,
  closedAt: asNumber,
});

export type PeriodHead = { siteId: string; number: number; endsAt: number };

export type Closing = {
  siteId: string;
  /** The number of the head as it was read; if it has changed, another node has closed the period. */
  number: number;
  startsAt: number;
  endsAt: number;
  now: number;
  /** When idle webhooks may push it. */
  dueAt: number;
};

export function periodStore(db: Database) {
  return {
    /** Lists heads that ended before `before` or end after `after`, of sites that have a webhook. */
    async listHeads(before: number, after: number): Promise<PeriodHead[]> {
      const rows = await db.background.all(
        `SELECT site_id, number, ends_at FROM period_heads
         WHERE (ends_at < $1 OR ends_at > $2)
           AND EXISTS (SELECT 1 FROM webhooks WHERE webhooks.site_id = period_heads.site_id)
         ORDER BY site_id`,
        [before, after],
      );
      return rows.map((row) => periodRow.readSome(row, ["siteId", "number", "endsAt"]));
    },

    /** Closes the open period; null when another node has closed it or is closing it. */
    close: (closing: Closing): Promise<Period | null> => db.write((tx) => closeOne(db, tx, closing)),

    /** Reads the totals of the open period; null for a site that never had a webhook. */
    async readOpen(siteId: string): Promise<(Totals & { startsAt: number }) | null> {
      const [head] = await db.all(`SELECT ${columns.period_heads} FROM period_heads WHERE site_id = $1`, [siteId]);
      if (!head) return null;
      return { startsAt: Number(head.ends_at), ...since(await sumTotals(db, siteId), head) };
    },
  };
}

const since = (sum: Totals, head: Row): Totals => ({
  conversions: sum.conversions - Number(head.conversions),
  removed: sum.removed - Number(head.removed),
});

async function closeOne(db: Database, tx: Query, closing: Closing): Promise<Period | null> {
  const { siteId, number, startsAt, endsAt, now, dueAt } = closing;
  // Without SKIP LOCKED the statement waits for the other node and then finds that the head has moved.
  const lock = db.skipLocked || db.forUpdate;
  const sql = `SELECT ${columns.period_heads} FROM period_heads WHERE site_id = $1 AND number = $2 ${lock}`;
  const [head] = await tx.all(sql, [siteId, number]);
  if (!head) return null;
  const sum = await sumTotals(tx, siteId);
  const period: Period = {
    siteId,
    number: number + 1,
    startsAt,
    endsAt,
    ...since(sum, head),
    closedAt: now,
  };
  await tx.all(
    `UPDATE period_heads SET number = $2, ends_at = $3, closed_at = $4, conversions = $5, removed = $6
     WHERE site_id = $1`,
    [siteId, period.number, endsAt, now, sum.conversions, sum.removed],
  );
  await insertRow(tx, "periods", periodRow.toRow(period));
  await queuePushes(tx, period, dueAt, now);
  return period;
}

/** Queues a push for every webhook. A disabled one gets its pushes when it is enabled again. */
async function queuePushes(tx: Query, period: Period, dueAt: number, now: number): Promise<void> {
  const { siteId, number } = period;
  const isEmpty = period.conversions === 0 && period.removed === 0;
  const webhooks = await tx.all(`SELECT id FROM webhooks WHERE site_id = $1 AND send_empty >= $2`, [siteId, isEmpty ? 1 : 0]);
  for (const { id = null } of webhooks)
    await insertRow(tx, "pushes", { site_id: siteId, webhook_id: id, number, state: "queued", attempts: 0 });
  // A webhook that waits for a retry, has older pushes or is leased keeps its due time.
  await tx.all(
    `UPDATE webhooks SET due_at = $2, updated_at = $4 WHERE site_id = $1 AND owner = '' AND due_at < $2
       AND NOT EXISTS (SELECT 1 FROM pushes WHERE pushes.site_id = $1 AND pushes.webhook_id = webhooks.id
         AND pushes.state = 'queued' AND pushes.number < $3)`,
    [siteId, dueAt, number, now],
  );
}

/**
 * Starts the periods of a site that gets its first webhook, or its first after it had none, from the present totals. Must
 * run in the webhook's transaction, before its insert.
 */
export async function beginPeriods(db: Database, tx: Query, siteId: string, now: number): Promise<void> {
  const none = { site_id: siteId, number: 0, ends_at: 0, closed_at: 0, conversions: 0, removed: 0 };
  await insertRow(tx, "period_heads", none, "ON CONFLICT DO NOTHING");
  // Serialises two transactions that add the first webhook: the second finds the webhook of the first.
  await tx.all(`SELECT number FROM period_heads WHERE site_id = $1 ${db.forUpdate}`, [siteId]);
  const [webhook] = await tx.all(`SELECT id FROM webhooks WHERE site_id = $1 LIMIT 1`, [siteId]);
  if (webhook) return;
  const sum = await sumTotals(tx, siteId);
  await tx.all(`UPDATE period_heads SET ends_at = $2, closed_at = $2, conversions = $3, removed = $4 WHERE site_id = $1`, [
    siteId,
    now,
    sum.conversions,
    sum.removed,
  ]);
}
