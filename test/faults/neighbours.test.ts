import { describe, expect, test } from "vitest";
import { orderEventId } from "../../src/kernel/ids.ts";
import { inGroups } from "../../src/store/engine/groupCommit.ts";
import type { NewEvent } from "../../src/store/events/events.ts";
import { newEvent, queuedDelivery } from "../support/events.ts";
import { startReceiver } from "../support/receiver.ts";
import { engines, eventually, newInstallation } from "../support/relay.ts";
import { change, deliveryStates, setUpSite, rows, withStore } from "../support/installation.ts";
import { sha256 } from "../support/sha256.ts";

function newPurchase(siteId: string, n: number): NewEvent {
  const orderId = `order-${n}`;
  return newEvent(
    siteId,
    { receivedAt: Date.now(), orderId, person: { emailSha256: sha256(String(n).padStart(64, "0")) } },
    {
      claim: `claim ${orderId}`,
      orderEventId: orderEventId(siteId, "purchase", orderId),
      deliveries: [{ ...queuedDelivery(), state: "skipped", reason: "test" }],
    },
  );
}

describe.each(engines)("isolation of bad events on %s", (engine) => {
  test("an event that the database refuses does not fail the events committed with it", async () => {
    const home = await newInstallation(engine);
    const { siteId } = await setUpSite(home, []);
    await withStore(home, async (store) => {
      const items = Array.from({ length: 60 }, (_, n) => newPurchase(siteId, n));
      // The endpoint rejects such events, so the test creates them here: a name that is null (both engines refuse it), and
      // one with a NUL (PostgreSQL refuses it).
      const poison = items[20] as NewEvent;
      poison.event = { ...poison.event, name: null as unknown as string };
      const second = items[40] as NewEvent;
      if (engine === "postgres") second.event = { ...second.event, name: "purch\0ase" };
      const poisoned = engine === "postgres" ? [20, 40] : [20];

      const outcomes = await Promise.allSettled(items.map((item) => store.events.accept(item)));
      const failed = outcomes.flatMap((outcome, n) => (outcome.status === "rejected" ? [n] : []));
      expect(failed).toEqual(poisoned);
      for (const outcome of outcomes) {
        if (outcome.status === "fulfilled") expect(outcome.value.duplicate).toBe(false);
      }
      const good = items.filter((_, n) => !poisoned.includes(n)).map((item) => item.event.id);
      const stored = await rows(home, `SELECT id FROM events ORDER BY id`);
      expect(stored.map((row) => row.id)).toEqual(good.toSorted());
      expect(await deliveryStates(home)).toEqual({ skipped: good.length });

      // The refused event left no deduplication claim: corrected, it is accepted.
      poison.event = { ...poison.event, name: "purchase" };
      expect(await store.events.accept(poison)).toMatchObject({ duplicate: false });
    });
  });

  test("a stored event that can no longer be read does not hold up the other deliveries of its connection", async () => {
    const home = await newInstallation(engine, {
      CLEANCAST_ATTEMPT_SECONDS: "1",
      CLEANCAST_ANSWER_SECONDS: "1",
      CLEANCAST_LEASE_SECONDS: "2",
      CLEANCAST_RETRY_SECONDS: "1",
    });
    const receiver = await startReceiver();
    receiver.behave = (_got, response) => response.writeHead(503).end();
    const { key } = await setUpSite(home, [["webhook", { url: receiver.url }]]);
    const relay = await home.start();
    for (let n = 0; n < 5; n += 1) {
      await relay.post(key, { email: "ada@example.com", event: "lead", orderId: `order-${n}` });
    }
    await relay.kill();
    await change(
      home,
      `UPDATE events SET attribution = 'garbage' WHERE order_id = 'order-2'`,
      `UPDATE deliveries SET due_at = 0, owner = ''`,
    );
    receiver.behave = (_got, response) => response.writeHead(200).end();
    const again = await home.start();
    await eventually("the other events are sent", async () => (await deliveryStates(home)).sent === 4);
    await again.stop();
  });
});

test("a commit group that fails because of the database fails as a whole, and is not run again", async () => {
  let runs = 0;
  const put = inGroups<number, number>(
    async () => {
      runs += 1;
      throw new Error("the database is gone");
    },
    { isDataError: () => false },
  );
  const outcomes = await Promise.allSettled([put("site", 1), put("site", 2), put("site", 3)]);
  expect(outcomes.map((outcome) => outcome.status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(runs).toBe(1);
});
