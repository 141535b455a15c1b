import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newEvent } from "../../../test/support/events.ts";
import { createNodes } from "../../../test/support/nodes.ts";
import { createDirectory, type Directory } from "../../sites/directory.ts";
import { addSite } from "../../sites/manage.ts";
import { createStatistics } from "../../statistics/read.ts";
import { MachineDown } from "../../store/engine/postgres/machines.ts";
import type { Store } from "../../store/store.ts";
import { readHealth, readHealthOfAll } from "./siteHealth.ts";

describe.each(["sqlite", "postgres"] as const)("the health of sites on %s", (engine) => {
  const now = Date.now();
  let store: Store;
  let close: () => Promise<void>;
  let directory: Directory;

  beforeAll(async () => {
    ({ store, close } = await createNodes(engine));
    directory = createDirectory(store);
    for (const host of ["up.example", "down.example"]) await addSite({ store, directory }, host, { actor: "test", now });
  });
  afterAll(() => close());

  /** The alerts of one site cannot be read. */
  function contextWith(error: Error, siteId: string) {
    const listSince: Store["alerts"]["listSince"] = async (...given) => {
      if (given[0] === siteId) throw error;
      return store.alerts.listSince(...given);
    };
    const health = { ...store.health, isMachineError: (thrown: unknown) => thrown instanceof MachineDown };
    const broken = { ...store, alerts: { ...store.alerts, listSince }, health };
    return { store: broken, now: () => now, statistics: createStatistics(broken, () => now) };
  }
  function findSites() {
    const [up, down] = ["up.example", "down.example"].map((host) =>
      [...directory.sites()].find(({ hosts }) => hosts.includes(host)),
    );
    if (!up || !down) throw new Error("the sites are not there");
    return { up, down };
  }

  test("a machine of the database that is down leaves its sites without figures, and all other sites as they are", async () => {
    const { up, down } = findSites();
    await store.events.accept(newEvent(up.id, { receivedAt: now, time: now }));
    const context = contextWith(new MachineDown(), down.id);
    const found = await readHealthOfAll(context, [up, down]);
    const known = { keys: 0, connections: { active: 0, paused: 0, needsReconnection: 0 } };
    expect(found.get(up.id)).toEqual({ ...known, figures: expect.objectContaining({ lastEventAt: now, openAlerts: 0 }) });
    expect(found.get(down.id)).toEqual({ ...known, figures: null });
  });

  test("a defect is not taken for a machine that is down", async () => {
    const { down } = findSites();
    await expect(readHealth(contextWith(new Error("a defect"), down.id), down)).rejects.toThrow("a defect");
  });
});
