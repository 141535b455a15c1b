// A relay that is killed while senders' webhooks arrive loses none that it answered, and counts none twice when they are repeated.

import { createHmac } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { call, engines, eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";

const secret = "whsec_a-secret";
const rounds = 4;
const perRound = 25;

describe.each(engines)("sources on %s under kill -9", (engine) => {
  let home: Installation;
  let receiver: Receiver;
  let site: TestSite;
  let path: string;

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation(engine, {
      CLEANCAST_LEASE_SECONDS: "15",
      CLEANCAST_ANSWER_SECONDS: "8",
      CLEANCAST_ATTEMPT_SECONDS: "5",
    });
    site = await home.addSite("shop.example");
    await home.run("connect", site.host, "webhook", `url=${receiver.url}/shop`);
    const { address } = await home.run("source", "add", site.host, "stripe", `signing_secret=${secret}`);
    path = new URL(address).pathname;
  });

  const body = (id: number) =>
    JSON.stringify({
      id: `evt_${id}`,
      type: "checkout.session.completed",
      created: Math.floor(Date.now() / 1000),
      livemode: true,
      data: {
        object: {
          id: `cs_${id}`,
          payment_status: "paid",
          amount_total: 100 + id,
          currency: "eur",
          payment_intent: `pi_${id}`,
          customer: `cus_${id}`,
          customer_details: { email: `person-${id}@example.com` },
        },
      },
    });

  /** Returns the status; 0 where the connection broke. */
  async function send(relay: Relay, text: string): Promise<number> {
    const at = Math.floor(Date.now() / 1000);
    const signature = createHmac("sha256", secret).update(`${at}.${text}`).digest("hex");
    const headers = { host: site.host, "content-type": "application/json", "stripe-signature": `t=${at},v1=${signature}` };
    return call(relay.url, { method: "POST", path, headers, body: text }).then(
      ({ status }) => status,
      () => 0,
    );
  }

  test("every payment is counted exactly once", async () => {
    const texts = Array.from({ length: rounds * perRound }, (_, i) => body(i));
    const answered = new Set<number>();
    const unanswered = () => texts.map((_, i) => i).filter((i) => !answered.has(i));
    /** The sender repeats everything that was not answered with 200, as it was. */
    const sendSome = (relay: Relay, some: readonly number[]) =>
      Promise.all(some.map(async (i) => ((await send(relay, texts[i] ?? "")) === 200 ? answered.add(i) : answered)));
    for (let round = 0; round < rounds; round++) {
      const relay = await home.start();
      const before = answered.size;
      const sent = sendSome(relay, unanswered().slice(0, perRound));
      // Killed when none, five, ten … of them are answered, and others under way.
      await eventually("some are answered", () => answered.size >= before + round * 5);
      await relay.kill();
      await sent;
    }
    const relay = await home.start();
    await eventually("all are answered", async () => {
      await sendSome(relay, unanswered());
      return unanswered().length === 0;
    });
    await eventually("all are delivered", () => new Set(receiver.bodies().map((one) => one["orderId"])).size === texts.length);
    const { items } = await home.run("event", "list", site.host, "--limit", "200");
    const orders = items.map(({ orderId }: { orderId: string }) => orderId);
    expect(orders.toSorted()).toEqual(texts.map((_, i) => `pi_${i}`).toSorted());
    await relay.stop();
  });
});
