// The first start of several nodes on one database.

import { describe, expect, onTestFinished, test } from "vitest";
import { openNodes } from "../../test/support/nodes.ts";
import { engines } from "../../test/support/relay.ts";
import { firstStart } from "./firstStart.ts";
import { directoryOf } from "../sites/directory.ts";
import { addSite } from "../sites/manage.ts";

describe.each(engines)("on %s", (engine) => {
  async function twoNodes() {
    const { store, other, close } = await openNodes(engine);
    onTestFinished(close);
    const nodes = [store, other].map((one) => ({ store: one, directory: directoryOf(one) }));
    await Promise.all(nodes.map(({ directory }) => directory.refresh()));
    const [one, another] = nodes;
    return one && another ? { one, another } : expect.unreachable("there are two");
  }

  test.each([0, 1, 2, 3, 4, 5, 6, 7])(
    "two that start %s steps apart make one site with one key and one sandbox",
    async (steps) => {
      const { one, another } = await twoNodes();
      const first = firstStart(one.store, one.directory, Date.now);
      for (let step = 0; step < steps; step += 1) await another.directory.refresh();
      const second = firstStart(another.store, another.directory, Date.now);
      const welcomes = [await first, await second].filter(Boolean);
      expect(welcomes).toHaveLength(1);
      await one.directory.refresh();
      const sites = [...one.directory.sites()];
      expect(sites.map(({ keys, connections }) => [keys.length, connections.length])).toEqual([[1, 1]]);
      expect(await firstStart(one.store, one.directory, Date.now)).toBeNull();
    },
  );

  test("what a node that is gone began is taken up by another, when its turn is over", async () => {
    const { one, another } = await twoNodes();
    const by = { actor: "first start", now: Date.now() };
    await one.store.rateCounters.count([{ key: "first start", max: 1, windowMs: 300 }], Date.now());
    await addSite(one, "localhost", by);
    await another.directory.refresh();
    const welcome = await firstStart(another.store, another.directory, Date.now);
    expect(welcome?.("http://localhost:1")).toContain("X-CC-Api-Key: cc_");
    expect([...another.directory.sites()]).toMatchObject([{ keys: [{ mode: "live" }], connections: [{}] }]);
  });

  test("where somebody made a site, it makes nothing", async () => {
    const { one, another } = await twoNodes();
    await addSite(one, "shop.example", { actor: "test", now: Date.now() });
    // It does not know of it yet.
    expect(await firstStart(another.store, another.directory, Date.now)).toBeNull();
    expect([...another.directory.sites()].map(({ hosts }) => hosts)).toEqual([["shop.example"]]);
  });
});
