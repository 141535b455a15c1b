// Uses of keys, and lockouts after wrong ones, on both engines.

import { afterAll, describe, expect, test } from "vitest";
import { newSite } from "../../../test/support/events.ts";
import { createNodes, sql } from "../../../test/support/nodes.ts";

const now = Date.UTC(2026, 10, 15);

describe.each(["sqlite", "postgres"] as const)("keys on %s", async (engine) => {
  const { store, other, location, close } = await createNodes(engine);
  afterAll(close);

  const rule = { keys: 10, windowMs: 300_000, lockMs: 900_000 };

  test("exactly the tenth wrong key locks the host, also when thirty come at once on two nodes", async () => {
    const siteId = await newSite(store);
    const locked = await Promise.all(
      Array.from({ length: 30 }, (_, i) => (i % 2 ? store : other).keyUse.countWrongKey(siteId, "h", now, rule)),
    );
    expect(locked.filter((until) => until === 0)).toHaveLength(9);
    expect(locked.filter((until) => until === now + rule.lockMs)).toHaveLength(21);
  });

  test("the window of wrong keys slides, and after a lockout the count starts at zero", async () => {
    const siteId = await newSite(store);
    const count = (at: number) => store.keyUse.countWrongKey(siteId, "h", at, rule);
    for (let i = 0; i < 9; i++) expect(await count(now + i)).toBe(0);
    expect(await count(now + rule.windowMs + 4)).toBe(0);
    expect(await store.keyUse.listLockouts(siteId, now)).toEqual([]);
    for (let i = 0; i < 4; i++) await count(now + rule.windowMs + 4);
    const until = await count(now + rule.windowMs + 4);
    expect(until).toBe(now + rule.windowMs + 4 + rule.lockMs);
    expect(await store.keyUse.listLockouts(siteId, until - 1)).toMatchObject([{ host: "h", lockedUntil: until }]);
    expect(await count(until)).toBe(0);
  });

  test("expired wrong keys and lockouts are purged, current ones are not", async () => {
    const siteId = await newSite(store);
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

  test("uses of a key add up over the hours", async () => {
    const siteId = await newSite(store);
    const use = (at: number, uses: number) => ({ siteId, keyId: "k", hour: at, uses, lastUsedAt: at });
    await store.keyUse.addUses([use(10, 3), use(11, 4)]);
    await other.keyUse.addUses([use(11, 5)]);
    expect((await store.keyUse.sumUses(siteId, 11)).get("k")).toEqual({ uses24h: 9, lastUsedAt: 11 });
  });

  test("uses that are written again under the same total are counted once per writer", async () => {
    const siteId = await newSite(store);
    const report = (writer: string, uses: number, total: number) =>
      other.keyUse.addUses([{ siteId, keyId: "k", hour: 7, uses, lastUsedAt: 7 }], {
        writer,
        hour: 7,
        uses: total,
      });
    await Promise.all([report("a", 3, 3), report("b", 3, 3)]);
    for (let times = 0; times < 3; times++) await report("a", 3, 3);
    await report("a", 4, 7);
    await report("b", 3, 3);
    expect((await store.keyUse.sumUses(siteId, 7)).get("k")?.uses24h).toBe(10);
  });
});
