// Purging while events are replayed and sent: an event is purged with all its rows, or not at all.

import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { freshDatabase, freshFolder } from "../../../test/support/databases.ts";
import { createNodes, sql } from "../../../test/support/nodes.ts";
import { withClient } from "../../../test/support/postgres/postgres.ts";
import { byNode, newAttempt, newEvent, queuedDelivery, settlementOf } from "../../../test/support/events.ts";
import { sha256 } from "../../../test/support/sha256.ts";
import { ulid } from "../../kernel/ids.ts";
import type { Delivery } from "../deliveries/delivery.ts";
import type { Settlement } from "../deliveries/delivery.ts";
import { connectDatabase, type StoreLocation } from "../connect.ts";
import { syncLogChangeStore } from "../deliveries/syncLog/changes.ts";
import type { Database, RowQuery } from "../engine/database.ts";
import { peopleStore } from "../people/people.ts";
import { inboundCountStore } from "../statistics/inboundCounts.ts";
import { createStore, type Store } from "../store.ts";
import { ownedByAny } from "../deliveries/ownership.ts";
import { dayMs as day, hourMs } from "../../kernel/time.ts";

const now = Date.UTC(2026, 10, 15, 12);
const longAgo = now - 200 * day;
const siteId = "s";
const c = { siteId, connectionId: "c" };

async function acceptOld(store: Store, n: number): Promise<void> {
  await store.events.accept(
    newEvent(
      siteId,
      { receivedAt: longAgo, orderId: `old-${n}` },
      { claim: `claim-${n}`, deliveries: [queuedDelivery(c.connectionId)], ownership: ownedByAny(longAgo) },
    ),
  );
}

function refused({ siteId: site, eventId: id, connectionId, owner, attempts }: Delivery, at: number): Settlement {
  const attempt = newAttempt("rejected", { number: attempts + 1, startedAt: at, httpStatus: 400 });
  const event = { event: newEvent(site, { id }).event };
  return settlementOf(event, "rejected", {
    connectionId,
    owner,
    dueAt: at,
    attempts: attempts + 1,
    at,
    attempt,
  });
}

/** Counts what transactions ask the database for: on a server each is a round trip. */
function countRequests(db: Database): { db: Database; requests: () => number } {
  let requests = 0;
  const counted = (tx: RowQuery): RowQuery => ({
    all: (...given) => ((requests += 1), tx.all(...given)),
    change: (...given) => ((requests += 1), tx.change(...given)),
  });
  return { db: { ...db, write: (work, options) => db.write((tx) => work(counted(tx)), options) }, requests: () => requests };
}

const byKind = (one: { kind: string }, other: { kind: string }) => (one.kind < other.kind ? -1 : 1);

describe.each(["sqlite", "postgres"] as const)("purging on %s", (engine) => {
  test("answers, people, visitors and counts of writers take a few statements for many of them", async () => {
    const { store, location, close } = await createNodes(engine);
    const old = now - 100 * day;
    const before = now - 90 * day;
    const visit = (seenAt: number) => ({ visitorId: null, seenAt, browser: null, clickIds: {}, browserIds: {}, utm: {} });
    await Promise.all(
      Array.from({ length: 64 }, async (_, n) => {
        const orderId = String(n);
        const item = newEvent(siteId, { receivedAt: old + n, orderId }, { claim: orderId, ownership: byNode() });
        await store.events.accept(item);
        const attempt = newAttempt("sent", { response: "an answer" });
        const settlement = { ...settlementOf(item, "sent", { attempt }), position: 0, platform: "sandbox", settings: "" };
        await store.deliveries.settleFirst({ siteId, eventId: item.event.id, number: 0, settlements: [settlement] });
        // Every second one is still known afterwards.
        const visits = n % 2 === 0 ? [visit(old)] : [visit(now), visit(old)];
        const email = sha256(n.toString(16).padStart(64, "0"));
        await store.people.change(siteId, async (people) => {
          await people.lockIdentity(email, old);
          await people.saveIdentity(email, { visits, firstUtm: {}, forms: {} }, old);
          await people.lockVisitor(`visitor-${n}`, old);
          await people.saveVisitor(`visitor-${n}`, { visits, emailSha256s: [] }, old);
        });
      }),
    );
    const hour = Math.floor(now / hourMs) - 25;
    const counts = Array.from({ length: 64 }, (_, n) => ({ siteId, hour, kind: `source:${n}` as const, count: 2 }));
    for (const writer of ["a", "b"]) await store.inboundCounts.save(writer, counts);
    const own = connectDatabase(location);
    const { db, requests } = countRequests(own);
    const people = peopleStore(db, ulid, false);

    expect(await syncLogChangeStore(db).purge(siteId, before, 100)).toBe(64);
    expect(await people.purgePeople(siteId, before, "", 100)).toEqual({ removed: 64, next: null });
    expect(await people.purgeVisitors(siteId, before, 100)).toBe(64);
    expect(await inboundCountStore(db).mergeWriters(siteId, now)).toBe(128);
    expect(requests()).toBeLessThan(20);
    expect(await store.inboundCounts.list(siteId, hour, hour + 1)).toEqual(
      counts.map((one) => ({ ...one, count: 4 })).toSorted(byKind),
    );

    expect(await syncLogChangeStore(db).purge(siteId, before, 100)).toBe(0);
    const [{ id } = { id: "" }] = await store.events.list(siteId, { limit: 1 });
    expect(await store.deliveries.listAttempts(siteId, id)).toMatchObject([{ httpStatus: 200, response: null }]);
    const count = async (from: string) => Number((await own.all(`SELECT COUNT(*) AS n FROM ${from}`))[0]?.n);
    expect([await count("identities"), await count("visitors")]).toEqual([32, 32]);
    expect(await count(`identities WHERE oldest_at < ${before}`)).toBe(0);
    expect((await store.people.findVisitor(siteId, "visitor-1"))?.visits).toEqual([visit(now)]);
    await own.close();
    await close();
  });

  test("a step goes over hours that were counted, and ends before one that was not", async () => {
    const { store, close } = await createNodes(engine);
    const firstHour = Math.floor(longAgo / hourMs);
    const accept = (hour: number, n: number) =>
      store.events.accept(
        newEvent(siteId, { receivedAt: hour * hourMs + n, orderId: `${hour}-${n}` }, { claim: `${hour}-${n}`, deliveries: [] }),
      );
    for (const hour of [0, 1, 2, 3]) for (const n of [1, 2]) await accept(firstHour + hour, n);
    const countHour = (hour: number) => store.statistics.replaceHour(siteId, firstHour + hour, [], { rolledAt: now, dueAt: now });
    for (const hour of [0, 1, 3]) await countHour(hour);
    const ages = { before: now - 100 * day, statisticsFrom: longAgo - day };
    const purge = (after: string, maxEvents = 100) => store.purge.events(siteId, ages, after, maxEvents);

    expect((await purge("", 1)).removed).toBe(1);
    // The rest of the first hour, and the second.
    const step = await purge("");
    expect(step.removed).toBe(3);
    expect(await purge(step.next ?? "")).toEqual({ removed: 0, next: null });
    await countHour(2);
    expect((await purge("")).removed).toBe(4);
    await close();
  });

  test.runIf(engine === "postgres")("an event stays that is being replayed when its purge begins", async () => {
    const { store, location, close } = await createNodes(engine);
    await acceptOld(store, 1);
    const ages = { before: now - 100 * day, statisticsFrom: now };
    const purge = () => store.purge.events(siteId, ages, "", 100);
    await withClient(location.engine === "postgres" ? location.url : "", async (client) => {
      await client.query("UPDATE deliveries SET state = 'rejected', due_at = 0");
      await client.query("BEGIN; SELECT id FROM events FOR UPDATE");
      const purging = purge();
      const waits = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      while ((await client.query(waits)).rows.length === 0) await nextTurn();
      await client.query("UPDATE deliveries SET state = 'queued'; COMMIT");
      expect(await purging).toEqual({ removed: 0, next: "" });
    });
    expect((await purge()).removed).toBe(0);
    expect(await sql(location, "SELECT state FROM deliveries JOIN events ON id = event_id")).toEqual([{ state: "queued" }]);
    await close();
  });

  test("an event that is replayed and sent meanwhile is purged with all its attempts, or stays with all of them", async () => {
    const location: StoreLocation =
      engine === "sqlite"
        ? { engine, file: `${freshFolder()}/store.db` }
        : { engine, url: await freshDatabase(), connections: 6 };
    const store = await createStore(location, Buffer.alloc(32, 7), ulid);
    const db = connectDatabase(location);
    const numbers = Array.from({ length: 200 }, (_, n) => n);
    await Promise.all(numbers.map((n) => acceptOld(store, n)));
    const count = async (from: string) => Number((await db.all(`SELECT COUNT(*) AS n FROM ${from}`))[0]?.n);
    let at = now;
    let isOver = false;
    let sent = 0;

    async function send(): Promise<void> {
      const lease = { by: "row", owner: "node", at: (at += 1), dueAt: at + 60_000 } as const;
      const taken = await store.deliveries.claimDue(c, lease, 20);
      await Promise.all(taken.map((one) => store.deliveries.settle(refused(one, lease.at))));
      sent += taken.length;
    }
    /** Some of the deliveries are purged between the two statements. */
    async function replay(): Promise<void> {
      const rows = await db.all(`SELECT event_id FROM deliveries WHERE state = 'rejected' ORDER BY event_id LIMIT 10`);
      const keys = rows.map((row) => ({ eventId: String(row.event_id), connectionId: c.connectionId }));
      await store.syncLog.requeue(siteId, keys, ["rejected"], (at += 1));
    }
    async function purge(): Promise<void> {
      const ages = { before: now - 100 * day, statisticsFrom: now };
      let next: string | null = "";
      for (; next !== null; await nextTurn()) ({ next } = await store.purge.events(siteId, ages, next, 2));
    }
    // The embedded store may answer without yielding to the event loop, and no other work would run.
    const whileAny = async (work: () => Promise<void>) => {
      for (; !isOver; await nextTurn()) await work();
    };
    while (sent < numbers.length) await send();
    const others = [whileAny(send), whileAny(replay), whileAny(replay)];
    // The purge is fast: it begins when some were sent again.
    while (sent <= numbers.length) await nextTurn();
    for (let rounds = 0; rounds < 100 && (await count("events")) > 0; rounds += 1) await purge();
    isOver = true;
    await Promise.all(others);

    expect(sent).toBeGreaterThan(numbers.length);
    expect(await count("events")).toBeLessThan(numbers.length);
    expect(await count("attempts WHERE event_id NOT IN (SELECT event_id FROM deliveries)")).toBe(0);
    expect(await count("deliveries WHERE event_id NOT IN (SELECT id FROM events)")).toBe(0);
    expect(await count("attempts")).toBe(Number((await db.all(`SELECT COALESCE(SUM(attempts), 0) AS n FROM deliveries`))[0]?.n));
    await db.close();
    await store.close();
  });
});
