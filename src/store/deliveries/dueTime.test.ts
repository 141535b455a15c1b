// What a person makes due at once, at a time that a clock has shown which was an hour ahead.

import { afterAll, describe, expect, test } from "vitest";
import { newAttempt, newEvent, newSite, queuedDelivery } from "../../../test/support/events.ts";
import { openNodes, sql } from "../../../test/support/nodes.ts";
import { hourMs } from "../../kernel/time.ts";
import type { NewEvent } from "../events/events.ts";

describe.each(["sqlite", "postgres"] as const)("after a clock was an hour ahead, on %s", async (engine) => {
  const { store, location, close } = await openNodes(engine);
  afterAll(close);
  const now = () => Date.now() + hourMs;

  async function accepted(siteId: string, changes: Partial<NewEvent>): Promise<NewEvent> {
    const item = newEvent(siteId, { receivedAt: now() }, changes);
    await store.events.accept(item);
    return item;
  }

  /** How many of the event's deliveries are queued and due. */
  async function countDue({ event }: NewEvent): Promise<number> {
    const rows = await sql(
      location,
      `SELECT due_at FROM deliveries WHERE event_id = '${event.id}' AND state = 'queued'`,
    );
    return rows.filter((row) => Number(row.due_at) < Date.now() + hourMs / 2).length;
  }

  test("a replayed delivery is due at once", async () => {
    const siteId = await newSite(store);
    const item = await accepted(siteId, { deliveries: [queuedDelivery("c1")], leaseUntil: now() });
    const key = { siteId, eventId: item.event.id, connectionId: "c1" };
    const outcome = {
      owner: item.owner,
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
    const isReleased = await store.events.release({
      ...release,
      orderEventId: null,
      claimUntil: now(),
      now: now(),
    });
    expect([isReleased, await countDue(item)]).toEqual([true, 1]);
  });
});
