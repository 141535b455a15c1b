// A relay whose clock runs an hour ahead while its receivers refuse everything. When the clock is corrected and the receivers
// work again, nothing waits for the hour to pass. src/maintenance/dueTimes.test.ts has the same with a restart, on both engines.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { freshFolder } from "../support/databases.ts";
import { deliveryStates, rows, setUpSite } from "../support/installation.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, newInstallation } from "../support/relay.ts";

const hourMs = 3_600_000;
const shiftClock = fileURLToPath(new URL("../support/shiftClock.ts", import.meta.url));

const answerWith = (status: number, ...receivers: Receiver[]) => {
  for (const receiver of receivers) receiver.behave = (_got, response) => response.writeHead(status).end("{}");
};

test("deliveries and pushes go on when the clock of a running relay is corrected by an hour", async () => {
  const clock = join(freshFolder(), "clock");
  const setClock = (aheadMs: number) => writeFileSync(clock, String(aheadMs));
  const [platform, totals] = [await startReceiver(), await startReceiver()];
  const home = await newInstallation("sqlite", {
    CLEANCAST_RETRY_SECONDS: "0.2",
    CLEANCAST_PUSH_SECONDS: "1",
    CLEANCAST_PUSH_RETRY_SECONDS: "0.2",
  });
  const { key } = await setUpSite(home, [["webhook", { url: platform.url }]]);
  await home.run("webhook", "add", "shop.example.com", totals.url);
  setClock(hourMs);
  const relay = await home.start({
    CLEANCAST_TEST_CLOCK: clock,
    NODE_OPTIONS: `${home.env.NODE_OPTIONS ?? ""} --import ${shiftClock}`.trim(),
  });
  let orders = 0;
  const send = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const event = { email: "ada@example.com", event: "purchase", orderId: `A-${++orders}` };
      expect((await relay.post(key, event)).status).toBe(200);
    }
  };
  /** What the relay has planned for a time that is more than half an hour away. */
  const farAway = async () => {
    const late = `due_at > ${Date.now() + hourMs / 2}`;
    const [deliveries] = await rows(home, `SELECT COUNT(*) AS n FROM deliveries WHERE ${late}`);
    const [webhooks] = await rows(home, `SELECT COUNT(*) AS n FROM webhooks WHERE ${late}`);
    return [Number(deliveries?.n), Number(webhooks?.n)];
  };

  answerWith(503, platform, totals);
  await send(6);
  await eventually("retries are planned an hour ahead", async () => {
    const [deliveries = 0, webhooks = 0] = await farAway();
    return deliveries === 6 && webhooks === 1;
  });
  setClock(0);
  answerWith(200, platform, totals);
  totals.got.length = 0;
  await send(2);
  const pushed = () => totals.bodies().reduce((sum, body) => sum + Number(body.conversions), 0);
  await eventually("every conversion is sent", async () => (await deliveryStates(home)).sent === orders);
  await eventually("the totals are pushed", () => pushed() >= orders);
  expect(await farAway()).toEqual([0, 0]);
  expect(relay.output()).toContain("the system clock was set");
});
