// Erases a person from the deliveries of events: nothing waits to be sent any more, and no request or answer is left.

import { allByKeys, type RowQuery } from "../engine/database.ts";
import { anyNode } from "./ownership.ts";
import { removeAnswers, settleOpen } from "./outcomes.ts";
import { readPlanIfWhole } from "./plan.ts";

export async function eraseDeliveries(tx: RowQuery, siteId: string, eventIds: readonly string[], now: number): Promise<void> {
  const plans = `SELECT id, plan FROM events WHERE site_id = $1 AND id IN ({KEYS})`;
  const rows = await allByKeys(tx, plans, [siteId], eventIds);
  const events = rows.map((row) => ({ id: String(row.id), plan: readPlanIfWhole(String(row.plan)) }));
  // A node that is sending them finds them settled, and writes nothing more of the person.
  await settleOpen(tx, siteId, events, { state: "skipped", reason: "person erased", at: now });
  await allByKeys(
    tx,
    `UPDATE deliveries SET state = 'skipped', reason = 'person erased', owner = $3, updated_at = $2
     WHERE site_id = $1 AND event_id IN ({KEYS}) AND state IN ('queued', 'parked')`,
    [siteId, now, anyNode],
    eventIds,
  );
  const attempts = `UPDATE attempts SET request = '(erased)', response = NULL WHERE site_id = $1 AND event_id IN ({KEYS})`;
  await allByKeys(tx, attempts, [siteId], eventIds);
  const outcomes = `SELECT event_id, number, results FROM outcomes WHERE site_id = $1 AND event_id IN ({KEYS})`;
  await removeAnswers(tx, siteId, await allByKeys(tx, outcomes, [siteId], eventIds));
}
