// The first start, also of several nodes on one database.

import { describe, expect, onTestFinished, test } from "vitest";
import { createNodes } from "../../test/support/nodes.ts";
import { engines } from "../../test/support/relay.ts";
import { prepareFirstStart, readOwnerLine } from "./firstStart.ts";
import { deleteSite } from "../sites/deleteSite.ts";
import { createDirectory } from "../sites/directory.ts";
import { addSite } from "../sites/manage.ts";

describe.each(engines)("on %s", (engine) => {
  async function twoNodes() {
    const { store, other, close } = await createNodes(engine);
    onTestFinished(close);
    const nodes = [store, other].map((one) => ({ store: one, directory: createDirectory(one) }));
    await Promise.all(nodes.map(({ directory }) => directory.refresh()));
    const [one, another] = nodes;
    return one && another ? { one, another } : expect.unreachable("there are two");
  }

  test.each([0, 1, 2, 3, 4, 5, 6, 7])(
    "two nodes that start %s steps apart create one site with one key and one sandbox",
    async (steps) => {
      const { one, another } = await twoNodes();
      const first = prepareFirstStart(one.store, one.directory, Date.now);
      for (let step = 0; step < steps; step += 1) await another.directory.refresh();
      const second = prepareFirstStart(another.store, another.directory, Date.now);
      const welcomes = [await first, await second].filter(Boolean);
      expect(welcomes).toHaveLength(1);
      await one.directory.refresh();
      const sites = [...one.directory.sites()];
      expect(sites.map(({ keys, connections }) => [keys.length, connections.length])).toEqual([[1, 1]]);
      expect(await prepareFirstStart(one.store, one.directory, Date.now)).toBeNull();
    },
  );

  test("a first start that a crashed node began is completed by another node, when the lock has expired", async () => {
    const { one, another } = await twoNodes();
    const by = { actor: "first start", now: Date.now() };
    await one.store.rateCounters.count([{ key: "first start", max: 1, windowMs: 300 }], Date.now());
    await addSite(one, "localhost", by);
    await another.directory.refresh();
    const welcome = await prepareFirstStart(another.store, another.directory, Date.now);
    expect(welcome?.("http://localhost:1")).toContain("X-CC-Api-Key: cc_");
    expect([...another.directory.sites()]).toMatchObject([{ keys: [{ mode: "live" }], connections: [{}] }]);
  });

  test("nothing is created where the only site was deleted", async () => {
    const { one, another } = await twoNodes();
    const by = { actor: "test", now: Date.now() };
    await deleteSite(one, await addSite(one, "localhost", by), by);
    for (const node of [one, another]) expect(await prepareFirstStart(node.store, node.directory, Date.now)).toBeNull();
    expect([...another.directory.sites()]).toEqual([]);
  });

  test("a first start creates nothing where a site exists", async () => {
    const { one, another } = await twoNodes();
    await addSite(one, "shop.example", { actor: "test", now: Date.now() });
    // The directory of the other node does not know that site yet.
    expect(await prepareFirstStart(another.store, another.directory, Date.now)).toBeNull();
    expect([...another.directory.sites()].map(({ hosts }) => hosts)).toEqual([["shop.example"]]);
  });
});

test("a start goes on where the link for the owner cannot be stored, and says what to do", async () => {
  const createSetupLink = () => Promise.reject(new Error("a worker is down"));
  expect(await readOwnerLine({ createSetupLink }, "https://cc.example.com")).toBe(
    "There is no owner yet, and no link to create one could be stored (a worker is down). Later, run: cleancast member add EMAIL --role owner\n",
  );
});
