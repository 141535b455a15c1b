// A relay that is killed while senders' webhooks arrive loses none that it answered, and counts none twice when they are repeated:
// neither what is complete at once nor what waits for another request of its sender.

import { beforeAll, describe, expect, test } from "vitest";
import { prepare, type Message } from "../../standins/senders/sender.ts";
import { sheetOf } from "../../standins/senders/sheets.ts";
import { newFacts, secretsOf, settingsOf, stories, type Story } from "../sources/stories.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { call, engines, eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";

/** Stripe's checkouts are complete, a deal of Pipedrive waits for its person, and refunds of both shops for their orders. */
const told = stories.filter(({ sender }) => ["stripe", "pipedrive", "shopify"].includes(sender));
const salesOfEach = 12;
const rounds = 6;

describe.each(engines)("sources on %s under kill -9", (engine) => {
  let home: Installation;
  let receiver: Receiver;
  let site: TestSite;
  const addresses = new Map<Story, string>();

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation(engine, {
      CLEANCAST_LEASE_SECONDS: "15",
      CLEANCAST_ANSWER_SECONDS: "8",
      CLEANCAST_ATTEMPT_SECONDS: "5",
      CLEANCAST_RETRY_SECONDS: "1,1,2,5",
    });
    site = await home.addSite("shop.example", "conversions_without_email=on");
    await home.run("connection", "add", site.host, "webhook", `url=${receiver.url}/shop`);
    for (const story of told) {
      const { address } = await home.run("source", "add", site.host, sheetOf(story.sender).kind, ...settingsOf(story));
      addresses.set(story, address);
    }
  });

  /** Returns the status; 0 where the connection broke. */
  async function send(relay: Relay, story: Story, { body, headers }: Message): Promise<number> {
    const how = { url: addresses.get(story) ?? "", secrets: secretsOf(story), headers };
    const sent = prepare(sheetOf(story.sender), body(1), how);
    return call(relay.url, { method: "POST", path: new URL(sent.url).pathname, headers: sent.headers, body: sent.body }).then(
      ({ status }) => status,
      () => 0,
    );
  }

  test("every sale and every refund is counted exactly once", async () => {
    const sales = told.flatMap((story) => Array.from({ length: salesOfEach }, () => ({ story, facts: newFacts() })));
    // The worst order: what is needed comes last, after all that waits for it.
    const messages = sales.flatMap(({ story, facts }) =>
      [...story.sale(facts), ...(story.refunds?.(facts) ?? [])].map((message, step) => ({ story, message, step })),
    );
    const left = new Set(messages.toSorted((one, other) => other.step - one.step));
    /** The sender repeats everything that was not answered with 200, as it was. */
    const sendSome = (relay: Relay, some: readonly (typeof messages)[number][]) =>
      Promise.all(some.map(async (one) => (await send(relay, one.story, one.message)) === 200 && left.delete(one)));
    const perRound = Math.ceil(messages.length / rounds);
    for (let round = 0; round < rounds; round++) {
      const relay = await home.start();
      const some = [...left].slice(0, perRound);
      const enough = left.size - Math.min(round * 3, perRound);
      let isUp = true;
      // Also those that a starved relay asked to repeat.
      const sendAgain = async () => {
        do
          await sendSome(
            relay,
            some.filter((one) => left.has(one)),
          );
        while (isUp && left.size > enough);
      };
      const sent = sendAgain();
      // Killed when none, three, six … of them are answered, and others under way, or what waits is looked at.
      await eventually("some are answered", () => left.size <= enough);
      isUp = false;
      await relay.kill();
      await sent;
    }
    let relay = await home.start();
    await eventually("all are answered", async () => {
      await sendSome(relay, [...left]);
      return left.size === 0;
    });
    // What waited is being ended just now.
    await relay.kill();
    relay = await home.start();
    const keyOf = (one: { orderId: string; event: string }) => `${one.orderId} ${one.event}`;
    const wanted = sales.flatMap(({ story, facts }) => {
      const { orderId, event } = story.expected(facts);
      return [event, ...(story.refunds ? ["refund", "refund"] : [])].map((name) => keyOf({ orderId, event: name }));
    });
    const listed = async (): Promise<string[]> =>
      (await home.run("event", "list", site.host, "--limit", "200")).items.map(keyOf).toSorted();
    await eventually("all are stored", async () => (await listed()).length >= wanted.length);
    expect(await listed()).toEqual(wanted.toSorted());
    const arrived = () => new Set(receiver.bodies().map(({ orderId, event, value }) => JSON.stringify([orderId, event, value])));
    await eventually("all are delivered", () => arrived().size >= wanted.length);
    expect(arrived().size).toBe(wanted.length);
    await relay.stop();
  });
});
