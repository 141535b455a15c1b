// Hourly statistics, inbound counts and rejected requests, on both engines.

import { closeSync, openSync, writeSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { hourMs } from "../../kernel/time.ts";
import { byNode, newEvent } from "../../../test/support/events.ts";
import { createAt, createNodes, newLocation, sql } from "../../../test/support/nodes.ts";
import { shortId, ulid } from "../../kernel/ids.ts";
import type { Figure } from "./statistics.ts";

const now = Date.UTC(2026, 10, 15, 12);
const thisHour = now / hourMs;

describe.each(["sqlite", "postgres"] as const)("statistics on %s", async (engine) => {
  const { store, other, close } = await createNodes(engine);
  afterAll(close);

  const conversions = (count: number, name = "purchase"): Figure => ({
    kind: "conversion",
    name,
    currency: "EUR",
    count,
    value: count * 1.5,
  });

  test("the figures of an hour are replaced as a whole, and never by an older computation", async () => {
    const siteId = shortId();
    const { statistics } = store;
    await statistics.replaceHour(siteId, 5, [conversions(1), conversions(2, "lead")], {
      rolledAt: 10,
      dueAt: 99,
    });
    await statistics.replaceHour(siteId, 5, [conversions(3)], { rolledAt: 20, dueAt: 99 });
    await statistics.replaceHour(siteId, 5, [conversions(3)], { rolledAt: 20, dueAt: 99 });
    await statistics.replaceHour(siteId, 5, [conversions(7)], { rolledAt: 15, dueAt: 1 });
    await statistics.replaceHour(siteId, 6, [conversions(1)], { rolledAt: 20, dueAt: 99 });
    expect(await statistics.listFigures(siteId, 5, 6)).toEqual([{ hour: 5, ...conversions(3) }]);
    expect(await statistics.listFigures(shortId(), 0, 100)).toEqual([]);
    expect(await statistics.listDueHours(siteId, 50, 10)).toEqual([]);
    expect(await statistics.listDueHours(siteId, 99, 10)).toEqual([5, 6]);
  });

  test("an hour that a node whose clock is behind adds an event to is counted again", async () => {
    const { statistics } = store;
    const never = Number.MAX_SAFE_INTEGER;
    const [counted, uncounted] = [thisHour - 3, thisHour - 4];
    /** Accepted now by a node whose clock shows another hour. */
    const accept = (siteId: string, hour: number, at = now) =>
      store.events.accept(newEvent(siteId, { id: ulid(hour * hourMs) }, { ownership: { ...byNode(), at } }));
    const dueOf = (siteId: string) => statistics.listDueHours(siteId, now + hourMs, 10);

    const siteId = shortId();
    await statistics.replaceHour(siteId, counted, [conversions(1)], { rolledAt: now - hourMs, dueAt: never });
    expect(await dueOf(siteId)).toEqual([]);
    await accept(siteId, counted);
    expect(await dueOf(siteId)).toEqual([counted]);

    // A count that began before is written afterwards: the hour stays due.
    const racing = shortId();
    await accept(racing, uncounted);
    await statistics.replaceHour(racing, uncounted, [], { rolledAt: now - 1, dueAt: never });
    expect(await dueOf(racing)).toEqual([uncounted]);

    // An hour whose events were purged keeps its figures, and an event in time marks nothing.
    const purged = shortId();
    await statistics.replaceHour(purged, counted, [conversions(1)], { rolledAt: never, dueAt: never });
    await accept(purged, counted);
    await accept(purged, thisHour - 4, (thisHour - 4) * hourMs + 60_000);
    expect(await dueOf(purged)).toEqual([]);
  });

  test("the segments of an hour are replaced with its figures", async () => {
    const siteId = shortId();
    const { statistics } = store;
    const google = { segment: "source", name: "google" } as const;
    const segments = [
      { ...google, figures: [conversions(2), conversions(1, "lead")] },
      { segment: "event" as const, name: "google", figures: [conversions(9)] },
    ];
    const times = { rolledAt: 10, dueAt: 99 };
    await statistics.replaceHour(siteId, 5, [], { ...times, segments });
    await statistics.replaceHour(siteId, 6, [], {
      ...times,
      segments: [{ ...google, figures: [conversions(4)] }],
    });
    expect(await statistics.listSegment(siteId, google, 0, 9)).toEqual([
      { hour: 5, ...conversions(2) },
      { hour: 5, ...conversions(1, "lead") },
      { hour: 6, ...conversions(4) },
    ]);
    await statistics.replaceHour(siteId, 5, [], { rolledAt: 20, dueAt: 99 });
    expect(await statistics.listSegment(siteId, google, 0, 9)).toEqual([{ hour: 6, ...conversions(4) }]);
  });

  test("two nodes that compute the same hour leave one set of figures", async () => {
    const siteId = shortId();
    const figures = Array.from({ length: 100 }, (_, n) => conversions(1, `event ${n}`));
    await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        (n % 2 ? store : other).statistics.replaceHour(siteId, 5, figures, { rolledAt: n, dueAt: 99 }),
      ),
    );
    expect(await store.statistics.listFigures(siteId, 5, 6)).toHaveLength(100);
  });

  test("an hour that is marked during its computation stays due", async () => {
    const siteId = shortId();
    const eventId = ulid(now);
    const { statistics, syncLog } = store;
    await statistics.replaceHour(siteId, thisHour, [], { rolledAt: now, dueAt: Number.MAX_SAFE_INTEGER });
    await syncLog.requeue(siteId, [{ eventId, connectionId: "c" }], ["rejected"], now + 1000);
    const at = now + 1000 + 5 * 60_000;
    expect(await statistics.listDueHours(siteId, at - 1, 10)).toEqual([]);
    expect(await statistics.listDueHours(siteId, at, 10)).toEqual([thisHour]);
    // These figures were computed from rows that were read before the replay.
    await statistics.replaceHour(siteId, thisHour, [], {
      rolledAt: now + 2000,
      dueAt: Number.MAX_SAFE_INTEGER,
    });
    expect(await statistics.listDueHours(siteId, at, 10)).toEqual([thisHour]);
    await statistics.replaceHour(siteId, thisHour, [], { rolledAt: at, dueAt: Number.MAX_SAFE_INTEGER });
    expect(await statistics.listDueHours(siteId, at + 1, 10)).toEqual([]);
  });

  test("one node at a time holds a lease", async () => {
    expect(await store.leases.acquire("alerts", "a", 100, 200)).toBe(true);
    expect(await other.leases.acquire("alerts", "b", 150, 250)).toBe(false);
    expect(await store.leases.acquire("alerts", "a", 150, 250)).toBe(true);
    expect(await other.leases.acquire("alerts", "b", 250, 300)).toBe(true);
    await other.leases.release("alerts", "b");
    expect(await store.leases.acquire("alerts", "a", 251, 400)).toBe(true);
  });

  test("a lease that a node with a fast clock wrote does not block the others", async () => {
    expect(await store.leases.acquire("alerts", "a", 9_000_000, 9_000_060)).toBe(true);
    expect(await other.leases.acquire("alerts", "b", 1000, 1060)).toBe(true);
    expect(await store.leases.acquire("alerts", "a", 1001, 1061)).toBe(false);
    await other.leases.release("alerts", "b");
  });

  test("inbound counts of several writers add up, are safe to repeat, and are merged when they are old", async () => {
    const siteId = shortId();
    const old = thisHour - 30;
    const { inboundCounts } = store;
    for (const writer of ["a", "b"]) {
      for (let i = 0; i < 2; i++)
        await inboundCounts.save(writer, [
          { siteId, hour: old, kind: "duplicate", count: 3 },
          { siteId, hour: thisHour, kind: "refused:400", count: 1 },
        ]);
    }
    const all = () => inboundCounts.list(siteId, 0, thisHour + 1);
    const expected = [
      { siteId, hour: old, kind: "duplicate", count: 6 },
      { siteId, hour: thisHour, kind: "refused:400", count: 2 },
    ];
    expect(await all()).toEqual(expected);
    for (let i = 0; i < 3; i++) await inboundCounts.mergeWriters(siteId, now);
    expect(await all()).toEqual(expected);
  });

  test("the newest thousand rejected requests of a month are kept and read in pages", async () => {
    const siteId = shortId();
    const call = (at: number) => ({
      siteId,
      id: ulid(at),
      at,
      status: 400,
      error: "email is missing",
      host: "shop.example",
      keyId: null,
      address: "192.0.2.0",
    });
    const calls = Array.from({ length: 1100 }, (_, n) => call(now - 1_100_000 + n * 1000));
    const stale = call(now - 31 * 24 * hourMs);
    await store.rejectedRequests.add([stale, ...calls]);
    await store.rejectedRequests.add(calls.slice(0, 3));
    const first = await store.rejectedRequests.list(siteId, { limit: 2 });
    expect(first).toEqual([calls[1099], calls[1098]]);
    const next = await store.rejectedRequests.list(siteId, { limit: 1, before: first[1]?.id as string });
    expect(next).toEqual([calls[1097]]);
    await store.rejectedRequests.purge(siteId, now);
    expect(await store.rejectedRequests.list(siteId, { limit: 2000 })).toHaveLength(1000);
    await store.rejectedRequests.purge(siteId, now + 40 * 24 * hourMs);
    expect(await store.rejectedRequests.list(siteId, { limit: 10 })).toEqual([]);
  });
});

test("an hour is counted without reading the hours before it", async () => {
  const location = await newLocation("sqlite");
  if (location.engine !== "sqlite") throw new Error("a file was wanted");
  const siteId = shortId();
  const accepting = await createAt(location);
  const accept = (hour: number, count: number) =>
    Promise.all(
      Array.from({ length: count }, () =>
        accepting.events.accept(newEvent(siteId, { id: ulid(hour * hourMs) }, { ownership: byNode() })),
      ),
    );
  await accept(thisHour - 5, 200);
  await accept(thisHour - 1, 3);
  await accepting.close();

  // Whoever reads the first page of the events' primary key fails.
  const [first] = await sql(
    location,
    `SELECT pageno, pgsize FROM dbstat WHERE name = 'sqlite_autoindex_events_1' AND pagetype = 'leaf' ORDER BY path`,
  );
  const size = Number(first?.pgsize);
  const file = openSync(location.file, "r+");
  writeSync(file, Buffer.alloc(size), 0, size, (Number(first?.pageno) - 1) * size);
  closeSync(file);

  const { statistics, close } = await createAt(location);
  const listPortion = (hour: number) => statistics.listPortion(siteId, hour, "", 200);
  expect((await listPortion(thisHour - 1)).events).toHaveLength(3);
  await expect(listPortion(thisHour - 5)).rejects.toThrow("malformed");
  await close();
});
