// Corrections on both engines: refunds of orders, what is sent for them, the site's switch, two nodes, and what cannot be undone.

import { afterAll, describe, expect, test } from "vitest";
import { byNode, newEvent, newSite } from "../../../test/support/events.ts";
import { createNodes, sql } from "../../../test/support/nodes.ts";
import { storeSent } from "../../../test/support/sentEvents.ts";
import { lastId, timeOfId, ulid } from "../../kernel/ids.ts";
import { dayMs, hourMs, minuteMs } from "../../kernel/time.ts";
import { changeConnection, connectPlatform } from "../../sites/connect.ts";
import { createDirectory, type Connection } from "../../sites/directory.ts";
import { changeSiteSettings, findSite } from "../../sites/manage.ts";
import type { Confirmation } from "../../kernel/confirmation.ts";
import type { NewEvent } from "../../store/events/events.ts";
import type { Store } from "../../store/store.ts";
import { createQuota } from "../lanes/quota.ts";
import type { Answer } from "../send.ts";
import { correctOrder } from "./correctOrder.ts";
import { createCorrectionJob, type CorrectionOptions } from "./worker.ts";

const now = Date.UTC(2026, 10, 15, 12);
const by = { actor: "test", now, checkAddress: () => null };
const google = {
  customer_id: "123-456-7890",
  access_token: "token",
  conversion_action: "7700000001",
  enhanced_conversions_for_leads: "on",
};
const meta = { pixel_id: "1234567890123456", access_token: "token" };
const accepted = '{"requestId":"t-1"}';

describe.each(["sqlite", "postgres"] as const)("corrections on %s", async (engine) => {
  const { store, other, location, close } = await createNodes(engine);
  const directory = createDirectory(store);
  const context = { store, directory };
  afterAll(close);

  async function setUp(
    platform: "google_ads" | "meta" = "google_ads",
    isOn = true,
    rules: Record<string, string> = {},
  ): Promise<Connection> {
    const siteId = await newSite(store);
    await directory.refresh();
    const settings = { ...(platform === "meta" ? meta : google), ...rules };
    const { connection } = await connectPlatform(context, findSite(context, siteId), platform, { settings }, by);
    if (isOn) await turn(siteId, "on");
    return connection;
  }

  async function turn(siteId: string, corrections: "on" | "off") {
    await changeSiteSettings(context, findSite(context, siteId), { corrections }, by);
    await directory.refresh();
  }

  /** An order that the platform has counted, or whatever it says of it. */
  async function purchase(
    connection: Connection,
    fields: Partial<NewEvent["event"]> = {},
    said: Confirmation | null = { state: "confirmed", reason: null, detail: null },
  ): Promise<NewEvent> {
    const order = await storeSent(store, connection, accepted, now, {
      name: "purchase",
      value: 100,
      currency: "EUR",
      orderId: "A-1",
      time: now,
      ...fields,
    });
    if (said) await answer(connection, order, said);
    return order;
  }

  async function answer(connection: Connection, { event }: NewEvent, said: Confirmation, at = now + 20 * minuteMs) {
    const { siteId, id: connectionId, platform } = connection;
    const asked = { subject: "t-1", eventIds: [event.id], acceptedAt: now, asked: 1, dueAt: now };
    const answers = [{ eventId: event.id, confirmation: said, countedAs: said }];
    await store.confirmations.answer({ siteId, connectionId, ...asked }, platform, answers, 3, at);
  }

  /** A refund, which the platform does not take. It is accepted at `at`, by the clock that all nodes share. */
  async function refund(
    { siteId, id: connectionId, platform }: Connection,
    fields: Partial<NewEvent["event"]> = {},
    at = now,
  ): Promise<NewEvent> {
    const planned = { connectionId, platform, state: "skipped", reason: "takes no refunds" } as const;
    const item = newEvent(
      siteId,
      { name: "refund", receivedAt: now + hourMs, orderId: "A-1", value: 30, currency: "EUR", ...fields },
      { deliveries: [planned], ownership: { ...byNode(), at } },
    );
    await store.events.accept(item);
    return item;
  }

  /** Runs a step at a time. Returns the values that were sent. */
  async function step(
    connection: Connection,
    at: number,
    body = accepted,
    status = 200,
    on: Store = store,
    /** What happens while the token is renewed, and while the platform is called. */
    during: { token?: () => Promise<unknown>; call?: () => Promise<unknown> } = {},
  ) {
    const sent: unknown[] = [];
    const sender: CorrectionOptions["sender"] = {
      async send(request): Promise<Answer> {
        const { events } = JSON.parse(request.body) as {
          events: { transactionId: string; conversionValue: number }[];
        };
        sent.push(...events.map(({ transactionId, conversionValue }) => [transactionId, conversionValue]));
        await during.call?.();
        return { ok: true, response: { status, headers: {}, body } };
      },
      close: () => Promise.resolve(),
    };
    const site = findSite(context, connection.siteId);
    await createCorrectionJob({
      store: on,
      directory: { sites: () => [site] },
      sender,
      tokens: {
        async fresh(one) {
          await during.token?.();
          return one;
        },
      },
      quota: createQuota(),
      owner: "node",
      now: () => at,
      elapsed: () => at,
      onDefect: (error) => expect.unreachable(String(error)),
      onCorrected() {},
    }).run();
    return sent;
  }

  /** Lets the worker begin before the refunds of a test. */
  const begin = (connection: Connection) => step(connection, now + 10 * minuteMs);

  const correctionsOf = async ({ siteId }: Connection, { event }: NewEvent) =>
    (await store.corrections.listByEvent(siteId, event.id)).map(({ state, value }) => [state, value]);

  test.each([
    ["20%", 14, 0],
    ["15 EUR", 10.5, 0],
    ["as sent", 70, 0],
  ])(
    "a refund of a value that the rule %s made follows the rule, and the correction keeps the event's own",
    async (rule, some, none) => {
      const connection = await setUp("google_ads", true, { "value.purchase": rule });
      const order = await purchase(connection);
      await begin(connection);
      await refund(connection);
      expect(await step(connection, now + 2 * hourMs)).toEqual([["A-1", some]]);
      expect(await correctionsOf(connection, order)).toEqual([["corrected", 70]]);
      await refund(connection, { receivedAt: now + 3 * hourMs, value: 70 });
      expect(await step(connection, now + 5 * hourMs)).toEqual([["A-1", none]]);
    },
  );

  test("corrections are listed by the name of their conversion and by the time at which it was received", async () => {
    const connection = await setUp();
    const { siteId } = connection;
    const sale = await purchase(connection, { name: "Purchase", orderId: "L-1" });
    const deal = await purchase(connection, { name: "closed_won", orderId: "L-2" });
    for (const orderId of ["L-1", "L-2"]) await correctOrder({ store }, findSite(context, siteId), { orderId, value: 0 }, by);
    const listed = async (filter: { name?: string; from?: number; to?: number }) =>
      (await store.corrections.list(siteId, { eventId: lastId, connectionId: "" }, 10, filter)).map(({ eventId }) => eventId);
    const all = [sale.event.id, deal.event.id].toSorted().toReversed();
    expect(await listed({})).toEqual(all);
    expect(await listed({ name: "purchase" })).toEqual([sale.event.id]);
    expect(await listed({ name: "lead" })).toEqual([]);
    const [first, last] = [timeOfId(all[1] ?? ""), timeOfId(all[0] ?? "")];
    expect(await listed({ from: first, to: last + 1 })).toEqual(all);
    expect(await listed({ from: last + 1 })).toEqual([]);
    expect(await listed({ to: first })).toEqual([]);
  });

  test("a partial refund restates the conversion, once", async () => {
    const connection = await setUp();
    const order = await purchase(connection);
    await begin(connection);
    await refund(connection);
    expect(await step(connection, now + 2 * hourMs)).toEqual([["A-1", 70]]);
    expect(await correctionsOf(connection, order)).toEqual([["corrected", 70]]);
    expect(await step(connection, now + 3 * hourMs)).toEqual([]);
    expect(await step(connection, now + 3 * dayMs)).toEqual([]);
  });

  test.each([
    ["of all of it", 100],
    ["without a value", null],
    ["of more than the order", 150],
  ])("a refund %s leaves nothing", async (_what, value) => {
    const connection = await setUp();
    const order = await purchase(connection);
    await begin(connection);
    await refund(connection, { value });
    expect(await step(connection, now + 2 * hourMs)).toEqual([["A-1", 0]]);
    expect(await correctionsOf(connection, order)).toEqual([["corrected", 0]]);
  });

  test.each(["no ad click", "bad id", "consent", "too old"] as const)(
    "what the platform did not count is not corrected: %s",
    async (reason) => {
      const connection = await setUp();
      const order = await purchase(connection, {}, { state: "not counted", reason, detail: null });
      await begin(connection);
      await refund(connection);
      expect(await step(connection, now + 2 * hourMs)).toEqual([]);
      expect(await correctionsOf(connection, order)).toEqual([["nothing to correct", 70]]);
    },
  );

  test("a correction waits while the platform processes the conversion, and no longer than it is asked", async () => {
    const connection = await setUp();
    const [order, unanswered] = [await purchase(connection, {}, null), await purchase(connection, { orderId: "A-2" }, null)];
    await begin(connection);
    await refund(connection);
    await refund(connection, { orderId: "#a-2" });
    expect(await step(connection, now + 2 * hourMs)).toEqual([]);
    await answer(connection, order, { state: "confirmed", reason: null, detail: null }, now + 3 * hourMs);
    expect(await step(connection, now + 4 * hourMs)).toEqual([["A-1", 70]]);
    expect(await correctionsOf(connection, unanswered)).toEqual([["waiting", 70]]);
    expect(await step(connection, now + 50 * hourMs)).toEqual([["A-2", 70]]);
  });

  test("two refunds of an order add up, and the second one is sent too", async () => {
    const connection = await setUp();
    const order = await purchase(connection);
    await begin(connection);
    await refund(connection);
    expect(await step(connection, now + 2 * hourMs)).toEqual([["A-1", 70]]);
    await refund(connection, { receivedAt: now + 3 * hourMs, value: 0.1, name: "Refunded" });
    expect(await step(connection, now + 4 * hourMs)).toEqual([["A-1", 69.9]]);
    expect(await correctionsOf(connection, order)).toEqual([["corrected", 69.9]]);
  });

  test("a relay goes on where version 0.3.0 has read to", async () => {
    const connection = await setUp();
    const { siteId } = connection;
    await purchase(connection);
    await begin(connection);
    const head = await store.corrections.readCursor(siteId);
    await sql(location, `UPDATE cursors SET reached = '${head?.eventId}' WHERE site_id = '${siteId}' AND name = 'corrections'`);
    await refund(connection);
    expect(await step(connection, now + 2 * hourMs)).toEqual([["A-1", 70]]);
    await refund(connection, { receivedAt: now + 3 * hourMs, value: 10, name: "Refunded" });
    expect(await step(connection, now + 4 * hourMs)).toEqual([["A-1", 60]]);
  });

  test("a refund is found that comes in after a clock that ran ahead is corrected, and once", async () => {
    const connection = await setUp();
    const order = await purchase(connection);
    await begin(connection);
    // While the clock ran three hours ahead.
    await purchase(connection, { orderId: "A-2", receivedAt: now + 3 * hourMs });
    await refund(connection, { orderId: "A-2", receivedAt: now + 3 * hourMs + 1 });
    expect(await step(connection, now + 3 * hourMs + 5 * minuteMs)).toEqual([["A-2", 70]]);
    // The relay started again meanwhile: its ids begin at the present time.
    await refund(connection, { receivedAt: now + 20 * minuteMs });
    expect(await step(connection, now + 25 * minuteMs)).toEqual([["A-1", 70]]);
    await refund(connection, { receivedAt: now + 2 * hourMs, value: 10, name: "Refunded" });
    expect(await step(connection, now + 3 * hourMs)).toEqual([["A-1", 60]]);
    expect(await step(connection, now + 4 * hourMs)).toEqual([]);
    expect(await correctionsOf(connection, order)).toEqual([["corrected", 60]]);
  });

  test.each([
    ["four minutes", 4 * minuteMs],
    ["an hour", hourMs],
  ])("a refund is found that a node accepts whose clock is %s behind", async (_what, behindMs) => {
    const connection = await setUp();
    await purchase(connection);
    await begin(connection);
    const at = now + 2 * hourMs;
    await purchase(connection, { orderId: "A-2", receivedAt: at });
    await step(connection, at + 3 * minuteMs);
    await refund(connection, { receivedAt: at + 3 * minuteMs - behindMs }, at + 3 * minuteMs);
    expect(await step(connection, at + 6 * minuteMs)).toEqual([["A-1", 70]]);
    expect(await step(connection, at + hourMs)).toEqual([]);
  });

  test("what the order list says after a refund stays, although an event that comes late lets the refund be read again", async () => {
    const connection = await setUp();
    const order = await purchase(connection);
    await begin(connection);
    await refund(connection);
    expect(await step(connection, now + 2 * hourMs)).toEqual([["A-1", 70]]);
    await correctOrder({ store }, findSite(context, connection.siteId), { orderId: "A-1", value: 20 }, by);
    expect(await step(connection, now + 3 * hourMs)).toEqual([["A-1", 20]]);
    await refund(connection, { orderId: "A-2", receivedAt: now + 30 * minuteMs }, now + 4 * hourMs);
    expect(await step(connection, now + 4 * hourMs + 5 * minuteMs)).toEqual([]);
    expect(await correctionsOf(connection, order)).toEqual([["corrected", 20]]);
    // One that was not known yet counts.
    await refund(connection, { receivedAt: now + 5 * hourMs, value: 40, name: "Refunded" });
    expect(await step(connection, now + 6 * hourMs)).toEqual([["A-1", 30]]);
  });

  test("without the site's switch nothing is corrected, also not later", async () => {
    const connection = await setUp("google_ads", false);
    const order = await purchase(connection);
    await begin(connection);
    await refund(connection);
    expect(await step(connection, now + 2 * hourMs)).toEqual([]);
    await turn(connection.siteId, "on");
    expect(await step(connection, now + 3 * hourMs)).toEqual([]);
    expect(await step(connection, now + 4 * hourMs)).toEqual([]);
    expect(await correctionsOf(connection, order)).toEqual([]);
  });

  test("a refund that comes in while the switch is off is not corrected when it is on again", async () => {
    const connection = await setUp();
    await purchase(connection);
    await begin(connection);
    await turn(connection.siteId, "off");
    await refund(connection);
    await step(connection, now + 2 * hourMs);
    await turn(connection.siteId, "on");
    expect(await step(connection, now + 3 * hourMs)).toEqual([]);
    expect(await step(connection, now + 4 * hourMs)).toEqual([]);
    // An event that comes late does not lead back to that time.
    await refund(connection, { orderId: "A-2", receivedAt: now + 30 * minuteMs }, now + 5 * hourMs);
    expect(await step(connection, now + 5 * hourMs + 5 * minuteMs)).toEqual([]);
  });

  test("an imported event of an earlier time lets nothing be read again", async () => {
    const { siteId, ...rest } = await setUp();
    await begin({ siteId, ...rest });
    const before = await store.corrections.readCursor(siteId);
    const ownership = { by: "row", owner: "", at: now + hourMs, dueAt: now + hourMs } as const;
    await store.events.accept(newEvent(siteId, { id: ulid(now - dayMs), receivedAt: now + hourMs }, { ownership }));
    expect(await store.corrections.readCursor(siteId)).toEqual(before);
  });

  test.each([
    ["opts out", "denied", [["cannot be taken back", 70]]],
    ["is erased", "erased", []],
  ] as const)("a correction is not sent of a person who %s while its token is renewed", async (_what, what, left) => {
    const connection = await setUp();
    const order = await purchase(connection);
    await begin(connection);
    await refund(connection);
    const { siteId } = connection;
    const { emailSha256 = expect.unreachable("newEvent has one") } = order.event.person;
    const token = () =>
      what === "erased"
        ? store.erase.events(siteId, emailSha256, now + 2 * hourMs)
        : store.people.change(siteId, (people) => people.decide(emailSha256, "test", what, now + 2 * hourMs));
    expect(await step(connection, now + 2 * hourMs, accepted, 200, store, { token })).toEqual([]);
    expect(await step(connection, now + 2 * hourMs + minuteMs)).toEqual([]);
    expect(await correctionsOf(connection, order)).toEqual(left);
  });

  test("the late result of a node that was suspended does not undo that of the node that went on", async () => {
    const connection = await setUp();
    const order = await purchase(connection);
    await begin(connection);
    await refund(connection);
    const call = async () => {
      expect(await step(connection, now + 2 * hourMs + 11 * minuteMs, accepted, 200, other)).toEqual([["A-1", 70]]);
    };
    expect(await step(connection, now + 2 * hourMs, "", 503, store, { call })).toEqual([["A-1", 70]]);
    expect(await correctionsOf(connection, order)).toEqual([["corrected", 70]]);
    expect(await step(connection, now + dayMs)).toEqual([]);
  });

  test.each([
    ["extra.margin", 14],
    ["const:20", 14],
    ["value", 70],
  ])("a value that is mapped from %s is corrected by the share that is left", async (source, some) => {
    const connection = await setUp("google_ads", true, { "map.conversionValue": source });
    await purchase(connection, { extra: { margin: 20 } });
    await begin(connection);
    await refund(connection);
    expect(await step(connection, now + 2 * hourMs)).toEqual([["A-1", some]]);
    await refund(connection, { receivedAt: now + 3 * hourMs, value: 70, orderEventId: null });
    expect(await step(connection, now + 4 * hourMs)).toEqual([["A-1", 0]]);
  });

  test("a refund that arrives before its order is taken off, once", async () => {
    const connection = await setUp();
    await begin(connection);
    await refund(connection, { orderId: "#a-1" });
    expect(await step(connection, now + 2 * hourMs)).toEqual([]);
    const fields = { name: "purchase", value: 100, currency: "EUR", orderId: "A-1" };
    const order = await storeSent(store, connection, accepted, now + 3 * hourMs, fields);
    await answer(connection, order, { state: "confirmed", reason: null, detail: null }, now + 4 * hourMs);
    expect(await step(connection, now + 5 * hourMs)).toEqual([["A-1", 70]]);
    expect(await correctionsOf(connection, order)).toEqual([["corrected", 70]]);
    expect(await step(connection, now + 6 * hourMs)).toEqual([]);
  });

  test("a later event of an order is no reason to correct what was refunded while the switch was off", async () => {
    const connection = await setUp("google_ads", false);
    const order = await purchase(connection);
    await refund(connection, { receivedAt: now + 5 * minuteMs });
    await turn(connection.siteId, "on");
    await begin(connection);
    await storeSent(store, connection, accepted, now + hourMs, { name: "subscribe", value: 5, currency: "EUR", orderId: "A-1" });
    await step(connection, now + 2 * hourMs);
    expect(await correctionsOf(connection, order)).toEqual([]);
  });

  test("an order is corrected without a refund event, and never without the switch", async () => {
    const connection = await setUp("google_ads", false);
    const order = await purchase(connection);
    const correctTo = (value: number, orderId = "A-1") =>
      correctOrder({ store }, findSite(context, connection.siteId), { orderId, value }, by);
    await expect(correctTo(20)).rejects.toThrow("Corrections are off");
    await turn(connection.siteId, "on");
    await expect(correctTo(20, "A-2")).rejects.toThrow("No conversion with this order id");
    await correctTo(20);
    expect(await step(connection, now + hourMs)).toEqual([["A-1", 20]]);
    await correctTo(20);
    expect(await step(connection, now + 2 * hourMs)).toEqual([]);
    expect(await correctionsOf(connection, order)).toEqual([["corrected", 20]]);
  });

  test("a platform that cannot correct says so, and nothing is sent", async () => {
    const connection = await setUp("meta");
    const order = await purchase(connection);
    await begin(connection);
    await refund(connection);
    expect(await step(connection, now + 2 * hourMs)).toEqual([]);
    expect(await correctionsOf(connection, order)).toEqual([["cannot be taken back", 70]]);
  });

  describe("a connection that was changed since", () => {
    async function corrected(changes: readonly Record<string, string>[], orderId = "A-1") {
      const connection = await setUp();
      const order = await purchase(connection, { orderId });
      await begin(connection);
      await refund(connection, { orderId });
      for (const [i, settings] of changes.entries()) {
        const site = findSite(context, connection.siteId);
        const existing = site.connections[0] ?? expect.unreachable("it is connected");
        const at = { ...by, now: now + hourMs + i * minuteMs };
        await changeConnection(context, site, existing, { settings }, at);
      }
      const sent = await step(connection, now + 2 * hourMs);
      const [row] = await store.corrections.listByEvent(connection.siteId, order.event.id);
      return { sent, row };
    }

    test.each<[string, Record<string, string>, string]>([
      ["conversion action", { conversion_action: "7700000002" }, "A-1"],
      ["conversion action of the event", { "event.purchase": "7700000001,7700000002" }, "A-1"],
      ["form of order ids", { numeric_order_ids: "prefixed" }, "1001"],
    ])(
      "a correction is not sent after the %s was changed: Google would count a new conversion",
      async (_what, changes, orderId) => {
        const { sent, row } = await corrected([changes], orderId);
        expect(sent).toEqual([]);
        expect(row).toMatchObject({
          state: "cannot be taken back",
          reason: "the conversion action or the form of order ids was changed since",
        });
      },
    );

    test("other changes do not matter, nor one that was undone", async () => {
      const changes = [{ conversion_action: "7700000002" }, { visit_data: "none" }, { conversion_action: "7700000001" }];
      expect((await corrected(changes)).sent).toEqual([["A-1", 70]]);
      // The form of this one is the same with both.
      expect((await corrected([{ numeric_order_ids: "prefixed" }])).sent).toEqual([["A-1", 70]]);
    });
  });

  test("a refund in another currency is not guessed at", async () => {
    const connection = await setUp();
    const order = await purchase(connection);
    await begin(connection);
    await refund(connection, { currency: "USD" });
    expect(await step(connection, now + 2 * hourMs)).toEqual([]);
    expect((await correctionsOf(connection, order))[0]?.[0]).toBe("cannot be taken back");
  });

  test.each<[string, Partial<NewEvent["event"]>]>([
    ["of another order", { orderId: "A-2" }],
    ["without an order id", { orderId: null }],
    ["of a test key", { mode: "test" }],
  ])("a refund %s corrects nothing", async (_what, fields) => {
    const connection = await setUp();
    await purchase(connection);
    await begin(connection);
    await refund(connection, fields);
    expect(await step(connection, now + 2 * hourMs)).toEqual([]);
  });

  test("a step on the way to the order stays as it is", async () => {
    const connection = await setUp();
    await purchase(connection, { name: "begin_checkout" });
    await begin(connection);
    await refund(connection);
    expect(await step(connection, now + 2 * hourMs)).toEqual([]);
  });

  test("a platform that takes the refund itself is not given a correction too", async () => {
    const connection = await setUp();
    await purchase(connection);
    await begin(connection);
    await storeSent(store, connection, accepted, now + hourMs, { name: "refund", orderId: "A-1", value: 30 });
    expect(await step(connection, now + 2 * hourMs)).toEqual([]);
  });

  test("a call that fails is repeated later, and a rejected correction is not", async () => {
    const connection = await setUp();
    const order = await purchase(connection);
    await begin(connection);
    await refund(connection);
    expect(await step(connection, now + 2 * hourMs, "", 503)).toEqual([["A-1", 70]]);
    expect(await correctionsOf(connection, order)).toEqual([["waiting", 70]]);
    expect(await step(connection, now + 2 * hourMs + 5 * minuteMs)).toEqual([]);
    const error = JSON.stringify({ error: { code: 400, status: "INVALID_ARGUMENT", message: "no" } });
    expect(await step(connection, now + 2 * hourMs + 11 * minuteMs, error, 400)).toEqual([["A-1", 70]]);
    expect(await correctionsOf(connection, order)).toEqual([["rejected", 70]]);
    expect(await step(connection, now + 10 * dayMs)).toEqual([]);
  });

  test("two nodes at the same moment send one correction", async () => {
    const connection = await setUp();
    await purchase(connection);
    await begin(connection);
    await refund(connection);
    const at = now + 2 * hourMs;
    const sent = await Promise.all([step(connection, at), step(connection, at, accepted, 200, other)]);
    expect(sent.flat()).toEqual([["A-1", 70]]);
  });

  test("a conversion that is too old for the platform cannot be taken back", async () => {
    const connection = await setUp();
    const order = await purchase(connection);
    await begin(connection);
    await refund(connection, { receivedAt: now + 91 * dayMs });
    expect(await step(connection, now + 92 * dayMs)).toEqual([]);
    expect((await correctionsOf(connection, order))[0]?.[0]).toBe("cannot be taken back");
  });
});
