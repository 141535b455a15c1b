// Leases, settlements, parked and ended deliveries, on both engines.

import { afterAll, describe, expect, test } from "vitest";
import type { Sha256 } from "../../kernel/event.ts";
import { newAttempt, newEvent, newSite, queuedDelivery, settlementOf } from "../../../test/support/events.ts";
import { createNodes } from "../../../test/support/nodes.ts";
import { threadShare } from "../../kernel/concurrency.ts";
import { connectDatabase } from "../connect.ts";
import type { Database } from "../engine/database.ts";
import type { NewEvent } from "../events/events.ts";
import { deliveryStore } from "./deliveries.ts";
import { queuedDeliveryStore } from "./queued.ts";

const now = Date.UTC(2026, 10, 15);
const hour = 3_600_000;

describe.each(["sqlite", "postgres"] as const)("deliveries on %s", async (engine) => {
  const { store, other, location, close } = await createNodes(engine);
  afterAll(close);

  async function accepted(siteId: string, count: number): Promise<NewEvent[]> {
    const items = Array.from({ length: count }, () => newEvent(siteId, { receivedAt: now }));
    await Promise.all(items.map((item) => store.events.accept(item)));
    return items;
  }
  const lease = (at: number, owner: string) => ({ by: "row", owner, at, dueAt: at + 30_000 }) as const;

  test("a leased delivery is not due for other nodes before its lease ends", async () => {
    const siteId = await newSite(store);
    await accepted(siteId, 3);
    const due = { siteId, connectionId: "c1" };
    expect(await store.deliveries.claimDue(due, lease(now + 29_999, "node-b"), 100)).toEqual([]);
    expect(await store.deliveries.findDue(now + 29_999)).not.toContainEqual(due);
    expect(await store.deliveries.findDue(now + 30_000)).toContainEqual(due);
    expect(await store.deliveries.claimDue(due, lease(now + 30_000, "node-b"), 100)).toHaveLength(3);
  });

  test("eight concurrent claims get every due delivery exactly once, never more than their limit", async () => {
    const siteId = await newSite(store);
    await accepted(siteId, 200);
    const claimed: string[] = [];
    const largest: number[] = [];
    await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        const from = i % 2 ? store : other;
        for (let idle = 0; idle < 3;) {
          const got = await from.deliveries.claimDue({ siteId, connectionId: "c1" }, lease(now + hour, `t${i}`), 20);
          largest.push(got.length);
          claimed.push(...got.map((one) => one.eventId));
          idle = got.length ? 0 : idle + 1;
        }
      }),
    );
    expect(claimed).toHaveLength(200);
    expect(new Set(claimed).size).toBe(200);
    expect(Math.max(...largest)).toBeLessThanOrEqual(20);
  });

  test.runIf(engine === "sqlite")("of events with many deliveries few are read at a time, and all are found", async () => {
    const siteId = await newSite(store);
    const deliveries = Array.from({ length: 100 }, (_, i) => ({ ...queuedDelivery(`c${i}`), state: "parked" as const }));
    const items = Array.from({ length: 60 }, () => newEvent(siteId, { receivedAt: now }, { deliveries }));
    await Promise.all(items.map((item) => store.events.accept(item)));
    const db = connectDatabase(location);
    const read: number[] = [];
    const counting: Database = {
      ...db,
      async all(sql, params) {
        const rows = await db.all(sql, params);
        if (sql.includes("FROM deliveries")) read.push(rows.length);
        return rows;
      },
    };
    const ids = items.map(({ event }) => event.id);
    const found = await deliveryStore(counting).listByEvents(siteId, ids);
    await db.close();
    expect(ids.map((id) => found.get(id)?.length)).toEqual(ids.map(() => 100));
    // The first step does not know yet how many each has.
    expect(read[0]).toBeLessThanOrEqual(1600);
    expect(Math.max(...read.slice(1))).toBeLessThanOrEqual(100);
  });

  test.runIf(engine === "sqlite")(
    "what waits for many connections of a site is released in one short transaction after another",
    async () => {
      const siteId = await newSite(store);
      const connections = Array.from({ length: 5 }, (_, i) => `c${i}`);
      const parked = connections.map((connectionId) => ({ ...queuedDelivery(connectionId), state: "parked" }) as const);
      const accept = () => store.events.accept(newEvent(siteId, { receivedAt: now }, { deliveries: parked }));
      await Promise.all(Array.from({ length: 350 }, accept));
      const db = connectDatabase(location);
      let [writes, most, done] = [0, 0, 0];
      const counting: Database = {
        ...db,
        async write(work, options) {
          // Others are active.
          void threadShare.answer("another site", async () => {});
          writes += 1;
          // The first step of each is not long work.
          if (done >= connections.length) most = Math.max(most, writes);
          const result = await db.write(work, options);
          writes -= 1;
          done += 1;
          return result;
        },
      };
      const queued = queuedDeliveryStore(counting);
      const released = await Promise.all(connections.map((connectionId) => queued.releaseParked(siteId, connectionId, now)));
      await db.close();
      expect(released).toEqual(connections.map(() => 350));
      expect(most).toBe(1);
    },
  );

  test("only the owner of the lease settles a delivery", async () => {
    const siteId = await newSite(store);
    const [item] = (await accepted(siteId, 1)) as [NewEvent];
    await store.deliveries.claimDue({ siteId, connectionId: "c1" }, lease(now + hour, "node-b"), 100);
    await store.deliveries.settle(settlementOf(item, "sent"));
    expect((await store.deliveries.listByEvent(siteId, item.event.id))[0]).toMatchObject({
      state: "queued",
      owner: "node-b",
    });
    await store.deliveries.settle(settlementOf(item, "sent", { owner: "node-b" }));
    expect((await store.deliveries.listByEvent(siteId, item.event.id))[0]).toMatchObject({
      state: "sent",
      attempts: 1,
    });
  });

  test("a settlement by another than the owner writes nothing, not even the attempt", async () => {
    const siteId = await newSite(store);
    const [item] = (await accepted(siteId, 1)) as [NewEvent];
    const emailSha256 = item.event.person.emailSha256 as Sha256;
    await store.erase.events(siteId, emailSha256, now);
    const attempt = newAttempt("sent", { request: emailSha256 });
    await store.deliveries.settle(settlementOf(item, "sent", { attempt }));
    expect(await store.deliveries.listAttempts(siteId, item.event.id)).toEqual([]);
  });

  test("settling many at once writes each outcome and attempt to its own delivery", async () => {
    const siteId = await newSite(store);
    const items = await accepted(siteId, 130);
    await Promise.all(
      items.map((item, i) =>
        store.deliveries.settle(
          settlementOf(item, i % 2 ? "sent" : "queued", {
            reason: `r${i}`,
            dueAt: i % 2 ? 0 : now + i,
            attempt: newAttempt(i % 2 ? "sent" : "queued", { durationMs: i, reason: `r${i}` }),
          }),
        ),
      ),
    );
    for (const [i, item] of items.entries()) {
      const [delivery] = await store.deliveries.listByEvent(siteId, item.event.id);
      expect(delivery).toMatchObject({
        state: i % 2 ? "sent" : "queued",
        reason: `r${i}`,
        dueAt: i % 2 ? 0 : now + i,
      });
      const attempts = await store.deliveries.listAttempts(siteId, item.event.id);
      expect(attempts).toMatchObject([{ number: 1, durationMs: i, httpStatus: 200, reason: `r${i}` }]);
    }
  });

  test("parked deliveries wait until they are released, then are due at once", async () => {
    const siteId = await newSite(store);
    const [item] = (await accepted(siteId, 1)) as [NewEvent];
    await store.deliveries.settle(settlementOf(item, "parked", { reason: "paused" }));
    const c1 = { siteId, connectionId: "c1" };
    expect(await store.deliveries.findDue(now + 10 * hour)).not.toContainEqual(c1);
    expect(await store.deliveries.findParked()).toContainEqual(c1);
    expect(await store.deliveries.releaseParked(siteId, "c1", now)).toBe(1);
    expect(await store.deliveries.findParked()).not.toContainEqual(c1);
    expect(await store.deliveries.claimDue({ siteId, connectionId: "c1" }, lease(now, "node-b"), 100)).toHaveLength(1);
  });

  test("ending the deliveries of a removed connection leaves sent and leased ones alone", async () => {
    const siteId = await newSite(store);
    const [sent, queued, leased] = (await accepted(siteId, 3)) as [NewEvent, NewEvent, NewEvent];
    await store.deliveries.settle(settlementOf(sent, "sent"));
    await store.deliveries.settle(settlementOf(queued, "queued", { dueAt: now + hour }));
    await store.deliveries.endPending({ siteId, connectionId: "c1" }, { state: "skipped", reason: "disconnected" }, now);
    // The platform may have it already: its settlement decides, or the end of its lease.
    expect((await store.deliveries.listByEvent(siteId, leased.event.id))[0]?.state).toBe("queued");
    expect((await store.deliveries.listByEvent(siteId, sent.event.id))[0]?.state).toBe("sent");
    expect((await store.deliveries.listByEvent(siteId, queued.event.id))[0]).toMatchObject({
      state: "skipped",
      reason: "disconnected",
    });
  });

  test("releasing the leases of a crashed node makes its deliveries due at once", async () => {
    const siteId = await newSite(store);
    await accepted(siteId, 2);
    await store.deliveries.releaseLeases(now);
    expect(await store.deliveries.claimDue({ siteId, connectionId: "c1" }, lease(now, "node-b"), 100)).toHaveLength(2);
  });
});
