// Writes the orders that were never received in the form that `cleancast import conversions` reads, so that one command sends
// them. Emails are known by their hash alone, where the list had them; an order without one cannot be imported.

import { orderIdOf } from "../store/reconciliation/orders.ts";
import type { Run } from "../store/reconciliation/runs.ts";
import type { Store } from "../store/store.ts";
import { readAllRows } from "./rows.ts";

export type MissingOrder = {
  hashed_email: string;
  event: string;
  value: number | null;
  currency: string;
  orderId: string | null;
  eventTime: string;
};

export const missingColumns = ["hashed_email", "event", "value", "currency", "orderId", "eventTime"] as const;

type MissingPage = { orders: MissingOrder[]; withoutEmail: number };

/** Reads them page by page. `withoutEmail` counts those of the page that are left out. */
export async function* readMissing(
  store: Pick<Store, "orders" | "reconciliations">,
  run: Run,
): AsyncGenerator<MissingPage> {
  for await (const rows of readAllRows(store, run, { class: "missing_here" })) {
    const listed = await store.orders.find(
      run.siteId,
      rows.map(({ id }) => id),
    );
    const page: MissingPage = { orders: [], withoutEmail: 0 };
    for (const { id } of rows) {
      const order = listed.get(id);
      // It was purged, or its person erased, or the list was corrected since.
      if (!order || order.status !== "paid") continue;
      if (order.emailSha256 === null) {
        page.withoutEmail += 1;
        continue;
      }
      page.orders.push({
        hashed_email: order.emailSha256,
        event: run.event,
        value: order.value,
        currency: order.currency,
        orderId: orderIdOf(order),
        eventTime: new Date(order.time).toISOString(),
      });
    }
    yield page;
  }
}
