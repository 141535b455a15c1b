// A relay is killed again and again while orders arrive. Senders repeat an order until it is answered, as they should: every order
// that was answered with 200 reaches the platform, under one id. KILLS sets the number of kills; `npm run test:long` has 60 in each of four runs.

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { setUpSite } from "../../support/installation.ts";
import { startReceiver } from "../../support/receiver.ts";
import { eventually, newInstallation, type Relay } from "../../support/relay.ts";
import { randomFrom } from "../random.ts";

const kills = Number(process.env["KILLS"] ?? 5);
const runs = Array.from({ length: Number(process.env["KILL_RUNS"] ?? 1) }, (_, run) => run + 1);
const senders = 16;

test.each(runs)(
  `run %i: ${kills} kills while orders arrive lose no order that was answered`,
  { timeout: 3_600_000 },
  async (run) => {
    const seed = Date.now() + run;
    const random = randomFrom(seed);
    const home = await newInstallation("sqlite", { CLEANCAST_RETRY_SECONDS: "0.5" });
    const receiver = await startReceiver();
    /** By order, how often the platform accepted it, and under which ids. */
    const accepted = new Map<string, { times: number; ids: Set<unknown> }>();
    receiver.behave = (got, response) => {
      const { platformEventId, orderId } = JSON.parse(got.text) as { platformEventId: string; orderId: string };
      const known = accepted.get(orderId) ?? { times: 0, ids: new Set() };
      accepted.set(orderId, { times: known.times + 1, ids: known.ids.add(platformEventId) });
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    };
    const { key } = await setUpSite(home, [["webhook", { url: receiver.url }]]);

    let relay: Relay = await home.start();
    let isOver = false;
    let next = 0;
    /** Orders that were answered with 200. */
    const answered = new Set<string>();
    const send = async () => {
      while (!isOver) {
        const orderId = `order-${(next += 1)}`;
        const event = { email: `${orderId}@example.com`, event: "purchase", orderId, value: 10 };
        while (!answered.has(orderId)) {
          const status = await relay.post(key, event).then(
            (answer) => answer.status,
            () => 0,
          );
          if (status === 200) answered.add(orderId);
          // Without an answer the order may be stored or not, and is sent again.
          else if (isOver) return;
          else await sleep(20);
        }
      }
    };
    const sending = Array.from({ length: senders }, send);
    for (let kill = 0; kill < kills; kill += 1) {
      const wanted = answered.size + 1 + random.below(40);
      await eventually("orders are answered", () => answered.size >= wanted);
      await sleep(random.below(150));
      await relay.kill();
      relay = await home.start();
    }
    isOver = true;
    await Promise.all(sending);

    const lost = () => [...answered].filter((order) => !accepted.has(order));
    await eventually("every answered order has reached the platform", () => lost().length === 0);
    const withTwoIds = [...accepted].filter(([, { ids }]) => ids.size > 1);
    const repeated = [...accepted.values()].filter(({ times }) => times > 1).length;
    console.log(`seed ${seed}: ${kills} kills, ${answered.size} orders answered, 0 lost, ${repeated} accepted more than once`);
    expect(withTwoIds).toEqual([]);
    await relay.stop();
    expect(await home.run("check")).toEqual({ ok: true, wrong: [] });
  },
);
