// Senders report one repayment in several ways, in any order. However they do, what is refunded of an order is counted once, and is
// never more than the order was worth.

import { beforeAll, describe, expect, test } from "vitest";
import { chargebee, lemonsqueezy, paddle, shopify, stripe, woocommerce } from "../../standins/senders/payments.ts";
import { createSender, type Message, type Sender } from "../../standins/senders/sender.ts";
import { sheetOf, type SenderId } from "../../standins/senders/sheets.ts";
import { dayMs } from "../../src/kernel/time.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { engines, eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { newFacts, secretsOf, settingsOf, stories, type Facts, type Story } from "./stories.ts";

type Repaid = {
  sender: SenderId;
  how: string;
  /** After the sale. */
  reports: (facts: Facts, part: (value: number) => Facts) => readonly Message[];
  /** What counts where they come in this order; 49.90 in all, as the order was worth. */
  refunds: readonly number[];
};

const repaid: readonly Repaid[] = [
  {
    sender: "shopify",
    how: "cancelled first, and refunded by hand later",
    reports: (facts) => [shopify.cancelled(facts, "paid"), shopify.refund(facts, `${facts.n}1`)],
    refunds: [49.9],
  },
  {
    sender: "shopify",
    how: "cancelled first, and refunded in two parts",
    reports: (facts, part) => [
      shopify.cancelled(facts, "paid"),
      shopify.refund(part(10), `${facts.n}1`),
      shopify.refund(part(39.9), `${facts.n}2`),
    ],
    refunds: [49.9],
  },
  {
    sender: "shopify",
    how: "refunded in part, and cancelled before the shop knows of it",
    reports: (facts, part) => [
      shopify.refund(part(10), `${facts.n}1`),
      shopify.cancelled(facts, "paid"),
      shopify.refund(part(39.9), `${facts.n}2`),
    ],
    refunds: [10, 39.9],
  },
  {
    sender: "shopify",
    how: "refunded, and cancelled then",
    reports: (facts) => [shopify.refund(facts, `${facts.n}1`), shopify.cancelled(facts, "refunded")],
    refunds: [49.9],
  },
  {
    sender: "shopify",
    how: "refunded in two parts, which are more than the order",
    reports: (facts, part) => [shopify.refund(part(40), `${facts.n}1`), shopify.refund(part(40), `${facts.n}2`)],
    refunds: [40, 9.9],
  },
  {
    sender: "woocommerce",
    how: "cancelled first, and refunded by hand later",
    reports: (facts) => [woocommerce.order(facts, "cancelled"), woocommerce.order(facts, "cancelled", [49.9])],
    refunds: [49.9],
  },
  {
    sender: "woocommerce",
    how: "cancelled first, and refunded in two parts",
    reports: (facts) => [[], [10], [10, 39.9]].map((refunds) => woocommerce.order(facts, "cancelled", refunds)),
    refunds: [49.9],
  },
  {
    sender: "woocommerce",
    how: "refunded in part, and cancelled with the rest not refunded yet",
    reports: (facts) => [
      woocommerce.order(facts, "completed", [10]),
      woocommerce.order(facts, "cancelled", [10]),
      woocommerce.order(facts, "cancelled", [10, 39.9]),
    ],
    refunds: [10, 39.9],
  },
  {
    sender: "woocommerce",
    how: "refunded in parts, the last of which makes the order a refunded one",
    reports: (facts) => [woocommerce.order(facts, "completed", [10]), woocommerce.order(facts, "refunded", [10, 39.9])],
    refunds: [10, 39.9],
  },
  {
    sender: "woocommerce",
    how: "set to refunded before the refund is made",
    reports: (facts) => [woocommerce.order(facts, "refunded"), woocommerce.order(facts, "refunded", [49.9])],
    refunds: [49.9],
  },
  {
    sender: "stripe",
    how: "refunded three times, each with the sum so far",
    reports: (_facts, part) => [stripe.refund(part(10), 0), stripe.refund(part(15), 10), stripe.refund(part(49.9), 15)],
    refunds: [10, 5, 34.9],
  },
  {
    sender: "paddle",
    how: "refunded by two adjustments, each reported twice, and cancelled",
    reports: (facts, part) => [
      paddle.refund(part(10), `${facts.n}1`, "approved"),
      paddle.refund(part(39.9), `${facts.n}2`, "pending_approval"),
      paddle.refund(part(39.9), `${facts.n}2`, "approved"),
      paddle.cancelled(facts),
    ],
    refunds: [10, 39.9],
  },
  {
    sender: "chargebee",
    how: "refunded in two parts, with a credit note for each, and the invoice voided",
    reports: (facts, part) => [
      chargebee.refund(part(10), `${facts.n}1`),
      chargebee.creditNote(part(10), `${facts.n}1`),
      chargebee.refund(part(39.9), `${facts.n}2`),
      chargebee.creditNote(part(39.9), `${facts.n}2`),
      chargebee.voided(facts),
    ],
    refunds: [10, 39.9],
  },
  {
    sender: "lemonsqueezy",
    how: "refunded in two parts, each with the sum so far",
    reports: (facts, part) => [lemonsqueezy.refund(part(10)), lemonsqueezy.refund({ ...facts, at: facts.at + 1000 }, 49.9)],
    refunds: [10, 39.9],
  },
];

type Uncounted = { sender: SenderId; what: string; refund: (facts: Facts) => Message; orderId: (n: string) => string };

/** The message with other fields at a path in its body. */
const withFields = (message: Message, path: readonly string[], fields: object): Message => ({
  ...message,
  body: (attempt) => {
    const body = structuredClone(message.body(attempt));
    let place = body as Record<string, never>;
    for (const name of path) place = place[name] as never;
    Object.assign(place, fields);
    return body;
  },
});

/** All of them name the buyer. */
const uncounted: readonly Uncounted[] = [
  {
    sender: "stripe",
    what: "a renewal that the source leaves out",
    refund: (facts) =>
      withFields(stripe.refund(facts, 0), ["data", "object"], {
        description: "Subscription update",
        billing_details: { email: facts.email },
      }),
    orderId: (n) => `pi_${n}`,
  },
  {
    sender: "lemonsqueezy",
    what: "a renewal that the source leaves out",
    refund: (facts) =>
      withFields(
        withFields(lemonsqueezy.refund(facts), ["meta"], { event_name: "subscription_payment_refunded" }),
        ["data", "attributes"],
        { billing_reason: "renewal" },
      ),
    orderId: (n) => `invoice-${n}`,
  },
  {
    sender: "chargebee",
    what: "a renewal that the source leaves out",
    refund: (facts) => withFields(chargebee.refund(facts, `${facts.n}1`), ["content", "invoice"], { first_invoice: false }),
    orderId: (n) => `inv_${n}`,
  },
  {
    sender: "woocommerce",
    what: "an old order that changes, and was never received,",
    refund: (facts) => woocommerce.order({ ...facts, at: Date.now() - 100 * dayMs }, "completed", [10]),
    orderId: (n) => n,
  },
];

describe.each(engines)("an order on %s is refunded once", (engine) => {
  let home: Installation;
  let relays: Relay[];
  let receiver: Receiver;
  let site: TestSite;
  const sources = new Map<SenderId, { id: string; address: string }>();
  const ofUncounted = new Map<SenderId, { id: string; address: string }>();
  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation(engine, { CLEANCAST_RETRY_SECONDS: "1,1,2,5" });
    site = await home.addSite("shop.example");
    await home.run("connection", "add", site.host, "webhook", `url=${receiver.url}/shop`);
    for (const sender of new Set(repaid.map((one) => one.sender))) {
      const { source, address } = await home.run(
        "source",
        "add",
        site.host,
        sheetOf(sender).kind,
        ...settingsOf(storyOf(sender)),
      );
      sources.set(sender, { id: source.id, address });
    }
    // Their requests wait for days: the other tests have sources of their own.
    for (const { sender } of uncounted) {
      const { source, address } = await home.run(
        "source",
        "add",
        site.host,
        sheetOf(sender).kind,
        ...settingsOf(storyOf(sender)),
      );
      ofUncounted.set(sender, { id: source.id, address });
    }
    relays = [await home.start(), ...(engine === "postgres" ? [await home.start()] : [])];
  });

  const storyOf = (id: SenderId): Story => stories.find(({ sender }) => sender === id) as Story;
  const sendersOf = (id: SenderId): Sender[] =>
    relays.map(({ url: at }) => {
      const url = sources.get(id)?.address ?? "";
      return createSender(sheetOf(id), { url, at, secrets: secretsOf(storyOf(id)), patience: 20 });
    });

  async function sendAll(sender: Sender, messages: readonly Message[]): Promise<void> {
    for (const message of messages) expect((await sender.send(message)).state).toBe("delivered");
  }

  async function nothingWaits(id: SenderId): Promise<void> {
    await eventually(`nothing of ${id} waits`, async () => {
      const { requests } = await home.run("source", "show", sources.get(id)?.id ?? "");
      return !requests.items.some(({ outcome }: { outcome: string }) => outcome === "waiting");
    });
  }

  /** The values of the refunds that are counted. All of them are sent, and nothing else is. */
  async function refundsOf(orderId: string): Promise<number[]> {
    const { items } = await home.run("event", "list", site.host, "--order", orderId);
    expect(items.filter(({ event }: { event: string }) => event === "purchase")).toHaveLength(1);
    const arrived = () => receiver.bodies().filter((body) => body["orderId"] === orderId);
    await eventually("all arrive", () => arrived().length >= items.length);
    expect(arrived()).toHaveLength(items.length);
    const values = arrived().flatMap((body) => (body["event"] === "refund" ? [body["value"] as number] : []));
    return values.toSorted((a, b) => a - b);
  }

  const sumOf = (values: readonly number[]) => Math.round(values.reduce((sum, one) => sum + one, 0) * 100) / 100;

  test.concurrent.each(repaid.map((one) => [`${one.sender}: ${one.how}`, one] as const))(
    "%s",
    async (_, { sender, reports, refunds }) => {
      const { sale, expected } = storyOf(sender);
      const [first] = sendersOf(sender) as [Sender];
      const inTurn = newFacts();
      await sendAll(first, sale(inTurn));
      for (const message of reports(inTurn, (value) => ({ ...inTurn, value }))) {
        await sendAll(first, [message, message]);
        await nothingWaits(sender);
      }
      expect(await refundsOf(expected(inTurn).orderId)).toEqual(refunds.toSorted((a, b) => a - b));

      // In the other order, and all at once at two nodes: then one report may have what another one says.
      const [reversed, atOnce] = [newFacts(), newFacts()];
      await sendAll(first, sale(reversed));
      for (const message of reports(reversed, (value) => ({ ...reversed, value })).toReversed()) {
        await sendAll(first, [message]);
        await nothingWaits(sender);
      }
      await sendAll(first, sale(atOnce));
      const all = reports(atOnce, (value) => ({ ...atOnce, value }));
      await Promise.all(
        [...all, ...all].map((message, i) => sendAll(sendersOf(sender).at(i % relays.length) as Sender, [message])),
      );
      await nothingWaits(sender);
      for (const facts of [reversed, atOnce]) expect(sumOf(await refundsOf(expected(facts).orderId))).toBe(49.9);
    },
  );

  test.concurrent("woocommerce: of two shops with one order number, each refund is of its own customer", async () => {
    const facts = newFacts();
    const [ada, bob] = [facts, { ...facts, email: `bob-${facts.email}`, value: 70 }];
    const senders = await Promise.all(
      [1, 2].map(async () => {
        const story = storyOf("woocommerce");
        const { address: url } = await home.run("source", "add", site.host, "woocommerce", ...settingsOf(story));
        const { url: at } = relays[0] as Relay;
        return createSender(sheetOf("woocommerce"), { url, at, secrets: secretsOf(story), patience: 20 });
      }),
    );
    const [shopOfAda, shopOfBob] = senders as [Sender, Sender];
    const valuesOf = async ({ n, email }: Facts, event: string) => {
      const { items } = await home.run("event", "list", site.host, "--order", n, "--email", email);
      return items.flatMap((one: Record<string, unknown>) => (one["event"] === event ? [one["value"]] : []));
    };
    // Bob's order is the newest one when ada's is refunded.
    await sendAll(shopOfAda, [woocommerce.order(ada, "processing")]);
    await sendAll(shopOfBob, [woocommerce.order(bob, "processing")]);
    await sendAll(shopOfAda, [woocommerce.order(ada, "completed", [10])]);
    await eventually("a part is refunded", async () => (await valuesOf(ada, "refund")).length === 1);
    await sendAll(shopOfAda, [woocommerce.order(ada, "cancelled", [10])]);
    await eventually("the rest is refunded", async () => (await valuesOf(ada, "refund")).length === 2);
    expect((await valuesOf(ada, "refund")).toSorted()).toEqual([10, 39.9]);
    expect(await valuesOf(bob, "purchase")).toEqual([70]);
    expect(await valuesOf(bob, "refund")).toEqual([]);
  });

  test.concurrent.each(uncounted.map((one) => [one.sender, one.what, one] as const))(
    "%s: the refund of %s counts nothing",
    async (id, _what, { refund, orderId }) => {
      const { id: sourceId = "", address: url = "" } = ofUncounted.get(id) ?? {};
      const [relay] = relays as [Relay];
      const sender = createSender(sheetOf(id), { url, at: relay.url, secrets: secretsOf(storyOf(id)), patience: 20 });
      const facts = newFacts();
      await sendAll(sender, [refund(facts)]);
      await eventually("it waits for its order", async () => {
        const { requests } = await home.run("source", "show", sourceId);
        return requests.items.some(
          ({ outcome, reason }: Record<string, string>) => outcome === "waiting" && reason === "unknown order",
        );
      });
      expect((await home.run("event", "list", site.host, "--order", orderId(facts.n))).items).toEqual([]);
    },
  );
});
