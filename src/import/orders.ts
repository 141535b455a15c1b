// Imports rows as the customer's list of orders, which reconciliation compares with events.

import { writeOrderRows } from "../reconcile/uploadOrders.ts";
import { readOrder } from "../reconcile/readOrder.ts";
import type { Site } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";
import type { RowFormat } from "../tables/columns.ts";
import type { TableRow } from "../tables/table.ts";
import type { Outcome } from "./tally.ts";

type OrderImport = {
  store: Pick<Store, "orders">;
  site: () => Site;
  format: RowFormat;
  now: () => number;
  /** Only checks the rows. */
  dryRun: boolean;
};

/** Resolves when all rows are durable. */
export async function importOrders(
  rows: readonly TableRow[],
  { store, site, format, now, dryRun }: OrderImport,
): Promise<Outcome[]> {
  const target = { store, siteId: site().id, now: now() };
  const faults = dryRun
    ? rows.map((row) => ("fault" in row ? row.fault : readOrder(row.cells, format, target)))
    : await writeOrderRows(target, rows, format);
  return faults.map((fault) =>
    typeof fault === "string" ? { status: "refused", reason: fault } : { status: "imported", results: {} },
  );
}
