// Identity records, visitors, consent and erasure, on both engines.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { freshFolder, migratedDatabase } from "../../../test/support/databases.ts";
import { newEvent, newSite } from "../../../test/support/events.ts";
import { createNodes, sql } from "../../../test/support/nodes.ts";
import { eventually } from "../../../test/support/relay.ts";
import { sha256 } from "../../../test/support/sha256.ts";
import { emailRef } from "../events/eventRow.ts";
import type { ConsentState, Sha256, Visit } from "../../kernel/event.ts";
import type { PurgeStep } from "../maintenance/purge.ts";
import type { Store } from "../store.ts";
import { ulid } from "../../kernel/ids.ts";
import type { Database, Query, Value } from "../engine/database.ts";
import { connectPostgres } from "../engine/postgres/engine.ts";
import { connectSqlite } from "../engine/sqlite/engine.ts";
import { migrate } from "../schema/migrate.ts";
import { peopleStore, type PeoplePage, type PeopleRows } from "./people.ts";

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
    const { items: history } = await store.people.listHistory(siteId, "p");
    expect(history.map((one) => [one.givenBy, one.state])).toEqual([
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

  const allOf = async <Item>(read: (after?: string) => Promise<PeoplePage<Item>>): Promise<Item[][]> => {
    const pages: Item[][] = [];
    let after: string | undefined;
    do {
      const { items, next } = await read(after);
      pages.push(items);
      after = next ?? undefined;
    } while (after !== undefined);
    return pages;
  };

  test("the visitors who gave an email are found in pages of a hundred, however many visitors there are", async () => {
    const [siteId, elsewhere] = [await newSite(store), await newSite(store)];
    const email = sha256("c".repeat(64));
    const add = (to: string, id: string, emailSha256s: Sha256[]) =>
      store.people.change(to, async (rows) => {
        await rows.lockVisitor(id, now);
        await rows.saveVisitor(id, { visits: [], emailSha256s }, now);
      });
    const ids = Array.from({ length: 250 }, (_, n) => `visitor ${String(n).padStart(3, "0")}`);
    await Promise.all(ids.map((id, n) => add(siteId, id, n % 60 === 0 ? [sha256("d".repeat(64)), email] : [])));
    await add(elsewhere, "elsewhere", [email]);
    const found = await allOf((after) => store.people.findVisitors(siteId, email, after));
    expect(found).toEqual([["visitor 000", "visitor 060"], ["visitor 120", "visitor 180"], ["visitor 240"]]);
  });

  test("an erasure of visitors deletes their grants with them, and no refusal", async () => {
    const siteId = await newSite(store);
    for (const id of ["v", "w", "other"]) {
      await store.people.change(siteId, (rows) => rows.lockVisitor(id, now));
      await decide(siteId, id, "own", "granted");
      await decide(siteId, id, "gpc", "denied");
    }
    expect(await store.people.change(siteId, (rows) => rows.eraseVisitors(["v", "w", "unknown"]))).toBe(2);
    expect(
      await Promise.all(["v", "w", "other"].map(async (id) => (await store.people.findVisitor(siteId, id)) !== null)),
    ).toEqual([false, false, true]);
    for (const [id, left] of [
      ["v", ["gpc"]],
      ["w", ["gpc"]],
      ["other", ["gpc", "own"]],
    ] as const) {
      const { items: history } = await store.people.listHistory(siteId, id);
      for (const decisions of [await store.people.listDecisions(siteId, id), history])
        expect(decisions.map((one) => one.givenBy).toSorted()).toEqual(left);
    }
  });

  test("the history of decisions is read in pages, in order", async () => {
    const siteId = await newSite(store);
    for (let n = 0; n < 130; n += 1) await decide(siteId, "p", `visitor ${n}`, "denied");
    const pages = await allOf((after) => store.people.listHistory(siteId, "p", after));
    expect(pages.map((page) => page.length)).toEqual([100, 30]);
    expect(pages.flat().map((one) => one.givenBy)).toEqual(Array.from({ length: 130 }, (_, n) => `visitor ${n}`));
  });

  test("lifting refusals grants nothing, and leaves the history of decisions as it was", async () => {
    const siteId = await newSite(store);
    const consent = () => store.people.readConsent(siteId, sha256("p"));
    for (const giver of ["a", "b", "c"]) await decide(siteId, "p", giver, "denied");
    await store.people.change(siteId, (rows) => rows.liftRefusal(sha256("p"), "a"));
    expect((await store.people.listDecisions(siteId, "p")).map((one) => one.givenBy)).toEqual(["b", "c"]);
    expect(await consent()).toBe("denied");
    await sql(location, `UPDATE consents SET state = 'no thanks' WHERE site_id = '${siteId}' AND given_by = 'b'`);
    await store.people.change(siteId, (rows) => rows.liftRefusals(sha256("p"), now));
    expect(await consent()).toBe("unknown");
    const { items: history } = await store.people.listHistory(siteId, "p");
    expect(history.map((one) => one.state)).toEqual(["denied", "denied", "denied"]);
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

test("with the embedded database, every statement about people finds its rows by a key, however many a site has", async () => {
  const db = connectSqlite(`${freshFolder()}/store.db`);
  onTestFinished(() => db.close());
  await migrate(db);
  const asked = new Map<string, readonly Value[]>();
  const noting =
    (on: Query): Query["all"] =>
    (text, params = []) => {
      asked.set(text, params);
      return on.all(text, params);
    };
  const write: Database["write"] = (work) => db.write((tx) => work({ ...tx, all: noting(tx) }));
  const people = peopleStore({ ...db, all: noting(db), write }, ulid, false);
  const email = sha256("p");
  await people.change("site", async (rows) => {
    await rows.saveVisitor("v", { ...(await rows.lockVisitor("v", now)), emailSha256s: [email] }, now);
    await rows.saveIdentity(email, await rows.lockIdentity(email, now), now);
    await rows.decide(email, "v", "granted", now);
    expect(await rows.listDecisionsAbout(email)).toHaveLength(1);
    expect(await rows.listGrantedBy("v")).toEqual([email]);
    await rows.liftRefusal(email, "v");
    await rows.liftRefusals(email, now);
    await rows.deleteGrants([email]);
    await rows.removeIdentity(email);
    await rows.removeVisitor("v");
    await rows.eraseVisitors(["v"]);
  });
  await people.lookUp("site", email);
  await people.readConsent("site", email);
  await people.listHistory("site", email);
  expect(asked.size).toBeGreaterThan(15);
  for (const [text, params] of asked) {
    const plan = (await db.all(`EXPLAIN QUERY PLAN ${text}`, params)).map((row) => String(row.detail));
    expect(
      plan.filter((line) => line.startsWith("SCAN ") || line.endsWith("(site_id=?)")),
      text,
    ).toEqual([]);
  }
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
