// Every strict sender against a real relay: what it reports is counted once, whatever happens on the way, and nothing that it may
// send costs its owner the subscription.

import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { calcom, calendly, hubspot, pipedrive } from "../../standins/senders/leads.ts";
import { lemonsqueezy, stripe, woocommerce } from "../../standins/senders/payments.ts";
import { createSender, type Message, type Sender } from "../../standins/senders/sender.ts";
import { dayMs, hourMs } from "../../standins/senders/sheet.ts";
import { sheetOf, type SenderId } from "../../standins/senders/sheets.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { engines, eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { newFacts, secretsOf, settingsOf, stories, type Facts, type Story } from "./stories.ts";

type Listed = { id: string; event: string; orderId: string; value: number | null; currency: string | null };

/** A request of these is made once, whatever becomes of it. */
const withoutRetries: readonly SenderId[] = ["woocommerce", "calcom", "jotform", "callrail"];

/** The longest that can be set. A relay that gets no processor for 0.45 of it asks for a repeat, with any request. */
const answerSeconds = 120;
const lateMs = answerSeconds * 440;

describe.each(engines)("senders on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  let site: TestSite;
  /** The sources of all stories, in their order. */
  let sources: { id: string; address: string }[] = [];

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation(engine, {
      CLEANCAST_RETRY_SECONDS: "1,1,2,5",
      CLEANCAST_ANSWER_SECONDS: String(answerSeconds),
      CLEANCAST_ATTEMPT_SECONDS: "30",
      CLEANCAST_LEASE_SECONDS: "200",
    });
    site = await home.addSite("shop.example", "conversions_without_email=on");
    await home.run("connection", "add", site.host, "webhook", `url=${receiver.url}/shop`);
    for (const story of stories) {
      const { source, address } = await home.run("source", "add", site.host, sheetOf(story.sender).kind, ...settingsOf(story));
      sources.push({ id: source.id, address });
    }
    relay = await home.start();
  });

  /** A sender that has its source's address and secret; `at` is where the address leads. */
  function senderOf(story: Story, at = relay.url): Sender {
    const { address } = sources[stories.indexOf(story)] ?? { address: "" };
    return createSender(sheetOf(story.sender), { url: address, at, secrets: secretsOf(story), patience: 20 });
  }
  const storyOf = (id: SenderId): Story => stories.find(({ sender }) => sender === id) as Story;

  const listed = async (orderId: string): Promise<Listed[]> =>
    (await home.run("event", "list", site.host, "--order", orderId)).items;

  /** The sale is stored once, as the sender reported it. */
  async function expectOnce(story: Story, facts: Facts): Promise<void> {
    const { value, currency, ...rest } = story.expected(facts);
    const expected = { ...rest, ...(value !== null && { value, currency }) };
    expect(await listed(rest.orderId)).toEqual([expect.objectContaining(expected)]);
  }

  /** Nothing waits for another request, or for the refunds before it. */
  async function expectSettled(story: Story): Promise<void> {
    const id = sources[stories.indexOf(story)]?.id ?? "";
    await eventually(`nothing of ${story.sender} waits`, async () => {
      const { requests } = await home.run("source", "show", id);
      return !requests.items.some(({ outcome }: { outcome: string }) => outcome === "waiting");
    });
  }

  /** The sale is counted once, and so is each refund. Of sums the later may overtake the earlier one: then it is a single refund. */
  async function expectSaleAndRefunds(story: Story, facts: Facts): Promise<Listed[]> {
    const { orderId, event } = story.expected(facts);
    const isRefund = (one: Listed) => one.event === "refund";
    const refunded = (all: readonly Listed[]) => all.filter(isRefund).reduce((sum, { value }) => sum + (value ?? 0), 0);
    await eventually(`the events of ${orderId}`, async () => {
      const all = await listed(orderId);
      return all.some((one) => one.event === event) && (!story.refunds || refunded(all) >= 15);
    });
    await expectSettled(story);
    const all = await listed(orderId);
    expect(
      all.filter((one) => !isRefund(one)).map((one) => one.event),
      story.sender,
    ).toEqual([event]);
    if (story.refundsAreSums) expect(refunded(all), story.sender).toBe(15);
    else {
      const values = all.filter(isRefund).map(({ value }) => value ?? 0);
      expect(
        values.toSorted((a, b) => a - b),
        story.sender,
      ).toEqual(story.refunds ? [5, 10] : []);
    }
    return all;
  }

  async function sendAll(sender: Sender, messages: readonly Message[]): Promise<void> {
    for (const message of messages) {
      const { attempts, state } = await sender.send(message);
      expect({ attempts, state }).toEqual({ attempts: [200], state: "delivered" });
    }
  }

  test.each(stories.map((story) => [story.sender, story] as const))(
    "a sale of %s is taken at once, and delivered once",
    async (_, story) => {
      const facts = newFacts();
      await sendAll(senderOf(story), story.sale(facts));
      await expectOnce(story, facts);
      const { orderId, event } = story.expected(facts);
      const arrived = () => receiver.bodies().filter((body) => body["orderId"] === orderId);
      await eventually("it arrives", () => arrived().length > 0);
      expect(arrived()).toEqual([expect.objectContaining({ event })]);
    },
  );

  test.each(stories.filter(({ refunds }) => refunds).map((story) => [story.sender, story] as const))(
    "two partial refunds of %s count with their own amounts, and repeats of them do not",
    async (_, story) => {
      const facts = newFacts();
      const sender = senderOf(story);
      const refunds = story.refunds?.(facts) ?? [];
      await sendAll(sender, [...story.sale(facts), ...refunds, ...refunds]);
      const events = await expectSaleAndRefunds(story, facts);
      expect(events.map(({ event, value }) => `${event} ${value}`).toSorted()).toEqual([
        "purchase 49.9",
        "refund 10",
        "refund 5",
      ]);
    },
  );

  test("amounts of a currency without cents are whole", async () => {
    const story = storyOf("stripe");
    const facts = newFacts({ value: 500, currency: "JPY" });
    await sendAll(senderOf(story), story.sale(facts));
    await expectOnce(story, facts);
  });

  test("while a source is paused its sender tries again, and the sale counts once", async () => {
    for (const { id } of sources) await home.run("source", "pause", id);
    const sent: { story: Story; facts: Facts; sender: Sender; message: Message | undefined }[] = [];
    for (const story of stories) {
      const facts = newFacts();
      const sender = senderOf(story);
      const [message] = story.sale(facts).toSpliced(0, story.sender === "woocommerce" ? 1 : 0);
      sent.push({ story, facts, sender, message });
      const status = story.sender === "gohighlevel" ? 429 : 503;
      // Other nodes learn of the pause a moment later.
      await eventually(`${story.sender} is paused`, async () => {
        const [answered] = (await senderOf(story).send({ body: () => ({}) })).attempts;
        return answered === status;
      });
      expect((await sender.send(message as Message)).attempts).toEqual([status]);
    }
    for (const { id } of sources) await home.run("source", "resume", id);
    for (const { story, facts, sender, message } of sent) {
      await eventually(`${story.sender} is active`, async () => {
        const [answered] = (await senderOf(story).send({ body: () => ({}) })).attempts;
        return answered === 200;
      });
      await sender.advance(12 * hourMs);
      const isLost = withoutRetries.includes(story.sender);
      // Some need a second event for a sale.
      for (const rest of isLost ? [] : story.sale(facts).filter((one) => one !== message)) await sender.send(rest);
      if (isLost) expect(await listed(story.expected(facts).orderId)).toEqual([]);
      else await expectOnce(story, facts);
      expect(sender.state()).toBe("active");
    }
  });

  describe("with connections that break before the answer", () => {
    let hits = 0;
    /** Passes requests on, and hangs up on every second one when the relay has answered. */
    const proxy = createServer((request, response) => {
      const own = hits++;
      const outgoing = forward(
        new URL(request.url ?? "", relay.url),
        { method: request.method, headers: request.headers, agent: false },
        (answer) => {
          if (own % 2 === 0) {
            answer.resume();
            answer.on("end", () => request.socket.destroy());
          } else {
            response.writeHead(answer.statusCode ?? 0, answer.headers);
            answer.pipe(response);
          }
        },
      );
      request.pipe(outgoing);
    });
    beforeAll(() => new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve)));
    afterAll(() => {
      proxy.closeAllConnections();
      proxy.close();
    });

    test.each(stories.map((story) => [story.sender, story] as const))("a sale of %s counts once", async (_, story) => {
      const facts = newFacts();
      const sender = senderOf(story, `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
      for (const message of story.sale(facts)) {
        hits = 0;
        expect((await sender.send(message)).attempts).toEqual([null]);
        await sender.advance(hourMs);
      }
      await expectOnce(story, facts);
    });
  });

  test("checkout and first invoice of a subscription are one sale, in any order and at once", async () => {
    const sender = senderOf(storyOf("stripe"));
    for (const order of [0, 1, 2]) {
      const facts = newFacts();
      const both = [stripe.checkout(facts, `in_${facts.n}`), stripe.firstInvoice(facts, `in_${facts.n}`)];
      if (order < 2) await sendAll(sender, order === 0 ? both : both.toReversed());
      else await Promise.all([...both, ...both].map((message) => sendAll(sender, [message])));
      expect(await listed(`in_${facts.n}`)).toEqual([expect.objectContaining({ event: "purchase", value: 49.9 })]);
    }
    const facts = newFacts();
    await sendAll(senderOf(storyOf("lemonsqueezy")), [lemonsqueezy.firstPayment(facts), lemonsqueezy.order(facts)]);
    expect(await listed(facts.n)).toHaveLength(1);
  });

  test("a meeting that is moved twice counts once, and its cancellation is a refund of that one", async () => {
    const facts = newFacts();
    const sender = senderOf(storyOf("calendly"));
    const [second, third] = [
      { ...facts, n: `${facts.n}b` },
      { ...facts, n: `${facts.n}c` },
    ];
    const moves = [...calendly.rescheduled(facts, second.n), ...calendly.rescheduled(second, third.n)];
    await sendAll(sender, [calendly.booked(facts), ...moves, ...moves]);
    expect(await listed(facts.n)).toHaveLength(1);
    const single = newFacts();
    await sendAll(sender, [calendly.cancelled(third), calendly.booked(single), calendly.cancelled(single)]);
    await expectSettled(storyOf("calendly"));
    for (const { n } of [second, third]) expect(await listed(n)).toEqual([]);
    for (const { n } of [facts, single])
      expect((await listed(n)).map(({ event }) => event).toSorted()).toEqual(["refund", "schedule"]);

    const booking = newFacts();
    const [moved, again] = [{ ...booking, n: `${booking.n}1` }, `${booking.n}2`];
    await sendAll(senderOf(storyOf("calcom")), [
      calcom.booked(booking),
      calcom.rescheduled(booking, moved.n),
      calcom.rescheduled(moved, again),
    ]);
    expect(await listed(`booking${booking.n}`)).toHaveLength(1);
    for (const n of [moved.n, again]) expect(await listed(`booking${n}`)).toEqual([]);
  });

  test.each(stories.map((story) => [story.sender, story] as const))(
    "a storm of repeats of %s counts once, and each is answered with 200",
    async (_, story) => {
      const facts = newFacts();
      const sender = senderOf(story);
      const messages = [...story.sale(facts), ...(story.refunds?.(facts) ?? [])];
      // Nothing comes in order: a sale waits for its customer, and a refund for its sale.
      const storm = Array.from({ length: 10 }, () => messages).flat();
      const sendOne = async (message: Message): Promise<void> => {
        const began = performance.now();
        const { attempts, state } = await sender.send(message);
        const isLate = performance.now() - began >= lateMs;
        if (!isLate) expect({ attempts, state }).toEqual({ attempts: [200], state: "delivered" });
        else if (state !== "delivered") await sendOne(message);
      };
      await Promise.all(storm.toReversed().map(sendOne));
      expect(sender.state()).toBe("active");
      await expectSaleAndRefunds(story, facts);
    },
  );

  test("a person at Pipedrive finds all deals, and deals without a value or a known person cost no ban", async () => {
    const sender = senderOf(storyOf("pipedrive"));
    for (let i = 0; i < 12; i++) await sendAll(sender, [pipedrive.won(newFacts(), i % 2 ? null : 0)]);
    expect(sender.state()).toBe("active");
    const facts = newFacts();
    await sendAll(sender, [pipedrive.person(facts), pipedrive.won(facts, null)]);
    expect(await listed(facts.n)).toEqual([expect.objectContaining({ event: "purchase" })]);
  });

  test("a hundred changes of a HubSpot app in one request are answered once, and listed", async () => {
    const story = storyOf("hubspot v1");
    const sender = senderOf(story);
    const changes = Array.from({ length: 100 }, () => newFacts());
    await sendAll(sender, [hubspot.changes(changes), hubspot.changes(changes, { name: "amount", value: "12" })]);
    const source = sources[stories.indexOf(story)]?.id ?? "";
    await eventually("they are listed", async () => {
      const { requests } = await home.run("source", "show", source);
      return requests.items.some(({ reason }: { reason: string }) => reason === "needs a lookup");
    });
  });

  test("orders that WooCommerce reports before they are paid cost no subscription", async () => {
    const sender = senderOf(storyOf("woocommerce"));
    const facts = newFacts();
    const early = ["pending", "on-hold", "failed", "trash", "draft", "pending", "pending"];
    await sendAll(
      sender,
      early.map((status) => woocommerce.order(facts, status)),
    );
    expect(sender.state()).toBe("active");
    expect(await listed(facts.n)).toEqual([]);
  });

  test.each(stories.map((story) => [story.sender, story] as const))(
    "nothing that %s may send ends its subscription",
    async (_, story) => {
      const sender = senderOf(story);
      const odd: unknown[] = [
        {},
        [],
        "",
        "null",
        "0",
        '"text"',
        "{",
        { type: null, data: { object: [] } },
        { payload: 1 },
        "<a>",
        "a=b",
      ];
      for (const body of odd) {
        const { attempts } = await sender.send({ body: () => body });
        expect(attempts, JSON.stringify(body)).toEqual([200]);
      }
      await sender.advance(4 * dayMs);
      expect(sender.state()).toBe("active");
    },
  );

  if (engine === "postgres")
    test("two nodes that get the same requests at once, in any order, count each sale and each refund once", async () => {
      const other = await home.start();
      const facts = stories.map(() => newFacts());
      await Promise.all(
        stories.map(async (story, i) => {
          const own = facts[i] as Facts;
          const messages = [...story.sale(own), ...(story.refunds?.(own) ?? [])];
          // What one request needs of another may come after it, and at another node.
          const orders = [messages, messages.toReversed(), messages.toReversed(), messages];
          const senders = [senderOf(story), senderOf(story, other.url)];
          await Promise.all(orders.map((some, k) => sendAll(senders[k % 2] as Sender, some)));
        }),
      );
      for (const [i, story] of stories.entries()) {
        const own = facts[i] as Facts;
        const all = await expectSaleAndRefunds(story, own);
        const { orderId } = story.expected(own);
        const arrived = () => receiver.bodies().filter((body) => body["orderId"] === orderId);
        await eventually("all arrive", () => arrived().length >= all.length);
        expect(arrived()).toHaveLength(all.length);
      }
      expect(await other.stop()).toBe(0);
    });
});
