// A relay whose clock runs an hour ahead while its receivers refuse everything. When the clock is corrected and the receivers
// work again, nothing waits for the hour to pass: neither in the same process nor after a restart.

import { describe, expect, test } from "vitest";
import { fakeTimeLibrary, newFakeClock } from "../support/fakeClock.ts";
import { deliveryStates, rows, setUpSite } from "../support/installation.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { engines, eventually, newInstallation, type Relay } from "../support/relay.ts";

const hour = 3600;
const shortTimes = {
  CLEANCAST_RETRY_SECONDS: "0.2",
  CLEANCAST_PUSH_SECONDS: "1",
  CLEANCAST_PUSH_RETRY_SECONDS: "0.2",
};

const refuse = (receiver: Receiver) => {
  receiver.behave = (_got, response) => response.writeHead(503).end();
};
const accept = (receiver: Receiver) => {
  receiver.behave = (_got, response) => response.writeHead(200).end("{}");
};

if (fakeTimeLibrary === null)
  test.skip("an hour ahead, then corrected (libfaketime is not installed: Debian's package is libfaketime)", () => {});
else {
  describe.each(engines)("a clock that ran an hour ahead, on %s", (engine) => {
    test("deliveries and pushes go on when the clock is corrected, and also after a restart", async () => {
      const clock = newFakeClock(fakeTimeLibrary ?? "");
      const [platform, totals] = [await startReceiver(), await startReceiver()];
      const home = await newInstallation(engine, shortTimes);
      const { key } = await setUpSite(home, [["webhook", { url: platform.url }]]);
      await home.run("webhook", "add", "shop.example.com", totals.url);
      let orders = 0;
      const send = async (relay: Relay, count: number) => {
        for (let i = 0; i < count; i++) {
          const event = { email: "ada@example.com", event: "purchase", orderId: `A-${++orders}` };
          expect((await relay.post(key, event)).status).toBe(200);
        }
      };
      /** What the relay has planned for a time that is more than half an hour away. */
      const farAway = async () => {
        const late = Date.now() + (hour * 1000) / 2;
        const [deliveries] = await rows(home, `SELECT COUNT(*) AS n FROM deliveries WHERE due_at > ${late}`);
        const [webhooks] = await rows(home, `SELECT COUNT(*) AS n FROM webhooks WHERE due_at > ${late}`);
        return [Number(deliveries?.n), Number(webhooks?.n)];
      };
      const pushed = () => totals.bodies().reduce((sum, body) => sum + Number(body.conversions), 0);
      const isAllSent = async () => JSON.stringify(await deliveryStates(home)) === `{"sent":${orders}}`;

      const failWhileAhead = async (relay: Relay) => {
        refuse(platform);
        refuse(totals);
        await send(relay, 8);
        await eventually("retries are planned an hour ahead", async () => {
          const [deliveries = 0, webhooks = 0] = await farAway();
          return deliveries >= 8 && webhooks === 1;
        });
      };
      const recover = async (relay: Relay) => {
        accept(platform);
        accept(totals);
        totals.got.length = 0;
        const before = pushed();
        await send(relay, 4);
        await eventually("every conversion is sent", isAllSent);
        await eventually("the totals are pushed", () => pushed() > before);
        expect(await farAway()).toEqual([0, 0]);
      };

      clock.set(hour);
      let relay = await home.start(clock.env);
      await failWhileAhead(relay);
      clock.set(0);
      await eventually("the clock was set", () => relay.output().includes("the system clock was set"));
      await recover(relay);

      await relay.stop();
      clock.set(hour);
      relay = await home.start(clock.env);
      await failWhileAhead(relay);
      await relay.kill();
      clock.set(0);
      relay = await home.start(clock.env);
      await recover(relay);
    });
  });
}
