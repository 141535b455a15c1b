// Identity records, visitors, consent and erasure, on both engines.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { migratedDatabase } from "../../../test/support/databases.ts";
import { newEvent, newSite } from "../../../test/support/events.ts";
import { createNodes, sql } from "../../../test/support/nodes.ts";
import { eventually } from "../../../test/support/relay.ts";
import { sha256 } from "../../../test/support/sha256.ts";
import { emailRef } from "../events/eventRow.ts";
import type { ConsentState, Visit } from "../../kernel/event.ts";
import type { PurgeStep } from "../maintenance/purge.ts";
import type { Store } from "../store.ts";
import { ulid } from "../../kernel/ids.ts";
import { connectPostgres } from "../engine/postgres/engine.ts";
import { peopleStore, type PeopleRows } from "./people.ts";

const now = Date.UTC(2026, 10, 15);

describe.each(["sqlite", "postgres"] as const)("people on %s", async (engine) => {
  const { store, other, location, close } = await createNodes(engine);
  afterAll(close);

  const remember = (on: Store, siteId: string, email: string, utm: Record<string, string>) =>
    on.people.change(siteId, async (rows) => {
      const known = await rows.lockIdentity(sha256(email), now);
      await rows.saveIdentity(sha256(email), { ...known, firstUtm: { ...known.firstUtm, ...utm } }, now);
    });
  const visit = (seenAt: number, clickedAt = seenAt, clickId = "G"): Visit => ({
    visitorId: "v",
    seenAt,
    browser: null,
    clickIds: { gclid: { value: clickId, seenAt: clickedAt } },
    browserIds: {},
    utm: {},
  });
  const see = (siteId: string, email: string, clickId: string) =>
    store.people.change(siteId, async (rows) => {
      const known = await rows.lockIdentity(sha256(email), now);
      await rows.saveIdentity(sha256(email), { ...known, visits: [visit(now, now, clickId)] }, now);
    });
  const decide = (siteId: string, subject: string, givenBy: string, state: ConsentState) =>
    store.people.change(siteId, (rows) => rows.decide(subject, givenBy, state, now));

  test("twenty concurrent changes of one identity record are all kept", async () => {
    const siteId = await newSite(store);
    await Promise.all(Array.from({ length: 20 }, (_, i) => remember(i % 2 ? store : other, siteId, "p", { [`n${i}`]: "x" })));
    const identity = await store.people.findIdentity(siteId, sha256("p"));
    expect(Object.keys(identity?.firstUtm ?? {})).toHaveLength(20);
  });

  test("a change that fails leaves nothing behind, and changes committed with it are kept", async () => {
    const siteId = await newSite(store);
    const failing = store.people.change(siteId, async (rows) => {
      await rows.decide("p", "v", "denied", now);
      throw new Error("changed my mind");
    });
    const concurrent = remember(store, siteId, "q", { a: "1" });
    await expect(failing).rejects.toThrow("changed my mind");
    await concurrent;
    expect(await store.people.listDecisions(siteId, "p")).toEqual([]);
    expect((await store.people.findIdentity(siteId, sha256("q")))?.firstUtm).toEqual({ a: "1" });
  });

  test("concurrent look-ups each find their own person, of their own site", async () => {
    const [a, b] = [await newSite(store), await newSite(store)];
    for (let i = 0; i < 70; i++) {
      await see(a, `p${i}`, `a${i}`);
      if (i % 3) await decide(a, `p${i}`, "visitor a", i % 3 === 1 ? "granted" : "denied");
    }
    await see(b, "p1", "b1");
    await decide(b, "p2", "visitor a", "denied");
    const found = await Promise.all([
      ...Array.from({ length: 140 }, (_, i) => store.people.lookUp(a, sha256(`p${i % 70}`))),
      store.people.lookUp(b, sha256("p1")),
      store.people.lookUp(b, sha256("p2")),
      store.people.lookUp(b, sha256("p3")),
    ]);
    const expected = Array.from({ length: 140 }, (_, i) => ({
      consent: ["unknown", "granted", "denied"][(i % 70) % 3],
      identity: { visits: [visit(now, now, `a${i % 70}`)], firstUtm: {}, forms: {} },
    }));
    expect(found.slice(0, 140)).toEqual(expected);
    expect(found.slice(140)).toEqual([
      { consent: "unknown", identity: { visits: [visit(now, now, "b1")], firstUtm: {}, forms: {} } },
      { consent: "denied", identity: null },
      { consent: "unknown", identity: null },
    ]);
  });

  test("one giver's refusal is a refusal, whatever others grant, until that giver takes it back", async () => {
    const siteId = await newSite(store);
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

  test("an unknown consent state is unreadable, even next to a grant", async () => {
    const siteId = await newSite(store);
    await decide(siteId, "p", "visitor a", "granted");
    await decide(siteId, "p", "visitor b", "granted");
    await sql(location, `UPDATE consents SET state = 'yes please' WHERE site_id = '${siteId}' AND given_by = 'visitor a'`);
    expect(await store.people.readConsent(siteId, sha256("p"))).toBe("unreadable");
  });

  test("a visitor is saved, locked for change, and removed", async () => {
    const siteId = await newSite(store);
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

  test("the purge removes expired visits and click ids in steps, and records that are empty then", async () => {
    const siteId = await newSite(store);
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
    const looked: PurgeStep[] = [];
    for (let after: string | null = ""; after !== null; after = looked.at(-1)?.next ?? null)
      looked.push(await store.people.purgePeople(siteId, 10, after, 2));
    expect(looked).toEqual([
      { removed: 1, next: "new" },
      { removed: 2, next: "old2" },
      { removed: 1, next: null },
    ]);
    expect(await store.people.findIdentity(siteId, sha256("old2"))).toBeNull();
    expect((await store.people.findIdentity(siteId, sha256("both")))?.visits).toEqual([visit(20)]);
    expect((await store.people.findIdentity(siteId, sha256("seen again")))?.visits).toEqual([{ ...visit(20), clickIds: {} }]);
    expect((await store.people.findIdentity(siteId, sha256("new")))?.visits).toEqual([visit(20)]);
  });

  test("an erasure deletes grants and finds every visitor, and refusals stay", async () => {
    const siteId = await newSite(store);
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
    expect((await store.people.listDecisions(siteId, email)).map((one) => one.givenBy)).toEqual(["visitor b"]);
    expect((await store.people.listHistory(siteId, email)).map((one) => one.givenBy)).toEqual(["visitor b"]);
  });

  test("lifting refusals leaves the history of decisions as it was", async () => {
    const siteId = await newSite(store);
    await decide(siteId, "p", "visitor a", "denied");
    await store.people.change(siteId, (rows) => rows.liftRefusals(sha256("p"), now));
    expect(await store.people.readConsent(siteId, sha256("p"))).toBe("granted");
    expect((await store.people.listHistory(siteId, "p")).map((one) => one.state)).toEqual(["denied"]);
  });

  test("an erased person is removed from events, deliveries and the log, and queued deliveries are skipped", async () => {
    const siteId = await newSite(store);
    const items = Array.from({ length: 70 }, () => newEvent(siteId));
    for (const item of items) {
      item.event = {
        ...item.event,
        extra: { note: "x" },
        items: [{ id: "SKU-1", quantity: 1 }],
        person: { emailSha256: sha256("a".repeat(64)), phoneSha256: sha256("b".repeat(64)) },
      };
      await store.events.accept(item);
    }
    const bystander = newEvent(siteId);
    await store.events.accept(bystander);
    expect(await store.erase.events(siteId, sha256("a".repeat(64)), now)).toBe(70);
    const erased = await store.events.get(siteId, items[69]!.event.id);
    expect(erased).toMatchObject({ person: {}, isErased: true, extra: null, value: 12.5, orderId: "A-1" });
    expect(erased === "damaged" ? erased : erased?.items).toBeUndefined();
    const [delivery] = await store.deliveries.listByEvent(siteId, items[0]!.event.id);
    expect(delivery).toMatchObject({ state: "skipped", reason: "person erased" });
    const [left] = await sql(
      location,
      `SELECT COUNT(*) AS n FROM events WHERE site_id = '${siteId}' AND (person LIKE '%aaaa%' OR email_ref = ${emailRef(sha256("a".repeat(64)))})`,
    );
    expect(Number(left?.n)).toBe(0);
    expect(await store.events.get(siteId, bystander.event.id)).toMatchObject({
      person: { emailSha256: "e".repeat(64) },
    });
  });
});

/** People on a server, and the number of queries that read them. */
async function countedPeople(isSharded: boolean) {
  const db = connectPostgres(await migratedDatabase(), { connections: 2 });
  onTestFinished(() => db.close());
  const count = { queries: 0 };
  const all: typeof db.all = (...query) => {
    count.queries += 1;
    return db.all(...query);
  };
  const people = peopleStore({ ...db, all }, ulid, isSharded);
  return { count, lookUp: (email: string) => people.lookUp("site", sha256(email)) };
}

test("look-ups of the same moment share one query on a server, whatever their number", async () => {
  const { count, lookUp } = await countedPeople(false);
  const emails = Array.from({ length: 31 }, (_, n) => `${n}`);
  await Promise.all(emails.map(lookUp));
  expect(count.queries).toBe(1);
});

test("on a sharded database, a look-up that follows another closely waits for more, and they share a query", async () => {
  const { count, lookUp } = await countedPeople(true);
  // On a machine that stalls, the third look-up may come after the window of the second.
  await eventually("two look-ups of three share a query", async () => {
    count.queries = 0;
    await lookUp("a");
    const second = lookUp("b");
    await sleep(1);
    await Promise.all([second, lookUp("c")]);
    return count.queries === 2;
  });
});
