import { describe, expect, test } from "vitest";
import { startReceiver } from "../support/receiver.ts";
import { engines, eventually, newInstallation } from "../support/relay.ts";
import { change, deliveryStates, setUpSite } from "../support/installation.ts";

describe.each(engines)("a backlog on %s", (engine) => {
  test("a backlog is sent as fast as its lanes allow once the platform is back", async () => {
    const total = 1024;
    const home = await newInstallation(engine, { CLEANCAST_RETRY_SECONDS: "3600" });
    const receiver = await startReceiver();
    const { key } = await setUpSite(home, [["webhook", { url: receiver.url }]]);
    const relay = await home.start();
    receiver.behave = (_got, response) => response.writeHead(503).end();
    await Promise.all(
      Array.from({ length: total }, (_, n) =>
        relay.post(key, { email: `p${n}@example.com`, event: "lead", orderId: `order-${n}` }),
      ),
    );
    expect(await deliveryStates(home)).toEqual({ queued: total });

    // 32 lanes of 100 ms each take a few seconds for all. A node that polled once a second would take 32.
    receiver.behave = (_got, response) => void setTimeout(() => response.writeHead(200).end(), 100);
    await change(home, `UPDATE deliveries SET due_at = 0`);
    const before = receiver.got.length;
    await eventually("the first delivery arrives", () => receiver.got.length > before);
    await eventually("all deliveries are sent", async () => (await deliveryStates(home)).sent === total);
    const first = receiver.got[before]?.at ?? 0;
    const last = receiver.got.at(-1)?.at ?? 0;
    expect(last - first).toBeLessThan(30_000);
    await relay.stop();
  });
});
