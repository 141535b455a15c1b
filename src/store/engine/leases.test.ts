import { afterAll, describe, expect, test } from "vitest";
import { createNodes } from "../../../test/support/nodes.ts";
import { engines } from "../../../test/support/relay.ts";
import { hourMs, minuteMs as minute } from "../../kernel/time.ts";

const now = Date.UTC(2026, 10, 15, 12);

describe.each(engines)("leases on %s", async (engine) => {
  const { store, close } = await createNodes(engine);
  afterAll(close);
  const acquire = (name: "alerts" | "configuration" | "quality", owner: string, at = now) =>
    store.leases.acquire(name, owner, at, at + minute);

  test("one node holds the lease until it ends or is released", async () => {
    expect(await acquire("alerts", "x")).toBe(true);
    expect(await acquire("alerts", "y")).toBe(false);
    expect(await acquire("alerts", "x", now + minute)).toBe(true);
    expect(await acquire("alerts", "y", now + 2 * minute)).toBe(true);
    await store.leases.release("alerts", "x");
    expect(await acquire("alerts", "x", now + 2 * minute)).toBe(false);
    await store.leases.release("alerts", "y");
    expect(await acquire("alerts", "x")).toBe(true);
  });

  test("a lease of a node that died while all clocks ran far ahead is free as soon as they are corrected", async () => {
    const ahead = now + 3 * hourMs;
    expect(await acquire("quality", "dead", ahead)).toBe(true);
    expect(await acquire("quality", "alive")).toBe(true);
    const slices = ["1", "2"];
    const acquireSlices = (owner: string, at = now) => store.slices.acquire(slices, owner, at, at + minute);
    expect(await acquireSlices("dead", ahead)).toEqual(slices);
    expect(await store.slices.readHolders(now, now + minute)).toMatchObject({ holders: new Map() });
    expect(await acquireSlices("alive")).toEqual(slices);
    expect(await acquireSlices("other")).toEqual([]);
    const holders = new Map(slices.map((name) => [name, "alive"]));
    expect(await store.slices.readHolders(now, now + minute)).toMatchObject({ holders });
    await store.slices.release("alive");
    await store.leases.release("quality", "alive");
  });

  test("leases of an earlier relay are released together, and those of a command and the record of the last purge stay", async () => {
    await acquire("quality", "dead");
    await store.purge.saveRun("dead", { at: now - minute, lagMs: 5 });
    await acquire("configuration", "command line one");
    await store.leases.releaseAll(now);
    expect([await acquire("quality", "relay"), await acquire("configuration", "relay")]).toEqual([true, false]);
    await acquire("configuration", "API call", now + minute);
    await store.leases.releaseAll(now + minute);
    expect(await acquire("configuration", "relay", now + minute)).toBe(true);
    expect(await store.purge.readRun()).toEqual({ at: now - minute, lagMs: 5 });
  });
});
