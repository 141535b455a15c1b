// Corrections of what a reconciliation found, on both engines: refunds are taken back, values restated, and nothing without the
// site's switch.

import { afterAll, describe, expect, test } from "vitest";
import { auditLine, newSite } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";
import { storeSent } from "../../test/support/sentEvents.ts";
import { ulid } from "../kernel/ids.ts";
import { dayMs } from "../kernel/time.ts";
import { connectPlatform } from "../sites/connect.ts";
import { createDirectory } from "../sites/directory.ts";
import { changeSiteSettings, findSite } from "../sites/manage.ts";
import { listedId, type Order } from "../store/reconciliation/orders.ts";
import type { Run } from "../store/reconciliation/runs.ts";
import { newTally } from "../store/reconciliation/tally.ts";
import { correctRows } from "./correct.ts";
import { stepRun } from "./step.ts";

const now = Date.UTC(2026, 10, 15, 12);
const by = { actor: "test", now, checkAddress: () => null };
const google = {
  customer_id: "123-456-7890",
  access_token: "token",
  conversion_action: "7700000001",
  enhanced_conversions_for_leads: "on",
};

describe.each(["sqlite", "postgres"] as const)("corrections of a reconciliation on %s", async (engine) => {
  const { store, close } = await createNodes(engine);
  const directory = createDirectory(store);
  const context = { store, directory };
  afterAll(close);

  const order = (siteId: string, orderId: string, fields: Partial<Order>): Order => {
    const rest = { orderId, time: now, value: 100, currency: "EUR", emailSha256: null, ...fields };
    return { siteId, id: listedId(rest), status: "paid", listedAt: now, ...rest };
  };

  async function reconcile(siteId: string): Promise<Run> {
    let run: Run = {
      siteId,
      id: ulid(),
      state: "running",
      phase: "orders",
      cursor: "",
      from: now - dayMs,
      to: now + dayMs,
      event: "purchase",
      tolerance: 0,
      tally: newTally(),
      isReadable: true,
      startedBy: "test",
      startedAt: now,
      updatedAt: now,
    };
    await store.reconciliations.start(run, auditLine(siteId));
    while (run.state === "running") run = (await stepRun({ store, timeZone: "UTC", limit: 10, now }, run)) ?? run;
    return run;
  }

  test("refunded orders are taken back and other values restated, and nothing without the switch", async () => {
    const siteId = await newSite(store);
    await directory.refresh();
    const site = () => findSite(context, siteId);
    const { connection } = await connectPlatform(context, site(), "google_ads", { settings: google }, by);
    const purchase = (orderId: string) =>
      storeSent(store, connection, '{"requestId":"t-1"}', now, { name: "purchase", value: 100, currency: "EUR", orderId });
    const ids = new Map<string, string>();
    for (const orderId of ["1001", "1002", "1003", "1004", "1005"]) ids.set((await purchase(orderId)).event.id, orderId);
    const list = [
      order(siteId, "#1001", { status: "refunded" }),
      order(siteId, "1002", { value: 130 }),
      order(siteId, "1003", { value: null }),
      order(siteId, "1004", { status: "cancelled" }),
      order(siteId, "1005", { value: 90, currency: "USD" }),
    ];
    await store.orders.write(list);
    const run = await reconcile(siteId);
    expect(run.tally).toMatchObject({
      classes: { status_changed: 2, value_differs: 1, matched: 1, currency_differs: 1 },
    });
    const correct = (rowClass: "status_changed" | "value_differs") =>
      correctRows(store, site(), { run, class: rowClass, after: "" }, by);
    const written = async () =>
      Object.fromEntries(
        (await store.corrections.listByEvents(siteId, [...ids.keys()])).map((row) => [
          ids.get(row.eventId),
          [row.state, row.value],
        ]),
      );

    await expect(correct("status_changed")).rejects.toThrow("Corrections are off");
    expect(await written()).toEqual({});
    await changeSiteSettings(context, site(), { corrections: "on" }, by);
    await directory.refresh();

    // The list says now that this one was paid after all.
    await store.orders.write([order(siteId, "1004", { listedAt: now + 1 })]);
    expect(await correct("status_changed")).toEqual({ orders: 1, left: 1, corrections: { waiting: 1 }, next: null });
    expect(await correct("value_differs")).toEqual({ orders: 1, left: 0, corrections: { waiting: 1 }, next: null });
    expect(await written()).toEqual({ "1001": ["waiting", 0], "1002": ["waiting", 130] });
  });
});
