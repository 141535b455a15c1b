// A real store and worker, with lanes that only note what they are given.

import { afterAll, expect, test } from "vitest";
import { newEvent, queuedDelivery } from "../../test/support/events.ts";
import { openNodes } from "../../test/support/nodes.ts";
import { eventually } from "../../test/support/relay.ts";
import { connect } from "../sites/connect.ts";
import { openDirectory } from "../sites/directory.ts";
import { addSite } from "../sites/manage.ts";
import type { Lanes } from "./lanes/lanes.ts";
import { startWorker } from "./worker.ts";

const { store, close } = await openNodes("sqlite");
afterAll(close);

test("a delivery that its node claims again during an attempt is not sent twice, also if the attempt ends meanwhile", async () => {
  const directory = openDirectory(store);
  const now = () => Date.now();
  const by = { actor: "test", now: now(), checkAddress: () => null };
  const { id: siteId } = await addSite({ store, directory }, "shop.example.com", by);
  const site = directory.site(siteId) ?? expect.unreachable("it was added");
  const settings = { url: "https://hooks.example.com/in" };
  const { connection } = await connect({ store, directory }, site, "webhook", settings, by);
  const deliveries = [queuedDelivery(connection.id, "webhook")];
  const [attempted, other] = ["A-1", "A-2"].map((orderId) =>
    newEvent(
      siteId,
      { orderId, receivedAt: now(), time: now() },
      { deliveries, owner: "", leaseUntil: now() },
    ),
  );
  for (const one of [attempted, other]) if (one) await store.events.accept(one);

  const sent: string[] = [];
  let isAttempted = true;
  const lanes: Lanes = {
    async send(job) {
      sent.push(job.eventId);
      return { state: "queued", reason: "test" };
    },
    // The attempt ends as soon as the worker has looked.
    inHand() {
      const inHand = new Set(isAttempted && attempted ? [attempted.event.id] : []);
      isAttempted = false;
      return inHand;
    },
    withdraw: () => false,
    capacity: () => 10,
    depths: () => [],
    idle: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
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
  expect(sent).toEqual([other?.event.id]);
  const claimed = await store.deliveries.listByEvent(siteId, attempted?.event.id ?? "");
  expect(claimed).toMatchObject([{ state: "queued", owner: "node-a" }]);
});
