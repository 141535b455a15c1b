// The open events of a node: what is gathered, fenced, retried and taken over. The store is real.

import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../../test/support/relay.ts";
import { newEvent, newSite, queuedDelivery } from "../../test/support/events.ts";
import { openNodes, sql } from "../../test/support/nodes.ts";
import type { Store } from "../store/store.ts";
import type { NewEvent } from "../store/events/events.ts";
import type { Settlement } from "../store/deliveries/deliveries.ts";
import { shortId } from "../kernel/ids.ts";
import { openEventsOf } from "./openEvents.ts";

const leaseMs = 30_000;

describe.each(["sqlite", "postgres"] as const)("open events on %s", async (engine) => {
  const { store, other, location, close } = await openNodes(engine);
  afterAll(close);

  async function openNode(given: Partial<Store["deliveries"]> = {}, on = store, sites: string[] = []) {
    const owner = shortId();
    const defects: unknown[] = [];
    const clock = { now: Date.now() };
    const events = await openEventsOf({
      store: { ...on, deliveries: { ...on.deliveries, ...given } },
      sites: () => sites.map((id) => ({ id })),
      owner,
      version: "1",
      leaseMs,
      maxOpenMs: 1000,
      now: () => clock.now,
      onDefect: (error) => defects.push(error),
    });
    onTestFinished(() => events.close());
    return { owner, events, defects, clock };
  }

  /** An event with first attempts to c1, c2 and c3, accepted under the lease of the node. */
  async function accepted(node: Awaited<ReturnType<typeof openNode>>, siteId: string) {
    const id = node.events.newId(Date.now());
    const deliveries = ["c1", "c2", "c3"].map((connection) => queuedDelivery(connection));
    const item = newEvent(
      siteId,
      { id, receivedAt: Date.now() },
      { leaseUntil: null, owner: node.owner, deliveries },
    );
    const openEvent = node.events.open(item.event, item.plan) ?? expect.unreachable("the lease has ended");
    await store.events.accept(item);
    return { item, openEvent };
  }

  const settlement = ({ event }: NewEvent, connectionId: string, state: Settlement["state"]): Settlement => ({
    siteId: event.siteId,
    eventId: event.id,
    connectionId,
    owner: "",
    state,
    reason: state === "sent" ? null : "because",
    dueAt: 0,
    attempts: 1,
    at: Date.now(),
    attempt: {
      number: 1,
      startedAt: Date.now(),
      durationMs: 1,
      state,
      reason: null,
      httpStatus: 200,
      batch: 1,
      request: "POST /",
      response: null,
    },
  });

  const rowsOf = async ({ event }: NewEvent) =>
    (await sql(location, `SELECT number FROM outcomes WHERE event_id = '${event.id}' ORDER BY number`)).map(
      (row) => Number(row.number),
    );
  const statesOf = async ({ event }: NewEvent) =>
    (await store.deliveries.listByEvent(event.siteId, event.id)).map(({ state }) => state);
  const nodeRow = async (owner: string) =>
    (await sql(location, `SELECT low_water FROM nodes WHERE owner = '${owner}'`))[0]?.low_water;

  test("outcomes that arrive together are one row, and a straggler is a second", async () => {
    const node = await openNode();
    const { item, openEvent } = await accepted(node, await newSite(store));
    await Promise.all(["c1", "c2"].map((id) => openEvent.settle(settlement(item, id, "sent"))));
    expect([await rowsOf(item), node.events.size()]).toEqual([[0], 1]);
    await openEvent.settle(settlement(item, "c3", "rejected"));
    expect([await rowsOf(item), node.events.size()]).toEqual([[0, 2], 0]);
    expect(await statesOf(item)).toEqual(["sent", "sent", "rejected"]);
  });

  test("a delivery that is settled twice counts once", async () => {
    const node = await openNode();
    const { item, openEvent } = await accepted(node, await newSite(store));
    const twice = [settlement(item, "c1", "queued"), settlement(item, "c1", "rejected")];
    await Promise.all(twice.map((one) => openEvent.settle(one)));
    await Promise.all(["c2", "c3"].map((id) => openEvent.settle(settlement(item, id, "sent"))));
    expect(await statesOf(item)).toEqual(["queued", "sent", "sent"]);
    expect(node.events.size()).toBe(0);
  });

  test("a settlement that fails is written when the store is back, and the event stays open until then", async () => {
    let isDown = true;
    const settleFirst: Store["deliveries"]["settleFirst"] = (item) =>
      isDown ? Promise.reject(new Error("down")) : store.deliveries.settleFirst(item);
    const node = await openNode({ settleFirst });
    const { item, openEvent } = await accepted(node, await newSite(store));
    await Promise.all(["c1", "c2", "c3"].map((id) => openEvent.settle(settlement(item, id, "sent"))));
    expect([node.events.size(), node.defects.length > 0, await rowsOf(item)]).toEqual([1, true, []]);
    isDown = false;
    await eventually("the outcomes are written", async () => node.events.size() === 0);
    expect(await statesOf(item)).toEqual(["sent", "sent", "sent"]);
  });

  test("the mark of a node never passes an open event, and follows when it is settled", async () => {
    const node = await openNode();
    const siteId = await newSite(store);
    const first = await accepted(node, siteId);
    const second = await accepted(node, siteId);
    for (const id of ["c1", "c2", "c3"]) await second.openEvent.settle(settlement(second.item, id, "sent"));
    node.clock.now += 10_000;
    await eventually("the mark is written", async () => (await nodeRow(node.owner)) === first.item.event.id);
    for (const id of ["c1", "c2", "c3"]) await first.openEvent.settle(settlement(first.item, id, "sent"));
    await eventually(
      "the mark follows",
      async () => String(await nodeRow(node.owner)) >= second.item.event.id,
    );
  });

  test("an event is never below the mark, also when it is opened after events with later ids", async () => {
    const node = await openNode();
    const siteId = await newSite(store);
    const plan = newEvent(siteId, {}, { leaseUntil: null }).plan;
    const [slow, quick, last] = Array.from({ length: 3 }, () => node.events.newId(node.clock.now));
    if (!slow || !quick || !last) expect.unreachable();
    node.events.open({ siteId, id: quick }, plan);
    const first = await nodeRow(node.owner);
    node.clock.now += 2000;
    await eventually("the mark is renewed", async () => (await nodeRow(node.owner)) !== first);
    const opened = node.events.open({ siteId, id: slow }, plan);
    expect(opened).not.toBeNull();
    node.clock.now += 10_000;
    await eventually("the mark has reached the oldest", async () => (await nodeRow(node.owner)) === slow);
    opened?.close();
    await eventually("the mark has passed it", async () => (await nodeRow(node.owner)) === quick);
    expect(node.events.open({ siteId, id: slow }, plan)).toBeNull();
    expect(node.events.open({ siteId, id: last }, plan)).not.toBeNull();
  });

  test("outcomes whose commit was not confirmed are written again as they were, and later ones after them", async () => {
    let isLost = true;
    const settleFirst: Store["deliveries"]["settleFirst"] = async (item) => {
      const isOurs = await store.deliveries.settleFirst(item);
      if (isLost) throw new Error("the answer to the commit was lost");
      return isOurs;
    };
    const node = await openNode({ settleFirst });
    const { item, openEvent } = await accepted(node, await newSite(store));
    await Promise.all(["c1", "c2"].map((id) => openEvent.settle(settlement(item, id, "sent"))));
    expect([await rowsOf(item), node.defects.length > 0]).toEqual([[0], true]);
    await openEvent.settle(settlement(item, "c3", "queued"));
    isLost = false;
    await eventually("everything is written", () => node.events.size() === 0);
    expect([await rowsOf(item), await statesOf(item)]).toEqual([
      [0, 2],
      ["sent", "sent", "queued"],
    ]);
  });

  test("an event whose acceptance is unknown is queued after the lease, if it was accepted", async () => {
    const node = await openNode();
    const { item, openEvent } = await accepted(node, await newSite(store));
    openEvent.abandon();
    const ghost = newEvent(item.event.siteId, { id: node.events.newId(Date.now()) }, { leaseUntil: null });
    node.events.open(ghost.event, ghost.plan)?.abandon();
    expect(await statesOf(item)).toEqual(["queued", "queued", "queued"]);
    node.clock.now += leaseMs;
    await eventually("it is settled", () => node.events.size() === 0);
    const rows = await sql(location, `SELECT owner FROM deliveries WHERE event_id = '${item.event.id}'`);
    expect(rows.map((row) => row.owner)).toEqual(["", "", ""]);
  });

  test("a node that starts, or outlives the lease of another, queues what that one left open", async () => {
    const siteId = await newSite(store);
    const dead = await openNode({}, store, [siteId]);
    const { item, openEvent } = await accepted(dead, siteId);
    await openEvent.settle(settlement(item, "c2", "sent"));
    if (engine === "postgres")
      await sql(location, `UPDATE nodes SET until = 5 WHERE owner = '${dead.owner}'`);
    await openNode({}, other, [siteId]);
    await eventually("it is taken over", async () => (await rowsOf(item)).length === 2);
    expect((await statesOf(item)).toSorted()).toEqual(["queued", "queued", "sent"]);
    await openEvent.settle(settlement(item, "c1", "rejected"));
    await openEvent.settle(settlement(item, "c3", "rejected"));
    expect((await statesOf(item)).toSorted()).toEqual(["queued", "queued", "sent"]);
  });

  test("a node that came back after it was taken over is taken over again when it dies", async () => {
    if (engine !== "postgres") return;
    const siteId = await newSite(store);
    const dead = await openNode({}, store, [siteId]);
    await dead.events.close();
    await openNode({}, other, [siteId]);
    for (let times = 0; times < 2; times++) {
      await store.nodes.renew(dead.owner, "0", leaseMs);
      const item = newEvent(siteId, {}, { leaseUntil: null, owner: dead.owner });
      await store.events.accept(item);
      // Long enough for the other node to see that the lease is valid.
      await new Promise((resolve) => setTimeout(resolve, 1500));
      await store.nodes.removeExpired(dead.owner);
      expect(await nodeRow(dead.owner)).toBe("0");
      await sql(location, `UPDATE nodes SET until = until - 2 * ${leaseMs} WHERE owner = '${dead.owner}'`);
      await eventually("it is taken over", async () => (await rowsOf(item)).length === 1, 10);
    }
  });

  test("a site whose shard is down does not keep the others from being taken over", async () => {
    const [bad, good] = [await newSite(store), await newSite(store)];
    const owner = shortId();
    await store.nodes.renew(owner, "0", leaseMs);
    if (engine === "postgres") await sql(location, `UPDATE nodes SET until = 5 WHERE owner = '${owner}'`);
    const item = newEvent(good, {}, { leaseUntil: null, owner });
    await store.events.accept(item);
    const takeOver: Store["nodes"]["takeOver"] = (siteId, ...rest) =>
      siteId === bad ? Promise.reject(new Error("down")) : store.nodes.takeOver(siteId, ...rest);
    const opening = openNode({}, { ...store, nodes: { ...store.nodes, takeOver } }, [bad, good]);
    const node = await opening;
    await eventually("it is taken over", async () => (await rowsOf(item)).length === 1, 10);
    expect([await nodeRow(owner), node.defects.length > 0]).toEqual(["0", true]);
  });

  test("a node whose lease is about to end opens no event", async () => {
    const node = await openNode();
    node.clock.now += leaseMs - 500;
    const item = newEvent(shortId(), { id: node.events.newId(node.clock.now) }, { leaseUntil: null });
    expect(node.events.open(item.event, item.plan) === null).toBe(engine === "postgres");
  });

  test("a node that stops with nothing open leaves no row", async () => {
    const node = await openNode();
    const { item, openEvent } = await accepted(node, await newSite(store));
    for (const id of ["c1", "c2", "c3"]) await openEvent.settle(settlement(item, id, "sent"));
    await node.events.close();
    expect(await nodeRow(node.owner)).toBeUndefined();
  });
});
