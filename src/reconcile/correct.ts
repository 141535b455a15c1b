// Corrects conversions by what a reconciliation found: orders that were refunded or cancelled since are taken back, and those
// with another value are restated, at platforms that can do so. Only at sites with the switch on.

import { requireCorrections } from "../delivery/corrections/correctOrder.ts";
import { findEventCorrections } from "../delivery/corrections/find.ts";
import type { CorrectionState } from "../kernel/correction.ts";
import type { CorrectedClass } from "../kernel/reconciliation.ts";
import type { By } from "../kernel/refusal.ts";
import type { Site } from "../sites/directory.ts";
import { auditLine } from "../sites/manage.ts";
import type { NewCorrection } from "../store/corrections/corrections.ts";
import type { Order } from "../store/reconciliation/orders.ts";
import type { Run } from "../store/reconciliation/runs.ts";
import type { Store } from "../store/store.ts";
import { listRows } from "./rows.ts";

/** What became of the orders of one part. */
type Corrected = {
  orders: number;
  /** Orders that the list has changed or lost since, or without a value, or that no platform was given. */
  left: number;
  /** Corrections by state: one for each conversion and connection. */
  corrections: Partial<Record<CorrectionState, number>>;
  /** The cursor of the next part; null at the end. */
  next: string | null;
};

/** Each order costs a few reads on the thread that accepts events. */
const maxPart = 50;

export async function correctRows(
  store: Pick<Store, "audit" | "corrections" | "deliveries" | "events" | "orders" | "reconciliations">,
  site: Site,
  { run, class: rowClass, after }: { run: Run; class: CorrectedClass; after: string },
  by: By,
): Promise<Corrected> {
  requireCorrections(site);
  if (after === "") await store.audit.add(auditLine(site.id, "reconciled orders corrected", { id: run.id, class: rowClass }, by));
  const { rows, next } = await listRows(store, run, { class: rowClass }, { after, limit: maxPart });
  const listed = await store.orders.find(
    site.id,
    rows.map(({ id }) => id),
  );
  const part: Corrected = { orders: 0, left: 0, corrections: {}, next };
  const all: NewCorrection[] = [];
  for (const { id, eventId, eventCurrency } of rows) {
    const order = listed.get(id);
    const value = order && order.currency === eventCurrency ? valueOf(order, rowClass) : null;
    const found =
      value === null || eventId === null ? [] : await findEventCorrections({ store, site }, { eventId, value }, by.now);
    if (found.some(({ state }) => state !== "nothing to correct")) part.orders += 1;
    else part.left += 1;
    for (const { state } of found) part.corrections[state] = (part.corrections[state] ?? 0) + 1;
    all.push(...found);
  }
  await store.corrections.add(site.id, all);
  return part;
}

/** By the list as it is now: an order may have been paid after all. Null where it is no longer of the class. */
function valueOf({ status, value }: Order, rowClass: CorrectedClass): number | null {
  const isVoid = status === "refunded" || status === "cancelled";
  if (rowClass === "status_changed") return isVoid ? 0 : null;
  return isVoid ? null : value;
}
