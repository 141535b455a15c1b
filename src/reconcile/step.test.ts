// Reconciliations of stored orders with stored events, on both engines.

import { afterAll, describe, expect, test } from "vitest";
import { newEvent, newSite, auditLine, queuedDelivery, settlementOf } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";
import { sha256 } from "../../test/support/sha256.ts";
import type { Event } from "../kernel/event.ts";
import { ulid } from "../kernel/ids.ts";
import { dayMs, hourMs } from "../kernel/time.ts";
import { listedId, type Order } from "../store/reconciliation/orders.ts";
import type { Run } from "../store/reconciliation/runs.ts";
import { stepRun } from "./step.ts";
import { addRow, newTally, type Tally } from "../store/reconciliation/tally.ts";

const from = Date.UTC(2026, 10, 1);
const to = from + 7 * dayMs;
const at = from + dayMs + 10 * hourMs;
const now = to + 2 * dayMs;
const ana = sha256("a".repeat(64));

describe.each(["sqlite", "postgres"] as const)("a reconciliation on %s", async (engine) => {
  const { store, close } = await createNodes(engine);
  afterAll(close);

  const order = (siteId: string, orderId: string | null, fields: Partial<Order> = {}): Order => {
    const rest = { orderId, time: at, value: 12.5, currency: "EUR", emailSha256: null, ...fields };
    return { siteId, id: listedId(rest), status: "paid", listedAt: now, ...rest };
  };
  const receive = async (siteId: string, orderId: string | null, fields: Partial<Event> = {}) => {
    const item = newEvent(siteId, { orderId, receivedAt: at, ...fields });
    await store.events.accept(item);
    return item;
  };

  async function reconcile(siteId: string, limit = 2, onStep = (_run: Run) => {}): Promise<Run> {
    let run: Run = {
      siteId,
      id: ulid(),
      state: "running",
      phase: "orders",
      cursor: "",
      from,
      to,
      event: "purchase",
      tolerance: 0,
      tally: newTally(),
      isReadable: true,
      startedBy: "test",
      startedAt: now,
      updatedAt: now,
    };
    await store.reconciliations.start(run, auditLine(siteId));
    while (run.state === "running") {
      const next = await stepRun({ store, timeZone: "Europe/Berlin", limit, now }, run);
      if (!next) throw new Error("the step was lost");
      run = next;
      onStep(run);
    }
    return run;
  }
  const rowsOf = async (run: Run) => {
    const rows = await store.reconciliations.listRows(run, null, "", 1000);
    return Object.fromEntries(rows.map((row) => [row.id, `${row.class} ${row.foundBy ?? "-"}`]));
  };

  test("every order and event of the window gets exactly one class, and the tally is the sum of the rows", async () => {
    const siteId = await newSite(store);
    await store.orders.write([
      order(siteId, "1001"),
      order(siteId, "#1002"),
      order(siteId, "AB-3"),
      order(siteId, "mIxEd"),
      order(siteId, "1004", { value: 20 }),
      order(siteId, "1005", { currency: "USD" }),
      order(siteId, "1006", { status: "refunded" }),
      order(siteId, "1007"),
      order(siteId, "1008", { status: "cancelled" }),
      order(siteId, "1009"),
      order(siteId, "before", { time: from - 1 }),
      order(siteId, "after", { time: to }),
    ]);
    await receive(siteId, "1001");
    await receive(siteId, "1002");
    await receive(siteId, "ab-3");
    await receive(siteId, "MiXeD");
    for (const id of ["1004", "1005", "1006", "1007", "1007", "after"]) await receive(siteId, id);
    const extra = await receive(siteId, "9999");
    await receive(siteId, "8888", { name: "lead" });
    await receive(siteId, "7777", { mode: "test" });

    const run = await reconcile(siteId);
    expect(await rowsOf(run)).toEqual({
      "=1001": "matched exact",
      "=1002": "matched other spelling",
      "=ab-3": "matched other spelling",
      "=mixed": "matched other spelling",
      "=1004": "value_differs exact",
      "=1005": "currency_differs exact",
      "=1006": "status_changed exact",
      "=1007": "duplicate exact",
      "=1008": "not_due -",
      "=1009": "missing_here -",
      [`!${extra.event.id}`]: "extra_here -",
    });
    const sum = newTally();
    for (const row of await store.reconciliations.listRows(run, null, "", 1000)) addRow(sum, row);
    expect(run.tally).toEqual(sum);
    expect(run.tally as Tally).toMatchObject({ orders: 9, received: 8 });
  });

  test.each([1, 10])("every spelling of an order id counts, and is one order, with %i orders in a step", async (limit) => {
    const siteId = await newSite(store);
    await store.orders.write([order(siteId, "#5001"), order(siteId, "Ab-1"), order(siteId, "5002")]);
    const first = await receive(siteId, "5001", { person: { emailSha256: ana } });
    await receive(siteId, "#5001");
    await receive(siteId, " aB-1 ");
    await receive(siteId, "#5002");
    const run = await reconcile(siteId, limit);
    const rows = await store.reconciliations.listRows(run, null, "", 10);
    expect(rows.map(({ orderId, class: c, foundBy, events }) => [orderId, c, foundBy, events])).toEqual([
      ["#5001", "duplicate", "exact", 2],
      ["5002", "matched", "other spelling", 1],
      ["Ab-1", "matched", "other spelling", 1],
    ]);
    expect(rows[0]?.eventId).toBe(first.event.id);
  });

  test("a list without values says nothing about them", async () => {
    const siteId = await newSite(store);
    await store.orders.write([order(siteId, "1", { value: null, currency: "USD" }), order(siteId, "2")]);
    await receive(siteId, "1");
    await receive(siteId, "2", { value: null });
    expect(await rowsOf(await reconcile(siteId))).toEqual({ "=1": "matched exact", "=2": "value_differs exact" });
  });

  test.each([1, 10])("an event that was reported weeks late is found by the day it happened, with %i orders", async (limit) => {
    const siteId = await newSite(store);
    await store.orders.write([order(siteId, "W-1", { emailSha256: ana })]);
    await receive(siteId, null, { person: { emailSha256: ana }, time: at, receivedAt: at + 20 * dayMs });
    const extra = await receive(siteId, null, { time: at, receivedAt: at + 40 * dayMs });
    expect(await rowsOf(await reconcile(siteId, limit))).toEqual({
      "=w-1": "matched weak",
      [`!${extra.event.id}`]: "extra_here -",
    });
  });

  test.each([1, 10])(
    "an order without an agreeing id is matched weakly by person, local day and value, each event once, with %i orders in a step",
    async (limit) => {
      const siteId = await newSite(store);
      // 23:30 and 00:30 in Berlin are two days, though one in UTC.
      const late = Date.UTC(2026, 10, 2, 22, 30);
      const orders = [
        order(siteId, "shop-1", { emailSha256: ana, time: late }),
        order(siteId, "shop-2", { emailSha256: ana, time: late }),
        order(siteId, null, { emailSha256: ana, time: late + hourMs }),
      ];
      await store.orders.write(orders);
      await receive(siteId, null, { person: { emailSha256: ana }, receivedAt: late - hourMs });
      const run = await reconcile(siteId, limit);
      const rows = await rowsOf(run);
      expect(rows["=shop-1"]).toBe("matched weak");
      expect(rows["=shop-2"]).toBe("missing_here -");
      expect(rows[orders[2]?.id ?? ""]).toBe("missing_here -");
      expect(run.tally).toMatchObject({ classes: { matched: 1, missing_here: 2 } });
    },
  );

  test("an order counts at a connection by the state of its delivery", async () => {
    const siteId = await newSite(store);
    await store.orders.write(["1", "2", "3"].map((id) => order(siteId, id)));
    const sent = await receive(siteId, "1");
    await store.deliveries.settle(settlementOf(sent, "sent"));
    await store.events.accept(
      newEvent(
        siteId,
        { orderId: "2", receivedAt: at },
        { deliveries: [{ ...queuedDelivery(), state: "skipped", reason: "opted out" }] },
      ),
    );
    const run = await reconcile(siteId);
    expect((run.tally as Tally).connections).toEqual({
      c1: {
        platform: "sandbox",
        attributed: 0,
        states: { sent: { "": 1 }, skipped: { "opted out": 1 } },
        values: { EUR: { accepted: 12.5, due: 12.5 } },
        confirmations: { none: { "": 1 } },
      },
    });
  });

  test("a step that another process has made changes nothing; it lets others in as it is told", async () => {
    const siteId = await newSite(store);
    await store.orders.write(["1", "2", "3"].map((id) => order(siteId, id)));
    const steps: Run[] = [];
    const run = await reconcile(siteId, 1, (one) => void steps.push(one));
    let waits = 0;
    const letOthersIn = async () => void (waits += 1);
    const options = { store, timeZone: "UTC", limit: 1, now, letOthersIn };
    expect(await stepRun(options, steps[0] ?? run)).toBeNull();
    expect(waits).toBe(3);
    expect(await store.reconciliations.find(run)).toEqual(run);
  });

  test("a later list replaces an order, an earlier one does not", async () => {
    const siteId = await newSite(store);
    await store.orders.write([order(siteId, "1")]);
    await store.orders.write([order(siteId, "1", { status: "refunded", listedAt: now + 1 })]);
    await store.orders.write([order(siteId, "1", { listedAt: now })]);
    expect((await store.orders.find(siteId, ["=1"])).get("=1")?.status).toBe("refunded");
  });
});
