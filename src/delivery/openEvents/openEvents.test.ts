// The open events of a node: what is gathered, fenced, retried and taken over. The store is real.

import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../test/support/relay.ts";
import { byNode, newAttempt, newEvent, newSite, queuedDelivery } from "../../../test/support/events.ts";
import { createNodes, sql } from "../../../test/support/nodes.ts";
import type { StoreLocation } from "../../store/connect.ts";
import { maxLeaseMs } from "../../store/deliveries/nodes.ts";
import { MachineDown } from "../../store/engine/postgres/machines.ts";
import type { Store } from "../../store/store.ts";
import type { NewEvent } from "../../store/events/events.ts";
import type { Settlement } from "../../store/deliveries/delivery.ts";
import { shortId } from "../../kernel/ids.ts";
import { hourMs } from "../../kernel/time.ts";
import type { OpenEvent, ReservedId } from "../ownership.ts";
import { startOpenEvents } from "./openEvents.ts";

const leaseMs = 30_000;
const pollMs = 100;

/** Inserts the row of an accepted event again, in a transaction that lasts. */
async function beginInserting(location: StoreLocation, { event: { siteId, id } }: NewEvent) {
  if (location.engine !== "postgres") return expect.unreachable();
  const client = new Client({ connectionString: location.url });
  await client.connect();
  onTestFinished(() => client.end());
  const where = `WHERE site_id = '${siteId}' AND id = '${id}'`;
  await client.query(`CREATE TEMP TABLE uncommitted AS SELECT * FROM events ${where}`);
  await client.query(`DELETE FROM events ${where}`);
  await client.query("BEGIN");
  await client.query("INSERT INTO events SELECT * FROM uncommitted");
  return { commit: () => client.query("COMMIT") };
}

describe.each(["sqlite", "postgres"] as const)("open events on %s", async (engine) => {
  const { store, other, location, close } = await createNodes(engine);
  afterAll(close);

  /** `aheadMs` is how far its clock is ahead of the one that all nodes share. */
  async function createNode(given: Partial<Store["deliveries"]> = {}, on = store, sites: string[] = [], aheadMs = 0) {
    const owner = shortId();
    const defects: unknown[] = [];
    const clock = { now: Date.now(), elapsed: 0 };
    const events = await startOpenEvents({
      store: { ...on, deliveries: { ...on.deliveries, ...given } },
      sites: () => sites.map((id) => ({ id })),
      owner,
      version: "1",
      leaseMs,
      maxOpenMs: 1000,
      now: () => clock.now,
      clock: { fromLocal: (at) => at - aheadMs, lagMs: () => 0 },
      elapsed: () => clock.elapsed,
      pollMs,
      onDefect: (error) => defects.push(error),
    });
    onTestFinished(() => events.close());
    return { owner, events, defects, clock };
  }

  /** An event with first attempts to c1, c2 and c3, accepted under the lease of the node. */
  async function accepted(node: Awaited<ReturnType<typeof createNode>>, siteId: string) {
    const reserved = node.events.reserveId(Date.now());
    const deliveries = ["c1", "c2", "c3"].map((connection) => queuedDelivery(connection));
    const item = newEvent(siteId, { id: reserved.id, receivedAt: Date.now() }, { ownership: byNode(node.owner), deliveries });
    const openEvent = open(reserved, item) ?? expect.unreachable("the lease has ended");
    await store.events.accept(item);
    return { item, openEvent };
  }

  /** The open event; null where each delivery is to have a row. */
  function open(reserved: ReservedId, { event, deliveries }: NewEvent): OpenEvent | null {
    const ownership = reserved.own(event.siteId, deliveries, event.receivedAt);
    return ownership.by === "node" ? ownership.event : null;
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
    attempt: newAttempt(state, { startedAt: Date.now() }),
  });

  /** Without the numbers that a takeover only keeps the owner from using. */
  const rowsOf = async ({ event }: NewEvent) => {
    const rows = await sql(
      location,
      `SELECT number FROM outcomes WHERE event_id = '${event.id}' AND results <> '["taken"]' ORDER BY number`,
    );
    return rows.map((row) => Number(row.number));
  };
  const statesOf = async ({ event }: NewEvent) =>
    (await store.deliveries.listByEvent(event.siteId, event.id)).map(({ state }) => state);
  const nodeRow = async (owner: string) =>
    (await sql(location, `SELECT low_water, until FROM nodes WHERE owner = '${owner}'`))[0];
  const markOf = async (owner: string) => String((await nodeRow(owner))?.low_water);
  /** The node renews its lease when its mark moves, so this may have to be repeated. */
  const endLease = (owner: string) => sql(location, `UPDATE nodes SET until = ${Date.now() - 1000} WHERE owner = '${owner}'`);

  /** The marks that are written within three runs of the node's loop. */
  async function seenMarks(node: { owner: string }): Promise<string[]> {
    const marks: string[] = [];
    for (const endAt = Date.now() + 3.5 * pollMs; Date.now() < endAt; await sleep(pollMs / 5))
      marks.push(await markOf(node.owner));
    return marks;
  }

  test("outcomes that arrive together are one row, and a straggler is a second", async () => {
    const node = await createNode();
    const { item, openEvent } = await accepted(node, await newSite(store));
    await Promise.all(["c1", "c2"].map((id) => openEvent.settle(settlement(item, id, "sent"))));
    expect([await rowsOf(item), node.events.size()]).toEqual([[0], 1]);
    await openEvent.settle(settlement(item, "c3", "rejected"));
    expect([await rowsOf(item), node.events.size()]).toEqual([[0, 2], 0]);
    expect(await statesOf(item)).toEqual(["sent", "sent", "rejected"]);
  });

  test("a delivery that is settled twice counts once", async () => {
    const node = await createNode();
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
    const node = await createNode({ settleFirst });
    const { item, openEvent } = await accepted(node, await newSite(store));
    await Promise.all(["c1", "c2", "c3"].map((id) => openEvent.settle(settlement(item, id, "sent"))));
    expect([node.events.size(), node.defects.length > 0, await rowsOf(item)]).toEqual([1, true, []]);
    isDown = false;
    await eventually("the outcomes are written", async () => node.events.size() === 0);
    expect(await statesOf(item)).toEqual(["sent", "sent", "sent"]);
  });

  test("the mark of a node never passes an open event, and follows when it is settled", async () => {
    const node = await createNode();
    const siteId = await newSite(store);
    const first = await accepted(node, siteId);
    const second = await accepted(node, siteId);
    for (const id of ["c1", "c2", "c3"]) await second.openEvent.settle(settlement(second.item, id, "sent"));
    await eventually("the mark is written", async () => (await markOf(node.owner)) === first.item.event.id);
    for (const id of ["c1", "c2", "c3"]) await first.openEvent.settle(settlement(first.item, id, "sent"));
    await eventually("the mark follows", async () => (await markOf(node.owner)) >= second.item.event.id);
  });

  test("an event whose acceptance is unknown is queued after the lease, if it was accepted", async () => {
    let isDown = true;
    const failing = await newSite(store);
    const queueEvent: Store["nodes"]["queueEvent"] = (siteId, ...rest) =>
      isDown && siteId === failing ? Promise.reject(new Error("down")) : store.nodes.queueEvent(siteId, ...rest);
    const node = await createNode({}, { ...store, nodes: { ...store.nodes, queueEvent } });
    (await accepted(node, failing)).openEvent.abandon();
    const { item, openEvent } = await accepted(node, await newSite(store));
    openEvent.abandon();
    const reserved = node.events.reserveId(Date.now());
    const ghost = newEvent(item.event.siteId, { id: reserved.id }, { ownership: byNode() });
    open(reserved, ghost)?.abandon();
    expect(await statesOf(item)).toEqual(["queued", "queued", "queued"]);
    node.clock.elapsed += leaseMs;
    // One that fails is tried again, and keeps no other from being settled.
    await eventually("all others are settled", () => node.events.size() === 1);
    await eventually("the error is reported", () => node.defects.length > 0);
    isDown = false;
    await eventually("it is settled", () => node.events.size() === 0);
    const rows = await sql(location, `SELECT owner FROM deliveries WHERE event_id = '${item.event.id}'`);
    expect(rows.map((row) => row.owner)).toEqual(["", "", ""]);
  });

  test.skipIf(engine === "sqlite")("an event whose commit goes on for longer than the lease is queued when it ends", async () => {
    const node = await createNode();
    const siteId = await newSite(store);
    const { item, openEvent } = await accepted(node, siteId);
    const committing = await beginInserting(location, item);
    openEvent.abandon();
    node.clock.elapsed += leaseMs;
    // Its lease and its mark are renewed meanwhile, and the mark does not pass the event.
    await sleep(5 * pollMs);
    expect([node.events.size(), await statesOf(item)]).toEqual([1, []]);
    await committing.commit();
    await eventually("it is settled", () => node.events.size() === 0);
    expect(await statesOf(item)).toEqual(["queued", "queued", "queued"]);
    const rows = await sql(location, `SELECT owner FROM deliveries WHERE event_id = '${item.event.id}'`);
    expect(rows.map((row) => row.owner)).toEqual(["", "", ""]);
  });

  test("a node that starts, or outlives the lease of another, queues what that one left open", async () => {
    const siteId = await newSite(store);
    const dead = await createNode({}, store, [siteId]);
    const { item, openEvent } = await accepted(dead, siteId);
    await openEvent.settle(settlement(item, "c2", "sent"));
    await createNode({}, other, [siteId]);
    await eventually("it is taken over", async () => {
      await endLease(dead.owner);
      return (await rowsOf(item)).length === 2;
    });
    expect((await statesOf(item)).toSorted()).toEqual(["queued", "queued", "sent"]);
    await openEvent.settle(settlement(item, "c1", "rejected"));
    await openEvent.settle(settlement(item, "c3", "rejected"));
    expect((await statesOf(item)).toSorted()).toEqual(["queued", "queued", "sent"]);
    expect(await rowsOf(item)).toEqual([0, 1]);
  });

  test("a node whose clock is ahead queues what it takes over by the clock that all nodes share", async () => {
    const siteId = await newSite(store);
    const dead = await createNode({}, store, [siteId]);
    const { item } = await accepted(dead, siteId);
    await createNode({}, other, [siteId], hourMs);
    await eventually("it is taken over", async () => {
      await endLease(dead.owner);
      return (await rowsOf(item)).length === 1;
    });
    const rows = await sql(location, `SELECT due_at FROM deliveries WHERE event_id = '${item.event.id}'`);
    expect(rows.map(({ due_at }) => Number(due_at) < Date.now() - hourMs / 2)).toEqual([true, true, true]);
  });

  test("the mark of a node does not pass an event that is looked up for longer than the one after it", async () => {
    const node = await createNode();
    const siteId = await newSite(store);
    const slow = node.events.reserveId(Date.now());
    const next = await accepted(node, siteId);
    for (const id of ["c1", "c2", "c3"]) await next.openEvent.settle(settlement(next.item, id, "sent"));
    const marks = await seenMarks(node);
    expect(marks.every((mark) => mark <= slow.id)).toBe(true);
    slow.release();
    await eventually("the mark follows", async () => (await markOf(node.owner)) > slow.id);
  });

  test("an outcome that arrives after an unconfirmed commit is a row of its own", async () => {
    let isConfirmed = false;
    const settleFirst: Store["deliveries"]["settleFirst"] = async (item) => {
      const isOurs = await store.deliveries.settleFirst(item);
      if (!isConfirmed) throw new Error("the connection broke");
      return isOurs;
    };
    const node = await createNode({ settleFirst });
    const { item, openEvent } = await accepted(node, await newSite(store));
    await openEvent.settle(settlement(item, "c1", "sent"));
    await openEvent.settle(settlement(item, "c2", "rejected"));
    isConfirmed = true;
    await openEvent.settle(settlement(item, "c3", "queued"));
    await eventually("the outcomes are written", () => node.events.size() === 0);
    expect(await statesOf(item)).toEqual(["sent", "rejected", "queued"]);
    const rows = await sql(location, `SELECT due_at FROM deliveries WHERE event_id = '${item.event.id}'`);
    expect(rows).toHaveLength(2);
  });

  test.runIf(engine === "postgres")("a node that came back after a takeover is taken over again when it dies", async () => {
    const siteId = await newSite(store);
    const paused = await createNode({}, store, [siteId]);
    await createNode({}, other, [siteId]);
    for (const pass of ["first", "second"]) {
      const { item } = await accepted(paused, siteId);
      await eventually(`the ${pass} takeover`, async () => {
        await endLease(paused.owner);
        return (await rowsOf(item)).length === 1;
      });
      paused.clock.now += leaseMs / 2;
      await eventually("the node is back", async () => Number((await nodeRow(paused.owner))?.until) > Date.now());
      // The other node looks at least once while the node is back.
      await sleep(2.5 * pollMs);
    }
  });

  describe.runIf(engine === "postgres")("after the promotion of a server that lacks the last commits", () => {
    /** A node on a server whose promotion can be simulated: it takes the last outcomes and the last mark with it. */
    async function createPromotable(siteId: string) {
      let promotions = 0;
      const nodes: Store["nodes"] = {
        ...store.nodes,
        promotions: () => promotions,
        renew: (owner, mark, ms, seen) =>
          seen === promotions ? store.nodes.renew(owner, mark, ms) : Promise.reject(new Error("outdated")),
        remove: (owner, seen) => (seen === promotions ? store.nodes.remove(owner) : Promise.reject(new Error("outdated"))),
      };
      const node = await createNode({}, { ...store, nodes }, [siteId]);
      const firstMark = await markOf(node.owner);
      async function promote(...lost: NewEvent[]): Promise<void> {
        for (const { event } of lost)
          for (const table of ["outcomes", "deliveries", "attempts"])
            await sql(location, `DELETE FROM ${table} WHERE event_id = '${event.id}'`);
        await sql(location, `UPDATE nodes SET low_water = '${firstMark}' WHERE owner = '${node.owner}'`);
        // Last: a node sees the promotion and the state of the promoted server together.
        promotions += 1;
      }
      return { node, promote };
    }

    test("deliveries whose outcomes are lost are queued again, and only those", async () => {
      const siteId = await newSite(store);
      const { node, promote } = await createPromotable(siteId);
      const [kept, lost, left] = [await accepted(node, siteId), await accepted(node, siteId), await accepted(node, siteId)];
      for (const { item, openEvent } of [kept, lost])
        for (const id of ["c1", "c2", "c3"]) await openEvent.settle(settlement(item, id, "sent"));
      await eventually("the mark passes", async () => (await markOf(node.owner)) === left.item.event.id);
      await promote(lost.item);
      await eventually("they are queued", async () => (await rowsOf(lost.item)).length === 1);
      expect(await statesOf(lost.item)).toEqual(["queued", "queued", "queued"]);
      expect(await statesOf(kept.item)).toEqual(["sent", "sent", "sent"]);
      expect(await rowsOf(left.item)).toEqual([]);
      await eventually("the mark follows", async () => (await markOf(node.owner)) === left.item.event.id);
    });

    test("outcomes of an event that is still open are written again", async () => {
      const siteId = await newSite(store);
      const { node, promote } = await createPromotable(siteId);
      const { item, openEvent } = await accepted(node, siteId);
      await openEvent.settle(settlement(item, "c1", "sent"));
      await openEvent.settle(settlement(item, "c2", "rejected"));
      await promote(item);
      await eventually("they are written", async () => (await rowsOf(item)).length === 2);
      await openEvent.settle(settlement(item, "c3", "sent"));
      expect(await statesOf(item)).toEqual(["sent", "rejected", "sent"]);
      expect([await rowsOf(item), node.events.size()]).toEqual([[0, 1, 2], 0]);
    });

    test("an event whose first outcome is lost and whose last is not is queued for the first alone", async () => {
      const siteId = await newSite(store);
      const { node, promote } = await createPromotable(siteId);
      const { item, openEvent } = await accepted(node, siteId);
      await openEvent.settle(settlement(item, "c1", "sent"));
      await sql(location, `DELETE FROM outcomes WHERE event_id = '${item.event.id}'`);
      for (const id of ["c2", "c3"]) await openEvent.settle(settlement(item, id, "sent"));
      await promote();
      await eventually("it is queued", async () => (await rowsOf(item)).length === 3);
      expect(await statesOf(item)).toEqual(["queued", "sent", "sent"]);
    });

    test("a node that stops before it has recovered leaves its row, and another node recovers", async () => {
      const siteId = await newSite(store);
      const { node, promote } = await createPromotable(siteId);
      const { item, openEvent } = await accepted(node, siteId);
      for (const id of ["c1", "c2", "c3"]) await openEvent.settle(settlement(item, id, "sent"));
      await promote(item);
      await node.events.close();
      await createNode({}, other, [siteId]);
      await endLease(node.owner);
      await eventually("it is queued", async () => (await rowsOf(item)).length === 1);
      expect(await statesOf(item)).toEqual(["queued", "queued", "queued"]);
    });

    test("what was queued of a dead node is queued again", async () => {
      const siteId = await newSite(store);
      const { node, promote } = await createPromotable(siteId);
      const dead = shortId();
      const item = newEvent(siteId, {}, { ownership: byNode(dead) });
      await store.events.accept(item);
      await store.nodes.renew(dead, item.event.id, -1000);
      await eventually("it is taken over", async () => (await rowsOf(item)).length === 1);
      await promote(item);
      expect(await rowsOf(item)).toEqual([]);
      await eventually("it is taken over again", async () => (await rowsOf(item)).length === 1);
      expect(node.defects).toEqual([]);
    });
  });

  test("a node that came back while it was taken over keeps its row, also when it has died again", async () => {
    const owner = shortId();
    const findExpired = async () =>
      (await store.nodes.listExpired()).find(({ node }) => node.owner === owner)?.node ?? expect.unreachable();
    await store.nodes.renew(owner, "0", -1000);
    const dead = await findExpired();
    await store.nodes.renew(owner, "0", leaseMs);
    await store.nodes.removeExpired(dead);
    expect(await markOf(owner)).toBe("0");
    await endLease(owner);
    await store.nodes.removeExpired(dead);
    expect(await markOf(owner)).toBe("0");
    await store.nodes.removeExpired(await findExpired());
    expect(await nodeRow(owner)).toBeUndefined();
  });

  test("a site that fails, or an event that cannot be read, keeps no other from being taken over, and is tried again", async () => {
    const [bad, good] = [await newSite(store), await newSite(store)];
    const owner = shortId();
    await store.nodes.renew(owner, "0", leaseMs);
    await endLease(owner);
    const [damaged, item] = [0, 1].map(() => newEvent(good, { orderId: null }, { ownership: byNode(owner) }));
    if (!damaged || !item) expect.unreachable();
    const late = newEvent(bad, { orderId: null }, { ownership: byNode(owner) });
    await Promise.all([damaged, item, late].map((one) => store.events.accept(one)));
    await sql(location, `UPDATE events SET plan = '[[' WHERE id = '${damaged.event.id}'`);
    let isDown = true;
    const tried: string[] = [];
    const takeOver: Store["nodes"]["takeOver"] = (siteId, node, ...rest) => {
      if (node.owner === owner) tried.push(siteId);
      return isDown && siteId === bad ? Promise.reject(new Error("down")) : store.nodes.takeOver(siteId, node, ...rest);
    };
    const node = await createNode({}, { ...store, nodes: { ...store.nodes, takeOver } }, [bad, good]);
    await eventually("it is taken over", async () => (await rowsOf(item)).length === 1);
    expect([await markOf(owner), node.defects.length > 0]).toEqual(["0", true]);
    for (const tries of [2, 3]) {
      node.clock.elapsed += 30_000;
      await eventually("it is tried again", () => tried.filter((id) => id === bad).length === tries);
    }
    isDown = false;
    node.clock.elapsed += 30_000;
    await eventually("the other is, too", async () => (await rowsOf(late)).length === 1);
    // The site that was taken over is not read again.
    expect(tried.filter((id) => id === good)).toHaveLength(1);
  });

  test("of the sites of a machine that is down one is tried, and those of others are taken over", async () => {
    const [first, second, sound] = [await newSite(store), await newSite(store), await newSite(store)];
    const owner = shortId();
    await store.nodes.renew(owner, "0", leaseMs);
    await endLease(owner);
    const item = newEvent(sound, { orderId: null }, { ownership: byNode(owner) });
    await store.events.accept(item);
    const tried = new Set<string>();
    const takeOver: Store["nodes"]["takeOver"] = (siteId, dead, ...rest) => {
      if (dead.owner === owner) tried.add(siteId);
      return siteId === sound ? store.nodes.takeOver(siteId, dead, ...rest) : Promise.reject(new MachineDown());
    };
    const divided = new Map([
      [
        "1",
        new Map([
          ["1", [first]],
          ["2", [second]],
        ]),
      ],
      ["2", new Map([["3", [sound]]])],
    ]);
    const cluster = {
      ...store,
      nodes: { ...store.nodes, takeOver },
      slices: { ...store.slices, divide: async () => divided },
      health: { ...store.health, isMachineError: (error: unknown) => error instanceof MachineDown },
    };
    const node = await createNode({}, cluster, [first, second, sound]);
    await eventually("it is taken over", async () => (await rowsOf(item)).length === 1);
    await eventually("the error is reported", () => node.defects.length > 0);
    // Which of the two is tried depends on those that failed for other nodes.
    await eventually("one is tried", () => tried.size === 2);
    expect(tried.has(sound)).toBe(true);
    // The node's row stays for the sites that are left.
    expect(await markOf(owner)).toBe("0");
    node.clock.elapsed += 30_000;
    await eventually("the other is tried next", () => tried.size === 3);
  });

  test("a node opens no event before its row is written: nobody would find what it leaves", async () => {
    const siteId = await newSite(store);
    let isFull = true;
    const renew: Store["nodes"]["renew"] = (...given) =>
      isFull ? Promise.reject(new Error("the disk is full")) : store.nodes.renew(...given);
    const node = await createNode({}, { ...store, nodes: { ...store.nodes, renew } });
    expect(node.defects).toHaveLength(1);
    const isOpened = () => {
      const reserved = node.events.reserveId(Date.now());
      const opened = open(reserved, newEvent(siteId));
      opened?.close();
      reserved.release();
      return opened !== null;
    };
    expect(isOpened()).toBe(false);
    isFull = false;
    await eventually("the row is written", isOpened);
  });

  test("a node whose lease is about to end opens no event", async () => {
    const node = await createNode();
    node.clock.now += leaseMs - 500;
    const item = newEvent(shortId(), {}, { ownership: byNode() });
    const openEvent = open(node.events.reserveId(Date.now()), item);
    expect(openEvent === null).toBe(engine === "postgres");
  });

  test.runIf(engine === "postgres")(
    "the lease of a node ends on the monotonic clock although the wall clock was set back, and is renewed",
    async () => {
      const node = await createNode();
      node.clock.now -= 3_600_000;
      node.clock.elapsed += leaseMs - 500;
      const item = newEvent(shortId(), {}, { ownership: byNode() });
      const reserved = node.events.reserveId(Date.now());
      expect(open(reserved, item)).toBeNull();
      await eventually("the lease is renewed", () => {
        const opened = open(reserved, item);
        opened?.close();
        return opened !== null;
      });
    },
  );

  test.runIf(engine === "postgres")(
    "an event has no lease after that of its node had ended, although the node has renewed it",
    async () => {
      const node = await createNode();
      const item = newEvent(shortId(), {}, { ownership: byNode() });
      const before = open(node.events.reserveId(Date.now()), item);
      expect(before?.leaseLeftMs()).toBeGreaterThan(0);
      node.clock.elapsed += leaseMs + 500;
      const reserved = node.events.reserveId(Date.now());
      await eventually("the lease is renewed", () => {
        const after = open(reserved, item);
        after?.close();
        return (after?.leaseLeftMs() ?? 0) > 0;
      });
      expect(before?.leaseLeftMs()).toBe(0);
      before?.close();
    },
  );

  test.runIf(engine === "postgres")(
    "a dead node whose lease ends far ahead, because the database's clock was set back, is taken over",
    async () => {
      const siteId = await newSite(store);
      const owner = shortId();
      const item = newEvent(siteId, {}, { ownership: byNode(owner) });
      await store.events.accept(item);
      await store.nodes.renew(owner, item.event.id, 3_600_000);
      const node = await createNode({}, other, [siteId]);
      await eventually("the other node has seen it", async () => {
        node.clock.elapsed += maxLeaseMs;
        return (await rowsOf(item)).length === 1;
      });
    },
  );

  test.runIf(engine === "postgres")(
    "a node starts while its row cannot be written, opens no event, and opens events when it can be",
    async () => {
      let isDown = true;
      const renew: Store["nodes"]["renew"] = (...given) =>
        isDown ? Promise.reject(new Error("down")) : store.nodes.renew(...given);
      const node = await createNode({}, { ...store, nodes: { ...store.nodes, renew } });
      const item = newEvent(shortId(), {}, { ownership: byNode() });
      const reserved = node.events.reserveId(Date.now());
      expect([open(reserved, item), node.defects.length > 0]).toEqual([null, true]);
      isDown = false;
      await eventually("it has its lease", () => {
        const opened = open(reserved, item);
        opened?.close();
        return opened !== null;
      });
    },
  );

  test("a node that stops writes outcomes that had failed at the same time", async () => {
    let isDown = true;
    const asked = new Set<string>();
    const bothAsked = Promise.withResolvers<void>();
    const node = await createNode({
      async settleFirst(item) {
        if (isDown) throw new Error("down");
        asked.add(item.eventId);
        if (asked.size === 2) bothAsked.resolve();
        // Neither waits until the other is written.
        await bothAsked.promise;
        return store.deliveries.settleFirst(item);
      },
    });
    const siteId = await newSite(store);
    for (const { item, openEvent } of [await accepted(node, siteId), await accepted(node, siteId)])
      await Promise.all(["c1", "c2", "c3"].map((id) => openEvent.settle(settlement(item, id, "sent"))));
    expect(node.events.size()).toBe(2);
    isDown = false;
    await node.events.close();
    expect(node.events.size()).toBe(0);
  });

  test("a node that stops with nothing open leaves no row", async () => {
    const node = await createNode();
    const { item, openEvent } = await accepted(node, await newSite(store));
    for (const id of ["c1", "c2", "c3"]) await openEvent.settle(settlement(item, id, "sent"));
    await node.events.close();
    expect(await nodeRow(node.owner)).toBeUndefined();
  });
});
