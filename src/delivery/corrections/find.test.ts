// Which conversions a refund concerns, where several people have one order id, on both engines.

import { afterAll, describe, expect, test } from "vitest";
import { newEvent, newSite } from "../../../test/support/events.ts";
import { createNodes } from "../../../test/support/nodes.ts";
import { sha256 } from "../../../test/support/sha256.ts";
import { ulid } from "../../kernel/ids.ts";
import { connectPlatform } from "../../sites/connect.ts";
import { createDirectory } from "../../sites/directory.ts";
import { changeSiteSettings, findSite } from "../../sites/manage.ts";
import type { NewEvent } from "../../store/events/events.ts";
import type { StoredEvent } from "../../store/events/eventRow.ts";
import { findCorrections, findEventCorrections, findLeft } from "./find.ts";

const now = Date.UTC(2026, 10, 15, 12);
const by = { actor: "test", now, checkAddress: () => null };
const google = { customer_id: "123-456-7890", access_token: "token", conversion_action: "7700000001" };

const [ann, ben] = [{ emailSha256: sha256("a".repeat(64)) }, { emailSha256: sha256("b".repeat(64)) }];

describe.each(["sqlite", "postgres"] as const)("refunds of orders on %s", async (engine) => {
  const { store, close } = await createNodes(engine);
  const directory = createDirectory(store);
  const context = { store, directory };
  afterAll(close);

  async function setUp() {
    const siteId = await newSite(store);
    await directory.refresh();
    const { connection } = await connectPlatform(context, findSite(context, siteId), "google_ads", { settings: google }, by);
    await changeSiteSettings(context, findSite(context, siteId), { corrections: "on" }, by);
    await directory.refresh();
    const site = findSite(context, siteId);
    let minute = 0;

    async function add(name: string, fields: Partial<NewEvent["event"]>, more: Partial<NewEvent> = {}): Promise<StoredEvent> {
      const receivedAt = now + ++minute * 60_000;
      const state = name === "refund" ? "skipped" : "queued";
      const item = newEvent(
        siteId,
        { id: ulid(receivedAt), name, orderId: "0", value: 100, receivedAt, ...fields },
        { deliveries: [{ connectionId: connection.id, platform: "google_ads", state, reason: null }], ...more },
      );
      await store.events.accept(item);
      const stored = await store.events.get(siteId, item.event.id);
      return stored && stored !== "damaged" ? stored : expect.unreachable("it was stored");
    }

    return {
      siteId,
      add,
      corrected: async (...events: StoredEvent[]) =>
        (await findCorrections({ store, site }, events, now)).map(({ eventId, value, source }) => ({ eventId, value, source })),
      correctedTo: async ({ id: eventId }: StoredEvent, value: number) =>
        (await findEventCorrections({ store, site }, { eventId, value }, now)).map((one) => one.eventId),
      left: async (...events: StoredEvent[]) =>
        [...(await findLeft({ store, site }, connection.id, events))].map(([eventId, { value, source }]) => ({
          eventId,
          value,
          source,
        })),
    };
  }

  test("a refund leaves the conversions of other people with the same order id as they are", async () => {
    const { add, corrected, left } = await setUp();
    const first = await add("purchase", { person: ann });
    const second = await add("purchase", { person: ben });
    const refund = await add("refund", { person: ben, value: 30 });
    const expected = [{ eventId: second.id, value: 70, source: refund.id }];
    expect(await corrected(refund)).toEqual(expected);
    expect(await left(first, second)).toEqual(expected);
  });

  test("a filtered order makes no second person: a refund by another email of the only one counts", async () => {
    const { add, corrected } = await setUp();
    const order = await add("purchase", { person: ann });
    await add("purchase", { person: ben }, { filterReasons: [{ code: "blocked person", detail: null }], deliveries: [] });
    const refund = await add("refund", { person: { emailSha256: sha256("c".repeat(64)) }, value: 30 });
    expect(await corrected(refund)).toEqual([{ eventId: order.id, value: 70, source: refund.id }]);
  });

  test("the refunds of two people with one order id count for each of them", async () => {
    const { add, corrected, left } = await setUp();
    const early = await add("refund", { person: ben, value: 10 });
    const first = await add("purchase", { person: ann });
    const second = await add("purchase", { person: ben });
    const refund = await add("refund", { person: ann, value: 30 });
    const expected = [
      { eventId: first.id, value: 70, source: refund.id },
      { eventId: second.id, value: 90, source: early.id },
    ];
    expect(await corrected(first, second, refund)).toEqual(expected);
    expect(await corrected(refund)).toEqual(expected.slice(0, 1));
    expect(await left(first, second)).toEqual(expected);
  });

  test.each([
    ["another email, where all conversions of the order are one person's", ben],
    ["no email", {}],
  ])("a refund with %s is of them all", async (_what, person) => {
    const { add, corrected, left } = await setUp();
    const sale = await add("purchase", { person: ann });
    const upgrade = await add("subscribe", { person: ann });
    const refund = await add("refund", { person, value: null });
    const expected = [sale, upgrade].map(({ id }) => ({ eventId: id, value: 0, source: refund.id }));
    expect(await corrected(refund)).toEqual(expected);
    expect(await left(sale, upgrade)).toEqual(expected);
  });

  test("the refund of an erased person is no reason to correct the conversions of others", async () => {
    const { siteId, add, corrected, left } = await setUp();
    const first = await add("purchase", { person: ann });
    await add("purchase", { person: ben });
    const third = await add("purchase", { person: { emailSha256: sha256("c".repeat(64)) } });
    const refund = await add("refund", { person: ben });
    await store.erase.events(siteId, ben.emailSha256, now);
    expect(await corrected(refund)).toEqual([]);
    expect(await left(first, third)).toEqual([]);
  });

  test("a placeholder for an order id takes nothing back, neither from what was sent nor from what is sent again", async () => {
    const { add, corrected, left } = await setUp();
    const refund = await add("refund", { person: ann });
    const sales: StoredEvent[] = [];
    for (let i = 0; i < 50; i++) sales.push(await add("purchase", { person: ann, value: i }));
    expect(await corrected(refund)).toEqual([]);
    expect(await left(...sales.slice(0, 5))).toEqual([]);
  });

  test("an order of the customer's list corrects the conversions of its own person", async () => {
    const { add, correctedTo } = await setUp();
    const first = await add("purchase", { person: ann });
    const second = await add("purchase", { person: ben });
    expect(await correctedTo(first, 20)).toEqual([first.id]);
    expect(await correctedTo(second, 20)).toEqual([second.id]);
  });
});
