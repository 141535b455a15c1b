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
    await eventually("the mark is written", async () => (await nodeRow(node.owner)) === first.item.event.id);
    for (const id of ["c1", "c2", "c3"]) await first.openEvent.settle(settlement(first.item, id, "sent"));
    await eventually(
      "the mark follows",
      async () => String(await nodeRow(node.owner)) >= second.item.event.id,
    );
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

  test("a node whose lease is about to end opens no event", async () => {
    const node = await openNode();
    node.clock.now += leaseMs - 500;
    const item = newEvent(shortId(), {}, { leaseUntil: null });
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
