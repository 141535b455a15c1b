// A real store and worker, with lanes that only note what they are given.

import { afterAll, expect, test } from "vitest";
import { newEvent, queuedDelivery } from "../../../test/support/events.ts";
import { createNodes } from "../../../test/support/nodes.ts";
import { eventually } from "../../../test/support/relay.ts";
import { connect } from "../../sites/connect.ts";
import { createDirectory, type Directory } from "../../sites/directory.ts";
import { addSite, changeSiteSettings, findSite } from "../../sites/manage.ts";
import type { Conversion } from "../../kernel/event.ts";
import { withRuledValue } from "../../platforms/valueRules.ts";
import type { Lanes } from "../lanes/lanes.ts";
import { ownedByAny } from "../../store/deliveries/ownership.ts";
import { startWorker } from "./worker.ts";

const { store, close } = await createNodes("sqlite");
afterAll(close);

const now = () => Date.now();
const by = { actor: "test", now: now(), checkAddress: () => null };

/** Adds a site with a connection, whose deliveries are in the given state. */
async function addDeliveries(
  directory: Directory,
  host: string,
  orderIds: readonly string[],
  state: "queued" | "parked" = "queued",
) {
  const { id: siteId } = await addSite({ store, directory }, host, by);
  const site = directory.site(siteId) ?? expect.unreachable("it was added");
  const settings = { url: "https://hooks.example.com/in" };
  const { connection } = await connect({ store, directory }, site, "webhook", settings, by);
  const deliveries = [{ ...queuedDelivery(connection.id, "webhook"), state }];
  const items = orderIds.map((orderId) =>
    newEvent(siteId, { orderId, receivedAt: now(), time: now() }, { deliveries, ownership: ownedByAny(now()) }),
  );
  for (const one of items) await store.events.accept(one);
  return { siteId, eventIds: items.map(({ event }) => event.id) };
}

/** Lanes that have nothing in hand, and note what they are given. */
function createLanes(sent: string[], inHand: Lanes["inHand"] = () => new Set()): Lanes {
  return {
    async send(job) {
      sent.push(job.eventId);
      return { ok: false, status: "queued", error: "test" };
    },
    inHand,
    withdraw: () => false,
    capacity: () => 10,
    depths: () => [],
    idle: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

test("a delivery that its node claims again during an attempt is not sent twice, also if the attempt ends meanwhile", async () => {
  const directory = createDirectory(store);
  const { siteId, eventIds } = await addDeliveries(directory, "shop.example.com", ["A-1", "A-2"]);
  const [attempted = "", other = ""] = eventIds;
  const sent: string[] = [];
  let isAttempted = true;
  // The attempt ends as soon as the worker has looked.
  const lanes = createLanes(sent, () => {
    const inHand = new Set(isAttempted ? [attempted] : []);
    isAttempted = false;
    return inHand;
  });
  const worker = startWorker({
    store,
    directory,
    lanes,
    owner: "node-a",
    leaseMs: 60_000,
    now,
    elapsed: () => performance.now(),
    onDefect(error) {
      throw error;
    },
  });
  try {
    await eventually("the other delivery is sent", () => sent.length > 0);
  } finally {
    await worker.stop();
  }
  expect(sent).toEqual([other]);
  const claimed = await store.deliveries.listByEvent(siteId, attempted);
  expect(claimed).toMatchObject([{ state: "queued", owner: "node-a" }]);
});

test("what is left after a refund is sent with the share that a value rule gives the whole", async () => {
  const directory = createDirectory(store);
  const { siteId } = await addDeliveries(directory, "refunds.example.com", []);
  const context = { store, directory };
  await changeSiteSettings(context, findSite(context, siteId), { corrections: "on" }, by);
  const settings = { url: "https://hooks.example.com/in", "value.*": "shoes 20%, others 0%" };
  const { connection } = await connect(context, findSite(context, siteId), "webhook", settings, by);
  await directory.refresh();
  const items = [{ id: "a", category: "shoes", price: 40, quantity: 1 }];
  const at = { receivedAt: now(), time: now(), orderId: "R-1", currency: "EUR" };
  const deliveries = [queuedDelivery(connection.id, "webhook")];
  await store.events.accept(newEvent(siteId, { ...at, name: "refund", value: 50 }, { deliveries: [] }));
  await store.events.accept(
    newEvent(siteId, { ...at, name: "purchase", value: 100, items }, { deliveries, ownership: ownedByAny(now()) }),
  );
  const jobs: Conversion[] = [];
  const lanes = createLanes([]);
  const worker = startWorker({
    store,
    directory,
    lanes: { ...lanes, send: (job) => (jobs.push(job.conversion), lanes.send(job)) },
    owner: "node-c",
    leaseMs: 60_000,
    now,
    elapsed: () => performance.now(),
    onDefect(error) {
      throw error;
    },
  });
  try {
    await eventually("the rest is sent", () => jobs.length > 0);
  } finally {
    await worker.stop();
  }
  expect(jobs[0]).toMatchObject({ value: 50 });
  // 8 of 100, so 4 of 50; the items, of which nobody said which are left, are not sent.
  const sent = withRuledValue(jobs[0] ?? expect.unreachable("it was sent"), connection.settings);
  expect(sent.value).toBe(4);
  expect(Object.keys(sent)).not.toContain("items");
});

test("parked deliveries of a connection that cannot be released keep those of no other from being released", async () => {
  const directory = createDirectory(store);
  const sites = [
    await addDeliveries(directory, "one.example.com", ["P-1"], "parked"),
    await addDeliveries(directory, "two.example.com", ["P-2"], "parked"),
  ];
  const [found] = await store.deliveries.findParked();
  const [failing, sound] = sites.toSorted((site) => (site.siteId === found?.siteId ? -1 : 1));
  const releaseParked: typeof store.deliveries.releaseParked = (siteId, ...rest) =>
    siteId === failing?.siteId
      ? Promise.reject(new Error("its machine is down"))
      : store.deliveries.releaseParked(siteId, ...rest);
  const sent: string[] = [];
  const defects: unknown[] = [];
  const worker = startWorker({
    store: { ...store, deliveries: { ...store.deliveries, releaseParked } },
    directory,
    lanes: createLanes(sent),
    owner: "node-b",
    leaseMs: 60_000,
    now,
    elapsed: () => performance.now(),
    onDefect: (_error, about) => defects.push(about),
  });
  try {
    await eventually("the other is sent", () => sent.length > 0);
  } finally {
    await worker.stop();
  }
  expect(sent).toEqual(sound?.eventIds);
  expect(defects[0]).toMatchObject({ worker: "parked", connection: expect.any(String) });
});
