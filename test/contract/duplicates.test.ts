// The accept step: the same event received twice is processed once.

import { beforeAll, describe, expect, test } from "vitest";
import { orderEventId } from "../../src/kernel/ids.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { engines, eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { accepted, deduped, summarize } from "./answers.ts";

const processed = (event = "purchase") => accepted(event, { webhook: { ok: true } });

const withOrder = (orderId: string, changes: Record<string, unknown> = {}) => ({
  email: "ada@example.com",
  event: "purchase",
  orderId,
  value: 10,
  currency: "EUR",
  ...changes,
});

const sale = (changes: Record<string, unknown> = {}) => ({
  email: "no-order@example.com",
  event: "purchase",
  value: 10,
  currency: "EUR",
  ...changes,
});

describe.each(engines)("duplicates on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  let site: TestSite;
  let neighbour: TestSite;
  let shortWindow: TestSite;
  let testKey: string;
  let secondKey: string;

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation(engine);
    site = await home.addSite("shop.example");
    neighbour = await home.addSite("neighbour.example");
    shortWindow = await home.addSite("short-window.example", "dedup_order=2s", "dedup_no_order=1s");
    testKey = (await home.run("key", "add", site.host, "try", "--test")).key;
    secondKey = (await home.run("key", "add", site.host, "second integration")).key;
    for (const { host } of [site, neighbour, shortWindow]) {
      await home.run("connection", "add", host, "webhook", `url=${receiver.url}/${host}`);
    }
    relay = await home.start();
  });

  const send = async (event: Record<string, unknown>, key = site.key) => summarize(await relay.post(key, event));
  /** Returns the conversions that the receiver got for an order. */
  const arrived = (orderId: string) => receiver.bodies().filter((body) => body.orderId === orderId);

  test("an address in an order id or event name is masked, and duplicates stay exact", async () => {
    const order = (name: string) => `visit ${name}@plain-mail.example 7`;
    const event = "lead of vera@plain-mail.example";
    expect(await send(withOrder(order("vera"), { event }))).toEqual(processed(event));
    expect(await send(withOrder(order("vera"), { event }))).toEqual(deduped);
    expect(await send(withOrder(order("Vera"), { event }))).toEqual(deduped);
    expect(await send(withOrder(order("olga"), { event }))).toEqual(processed(event));
    const other = "lead of olga@plain-mail.example";
    expect(await send(withOrder(order("vera"), { event: other }))).toEqual(processed(other));
    const got = receiver.bodies().filter((body) => /^visit email-[0-9a-f]{16} 7$/.test(String(body.orderId)));
    expect(got).toHaveLength(3);
    expect(new Set(got.map((body) => body.orderId)).size).toBe(2);
    expect(JSON.stringify(receiver.bodies())).not.toContain("plain-mail");
    // The browser computes the same id from the texts that the shop knows.
    expect(got[0]?.platformEventId).toBe(orderEventId(site.id, event, order("vera")));
    const { items: events } = await home.run("event", "list", site.host, "--order", order("vera"));
    expect(events.map((one: { platformEventId: string }) => one.platformEventId).toSorted()).toEqual(
      [event, other].map((name) => orderEventId(site.id, name, order("vera"))).toSorted(),
    );
  });

  test("an order in another spelling is a duplicate; platforms see the first one, and a search finds it by any", async () => {
    expect(await send(withOrder("#Sp-5001"))).toEqual(processed());
    for (const orderId of ["Sp-5001", "sp-5001", " #SP-5001 ", "# sp-5001"])
      expect(await send(withOrder(orderId))).toEqual(deduped);
    expect(await send(withOrder("Sp-5002"))).toEqual(processed());
    const [first, ...others] = receiver.bodies().filter((body) => String(body.orderId).toLowerCase().endsWith("sp-5001"));
    expect(others).toEqual([]);
    expect(first?.orderId).toBe("#Sp-5001");
    expect(first?.platformEventId).toBe(orderEventId(site.id, "purchase", "sp-5001"));
    for (const orderId of ["sp-5001", "#SP-5001"]) {
      const { items: events } = await home.run("event", "list", site.host, "--order", orderId);
      expect(events.map((one: { orderId: string }) => one.orderId)).toEqual(["#Sp-5001"]);
      const { items: deliveries } = await home.run("delivery", "list", site.host, "--order", orderId);
      expect(deliveries.map((one: { event: { orderId: string } }) => one.event.orderId)).toEqual(["#Sp-5001"]);
    }
  });

  test("an order received twice is a duplicate, and is sent once", async () => {
    expect(await send(withOrder("again"))).toEqual(processed());
    expect(await send(withOrder("again"))).toEqual(deduped);
    expect(await send(withOrder("again"))).toEqual(deduped);
    expect(arrived("again")).toHaveLength(1);
    const { items: events } = await home.run("event", "list", site.host, "--order", "again");
    expect(events).toHaveLength(1);
  });

  test.each<[string, Record<string, unknown>]>([
    ["another value", { value: 11 }],
    ["another currency", { currency: "USD" }],
    ["no value", { value: null }],
    ["another name and phone", { firstName: "Ada", lastName: "Byron", phone: "+14255551234" }],
    ["a time", { eventTime: Math.floor(Date.now() / 1000) - 60 }],
    ["the email in another case", { email: " ADA@Example.com " }],
    ["space around the order id", { orderId: " same-order " }],
    ["unknown fields", { source: "crm" }],
  ])("an order received again with %s is a duplicate", async (_what, changes) => {
    await send(withOrder("same-order"));
    expect(await send(withOrder("same-order", changes))).toEqual(deduped);
  });

  test("an order received again with the hash of its email is a duplicate", async () => {
    expect(await send(withOrder("by-hash"))).toEqual(processed());
    const [body] = arrived("by-hash");
    const hashed = withOrder("by-hash", { email: undefined, hashed_email: body?.emailSha256 });
    expect(await send(hashed)).toEqual(deduped);
  });

  test("an order received again with another key of the site is a duplicate", async () => {
    expect(await send(withOrder("two-keys"))).toEqual(processed());
    expect(await send(withOrder("two-keys"), secondKey)).toEqual(deduped);
  });

  test("another event, another order or another site is no duplicate", async () => {
    expect(await send(withOrder("apart"))).toEqual(processed());
    expect(await send(withOrder("apart", { event: "refund" }))).toEqual(processed("refund"));
    expect(await send(withOrder("apart"), neighbour.key)).toEqual(processed());
  });

  test("test events and live events are never duplicates of each other", async () => {
    expect(await send(withOrder("tried"), testKey)).toEqual(processed());
    expect(await send(withOrder("tried"))).toEqual(processed());
    expect(await send(withOrder("tried"), testKey)).toEqual(deduped);
    expect(await send(withOrder("tried"))).toEqual(deduped);
    const { items: events } = await home.run("event", "list", site.host, "--order", "tried");
    expect(events.map(({ mode }: { mode: string }) => mode).toSorted()).toEqual(["live", "test"]);
    // Platforms deduplicate by event id, so the ids must differ too.
    expect(new Set(arrived("tried").map((body) => body.platformEventId)).size).toBe(2);
  });

  test("one order with two emails is processed twice, and the trace has a warning", async () => {
    expect(await send(withOrder("placeholder"))).toEqual(processed());
    expect(await send(withOrder("placeholder", { email: "bob@example.com" }))).toEqual(processed());
    expect(await send(withOrder("placeholder", { email: "bob@example.com" }))).toEqual(deduped);
    const ids = arrived("placeholder").map((body) => String(body.platformEventId));
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) {
      const { warnings, platformEventId } = await home.run("event", "show", id);
      expect(platformEventId).toBe(id);
      expect(warnings).toEqual(["order id placeholder was sent with 2 different emails: is it a placeholder?"]);
    }
  });

  test("the trace of an order with one email has no warning", async () => {
    expect(await send(withOrder("single"))).toEqual(processed());
    const { warnings } = await home.run("event", "show", String(arrived("single")[0]?.platformEventId));
    expect(warnings).toEqual([]);
  });

  test("without an order id the same email, event, value, currency and time is a duplicate", async () => {
    expect(await send(sale())).toEqual(processed());
    expect(await send(sale())).toEqual(deduped);
    expect(await send(sale({ currency: "eur", value: 10.0, orderId: " ", phone: "+14255551234" }))).toEqual(deduped);
  });

  test("without an order id another value, currency, time, email or event is no duplicate", async () => {
    await send(sale());
    const now = Math.floor(Date.now() / 1000);
    const others: Record<string, unknown>[] = [
      { value: 10.01 },
      { value: null },
      { value: 0 },
      { currency: "USD" },
      { eventTime: now - 10 },
      { eventTime: now - 20 },
      { email: "somebody-else@example.com" },
    ];
    for (const changes of others) expect([changes, await send(sale(changes))]).toEqual([changes, processed()]);
    for (const changes of others) expect([changes, await send(sale(changes))]).toEqual([changes, deduped]);
    expect(await send(sale({ event: "refund" }))).toEqual(processed("refund"));
    // The same time in another format is the same time.
    const text = new Date((now - 10) * 1000).toISOString();
    expect(await send(sale({ eventTime: text }))).toEqual(deduped);
  });

  test("the duplicate windows, with an order id and without, are settings of the site", async () => {
    const order = withOrder("expires");
    expect(await send(order, shortWindow.key)).toEqual(processed());
    expect(await send(sale(), shortWindow.key)).toEqual(processed());
    expect(await send(sale(), shortWindow.key)).toEqual(deduped);
    expect(await send(order, shortWindow.key)).toEqual(deduped);
    const isProcessed = async (event: Record<string, unknown>) => (await send(event, shortWindow.key)).text === processed().text;
    await eventually("the event without an order is processed again", () => isProcessed(sale()));
    await eventually("the order is processed again", () => isProcessed(order));
    // The platform event id stays the same, so platforms still deduplicate the order.
    expect(new Set(arrived("expires").map((body) => body.platformEventId)).size).toBe(1);
  });

  test("a duplicate window that is not a duration is rejected", async () => {
    expect(await home.fails("site", "set", site.host, "dedup_order=soon")).toMatchObject({
      error: "dedup_order must be at most 400 days, written like 90d, 12h, 30m or 10s.",
      field: "dedup_order",
    });
  });

  test("the duplicate windows of a new site are 90 days with an order id and one hour without", async () => {
    const { settings } = await home.run("site", "show", site.id);
    const valueOf = (name: string) => settings.items.find((one: { name: string }) => one.name === name).value;
    expect([valueOf("dedup_order"), valueOf("dedup_no_order")]).toEqual(["90d", "1h"]);
  });

  test("exactly one of several identical simultaneous events is processed", async () => {
    for (const event of [withOrder("at-once"), sale({ value: 77 })]) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => send(event)));
      expect(answers.filter(({ text }) => text === processed().text)).toHaveLength(1);
      expect(answers.filter(({ text }) => text === deduped.text)).toHaveLength(19);
    }
    expect(arrived("at-once")).toHaveLength(1);
  });
});
