// Accepting, reading and releasing events, on both engines.

import { afterAll, describe, expect, test } from "vitest";
import { byNode, newEvent, newSite, queuedDelivery, unattributed } from "../../../test/support/events.ts";
import { createNodes, sql } from "../../../test/support/nodes.ts";
import { sha256 } from "../../../test/support/sha256.ts";
import { maxRowsOfTurn } from "../../../test/support/turns.ts";
import { orderEventId, shortId } from "../../kernel/ids.ts";
import { orderClaim, personRefOf, stageClaim } from "./claims.ts";
import { eventListStore } from "./eventList.ts";
import type { NewEvent } from "./events.ts";

const now = Date.UTC(2026, 10, 15);
const hour = 3_600_000;

describe.each(["sqlite", "postgres"] as const)("events on %s", async (engine) => {
  const { store, other, location, close } = await createNodes(engine);
  afterAll(close);

  const claiming = (siteId: string, claim: string, { at = now, ...changes }: Partial<NewEvent> & { at?: number } = {}) =>
    newEvent(siteId, { receivedAt: at }, { claim, ...changes });

  test("of 100 equal claims on two nodes exactly one wins, with one event and one delivery", async () => {
    const siteId = await newSite(store);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => (i % 2 ? store : other).events.accept(claiming(siteId, "same"))),
    );
    expect(answers.filter((answer) => !answer.duplicate)).toHaveLength(1);
    const events = await store.events.list(siteId, { limit: 10 });
    expect(events).toHaveLength(1);
    expect(await store.deliveries.listByEvent(siteId, events[0]?.id ?? "")).toHaveLength(1);
  });

  test.runIf(engine === "postgres")("events of a batch are written by one transaction", async () => {
    const siteId = await newSite(store);
    const others = Array.from({ length: 200 }, (_, i) => claiming(siteId, `other ${i}`));
    const batch = Array.from({ length: 500 }, (_, i) => claiming(siteId, `batch ${i}`, { batch: others }));
    await Promise.all([...others, ...batch].map((item) => store.events.accept(item)));
    const ids = batch.map(({ event }) => `'${event.id}'`).join();
    const rows = await sql(
      location,
      `SELECT COUNT(*) AS events, COUNT(DISTINCT xmin::text) AS transactions
      FROM events WHERE id IN (${ids})`,
    );
    expect(rows).toEqual([{ events: "500", transactions: "1" }]);
  });

  test.runIf(engine === "sqlite")("an event of another site does not wait for a batch that was handed in before it", async () => {
    const [busy, quiet] = [await newSite(store), await newSite(store)];
    const accepted: string[] = [];
    const accept = async (name: string, item: NewEvent) => {
      await store.events.accept(item);
      accepted.push(name);
    };
    const batch = {};
    const ofBatch = Array.from({ length: 500 }, (_, i) => accept("batch", claiming(busy, `batch ${i}`, { batch })));
    await Promise.all([...ofBatch, accept("other", claiming(quiet, "other"))]);
    expect(accepted.indexOf("other")).toBeLessThan(64);
  });

  test.runIf(engine === "sqlite")(
    "lists that match little read few events in a turn, however many are asked for at once",
    async () => {
      const siteId = await newSite(store);
      await Promise.all(Array.from({ length: 600 }, (_, i) => store.events.accept(claiming(siteId, `listed ${i}`))));
      const rows = await maxRowsOfTurn(location, async (db) => {
        const lists = eventListStore(db);
        const list = () => lists.listPage(siteId, { name: "nothing" }, { before: null, limit: 200 });
        for (const page of await Promise.all(Array.from({ length: 30 }, list))) expect(page).toEqual({ events: [], next: null });
      });
      expect(rows).toBeLessThan(3000);
    },
  );

  test("of 100 events that reach one stage of a lead on two nodes all are accepted, and one is delivered", async () => {
    const siteId = await newSite(store);
    const repeated = [{ ...queuedDelivery(), state: "skipped", reason: "again" }] as const;
    const stage = { claim: stageClaim("live", "123456789012345", "lead", null), until: now + hour, repeated };
    const items = Array.from({ length: 100 }, (_, i) =>
      claiming(siteId, `event ${i}`, { stage, ownership: byNode(i % 2 ? "node-a" : "node-b") }),
    );
    const accept = () => Promise.all(items.map((item, i) => (i % 2 ? store : other).events.accept(item)));
    const answers = await accept();
    expect(answers.filter((answer) => answer.duplicate)).toEqual([]);
    const isRepeated = answers.map((answer) => "isRepeated" in answer);
    expect(isRepeated.filter((one) => !one)).toHaveLength(1);
    const ids = items.map(({ event }) => event.id);
    const deliveries = await store.deliveries.listByEvents(siteId, ids);
    expect(ids.map((id) => deliveries.get(id)?.map(({ state }) => state))).toEqual(
      isRepeated.map((one) => [one ? "skipped" : "queued"]),
    );
    // A transaction that runs again decides the same.
    expect(await accept()).toEqual(answers);
  });

  test("a filtered event claims no stage, and is not delivered when it is released after another event of the stage", async () => {
    const siteId = await newSite(store);
    const repeated = [{ ...queuedDelivery(), state: "skipped", reason: "again" }] as const;
    const stage = { claim: stageClaim("live", "123456789012345", "lead", "A-1"), until: now + hour, repeated };
    const filterReasons = [{ code: "blocked person", detail: null }] as const;
    const [first, second] = ["a", "b"].map((claim) =>
      claiming(siteId, claim, { stage, filterReasons: [...filterReasons], deliveries: [] }),
    );
    await store.events.accept(first!);
    await store.events.accept(second!);
    const states = async (item: NewEvent) => (await release(siteId, item.event.id, now, stage))?.map(({ state }) => state);
    expect(await states(first!)).toEqual(["queued", "parked"]);
    expect(await states(second!)).toEqual(["skipped"]);
    expect(await store.events.accept(claiming(siteId, "c", { stage }))).toMatchObject({ isRepeated: true });
  });

  test("equal claims of two sites do not collide", async () => {
    const [a, b] = [await newSite(store), await newSite(store)];
    const answers = await Promise.all([store.events.accept(claiming(a, "claim")), store.events.accept(claiming(b, "claim"))]);
    expect(answers.map((answer) => answer.duplicate)).toEqual([false, false]);
  });

  test("a claim holds until its window ends and not a millisecond longer", async () => {
    const siteId = await newSite(store);
    const accept = async (at: number) => (await store.events.accept(claiming(siteId, "w", { at }))).duplicate;
    expect(await accept(now)).toBe(false);
    expect(await accept(now + hour - 1)).toBe(true);
    expect(await accept(now + hour)).toBe(false);
    expect(await accept(now + hour + 1)).toBe(true);
  });

  test("an event whose commit was not confirmed is accepted again and stored once", async () => {
    const siteId = await newSite(store);
    const item = claiming(siteId, "lost");
    expect((await store.events.accept(item)).duplicate).toBe(false);
    expect((await store.events.accept(item)).duplicate).toBe(false);
    expect(await store.events.list(siteId, { limit: 10 })).toHaveLength(1);
  });

  test("300 events that arrive at once are all stored", async () => {
    const siteId = await newSite(store);
    const answers = await Promise.all(Array.from({ length: 300 }, (_, i) => store.events.accept(claiming(siteId, `n${i}`))));
    expect(answers.filter((answer) => answer.duplicate)).toEqual([]);
    expect(await store.events.list(siteId, { limit: 1000 })).toHaveLength(300);
  });

  /** An event of an order as the pipeline makes it, by one of a few people. */
  function ofOrder(siteId: string, email: "a" | "b" | "c", changes: Partial<NewEvent> = {}): NewEvent {
    const emailSha256 = sha256(email.repeat(64));
    const id = orderEventId(siteId, "purchase", "A-1");
    const personRef = personRefOf(id, emailSha256);
    const made = newEvent(
      siteId,
      { receivedAt: now, person: { emailSha256 } },
      { claim: orderClaim(id, "live", personRef), orderEventId: id, personRef },
    );
    return { ...made, ...changes };
  }
  const blocked = { filterReasons: [{ code: "blocked person", detail: null }], deliveries: [] } as const;
  const filteredOrder = (siteId: string, email: "a" | "b" | "c") =>
    ofOrder(siteId, email, { ...blocked, filterReasons: [...blocked.filterReasons], deliveries: [] });

  test("the order event id goes to the first email of an order only, and each email is accepted once", async () => {
    const siteId = await newSite(store);
    const [first, second] = [ofOrder(siteId, "a"), ofOrder(siteId, "b")];
    const accept = (item: NewEvent) => store.events.accept(item);
    expect(await accept(first)).toEqual({ duplicate: false, platformEventId: first.orderEventId });
    expect(await accept(second)).toEqual({ duplicate: false, platformEventId: second.event.id });
    for (const email of ["a", "b"] as const) expect(await accept(ofOrder(siteId, email))).toEqual({ duplicate: true });
    const platformEventIds = [await store.events.get(siteId, first.event.id), await store.events.get(siteId, second.event.id)];
    expect(platformEventIds).toMatchObject([{ platformEventId: first.orderEventId }, { platformEventId: second.event.id }]);
  });

  test("an email that got its own id is a duplicate as long as its own window lasts, also after that of the first email", async () => {
    const siteId = await newSite(store);
    const acceptAt = (email: "a" | "b" | "c", at: number) => {
      const item = ofOrder(siteId, email);
      return store.events.accept({
        ...item,
        event: { ...item.event, receivedAt: at },
        claimUntil: at + hour,
      });
    };
    const duplicate = { duplicate: true };
    expect(await acceptAt("a", now)).not.toEqual(duplicate);
    expect(await acceptAt("b", now + hour - 10)).not.toEqual(duplicate);
    // The window of the first email has ended.
    expect(await acceptAt("b", now + hour + 10)).toEqual(duplicate);
    const again = await acceptAt("a", now + hour + 20);
    expect(again).toEqual({ duplicate: false, platformEventId: orderEventId(siteId, "purchase", "A-1") });
    expect(await acceptAt("b", now + hour + 30)).toEqual(duplicate);
    expect(await acceptAt("b", now + 2 * hour)).not.toEqual(duplicate);
  });

  test("of events that find an expired order event id at once, one takes it and each email is accepted once", async () => {
    const siteId = await newSite(store);
    await store.events.accept(ofOrder(siteId, "a"));
    const at = now + hour;
    const items = Array.from({ length: 30 }, (_, i) => {
      const item = ofOrder(siteId, (["a", "b", "c"] as const)[i % 3] ?? "a");
      return { ...item, event: { ...item.event, receivedAt: at }, claimUntil: at + hour };
    });
    const answers = await Promise.all(items.map((item, i) => (i % 2 ? store : other).events.accept(item)));
    const accepted = answers.flatMap((answer) => (answer.duplicate ? [] : [answer.platformEventId]));
    expect(accepted).toHaveLength(3);
    expect(accepted.filter((id) => id === items[0]?.orderEventId)).toHaveLength(1);
  });

  test("of many events of one order that arrive at once, each email is accepted once and one gets the order event id", async () => {
    const siteId = await newSite(store);
    const items = Array.from({ length: 60 }, (_, i) => ofOrder(siteId, (["a", "b", "c"] as const)[i % 3] ?? "a"));
    const answers = await Promise.all(items.map((item, i) => (i % 2 ? store : other).events.accept(item)));
    const accepted = answers.flatMap((answer) => (answer.duplicate ? [] : [answer.platformEventId]));
    expect(accepted).toHaveLength(3);
    expect(accepted.filter((id) => id === items[0]?.orderEventId)).toHaveLength(1);
  });

  test.each([false, true])(
    "a filtered event leaves the order event id to the first one that is dispatched (at once: %s)",
    async (isAtOnce) => {
      const siteId = await newSite(store);
      const [filtered, human] = [filteredOrder(siteId, "a"), ofOrder(siteId, "b")];
      const accepting = store.events.accept(filtered);
      if (!isAtOnce) await accepting;
      expect(await store.events.accept(human)).toEqual({
        duplicate: false,
        platformEventId: human.orderEventId,
      });
      expect(await accepting).toMatchObject({ duplicate: false });
      const holder = await store.events.findIdByClaim(siteId, human.orderEventId ?? "");
      expect(holder).toBe(human.event.id);
      // Both stay accepted once, and a third email goes out under its own id.
      expect(await store.events.accept(ofOrder(siteId, "a"))).toEqual({ duplicate: true });
      expect(await store.events.accept(ofOrder(siteId, "b"))).toEqual({ duplicate: true });
      const third = ofOrder(siteId, "c");
      expect(await store.events.accept(third)).toEqual({
        duplicate: false,
        platformEventId: third.event.id,
      });
    },
  );

  test("a transaction that runs again after an order event id was handed over accepts both events again", async () => {
    const siteId = await newSite(store);
    const [filtered, human] = [filteredOrder(siteId, "a"), ofOrder(siteId, "b")];
    const acceptBoth = () => Promise.all([filtered, human].map((item) => store.events.accept(item)));
    const accepted = [{ duplicate: false }, { duplicate: false, platformEventId: human.orderEventId }];
    expect(await acceptBoth()).toMatchObject(accepted);
    expect(await acceptBoth()).toMatchObject(accepted);
    expect(await store.events.list(siteId, { limit: 10 })).toHaveLength(2);
  });

  test("a transaction that runs again accepts an event again that took an expired order event id after a duplicate", async () => {
    const siteId = await newSite(store);
    const at = (receivedAt: number, email: "a" | "b") => {
      const item = ofOrder(siteId, email);
      return { ...item, event: { ...item.event, receivedAt }, claimUntil: receivedAt + hour };
    };
    await store.events.accept(at(now, "a"));
    await store.events.accept(at(now + hour - 10, "b"));
    const [duplicate, again] = [at(now + hour + 10, "b"), at(now + hour + 10, "a")];
    const acceptBoth = () => Promise.all([duplicate, again].map((item) => store.events.accept(item)));
    const answers = [{ duplicate: true }, { duplicate: false, platformEventId: again.orderEventId }];
    expect(await acceptBoth()).toEqual(answers);
    expect(await acceptBoth()).toEqual(answers);
  });

  test.each([3, 4, 5, 100])(
    "an order counts once for an email when the claim of another email was purged, %i at a time",
    async (rows) => {
      const siteId = await newSite(store);
      const at = (receivedAt: number, email: "a" | "b" | "c") => {
        const item = ofOrder(siteId, email);
        return { ...item, event: { ...item.event, receivedAt }, claimUntil: receivedAt + hour };
      };
      const purge = async (purgedAt: number) => {
        let removed = 0;
        for (let after: string | null = ""; after !== null;) {
          const step = await store.purge.claims(siteId, purgedAt, after, rows);
          removed += step.removed;
          after = step.next;
        }
        return removed;
      };
      // Claims of other events, before and after those of the order.
      for (const claim of "013579bdf") await store.events.accept(claiming(siteId, claim, { claimUntil: now + 3 * hour }));
      await store.events.accept(at(now, "a"));
      await store.events.accept(at(now + 1, "c"));
      await store.events.accept(at(now + hour - 10, "b"));
      expect(await purge(now + hour + 5)).toBe(1);
      expect(await store.events.accept(at(now + hour + 10, "b"))).toEqual({ duplicate: true });
      expect(await purge(now + 2 * hour)).toBe(2);
    },
  );

  test("an event reads back as it was written, and its extra fields are sealed", async () => {
    const siteId = await newSite(store);
    const item = claiming(siteId, "round", {
      filterReasons: [{ code: "blocked domain", detail: "example.com" }],
      deliveries: [],
    });
    item.event = {
      ...item.event,
      name: "Größe 😀",
      value: 0.1,
      orderId: null,
      extra: { coupon: "SECRET-COUPON" },
    };
    await store.events.accept(item);
    expect(await store.events.get(siteId, item.event.id)).toEqual({
      ...item.event,
      platformEventId: item.event.id,
      status: "filtered",
      isErased: false,
      filterReasons: [{ code: "blocked domain", detail: "example.com" }],
      releasedAt: null,
      attribution: unattributed,
    });
    const [row] = await sql(location, `SELECT extra FROM events WHERE id = '${item.event.id}'`);
    expect(String(row?.extra)).not.toContain("COUPON");
  });

  test("items read back as they were written, with and without extra fields, and are sealed", async () => {
    const siteId = await newSite(store);
    const items = [
      { id: "SKU-1", name: "SECRET-MUG 😀", category: "Kitchen", brand: "North", price: 0.1, quantity: 2 },
      { id: "SKU-2", quantity: 1 },
    ];
    for (const extra of [null, { coupon: "SECRET-COUPON" }]) {
      const item = claiming(siteId, `items ${JSON.stringify(extra)}`, { deliveries: [] });
      item.event = { ...item.event, orderId: null, extra, items };
      await store.events.accept(item);
      const read = await store.events.get(siteId, item.event.id);
      expect(read).toMatchObject({ extra, items });
      expect((await other.events.getMany(siteId, [item.event.id])).get(item.event.id)).toEqual(read);
      const [row] = await sql(location, `SELECT * FROM events WHERE id = '${item.event.id}'`);
      expect(JSON.stringify(row)).not.toMatch(/SECRET|SKU-1|Kitchen/);
    }
  });

  test("an event without items leaves its row as it is without them", async () => {
    const siteId = await newSite(store);
    const item = claiming(siteId, "bare", { deliveries: [] });
    await store.events.accept(item);
    const stored = await store.events.get(siteId, item.event.id);
    expect(stored === "damaged" ? stored : stored?.items).toBeUndefined();
    const [row] = await sql(location, `SELECT * FROM events WHERE id = '${item.event.id}'`);
    expect(row).toMatchObject({ extra: null });
    expect(Object.keys(row ?? {})).not.toContain("items");
  });

  test("events are listed newest first, in pages, and by order, email and status", async () => {
    const siteId = await newSite(store);
    const items = Array.from({ length: 7 }, (_, i) => claiming(siteId, `l${i}`, { at: now + i }));
    items[3]!.event = {
      ...items[3]!.event,
      orderId: "B-9",
      person: { emailSha256: sha256("f".repeat(64)) },
    };
    for (const item of items) await store.events.accept(item);
    const newest = items.map((item) => item.event.id).toReversed();
    const page = await store.events.list(siteId, { limit: 3 });
    expect(page.map((event) => event.id)).toEqual(newest.slice(0, 3));
    const next = await store.events.list(siteId, { limit: 10, before: page[2]!.id });
    expect(next.map((event) => event.id)).toEqual(newest.slice(3));
    const ids = async (filter: object) => (await store.events.list(siteId, { limit: 10, ...filter })).map((e) => e.id);
    expect(await ids({ orderId: "B-9" })).toEqual([items[3]!.event.id]);
    expect(await ids({ emailSha256: sha256("f".repeat(64)) })).toEqual([items[3]!.event.id]);
    expect(await ids({ status: "filtered" })).toEqual([]);
  });

  test("orders are found by how their id begins, in any case", async () => {
    const siteId = await newSite(store);
    for (const [i, orderId] of ["AO-1115", "AO-1115-B", "ao-1116", "#AO-1117", "BO-1115", "AO-2"].entries()) {
      const item = claiming(siteId, `p${i}`, { at: now + i });
      item.event = { ...item.event, orderId };
      await store.events.accept(item);
    }
    const keys = async (prefix: string, limit = 10) => (await store.events.listOrderKeys(siteId, prefix, limit)).toSorted();
    expect(await keys("AO-111")).toEqual(["ao-1115", "ao-1115-b", "ao-1116", "ao-1117"]);
    expect(await keys("#ao-1115-")).toEqual(["ao-1115-b"]);
    expect(await keys("AO-111", 2)).toHaveLength(2);
    expect(await keys("O-1115")).toEqual([]);
    expect(await keys("AO-%")).toEqual([]);
  });

  test("the emails of an order are counted", async () => {
    const siteId = await newSite(store);
    await store.events.accept(claiming(siteId, "1"));
    expect(await store.events.countEmailsOfOrder(siteId, "A-1")).toBe(1);
    const second = claiming(siteId, "2");
    second.event = { ...second.event, person: { emailSha256: sha256("d".repeat(64)) } };
    await store.events.accept(second);
    expect(await store.events.countEmailsOfOrder(siteId, "A-1")).toBe(2);
  });

  async function filteredEvent(siteId: string, email: "a" | "b" = "a"): Promise<string> {
    const item = filteredOrder(siteId, email);
    await store.events.accept(item);
    return item.event.id;
  }

  const release = (siteId: string, eventId: string, at = now, stage: NewEvent["stage"] = null) =>
    store.events.release({
      siteId,
      stage,
      eventId,
      attribution: { ...unattributed, identity: "found", utm: { utm_source: "released" } },
      deliveries: [
        { connectionId: "c1", platform: "sandbox", state: "queued", reason: null },
        { connectionId: "c2", platform: "webhook", state: "parked", reason: "paused" },
      ],
      orderEventId: orderEventId(siteId, "purchase", "A-1"),
      claimUntil: now + hour,
      now: at,
    });

  test("a released event is accepted, due at once, takes the order event id and keeps its reasons", async () => {
    const siteId = shortId();
    const id = await filteredEvent(siteId);
    expect(await release(siteId, id)).toHaveLength(2);
    expect(await store.events.get(siteId, id)).toMatchObject({
      status: "accepted",
      releasedAt: now,
      filterReasons: [{ code: "blocked person", detail: null }],
      platformEventId: orderEventId(siteId, "purchase", "A-1"),
      attribution: { identity: "found", utm: { utm_source: "released" } },
    });
    const deliveries = await store.deliveries.listByEvent(siteId, id);
    expect(deliveries.map(({ state, owner, dueAt }) => [state, owner, dueAt])).toEqual([
      ["queued", "", now],
      ["parked", "", 0],
    ]);
    const lease = { by: "row", owner: "n", at: now, dueAt: now + 30_000 } as const;
    expect(await store.deliveries.claimDue({ siteId, connectionId: "c1" }, lease, 10)).toHaveLength(1);
  });

  test("an event is released once: a second time is refused, the same time again changes nothing", async () => {
    const siteId = shortId();
    const id = await filteredEvent(siteId);
    expect(await release(siteId, id)).toHaveLength(2);
    // As after a commit whose answer got lost.
    expect(await release(siteId, id)).toHaveLength(2);
    expect(await release(siteId, id, now + 1)).toBeNull();
    expect(await release(shortId(), id)).toBeNull();
    expect(await store.deliveries.listByEvent(siteId, id)).toHaveLength(2);
  });

  test("a released event goes out under its own id where another event holds the order event id", async () => {
    const siteId = shortId();
    const [first, second] = [await filteredEvent(siteId, "a"), await filteredEvent(siteId, "b")];
    await release(siteId, first);
    await release(siteId, second);
    expect([await store.events.get(siteId, first), await store.events.get(siteId, second)]).toMatchObject([
      { platformEventId: orderEventId(siteId, "purchase", "A-1") },
      { platformEventId: second },
    ]);
  });
});
