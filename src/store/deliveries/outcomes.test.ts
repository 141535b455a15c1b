// First attempts without delivery rows: settling, fencing, taking over, replaying and erasing them, on both engines.

import { afterAll, describe, expect, test } from "vitest";
import { byNode, newAttempt, newEvent, newSite, queuedDelivery, settlementOf } from "../../../test/support/events.ts";
import { createNodes, sql } from "../../../test/support/nodes.ts";
import { sha256 } from "../../../test/support/sha256.ts";
import type { NewEvent } from "../events/events.ts";
import { ownedByAny } from "./ownership.ts";
import { toPlan } from "./plan.ts";
import type { DeliveryState } from "../../kernel/event.ts";
import { idAt } from "../../kernel/ids.ts";
import type { FirstSettlement } from "./outcomes.ts";

const now = Date.UTC(2026, 10, 15);
const emailSha256 = sha256("a".repeat(64));

describe.each(["sqlite", "postgres"] as const)("first attempts on %s", async (engine) => {
  const { store, other, location, close } = await createNodes(engine);
  afterAll(close);

  /** An event that `node-a` attempts at once for c1 and c2; c3 is skipped and c4 parked. */
  async function accepted(siteId: string): Promise<NewEvent> {
    const item = newEvent(
      siteId,
      { receivedAt: now, person: { emailSha256 } },
      {
        ownership: byNode(),
        deliveries: [
          queuedDelivery("c1"),
          queuedDelivery("c2", "webhook"),
          { connectionId: "c3", platform: "meta", state: "skipped", reason: "event not selected" },
          { connectionId: "c4", platform: "x", state: "parked", reason: "paused" },
        ],
      },
    );
    await store.events.accept(item);
    return item;
  }

  const result = (item: NewEvent, position: number, state: DeliveryState): FirstSettlement => ({
    ...settlementOf(item, state, {
      connectionId: `c${position + 1}`,
      reason: state === "sent" ? null : "because",
      dueAt: state === "queued" ? now + 60_000 : 0,
      at: now + 20,
      attempt: newAttempt(state, { response: '{"ok":true}' }),
    }),
    position,
    platform: position === 0 ? "sandbox" : "webhook",
    settings: "abcdef",
  });

  const settle = (item: NewEvent, number: number, ...settlements: FirstSettlement[]) =>
    store.deliveries.settleFirst({ siteId: item.event.siteId, eventId: item.event.id, number, settlements });

  const statesOf = async (item: NewEvent, on = store) =>
    Object.fromEntries(
      (await on.deliveries.listByEvent(item.event.siteId, item.event.id)).map((one) => [
        one.connectionId,
        [one.state, one.attempts, one.reason],
      ]),
    );

  const rowsOf = async (table: string, item: NewEvent) => {
    const found = await sql(location, `SELECT COUNT(*) AS n FROM ${table} WHERE event_id = '${item.event.id}'`);
    return Number(found[0]?.n);
  };

  const others = { c3: ["skipped", 0, "event not selected"], c4: ["parked", 0, "paused"] };

  test("an event whose first attempts are open has a row for its parked delivery only", async () => {
    const item = await accepted(await newSite(store));
    expect(await statesOf(item)).toEqual({ c1: ["queued", 0, null], c2: ["queued", 0, null], ...others });
    expect([await rowsOf("deliveries", item), await rowsOf("outcomes", item)]).toEqual([1, 0]);
    const { siteId } = item.event;
    expect(await store.deliveries.findDue(now + 1e12)).not.toContainEqual({ siteId, connectionId: "c1" });
  });

  test("what was sent at once is one row for the event, with its answers", async () => {
    const item = await accepted(await newSite(store));
    expect(await settle(item, 0, result(item, 0, "sent"), result(item, 1, "sent"))).toBe(true);
    expect(await statesOf(item, other)).toEqual({ c1: ["sent", 1, null], c2: ["sent", 1, null], ...others });
    expect([await rowsOf("deliveries", item), await rowsOf("outcomes", item), await rowsOf("attempts", item)]).toEqual([1, 1, 0]);
    const attempts = await store.deliveries.listAttempts(item.event.siteId, item.event.id);
    expect(attempts).toMatchObject([
      { connectionId: "c1", number: 1, request: null, response: '{"ok":true}', settings: "abcdef" },
      { connectionId: "c2", number: 1, request: null, response: '{"ok":true}', settings: "abcdef" },
    ]);
  });

  test.each(["queued", "rejected", "parked", "expired"] as const)(
    "a first attempt that ends as %s gets a delivery row and an attempt row",
    async (state) => {
      const item = await accepted(await newSite(store));
      await settle(item, 0, result(item, 0, "sent"), result(item, 1, state));
      expect(await statesOf(item)).toEqual({ c1: ["sent", 1, null], c2: [state, 1, "because"], ...others });
      expect([await rowsOf("deliveries", item), await rowsOf("attempts", item)]).toEqual([2, 1]);
      const attempts = await store.deliveries.listAttempts(item.event.siteId, item.event.id);
      expect(attempts.map((one) => [one.connectionId, one.number, one.request])).toEqual([
        ["c1", 1, null],
        ["c2", 1, newAttempt(state).request],
      ]);
    },
  );

  test("a straggler is a second row, and a settlement that is repeated changes nothing", async () => {
    const item = await accepted(await newSite(store));
    const [one, two] = [result(item, 1, "sent"), result(item, 0, "rejected")];
    expect(await settle(item, 0, one)).toBe(true);
    expect(await settle(item, 0, one)).toBe(true);
    expect(await settle(item, 1, two)).toBe(true);
    expect(await settle(item, 1, two)).toBe(true);
    expect(await statesOf(item)).toEqual({
      c1: ["rejected", 1, "because"],
      c2: ["sent", 1, null],
      ...others,
    });
    expect([await rowsOf("deliveries", item), await rowsOf("outcomes", item), await rowsOf("attempts", item)]).toEqual([2, 2, 1]);
  });

  test("an event that was taken over is queued once, and its owner writes nothing any more", async () => {
    const siteId = await newSite(store);
    const item = await accepted(siteId);
    await settle(item, 0, result(item, 0, "sent"));
    const node = { owner: "node-a", lowWater: idAt(now) };
    const queued = await Promise.all([
      store.nodes.takeOver(siteId, node, now + 60_000),
      other.nodes.takeOver(siteId, node, now + 60_000),
    ]);
    expect(queued.toSorted()).toEqual([0, 1]);
    expect(await settle(item, 1, result(item, 1, "rejected"))).toBe(false);
    expect(await statesOf(item)).toEqual({ c1: ["sent", 1, null], c2: ["queued", 0, null], ...others });
    expect(await rowsOf("attempts", item)).toBe(0);
    const lease = { by: "row", owner: "node-b", at: now + 60_000, dueAt: now + 90_000 } as const;
    expect(await store.deliveries.claimDue({ siteId, connectionId: "c2" }, lease, 10)).toHaveLength(1);
    expect(await store.nodes.takeOver(siteId, node, now + 60_000)).toBe(0);
  });

  test.each([
    ["none of its rows", [], [0, 1]],
    ["its second row alone", [1], [0]],
  ])("after a takeover on a server that has %s, the owner of an event writes no other", async (_has, kept, lost) => {
    const siteId = await newSite(store);
    const item = await accepted(siteId);
    const write = (number: number) => settle(item, number, result(item, number, "sent"));
    for (const number of kept) expect(await write(number)).toBe(true);
    const node = { owner: "node-a", lowWater: idAt(now) };
    const queued = await Promise.all([
      store.nodes.takeOver(siteId, node, now + 60_000),
      other.nodes.takeOver(siteId, node, now + 60_000),
    ]);
    expect(queued.toSorted()).toEqual([0, lost.length]);
    for (const number of lost) expect(await write(number)).toBe(false);
    const { c1, c2 } = await statesOf(item);
    expect([c1?.[0], c2?.[0]]).toEqual(["queued", kept.length ? "sent" : "queued"]);
    expect(await store.nodes.takeOver(siteId, node, now + 60_000)).toBe(0);
  });

  test("a takeover takes the events of the dead node at or above its mark, and no others", async () => {
    const siteId = await newSite(store);
    const items: NewEvent[] = [];
    for (let i = 0; i < 150; i++) items.push(await accepted(siteId));
    const [below, mark] = [items[9], items[10]];
    const foreign = newEvent(siteId, { receivedAt: now }, { ownership: byNode("node-z") });
    await store.events.accept(foreign);
    const node = { owner: "node-a", lowWater: mark?.event.id ?? "" };
    expect(await store.nodes.takeOver(siteId, node, now)).toBe(280);
    expect((await statesOf(below as NewEvent)).c1).toEqual(["queued", 0, null]);
    expect(await rowsOf("outcomes", below as NewEvent)).toBe(0);
    expect(await rowsOf("outcomes", foreign)).toBe(0);
  });

  test("a takeover leaves alone what the node accepted after it came back, and takes it when the node dies again", async () => {
    const siteId = await newSite(store);
    const owner = `returning-${engine}`;
    const findDead = async () => {
      const found = (await store.nodes.listExpired()).find(({ node }) => node.owner === owner);
      return found?.node ?? expect.unreachable("its lease has ended");
    };
    await store.nodes.renew(owner, idAt(now), -5000);
    const dead = await findDead();
    await store.nodes.renew(owner, idAt(now), 60_000);
    const item = newEvent(siteId, { receivedAt: now }, { ownership: byNode(owner), deliveries: [queuedDelivery("c1")] });
    await store.events.accept(item);
    expect(await other.nodes.takeOver(siteId, dead, now)).toBe(0);
    expect(await settle(item, 0, { ...result(item, 0, "sent"), owner })).toBe(true);
    const next = newEvent(siteId, { receivedAt: now }, { ownership: byNode(owner), deliveries: [queuedDelivery("c1")] });
    await store.events.accept(next);
    await store.nodes.renew(owner, idAt(now), -1000);
    expect(await other.nodes.takeOver(siteId, await findDead(), now)).toBe(1);
    await store.nodes.remove(owner);
  });

  test("leases of nodes end by one clock, and a renewal moves the mark", async () => {
    const owner = `lease-${engine}`;
    const listed = async () => (await store.nodes.listExpired()).filter(({ node }) => node.owner === owner);
    await store.nodes.renew(owner, "mark-1", 60_000);
    expect(await listed()).toEqual([]);
    // As if the database's clock had been set back by an hour since.
    await store.nodes.renew(owner, "mark-1", 3_600_000);
    expect((await listed()).map(({ endedMs }) => endedMs < 0)).toEqual([true]);
    await store.nodes.renew(owner, "mark-2", -5000);
    const found = (await other.nodes.listExpired()).find(({ node }) => node.owner === owner);
    expect(found?.node).toMatchObject({ owner, lowWater: "mark-2" });
    expect(found?.endedMs).toBeGreaterThanOrEqual(5000);
    expect(await store.nodes.listOthers("else")).toContainEqual({ owner, lowWater: "mark-2" });
    await store.nodes.remove(owner);
    expect((await store.nodes.listOthers("else")).map((one) => one.owner)).not.toContain(owner);
  });

  test("what was sent at once or skipped by its plan can be replayed, and its attempts count", async () => {
    const siteId = await newSite(store);
    const item = await accepted(siteId);
    await settle(item, 0, result(item, 0, "sent"), result(item, 1, "sent"));
    const keys = ["c1", "c2", "c3"].map((connectionId) => ({ eventId: item.event.id, connectionId }));
    expect(await store.syncLog.requeue(siteId, keys, ["skipped"], now + 1)).toBe(1);
    expect(await store.syncLog.requeue(siteId, keys, ["sent"], now + 2)).toBe(2);
    expect(await statesOf(item)).toEqual({
      c1: ["queued", 1, "replayed"],
      c2: ["queued", 1, "replayed"],
      c3: ["queued", 0, "replayed"],
      c4: ["parked", 0, "paused"],
    });
  });

  test("an erasure ends open first attempts, and nothing of the person is written after it", async () => {
    const siteId = await newSite(store);
    const [open, sent] = [await accepted(siteId), await accepted(siteId)];
    await settle(sent, 0, result(sent, 0, "sent"), result(sent, 1, "sent"));
    expect(await store.erase.events(siteId, emailSha256, now + 5)).toBe(2);
    expect(await settle(open, 0, result(open, 0, "rejected"), result(open, 1, "sent"))).toBe(false);
    const erased = ["skipped", 0, "person erased"];
    expect(await statesOf(open)).toEqual({
      ...others,
      c1: erased,
      c2: erased,
      c4: ["skipped", 0, "person erased"],
    });
    expect((await statesOf(sent)).c1).toEqual(["sent", 1, null]);
    const attempts = await store.deliveries.listAttempts(siteId, sent.event.id);
    expect(attempts.map(({ response }) => response)).toEqual([null, null]);
    expect(await store.events.get(siteId, sent.event.id)).toMatchObject({ person: {}, isErased: true });
    expect(await rowsOf("attempts", open)).toBe(0);
  });

  test("answers are purged in order, once, and the attempts stay", async () => {
    const siteId = await newSite(store);
    const items: NewEvent[] = [];
    for (let i = 0; i < 5; i++) items.push(await accepted(siteId));
    for (const item of items) {
      await settle(item, 0, result(item, 0, "sent"));
      await settle(item, 1, result(item, 1, "sent"));
    }
    expect(await store.syncLog.purge(siteId, now, 3)).toBe(0);
    const counts: number[] = [];
    for (let read = -1; read !== 0; counts.push(read)) read = await store.syncLog.purge(siteId, now + 1000, 3);
    expect(counts.at(-1)).toBe(0);
    for (const { event } of items) {
      const attempts = await store.deliveries.listAttempts(siteId, event.id);
      expect(attempts.map(({ httpStatus, response }) => [httpStatus, response])).toEqual([
        [200, null],
        [200, null],
      ]);
    }
  });

  test("a plan without an owner has rows for everything that is to be sent", async () => {
    const deliveries = [queuedDelivery("c1"), { ...queuedDelivery("c2"), state: "skipped", reason: "why" } as const];
    expect(toPlan(deliveries, ownedByAny(now)).map(({ by, reason }) => [by, reason])).toEqual([
      ["row", null],
      ["skipped", "why"],
    ]);
  });
});
