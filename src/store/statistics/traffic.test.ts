// Visits as numbers, bots as a sample, and the release of filtered events, on both engines.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freshFolder, migratedDatabase } from "../../../test/support/databases.ts";
import type { Attribution, VisitBucket } from "../../kernel/event.ts";
import { shortId, uuidv7 } from "../../kernel/ids.ts";
import { openStore, type Store, type StoreLocation } from "../store.ts";
import { hourMs, type BotVisit, type VisitCount } from "./traffic.ts";
import { sha256 } from "../../../test/support/sha256.ts";

const now = Date.UTC(2026, 10, 15, 12);
const thisHour = now / hourMs;
const unattributed: Attribution = {
  consent: "unknown",
  withheld: null,
  identity: "none",
  clickIds: {},
  browserIds: {},
  utm: {},
  browser: null,
};

describe.each(["sqlite", "postgres"] as const)("traffic on %s", (engine) => {
  let store: Store;

  beforeAll(async () => {
    const location: StoreLocation =
      engine === "sqlite"
        ? { engine, file: `${freshFolder()}/store.db` }
        : { engine, url: await migratedDatabase(), connections: 4 };
    store = await openStore(location, Buffer.alloc(32, 7), uuidv7);
  });
  afterAll(() => store.close());

  const count = (siteId: string, bucket: VisitBucket, visits: number, more: Partial<VisitCount> = {}) => ({
    siteId,
    hour: thisHour,
    bucket,
    reason: "",
    visits,
    ...more,
  });
  const sums = async (siteId: string) =>
    (await store.traffic.listCounts(siteId, 0, thisHour + 1)).map(({ hour, bucket, reason, visits }) => [
      hour - thisHour,
      bucket,
      reason,
      visits,
    ]);

  test("a writer's counts replace what it said before; those of several writers add up", async () => {
    const siteId = shortId();
    await store.traffic.saveCounts("a", [
      count(siteId, "people", 3),
      count(siteId, "bots", 1, { reason: "x:y" }),
    ]);
    await store.traffic.saveCounts("a", [count(siteId, "people", 5)]);
    await store.traffic.saveCounts("a", [count(siteId, "people", 5)]);
    await store.traffic.saveCounts("b", [count(siteId, "people", 2)]);
    expect(await sums(siteId)).toEqual([
      [0, "bots", "x:y", 1],
      [0, "people", "", 7],
    ]);
  });

  test("counts are asked for by hour, and belong to their site", async () => {
    const [siteId, other] = [shortId(), shortId()];
    for (const hour of [thisHour - 2, thisHour - 1, thisHour])
      await store.traffic.saveCounts("a", [count(siteId, "people", 1, { hour })]);
    await store.traffic.saveCounts("a", [count(other, "people", 9)]);
    const middle = await store.traffic.listCounts(siteId, thisHour - 1, thisHour);
    expect(middle).toEqual([count(siteId, "people", 1, { hour: thisHour - 1 })]);
  });

  test("old counts of several writers become one row, and no number changes, however often", async () => {
    const siteId = shortId();
    const hour = thisHour - 30;
    for (const writer of ["a", "b", "c"]) {
      await store.traffic.saveCounts(writer, [
        count(siteId, "people", 10, { hour }),
        count(siteId, "bots", 1, { hour, reason: "r" }),
        count(siteId, "people", 4),
      ]);
    }
    const before = await sums(siteId);
    for (let i = 0; i < 3; i++) await store.traffic.purge(siteId, 0, now);
    expect(await sums(siteId)).toEqual(before);
    // What nobody wrote yet of such an hour still adds up.
    await store.traffic.saveCounts("late", [count(siteId, "people", 1, { hour })]);
    await store.traffic.purge(siteId, 0, now);
    expect((await sums(siteId)).find(([at, bucket]) => at === -30 && bucket === "people")?.[3]).toBe(31);
  });

  const bot = (siteId: string, seenAt: number): BotVisit => ({
    siteId,
    id: uuidv7(seenAt),
    seenAt,
    reason: "user agent:named bot",
    verdict: { bot: true, score: 100, reasons: ["user agent:named bot (Testbot)"], rules: 1 },
    page: "https://shop.example/",
    seen: { userAgent: "Testbot/1.0" },
  });

  test("bots' visits come back as they were, newest first, and are forgotten in time", async () => {
    const siteId = shortId();
    const [old, young] = [bot(siteId, now - 20 * 24 * hourMs), bot(siteId, now)];
    for (const visit of [old, young]) await store.traffic.addBotVisit(visit);
    await store.traffic.addBotVisit(young);
    expect(await store.traffic.listBotVisits(siteId, 10)).toEqual([young, old]);
    expect(await store.traffic.listBotVisits(siteId, 1)).toEqual([young]);
    expect(await store.traffic.findBotVisit(siteId, old.id)).toEqual(old);
    expect(await store.traffic.findBotVisit(shortId(), old.id)).toBeNull();
    await store.traffic.purge(siteId, now - 14 * 24 * hourMs, now);
    expect(await store.traffic.listBotVisits(siteId, 10)).toEqual([young]);
  });

  async function filteredEvent(siteId: string, claim: string): Promise<string> {
    const id = uuidv7(now);
    await store.events.accept({
      event: {
        id,
        siteId,
        keyId: "key",
        mode: "live",
        name: "purchase",
        value: 1,
        currency: "EUR",
        orderId: "A-1",
        time: now,
        receivedAt: now,
        person: { emailSha256: sha256("e".repeat(64)) },
        extra: null,
      },
      attribution: unattributed,
      filterReasons: ["blocked person"],
      claim,
      claimUntil: now + hourMs,
      orderEventId: "order event",
      deliveries: [],
      owner: "node",
      leaseUntil: now + 30_000,
    });
    return id;
  }

  const release = (siteId: string, eventId: string, at = now) =>
    store.events.release({
      siteId,
      eventId,
      attribution: { ...unattributed, identity: "found", utm: { utm_source: "released" } },
      deliveries: [
        { connectionId: "c1", platform: "sandbox", state: "queued", reason: null },
        { connectionId: "c2", platform: "webhook", state: "parked", reason: "paused" },
      ],
      orderEventId: "order event",
      claimUntil: now + hourMs,
      now: at,
    });

  test("a released event is accepted, due at once, under the order event id, and keeps its reasons", async () => {
    const siteId = shortId();
    const id = await filteredEvent(siteId, "claim");
    expect(await release(siteId, id)).toBe(true);
    expect(await store.events.get(siteId, id)).toMatchObject({
      status: "accepted",
      releasedAt: now,
      filterReasons: ["blocked person"],
      platformEventId: "order event",
      attribution: { identity: "found", utm: { utm_source: "released" } },
    });
    const deliveries = await store.deliveries.listByEvent(siteId, id);
    expect(deliveries.map(({ state, owner, dueAt }) => [state, owner, dueAt])).toEqual([
      ["queued", "", now],
      ["parked", "", now],
    ]);
    const lease = { now, owner: "n", until: now + 30_000, limit: 10 };
    expect(await store.deliveries.claimDue({ siteId, connectionId: "c1" }, lease)).toHaveLength(1);
  });

  test("it is released once: a second time is refused, the same time again changes nothing", async () => {
    const siteId = shortId();
    const id = await filteredEvent(siteId, "claim");
    expect(await release(siteId, id)).toBe(true);
    // As after a commit whose answer got lost.
    expect(await release(siteId, id)).toBe(true);
    expect(await release(siteId, id, now + 1)).toBe(false);
    expect(await release(shortId(), id)).toBe(false);
    expect(await store.deliveries.listByEvent(siteId, id)).toHaveLength(2);
  });

  test("where another event holds the order event id, a released one goes under its own", async () => {
    const siteId = shortId();
    const [first, second] = [await filteredEvent(siteId, "one"), await filteredEvent(siteId, "two")];
    await release(siteId, first);
    await release(siteId, second);
    expect((await store.events.get(siteId, first))?.platformEventId).toBe("order event");
    expect((await store.events.get(siteId, second))?.platformEventId).toBe(second);
  });
});
