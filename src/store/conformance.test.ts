// One suite, both engines: what the rest of the relay may rely on.

import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freshDatabase, freshFolder } from "../../test/support/databases.ts";
import type { Attribution, ConsentState, Event, Visit } from "../kernel/event.ts";
import { shortId, uuidv7 } from "../kernel/ids.ts";
import type { Change, ConnectionRow } from "./sites/configuration.ts";
import type { NewEvent } from "./events/events.ts";
import { NewerSchema } from "./schema/compatibility.ts";
import type { PeopleRows } from "./people/people.ts";
import { migrations } from "./schema/schema.ts";
import { WrongEncryptionKey } from "./maintenance/sealCheck.ts";
import type { Step } from "./maintenance/purge.ts";
import { openStore, type Store, type StoreLocation } from "./store.ts";
import { sha256 } from "../../test/support/sha256.ts";

const encryptionKey = Buffer.alloc(32, 7);
const now = Date.UTC(2026, 10, 15);
const hour = 3_600_000;

const unattributed: Attribution = {
  consent: "unknown",
  withheld: null,
  identity: "none",
  clickIds: {},
  browserIds: {},
  utm: {},
  browser: null,
};

function newEvent(
  siteId: string,
  claim: string,
  changes: Partial<NewEvent> & { at?: number } = {},
): NewEvent {
  const receivedAt = changes.at ?? now;
  const event: Event = {
    id: uuidv7(receivedAt),
    siteId,
    keyId: "key",
    mode: "live",
    name: "purchase",
    value: 12.5,
    currency: "EUR",
    orderId: "A-1",
    time: receivedAt,
    receivedAt,
    person: { emailSha256: sha256("e".repeat(64)) },
    extra: null,
  };
  return {
    event,
    attribution: unattributed,
    filterReasons: [],
    claim,
    claimUntil: receivedAt + hour,
    orderEventId: null,
    deliveries: [{ connectionId: "c1", platform: "sandbox", state: "queued", reason: null }],
    owner: "node-a",
    leaseUntil: receivedAt + 30_000,
    ...changes,
  };
}

async function locationOf(engine: "sqlite" | "postgres"): Promise<StoreLocation> {
  return engine === "sqlite"
    ? { engine, file: `${freshFolder()}/store.db` }
    : { engine, url: await freshDatabase(), connections: 8 };
}

/** Runs SQL past the store, as another program would. */
async function sql(location: StoreLocation, text: string): Promise<Record<string, unknown>[]> {
  if (location.engine === "sqlite") {
    const db = new DatabaseSync(location.file);
    // What one turn of the event loop reads is of one moment; another program is never in the same turn.
    await nextTurn();
    try {
      return db.prepare(text).all();
    } finally {
      db.close();
    }
  }
  const client = new Client({ connectionString: location.url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

describe.each(["sqlite", "postgres"] as const)("the store on %s", (engine) => {
  let location: StoreLocation;
  let store: Store;
  /** A second node where the engine allows one; the same store where it does not. */
  let other: Store;

  beforeAll(async () => {
    location = await locationOf(engine);
    store = await openStore(location, encryptionKey, uuidv7);
    other = engine === "postgres" ? await openStore(location, encryptionKey, uuidv7) : store;
  });
  afterAll(async () => {
    if (other !== store) await other.close();
    await store.close();
  });

  const change = (siteId: string, action = "test"): Change => ({
    siteId,
    actor: "test",
    action,
    detail: {},
    at: now,
  });
  async function newSite(): Promise<string> {
    const id = shortId();
    await store.configuration.addSite(change(id), { name: id, settings: {}, hosts: [`${id}.example.com`] });
    return id;
  }

  describe("schema", () => {
    test("opening it again changes nothing", async () => {
      const again = await openStore(location, encryptionKey, uuidv7);
      expect(again.migrated.applied).toEqual([]);
      await again.close();
    });

    test("nodes that start at once on an empty database migrate it once", async () => {
      const empty = await locationOf(engine);
      const count = engine === "postgres" ? 4 : 1;
      const stores = await Promise.all(
        Array.from({ length: count }, () => openStore(empty, encryptionKey, uuidv7)),
      );
      // Each was made by one of them, by whichever.
      expect(stores.flatMap((one) => one.migrated.applied).toSorted()).toEqual(
        migrations.map((one) => one.name).toSorted(),
      );
      await Promise.all(stores.map((one) => one.close()));
    });

    test("a database of a newer version that is too far is refused with a sentence", async () => {
      const newer = await locationOf(engine);
      await (await openStore(newer, encryptionKey, uuidv7)).close();
      await sql(newer, `INSERT INTO migrations (version, name, applied_at) VALUES (999, 'tomorrow', 0)`);
      const kept = await openStore(newer, encryptionKey, uuidv7);
      expect(kept.migrated).toMatchObject({ from: 999, applied: [] });
      await kept.close();
      await sql(newer, `UPDATE settings SET value = '998' WHERE name = 'oldest_schema'`);
      await expect(openStore(newer, encryptionKey, uuidv7)).rejects.toThrow(NewerSchema);
    });

    test("another encryption key is refused at the start", async () => {
      await expect(openStore(location, Buffer.alloc(32, 8), uuidv7)).rejects.toThrow(WrongEncryptionKey);
    });

    test("every table that grows has the site first in its primary key and in every unique index", async () => {
      for (const table of migrations.flatMap((one) => one.bySite)) {
        const keys =
          engine === "sqlite"
            ? await sql(location, `SELECT name FROM pragma_table_info('${table}') WHERE pk = 1`)
            : await sql(
                location,
                `SELECT a.attname AS name FROM pg_index i
                 JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
                 WHERE i.indrelid = '${table}'::regclass AND i.indisunique`,
              );
        expect([table, keys.length > 0, keys.every(({ name }) => name === "site_id")]).toEqual([
          table,
          true,
          true,
        ]);
      }
    });

    test("every table is declared as configuration or as keyed by site", async () => {
      const rows =
        engine === "sqlite"
          ? await sql(location, `SELECT name FROM sqlite_schema WHERE type = 'table'`)
          : await sql(
              location,
              `SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`,
            );
      const declared = migrations.flatMap((one) => [...one.configuration, ...one.bySite]);
      expect(rows.map(({ name }) => String(name)).toSorted()).toEqual(["migrations", ...declared].toSorted());
    });
  });

  describe("accepting events", () => {
    test("of 100 equal claims on two nodes exactly one wins, with one event and one delivery", async () => {
      const siteId = await newSite();
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, i) =>
          (i % 2 ? store : other).events.accept(newEvent(siteId, "same")),
        ),
      );
      expect(answers.filter((answer) => !answer.duplicate)).toHaveLength(1);
      const events = await store.events.list(siteId, { limit: 10 });
      expect(events).toHaveLength(1);
      expect(await store.deliveries.listByEvent(siteId, events[0]?.id ?? "")).toHaveLength(1);
    });

    test("one claim means different things at two sites", async () => {
      const [a, b] = [await newSite(), await newSite()];
      const answers = await Promise.all([
        store.events.accept(newEvent(a, "claim")),
        store.events.accept(newEvent(b, "claim")),
      ]);
      expect(answers.map((answer) => answer.duplicate)).toEqual([false, false]);
    });

    test("a claim holds until its window ends, and not a moment longer", async () => {
      const siteId = await newSite();
      const accept = async (at: number) =>
        (await store.events.accept(newEvent(siteId, "w", { at }))).duplicate;
      expect(await accept(now)).toBe(false);
      expect(await accept(now + hour - 1)).toBe(true);
      expect(await accept(now + hour)).toBe(false);
      expect(await accept(now + hour + 1)).toBe(true);
    });

    test("an event whose commit got lost on the way to us is accepted again, once", async () => {
      const siteId = await newSite();
      const item = newEvent(siteId, "lost");
      expect((await store.events.accept(item)).duplicate).toBe(false);
      expect((await store.events.accept(item)).duplicate).toBe(false);
      expect(await store.events.list(siteId, { limit: 10 })).toHaveLength(1);
    });

    test("events of one moment, more than a chunk of them, are all stored", async () => {
      const siteId = await newSite();
      const answers = await Promise.all(
        Array.from({ length: 300 }, (_, i) => store.events.accept(newEvent(siteId, `n${i}`))),
      );
      expect(answers.filter((answer) => answer.duplicate)).toEqual([]);
      expect(await store.events.list(siteId, { limit: 1000 })).toHaveLength(300);
    });

    test("the id that a browser can foretell goes to the first email of an order only", async () => {
      const siteId = await newSite();
      const first = await store.events.accept(newEvent(siteId, "email 1", { orderEventId: "f" }));
      const second = newEvent(siteId, "email 2", { orderEventId: "f" });
      expect(first).toEqual({ duplicate: false, platformEventId: "f" });
      expect(await store.events.accept(second)).toEqual({
        duplicate: false,
        platformEventId: second.event.id,
      });
    });

    test("a filtered event leaves the order event id to the one that is dispatched", async () => {
      const siteId = await newSite();
      const filtered = newEvent(siteId, "bot", {
        orderEventId: "f",
        filterReasons: ["blocked person"],
        deliveries: [],
      });
      await store.events.accept(filtered);
      expect(await store.events.accept(newEvent(siteId, "human", { orderEventId: "f" }))).toEqual({
        duplicate: false,
        platformEventId: "f",
      });
      expect(await store.events.findIdByClaim(siteId, "f")).not.toBe(filtered.event.id);
    });

    test("an event comes back as it went in, its extra fields sealed", async () => {
      const siteId = await newSite();
      const item = newEvent(siteId, "round", {
        filterReasons: ["blocked domain:example.com"],
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
        filterReasons: ["blocked domain:example.com"],
        releasedAt: null,
        attribution: unattributed,
      });
      const [row] = await sql(location, `SELECT extra FROM events WHERE id = '${item.event.id}'`);
      expect(String(row?.extra)).not.toContain("COUPON");
    });

    test("lists are newest first, page by page, and can be searched", async () => {
      const siteId = await newSite();
      const items = Array.from({ length: 7 }, (_, i) => newEvent(siteId, `l${i}`, { at: now + i }));
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
      const ids = async (filter: object) =>
        (await store.events.list(siteId, { limit: 10, ...filter })).map((e) => e.id);
      expect(await ids({ orderId: "B-9" })).toEqual([items[3]!.event.id]);
      expect(await ids({ emailSha256: sha256("f".repeat(64)) })).toEqual([items[3]!.event.id]);
      expect(await ids({ status: "filtered" })).toEqual([]);
    });

    test("an order id that came with several emails is noticed", async () => {
      const siteId = await newSite();
      await store.events.accept(newEvent(siteId, "1"));
      expect(await store.events.countEmailsOfOrder(siteId, "A-1")).toBe(1);
      const second = newEvent(siteId, "2");
      second.event = { ...second.event, person: { emailSha256: sha256("d".repeat(64)) } };
      await store.events.accept(second);
      expect(await store.events.countEmailsOfOrder(siteId, "A-1")).toBe(2);
    });
  });

  describe("deliveries", () => {
    const settlement = (item: NewEvent, state: "sent" | "queued" | "parked", changes: object = {}) => ({
      siteId: item.event.siteId,
      eventId: item.event.id,
      connectionId: "c1",
      owner: "node-a",
      state,
      reason: null,
      dueAt: 0,
      attempts: 1,
      at: now,
      attempt: null,
      ...changes,
    });

    async function accepted(siteId: string, count: number): Promise<NewEvent[]> {
      const items = Array.from({ length: count }, (_, i) => newEvent(siteId, `${shortId()}${i}`));
      await Promise.all(items.map((item) => store.events.accept(item)));
      return items;
    }
    const lease = (at: number, owner: string, limit = 100) => ({ now: at, owner, until: at + 30_000, limit });

    test("what a node has in hand is not due for others before its lease ends", async () => {
      const siteId = await newSite();
      await accepted(siteId, 3);
      const due = { siteId, connectionId: "c1" };
      expect(await store.deliveries.claimDue(due, lease(now + 29_999, "node-b"))).toEqual([]);
      expect(await store.deliveries.findDue(now + 29_999, [due])).not.toContainEqual(due);
      expect(await store.deliveries.findDue(now + 30_000, [due])).toContainEqual(due);
      expect(await store.deliveries.claimDue(due, lease(now + 30_000, "node-b"))).toHaveLength(3);
    });

    test("eight takers at once get every due delivery exactly once, never more than they asked for", async () => {
      const siteId = await newSite();
      await accepted(siteId, 200);
      const taken: string[] = [];
      const largest: number[] = [];
      await Promise.all(
        Array.from({ length: 8 }, async (_, i) => {
          const from = i % 2 ? store : other;
          for (let idle = 0; idle < 3;) {
            const got = await from.deliveries.claimDue(
              { siteId, connectionId: "c1" },
              lease(now + hour, `t${i}`, 20),
            );
            largest.push(got.length);
            taken.push(...got.map((one) => one.eventId));
            idle = got.length ? 0 : idle + 1;
          }
        }),
      );
      expect(taken).toHaveLength(200);
      expect(new Set(taken).size).toBe(200);
      expect(Math.max(...largest)).toBeLessThanOrEqual(20);
    });

    test("only the owner of the lease settles", async () => {
      const siteId = await newSite();
      const [item] = (await accepted(siteId, 1)) as [NewEvent];
      await store.deliveries.claimDue({ siteId, connectionId: "c1" }, lease(now + hour, "node-b"));
      await store.deliveries.settle(settlement(item, "sent"));
      expect((await store.deliveries.listByEvent(siteId, item.event.id))[0]).toMatchObject({
        state: "queued",
        owner: "node-b",
      });
      await store.deliveries.settle(settlement(item, "sent", { owner: "node-b" }));
      expect((await store.deliveries.listByEvent(siteId, item.event.id))[0]).toMatchObject({
        state: "sent",
        attempts: 1,
      });
    });

    test("nothing is written about a delivery that is no longer ours, not even its attempt", async () => {
      const siteId = await newSite();
      const [item] = (await accepted(siteId, 1)) as [NewEvent];
      await store.erase.events(siteId, item.event.person.emailSha256, now);
      const attempt = {
        number: 1,
        startedAt: now,
        durationMs: 1,
        state: "sent" as const,
        reason: null,
        httpStatus: 200,
        batch: 1,
        request: item.event.person.emailSha256,
        response: null,
      };
      await store.deliveries.settle(settlement(item, "sent", { attempt }));
      expect(await store.deliveries.listAttempts(siteId, item.event.id)).toEqual([]);
    });

    test("settling many at once writes each outcome and attempt to its own delivery", async () => {
      const siteId = await newSite();
      const items = await accepted(siteId, 130);
      await Promise.all(
        items.map((item, i) =>
          store.deliveries.settle(
            settlement(item, i % 2 ? "sent" : "queued", {
              reason: `r${i}`,
              dueAt: i % 2 ? 0 : now + i,
              attempt: {
                number: 1,
                startedAt: now,
                durationMs: i,
                state: i % 2 ? "sent" : "queued",
                reason: `r${i}`,
                httpStatus: 200,
                batch: 1,
                request: "POST",
                response: null,
              },
            }),
          ),
        ),
      );
      for (const [i, item] of items.entries()) {
        const [delivery] = await store.deliveries.listByEvent(siteId, item.event.id);
        expect(delivery).toMatchObject({
          state: i % 2 ? "sent" : "queued",
          reason: `r${i}`,
          dueAt: i % 2 ? 0 : now + i,
        });
        const attempts = await store.deliveries.listAttempts(siteId, item.event.id);
        expect(attempts).toMatchObject([{ number: 1, durationMs: i, httpStatus: 200, reason: `r${i}` }]);
      }
    });

    test("parked deliveries wait until they are released, then are due at once", async () => {
      const siteId = await newSite();
      const [item] = (await accepted(siteId, 1)) as [NewEvent];
      await store.deliveries.settle(settlement(item, "parked", { reason: "paused" }));
      const c1 = { siteId, connectionId: "c1" };
      const several = [{ siteId, connectionId: "c0" }, c1, { siteId: "other", connectionId: "c1" }];
      expect(await store.deliveries.findDue(now + 10 * hour, several)).toEqual([]);
      expect(await store.deliveries.findAllDue(now + 10 * hour)).not.toContainEqual(c1);
      expect(await store.deliveries.findParked(several)).toEqual([c1]);
      expect(await store.deliveries.releaseParked(siteId, "c1", now)).toBe(1);
      expect(await store.deliveries.findParked([c1])).toEqual([]);
      expect(
        await store.deliveries.claimDue({ siteId, connectionId: "c1" }, lease(now, "node-b")),
      ).toHaveLength(1);
    });

    test("what waits for a connection that is gone ends, what was sent stays sent", async () => {
      const siteId = await newSite();
      const [sent, queued, inHand] = (await accepted(siteId, 3)) as [NewEvent, NewEvent, NewEvent];
      await store.deliveries.settle(settlement(sent, "sent"));
      await store.deliveries.settle(settlement(queued, "queued", { dueAt: now + hour }));
      await store.deliveries.endPending(
        { siteId, connectionId: "c1" },
        { state: "skipped", reason: "disconnected" },
        now,
      );
      // It may be at the platform already; its settlement decides, or the end of its lease.
      expect((await store.deliveries.listByEvent(siteId, inHand.event.id))[0]?.state).toBe("queued");
      expect((await store.deliveries.listByEvent(siteId, sent.event.id))[0]?.state).toBe("sent");
      expect((await store.deliveries.listByEvent(siteId, queued.event.id))[0]).toMatchObject({
        state: "skipped",
        reason: "disconnected",
      });
    });

    test("after a crash of the only node, everything it had in hand is due at once", async () => {
      const siteId = await newSite();
      await accepted(siteId, 2);
      await store.deliveries.releaseLeases(now);
      expect(
        await store.deliveries.claimDue({ siteId, connectionId: "c1" }, lease(now, "node-b")),
      ).toHaveLength(2);
    });
  });

  describe("people", () => {
    const remember = (on: Store, siteId: string, email: string, utm: Record<string, string>) =>
      on.people.change(siteId, async (rows) => {
        const known = await rows.lockIdentity(sha256(email), now);
        await rows.saveIdentity(sha256(email), { ...known, firstUtm: { ...known.firstUtm, ...utm } }, now);
      });
    const decide = (siteId: string, subject: string, givenBy: string, state: ConsentState) =>
      store.people.change(siteId, (rows) => rows.decide(subject, givenBy, state, now));

    test("twenty changes of one identity record at once all count", async () => {
      const siteId = await newSite();
      await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          remember(i % 2 ? store : other, siteId, "p", { [`n${i}`]: "x" }),
        ),
      );
      const identity = await store.people.findIdentity(siteId, sha256("p"));
      expect(Object.keys(identity?.firstUtm ?? {})).toHaveLength(20);
    });

    test("a change that fails leaves nothing behind, and those committed with it stand", async () => {
      const siteId = await newSite();
      const failing = store.people.change(siteId, async (rows) => {
        await rows.decide("p", "v", "denied", now);
        throw new Error("changed my mind");
      });
      const beside = remember(store, siteId, "q", { a: "1" });
      await expect(failing).rejects.toThrow("changed my mind");
      await beside;
      expect(await store.people.listDecisions(siteId, "p")).toEqual([]);
      expect((await store.people.findIdentity(siteId, sha256("q")))?.firstUtm).toEqual({ a: "1" });
    });

    test("many look-ups at once each find their own person, at their own site", async () => {
      const [a, b] = [await newSite(), await newSite()];
      for (let i = 0; i < 70; i++) await remember(store, a, `p${i}`, { mark: `a${i}` });
      await remember(store, b, "p1", { mark: "b1" });
      const found = await Promise.all([
        ...Array.from({ length: 140 }, (_, i) => store.people.findIdentity(a, sha256(`p${i % 70}`))),
        store.people.findIdentity(b, sha256("p1")),
        store.people.findIdentity(b, sha256("p2")),
      ]);
      expect(found.slice(0, 140).map((one) => one?.firstUtm.mark)).toEqual(
        Array.from({ length: 140 }, (_, i) => `a${i % 70}`),
      );
      expect(found[140]?.firstUtm.mark).toBe("b1");
      expect(found[141]).toBeNull();
    });

    test("one giver's refusal is a refusal, whatever others grant, until that giver takes it back", async () => {
      const siteId = await newSite();
      expect(await store.people.readConsent(siteId, sha256("p"))).toBe("unknown");
      await decide(siteId, "p", "visitor a", "denied");
      await decide(siteId, "p", "visitor b", "granted");
      expect(await store.people.readConsent(siteId, sha256("p"))).toBe("denied");
      await decide(siteId, "p", "visitor a", "granted");
      expect(await store.people.readConsent(siteId, sha256("p"))).toBe("granted");
      expect((await store.people.listHistory(siteId, "p")).map((one) => [one.givenBy, one.state])).toEqual([
        ["visitor a", "denied"],
        ["visitor b", "granted"],
        ["visitor a", "granted"],
      ]);
    });

    test("a state that nobody knows is unreadable, beside a grant too", async () => {
      const siteId = await newSite();
      await decide(siteId, "p", "visitor a", "granted");
      await decide(siteId, "p", "visitor b", "granted");
      await sql(
        location,
        `UPDATE consents SET state = 'yes please' WHERE site_id = '${siteId}' AND given_by = 'visitor a'`,
      );
      expect(await store.people.readConsent(siteId, sha256("p"))).toBe("unreadable");
    });

    test("a visitor is kept, found again for change, and removed", async () => {
      const siteId = await newSite();
      const persons = (work: (rows: PeopleRows) => Promise<unknown>) =>
        store.people.change(siteId, async (rows) => {
          await work(rows);
          return (await rows.lockVisitor("v", now)).emailSha256s;
        });
      expect(await persons((rows) => rows.lockVisitor("v", now))).toEqual([]);
      const kept = await persons(async (rows) => {
        await rows.lockVisitor("v", now);
        await rows.saveVisitor("v", { visits: [], emailSha256s: [sha256("p")] }, now);
      });
      expect(kept).toEqual(["p"]);
      expect(await persons((rows) => rows.removeVisitor("v"))).toEqual([]);
    });

    test("the purge takes visits and clicks that are too old, step by step, and records that nothing is left of", async () => {
      const siteId = await newSite();
      const visit = (seenAt: number, clickedAt = seenAt): Visit => ({
        visitorId: "v",
        seenAt,
        browser: null,
        clickIds: { gclid: { value: "G", seenAt: clickedAt } },
        browserIds: {},
        utm: {},
      });
      const put = (email: string, visits: Visit[]) =>
        store.people.change(siteId, async (rows) => {
          await rows.lockIdentity(sha256(email), now);
          await rows.saveIdentity(sha256(email), { visits, firstUtm: {}, forms: {} }, now);
        });
      await put("old1", [visit(1)]);
      await put("old2", [visit(2)]);
      await put("both", [visit(20), visit(3)]);
      await put("seen again", [visit(20, 4)]);
      await put("new", [visit(20)]);
      await store.people.change(siteId, (rows) => rows.lockVisitor("old", 1));
      expect(await store.people.purgeVisitors(siteId, 10, 2)).toBe(1);
      expect(await store.people.purgeVisitors(siteId, 10, 2)).toBe(0);
      const looked: Step[] = [];
      for (let after: string | null = ""; after !== null; after = looked.at(-1)?.next ?? null)
        looked.push(await store.people.purgePeople(siteId, 10, after, 2));
      expect(looked).toEqual([
        { removed: 1, next: "new" },
        { removed: 2, next: "old2" },
        { removed: 1, next: null },
      ]);
      expect(await store.people.findIdentity(siteId, sha256("old2"))).toBeNull();
      expect((await store.people.findIdentity(siteId, sha256("both")))?.visits).toEqual([visit(20)]);
      expect((await store.people.findIdentity(siteId, sha256("seen again")))?.visits).toEqual([
        { ...visit(20), clickIds: {} },
      ]);
      expect((await store.people.findIdentity(siteId, sha256("new")))?.visits).toEqual([visit(20)]);
    });

    test("an erasure forgets grants and finds every visitor; a refusal stays", async () => {
      const siteId = await newSite();
      const email = "c".repeat(64);
      await decide(siteId, email, "visitor a", "granted");
      await decide(siteId, email, "visitor b", "denied");
      const found = await store.people.change(siteId, async (rows) => {
        await rows.lockVisitor("v", now);
        await rows.saveVisitor("v", { visits: [], emailSha256s: [sha256(email)] }, now);
        await rows.lockVisitor("other", now);
        await rows.deleteGrants(email);
        return rows.findVisitors(sha256(email));
      });
      expect(found).toEqual(["v"]);
      expect((await store.people.listDecisions(siteId, email)).map((one) => one.givenBy)).toEqual([
        "visitor b",
      ]);
      expect((await store.people.listHistory(siteId, email)).map((one) => one.givenBy)).toEqual([
        "visitor b",
      ]);
    });

    test("the operator lifts refusals without rewriting what others said", async () => {
      const siteId = await newSite();
      await decide(siteId, "p", "visitor a", "denied");
      await store.people.change(siteId, (rows) => rows.liftRefusals(sha256("p"), now));
      expect(await store.people.readConsent(siteId, sha256("p"))).toBe("granted");
      expect((await store.people.listHistory(siteId, "p")).map((one) => one.state)).toEqual(["denied"]);
    });

    test("an erased person is gone from events, deliveries and the log; what is waiting is not sent", async () => {
      const siteId = await newSite();
      const items = Array.from({ length: 70 }, (_, i) => newEvent(siteId, `erase ${i}`));
      for (const item of items) {
        item.event = {
          ...item.event,
          extra: { note: "x" },
          person: { emailSha256: sha256("a".repeat(64)), phoneSha256: sha256("b".repeat(64)) },
        };
        await store.events.accept(item);
      }
      const bystander = newEvent(siteId, "bystander");
      await store.events.accept(bystander);
      expect(await store.erase.events(siteId, sha256("a".repeat(64)), now)).toBe(70);
      const erased = await store.events.get(siteId, items[69]!.event.id);
      expect(erased).toMatchObject({ person: { emailSha256: "" }, extra: null, value: 12.5, orderId: "A-1" });
      const [delivery] = await store.deliveries.listByEvent(siteId, items[0]!.event.id);
      expect(delivery).toMatchObject({ state: "skipped", reason: "person erased" });
      const [left] = await sql(
        location,
        `SELECT COUNT(*) AS n FROM events WHERE site_id = '${siteId}' AND (person LIKE '%aaaa%' OR email_sha256 LIKE '%aaaa%')`,
      );
      expect(Number(left?.n)).toBe(0);
      expect(await store.events.get(siteId, bystander.event.id)).toMatchObject({
        person: { emailSha256: "e".repeat(64) },
      });
    });
  });

  describe("keys", () => {
    const rule = { keys: 10, windowMs: 300_000, lockMs: 900_000 };

    test("exactly the tenth wrong key locks the host, also when thirty come at once on two nodes", async () => {
      const siteId = await newSite();
      const locked = await Promise.all(
        Array.from({ length: 30 }, (_, i) =>
          (i % 2 ? store : other).keyUse.countWrongKey(siteId, "h", now, rule),
        ),
      );
      expect(locked.filter((until) => until === 0)).toHaveLength(9);
      expect(locked.filter((until) => until === now + rule.lockMs)).toHaveLength(21);
    });

    test("the window slides, and after the lock the count starts anew", async () => {
      const siteId = await newSite();
      const count = (at: number) => store.keyUse.countWrongKey(siteId, "h", at, rule);
      for (let i = 0; i < 9; i++) expect(await count(now + i)).toBe(0);
      expect(await count(now + rule.windowMs + 4)).toBe(0);
      expect(await store.keyUse.listLockouts(siteId, now)).toEqual([]);
      for (let i = 0; i < 4; i++) await count(now + rule.windowMs + 4);
      const until = await count(now + rule.windowMs + 4);
      expect(until).toBe(now + rule.windowMs + 4 + rule.lockMs);
      expect(await store.keyUse.listLockouts(siteId, now)).toMatchObject([{ host: "h", lockedUntil: until }]);
      expect(await count(until)).toBe(0);
    });

    test("wrong keys and lock-outs that are over are forgotten, those that hold are not", async () => {
      const siteId = await newSite();
      for (let i = 0; i < 10; i++) await store.keyUse.countWrongKey(siteId, "locked", now, rule);
      await store.keyUse.countWrongKey(siteId, "once", now, rule);
      await store.keyUse.purge(siteId, now + rule.windowMs, rule);
      expect(await store.keyUse.listLockouts(siteId, now)).toHaveLength(1);
      await store.keyUse.purge(siteId, now + rule.lockMs, rule);
      const [left] = await sql(
        location,
        `SELECT (SELECT COUNT(*) FROM lockouts WHERE site_id = '${siteId}') + (SELECT COUNT(*) FROM wrong_keys WHERE site_id = '${siteId}') AS n`,
      );
      expect(Number(left?.n)).toBe(0);
    });

    test("uses add up over the hours", async () => {
      const siteId = await newSite();
      const use = (at: number, uses: number) => ({ siteId, keyId: "k", hour: at, uses, lastUsedAt: at });
      await store.keyUse.addUses([use(10, 3), use(11, 4)]);
      await other.keyUse.addUses([use(11, 5)]);
      expect((await store.keyUse.sumUses(siteId, 11)).get("k")).toEqual({ uses24h: 9, lastUsedAt: 11 });
    });

    test("uses that are said again under the same total are counted once, each writer's for itself", async () => {
      const siteId = await newSite();
      const say = (writer: string, uses: number, total: number) =>
        other.keyUse.addUses([{ siteId, keyId: "k", hour: 7, uses, lastUsedAt: 7 }], {
          writer,
          hour: 7,
          uses: total,
        });
      await Promise.all([say("a", 3, 3), say("b", 3, 3)]);
      for (let times = 0; times < 3; times++) await say("a", 3, 3);
      await say("a", 4, 7);
      await say("b", 3, 3);
      expect((await store.keyUse.sumUses(siteId, 7)).get("k")?.uses24h).toBe(10);
    });
  });

  describe("configuration", () => {
    test("a change raises the revision, and only the changed site is read again", async () => {
      const [a, b] = [await newSite(), await newSite()];
      const before = await store.configuration.readRevision();
      await other.configuration.changeSettings(change(b), () => ({ inbound: true }));
      expect(await store.configuration.readRevision()).toBe(before + 1);
      const sites = await store.configuration.listSitesSince(before);
      expect(sites.map((site) => site.id)).toEqual([b]);
      expect(sites[0]?.settings).toEqual({ inbound: true });
      expect((await store.configuration.listSitesSince(-1)).map((site) => site.id)).toContain(a);
    });

    test("changes of settings at once on two nodes all count", async () => {
      const siteId = await newSite();
      await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          (i % 2 ? store : other).configuration.changeSettings(change(siteId), (stored) => ({
            ...stored,
            [`s${i}`]: i,
          })),
        ),
      );
      const site = (await store.configuration.listSitesSince(-1)).find((one) => one.id === siteId);
      expect(Object.keys(site?.settings ?? {})).toHaveLength(10);
    });

    test("a host belongs to one site", async () => {
      const siteId = await newSite();
      const twice = store.configuration.addSite(change(shortId()), {
        name: "x",
        settings: {},
        hosts: [`${siteId}.example.com`],
      });
      await expect(twice).rejects.toThrow(/unique|duplicate/i);
    });

    test("secret settings of a connection are sealed, and bound to their row", async () => {
      const siteId = await newSite();
      const connection = (id: string): ConnectionRow => ({
        siteId,
        id,
        platform: "webhook",
        account: id,
        settings: { url: "https://example.com", token: "TOP-SECRET" },
        events: ["purchase"],
        state: "active",
        stateReason: null,
        createdAt: now,
      });
      for (const id of ["one", "two"]) {
        await store.configuration.saveConnection(change(siteId), connection(id), new Set(["token"]));
      }
      const load = async () =>
        (await store.configuration.listSitesSince(-1)).find((site) => site.id === siteId);
      expect((await load())?.connections).toEqual([connection("one"), connection("two")]);
      const rows = await sql(location, `SELECT * FROM connections WHERE site_id = '${siteId}'`);
      expect(JSON.stringify(rows)).not.toContain("TOP-SECRET");
      await sql(
        location,
        `UPDATE connections SET credentials = (SELECT credentials FROM connections WHERE site_id = '${siteId}' AND id = 'one')
         WHERE site_id = '${siteId}' AND id = 'two'`,
      );
      await expect(load()).rejects.toThrow();
      await store.configuration.removeConnection(change(siteId), "two");
      expect((await load())?.connections.map((one) => one.id)).toEqual(["one"]);
    });

    test("every change leaves an audit line", async () => {
      const siteId = await newSite();
      await store.configuration.changeSettings(change(siteId, "settings changed"), (stored) => stored);
      const rows = await sql(
        location,
        `SELECT actor, action FROM audit WHERE site_id = '${siteId}' ORDER BY id`,
      );
      expect(rows.map((row) => ({ ...row }))).toEqual([
        { actor: "test", action: "test" },
        { actor: "test", action: "settings changed" },
      ]);
    });
  });
});
