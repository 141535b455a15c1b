// What a person makes due at once, or ends, at a time that a clock has shown which was an hour ahead.

import { afterAll, describe, expect, test } from "vitest";
import { auditLine, newAttempt, newEvent, newSite, queuedDelivery } from "../../../test/support/events.ts";
import { createNodes, sql } from "../../../test/support/nodes.ts";
import { idAt } from "../../kernel/ids.ts";
import { hourMs, minuteMs } from "../../kernel/time.ts";
import type { NewEvent } from "../events/events.ts";

describe.each(["sqlite", "postgres"] as const)("after a clock was an hour ahead, on %s", async (engine) => {
  const { store, location, close } = await createNodes(engine);
  afterAll(close);
  const now = () => Date.now() + hourMs;

  const leasedUntil = (dueAt: number) => ({ by: "row", owner: "node-a", at: now(), dueAt }) as const;

  async function accepted(siteId: string, changes: Partial<NewEvent>): Promise<NewEvent> {
    const item = newEvent(siteId, { receivedAt: now() }, changes);
    await store.events.accept(item);
    return item;
  }

  /** How many of the event's deliveries are queued and due. */
  async function countDue({ event }: NewEvent): Promise<number> {
    const rows = await sql(location, `SELECT due_at FROM deliveries WHERE event_id = '${event.id}' AND state = 'queued'`);
    return rows.filter((row) => Number(row.due_at) < Date.now() + hourMs / 2).length;
  }

  test("a replayed delivery is due at once", async () => {
    const siteId = await newSite(store);
    const item = await accepted(siteId, { deliveries: [queuedDelivery("c1")], ownership: leasedUntil(now()) });
    const key = { siteId, eventId: item.event.id, connectionId: "c1" };
    const outcome = {
      owner: item.ownership.owner,
      state: "rejected",
      reason: "because",
      dueAt: 0,
      attempts: 1,
    } as const;
    await store.deliveries.settle({ ...key, ...outcome, at: now(), attempt: newAttempt("rejected") });
    expect(await store.syncLog.requeue(siteId, [key], ["rejected"], now())).toBe(1);
    expect(await countDue(item)).toBe(1);
  });

  test("the parked deliveries of a connection that is resumed are due at once", async () => {
    const siteId = await newSite(store);
    const parked = { connectionId: "c1", platform: "sandbox", state: "parked", reason: "paused" } as const;
    const item = await accepted(siteId, { deliveries: [parked] });
    expect(await store.deliveries.releaseParked(siteId, "c1", now())).toBe(1);
    expect(await countDue(item)).toBe(1);
  });

  test("the deliveries of an event that is released are due at once", async () => {
    const siteId = await newSite(store);
    const item = await accepted(siteId, {
      filterReasons: [{ code: "only bot visits", detail: null }],
      deliveries: [],
    });
    const { attribution } = item;
    const release = { siteId, eventId: item.event.id, attribution, deliveries: [queuedDelivery("c1")] };
    const released = await store.events.release({
      ...release,
      orderEventId: null,
      claimUntil: now(),
      now: now(),
    });
    expect([released?.length, await countDue(item)]).toEqual([1, 1]);
  });

  describe("a delivery that another node is sending", () => {
    /** Another node holds the lease for a minute, by the right clock. */
    async function leased(siteId: string): Promise<NewEvent> {
      return accepted(siteId, { deliveries: [queuedDelivery("c1")], ownership: leasedUntil(Date.now() + minuteMs) });
    }

    const stateOf = async (siteId: string, { event }: NewEvent, connectionId = "c1") => {
      const found = await store.deliveries.listByEvent(siteId, event.id);
      return found.find((one) => one.connectionId === connectionId);
    };

    test("is not cancelled", async () => {
      const siteId = await newSite(store);
      const item = await leased(siteId);
      const key = { eventId: item.event.id, connectionId: "c1" };
      expect(await store.syncLog.cancel(siteId, [key], now())).toBe(0);
      expect(await stateOf(siteId, item)).toMatchObject({ state: "queued", owner: item.ownership.owner });
    });

    test("does not end with its connection", async () => {
      const siteId = await newSite(store);
      const item = await leased(siteId);
      const outcome = { state: "skipped", reason: "disconnected" } as const;
      const connection = { siteId, connectionId: "c1" };
      expect(await store.deliveries.endPending(connection, outcome, now())).toBe(0);
      expect(await stateOf(siteId, item)).toMatchObject({ state: "queued", owner: item.ownership.owner });
    });

    test("does not end with the backfill that queued it", async () => {
      const siteId = await newSite(store);
      const item = await accepted(siteId, { deliveries: [] });
      const connection = { siteId, connectionId: "c2" };
      const startedAt = Date.now();
      const wanted = { days: 1, perMinute: 1, fromId: "", toId: idAt(now() + hourMs), total: 1 };
      await store.backfills.start({ ...connection, ...wanted, startedBy: "test", startedAt }, auditLine(siteId));
      const row = await store.backfills.find(siteId, "c2");
      if (!row) throw new Error("there is no backfill");
      const tally = { queued: 1, outcomes: {}, leftOut: {} };
      const step = { cursor: item.event.id, chunk: [item.event.id], tally, dueAt: startedAt, at: startedAt };
      expect(await store.backfills.step(row, { ...step, platform: "sandbox" })).toBe(true);
      const lease = { by: "row", owner: "node-b", at: startedAt, dueAt: startedAt + minuteMs } as const;
      expect(await store.deliveries.claimDue(connection, lease, 10)).toHaveLength(1);
      expect(await store.backfills.end(row, "cancelled", "because", null, now())).toBe(true);
      expect(await stateOf(siteId, item, "c2")).toMatchObject({ state: "queued", owner: "node-b" });
    });
  });
});
