// Two nodes on one database, with real workers and lanes. The clock of one is off: what one node has in hand, the other must not
// send.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { createSharedClock } from "../../src/background/sharedClock.ts";
import { createBreaker } from "../../src/delivery/lanes/breaker.ts";
import { createLanes } from "../../src/delivery/lanes/lanes.ts";
import { createQuota } from "../../src/delivery/lanes/quota.ts";
import type { Sender } from "../../src/delivery/send.ts";
import { startWorker } from "../../src/delivery/due/worker.ts";
import { shortId } from "../../src/kernel/ids.ts";
import { connect } from "../../src/sites/connect.ts";
import { createDirectory } from "../../src/sites/directory.ts";
import { addSite } from "../../src/sites/manage.ts";
import type { Store } from "../../src/store/store.ts";
import { newEvent, queuedDelivery } from "../support/events.ts";
import { http } from "../support/lanes.ts";
import { createNodes } from "../support/nodes.ts";
import { ownedByAny } from "../../src/store/deliveries/ownership.ts";
import { eventually } from "../support/relay.ts";

/** `SKEW_DELIVERIES=600` is the long run. */
const count = Number(process.env["SKEW_DELIVERIES"] ?? 100);
const { store, other, close } = await createNodes("postgres");
afterAll(close);

async function addConnection() {
  const directory = createDirectory(store);
  const by = { actor: "test", now: Date.now(), checkAddress: () => null };
  const { id: siteId } = await addSite({ store, directory }, `${shortId()}.example.com`, by);
  const site = directory.site(siteId) ?? expect.unreachable("it was added");
  const settings = { url: "https://hooks.example.com/in" };
  const { connection } = await connect({ store, directory }, site, "webhook", settings, by);
  return { siteId, connectionId: connection.id };
}

async function startNode(on: Store, aheadMs: number, onSent: (body: string) => void) {
  const now = () => Date.now() + aheadMs;
  const elapsed = () => performance.now();
  const directory = createDirectory(on);
  await directory.refresh();
  const state = { sent: 0 };
  const sender: Sender = {
    async send(request) {
      state.sent += 1;
      // Long enough that the other node polls while this request is under way.
      await sleep(300);
      onSent(request.body);
      return http(200);
    },
    close: () => Promise.resolve(),
  };
  const fail = (error: unknown) => {
    throw error;
  };
  const node = { store: on, directory, owner: shortId(), now, elapsed, onDefect: fail };
  const lanes = createLanes({
    ...node,
    sender,
    settle: on.deliveries.settle,
    tokens: { fresh: async (one) => one },
    breaker: createBreaker(),
    quota: createQuota(),
    retry: { scheduleMs: [50], random: () => 0.5 },
    attemptMs: 8000,
    markForReconnection: async () => {},
  });
  const clock = createSharedClock({ readDatabase: () => on.health.readClock(), now, elapsed });
  const worker = startWorker({ ...node, clock, lanes, leaseMs: 30_000 });
  const stop = async () => {
    await worker.stop();
    await lanes.close();
  };
  return { state, stop };
}

test.each([14, -14, 30, -30, 60, -60])("no delivery is sent twice when the clock of a node differs by %i s", async (seconds) => {
  const { siteId, connectionId } = await addConnection();
  const deliveries = [queuedDelivery(connectionId, "webhook")];
  const at = Date.now() - 120_000;
  const orders = Array.from({ length: count }, () => shortId());
  await Promise.all(
    orders.map((orderId) =>
      store.events.accept(newEvent(siteId, { orderId, receivedAt: at, time: at }, { deliveries, ownership: ownedByAny(at) })),
    ),
  );
  const times = new Map(orders.map((orderId) => [orderId, 0]));
  const onSent = (body: string) => {
    for (const orderId of orders) if (body.includes(orderId)) times.set(orderId, (times.get(orderId) ?? 0) + 1);
  };
  const [right, off] = [await startNode(store, 0, onSent), await startNode(other, seconds * 1000, onSent)];
  const isDone = () => [...times.values()].every((n) => n > 0);
  await eventually("all are sent", isDone);
  await right.stop();
  await off.stop();
  expect([...times.values()].filter((n) => n !== 1)).toEqual([]);
  // A node whose clock is further off than is permitted sends nothing.
  if (Math.abs(seconds) > 30) expect(off.state.sent).toBe(0);
});
