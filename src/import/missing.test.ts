// Orders that a reconciliation found missing are sent in parts, on both engines, and wait while the queue of a platform is full.

import { afterAll, describe, expect, test } from "vitest";
import { standinConnections } from "../../scripts/standinConnections.ts";
import { newEvent, newSite, queuedDelivery, settlementOf } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";
import { hashPerson, readEmail } from "../identity/person.ts";
import { connectPlatform } from "../sites/connect.ts";
import { dayMs } from "../kernel/time.ts";
import { createDirectory } from "../sites/directory.ts";
import { findSite } from "../sites/manage.ts";
import { startRun } from "../reconcile/manage.ts";
import { stepRun } from "../reconcile/step.ts";
import { writeListedOrders } from "../reconcile/uploadOrders.ts";
import { ownedByAny } from "../store/deliveries/ownership.ts";
import { sendMissing } from "./missing.ts";

/** Lookups have a deadline on the clock of the machine. */
const now = Date.now();
const orderTime = new Date(now - 5 * dayMs).toISOString();
const orderDay = orderTime.slice(0, 10);
const by = { actor: "test", now, checkAddress: () => null };
/** The queue of this platform holds as few deliveries as any. */
const platform = "nextdoor";
const queueLength = 200;

describe.each(["sqlite", "postgres"] as const)("missing orders on %s", async (engine) => {
  const { store, close } = await createNodes(engine);
  const directory = createDirectory(store);
  afterAll(close);

  test("wait for a full queue, name its platform, and are sent once there is room", async () => {
    const siteId = await newSite(store);
    await directory.refresh();
    const site = () => findSite({ directory }, siteId);
    const settings = { ...standinConnections[platform] };
    const { connection } = await connectPlatform({ store, directory }, site(), platform, { settings }, by);
    const queue = (count: number) =>
      Promise.all(
        Array.from({ length: count }, () =>
          store.events.accept(
            newEvent(
              siteId,
              { orderId: null, receivedAt: now - 20 * dayMs },
              { deliveries: [queuedDelivery(connection.id, platform)], ownership: ownedByAny(now) },
            ),
          ),
        ),
      );
    await writeListedOrders(
      { store, siteId, now },
      ["1", "2", "3"].map((orderId) => ({ orderId, time: orderTime, value: 5, email: "ada@example.com" })),
      "UTC",
    );
    let run = await startRun(store, site(), { from: orderDay, to: orderDay }, by);
    while (run.state === "running") run = (await stepRun({ store, timeZone: "UTC", limit: 10, now }, run)) ?? run;
    expect(run.tally).toMatchObject({ classes: { missing_here: 3 } });

    await queue(queueLength - 2);
    const send = (after: string) => sendMissing({ store, site: site(), by }, run, { after });
    const first = await send("");
    expect(first).toMatchObject({ sent: 2, waitingFor: null });
    const waiting = await send(first.next ?? "");
    expect(waiting).toMatchObject({ sent: 0, next: first.next, waitingFor: platform });

    const lease = { by: "row", owner: "node", at: now, dueAt: now + 1000 } as const;
    const [sent] = await store.deliveries.claimDue({ siteId, connectionId: connection.id }, lease, 1);
    const { event } = newEvent(siteId, { id: sent?.eventId ?? expect.unreachable("a queued delivery") });
    const settled = { connectionId: connection.id, owner: "node" };
    await store.deliveries.settle(settlementOf({ event }, "sent", settled));
    const last = await send(waiting.next ?? "");
    expect(last).toMatchObject({ sent: 1, waitingFor: null });
    // The queue is full again, and nothing is left to wait for.
    expect(last.next).not.toBeNull();
    expect(await send(last.next ?? "")).toMatchObject({ sent: 0, next: null, waitingFor: null });
  });

  test("leave out what a similar event may be, unless the operator wants them sent", async () => {
    const siteId = await newSite(store);
    await directory.refresh();
    const site = () => findSite({ directory }, siteId);
    await connectPlatform({ store, directory }, site(), platform, { settings: { ...standinConnections[platform] } }, by);
    const ada = { time: orderTime, value: 44, currency: "EUR", email: "ada@example.com" };
    await writeListedOrders(
      { store, siteId, now },
      [
        { ...ada, orderId: "W-1" },
        { ...ada, orderId: "W-2", value: 45 },
      ],
      "UTC",
    );
    let run = await startRun(store, site(), { from: orderDay, to: orderDay }, by);
    while (run.state === "running") run = (await stepRun({ store, timeZone: "UTC", limit: 10, now }, run)) ?? run;
    expect(run.tally).toMatchObject({ classes: { missing_here: 2 } });

    // It happened on that day, and its sender reports it without an order id, days later.
    const person = hashPerson({ email: readEmail("ada@example.com") ?? expect.unreachable("an address") });
    const time = Date.parse(orderTime) - 1000;
    await store.events.accept(newEvent(siteId, { orderId: null, value: 44, currency: "EUR", person, time, receivedAt: now }));
    const send = (withSimilar?: boolean) => sendMissing({ store, site: site(), by }, run, { after: "", withSimilar });
    expect(await send()).toMatchObject({ sent: 1, similar: 1, next: null });
    expect(await send(true)).toMatchObject({ sent: 1, similar: 0, receivedSince: 1, next: null });
  });
});
