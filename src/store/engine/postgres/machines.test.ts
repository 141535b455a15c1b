// The machines of a cluster, simulated by gateways to one PostgreSQL: a machine that is silent, refuses connections or was
// promoted. The coordinator is reached without a gateway.

import { expect, inject, onTestFinished, test } from "vitest";
import { migratedDatabase } from "../../../../test/support/databases.ts";
import { sql } from "../../../../test/support/nodes.ts";
import { createGateway } from "../../../../test/support/postgres/gateway.ts";
import { simulateTimeline } from "../../../../test/support/postgres/timeline.ts";
import { eventually } from "../../../../test/support/relay.ts";
import { link } from "../../../kernel/ring.ts";
import { MarkOutdated, nodeStore } from "../../deliveries/nodes.ts";
import { timed, type InFlightCommit } from "../timed.ts";
import { connectPostgres } from "./engine.ts";
import { MachineDown, createMachines } from "./machines.ts";
import { probe } from "./probe.ts";

/** The coordinator may have a database of its own, or an address of its own. */
async function createCluster(coordinatorUrl?: string, url?: string) {
  url ??= await migratedDatabase();
  const coordinator = await probe(url);
  const gateways = { one: await createGateway(url), two: await createGateway(url) };
  const behind = (host: string) => url.replace(new URL(url).host, host);
  const server = (machine: "one" | "two") => ({
    ...coordinator,
    server: behind(gateways[machine].host),
    machine,
  });
  const db = connectPostgres(coordinatorUrl ?? url, {
    connections: 8,
    shardedTables: new Set(["events", "leases", "nodes"]),
    readPlacement: async () => ({
      shards: new Map([...[1, 2, 3, 4, 5].map((n) => [`site-${n}`, String(n)] as const), ["site-6", "5"], ["", "1"]]),
      machines: new Map([
        ["1", "one"],
        ["2", "two"],
        ["3", "two"],
        ["4", "two"],
        ["5", "not listed"],
      ]),
      servers: new Map((["one", "two"] as const).map((name) => [name, server(name)])),
    }),
  });
  onTestFinished(() => db.close());
  await eventually("the placement is known", async () => (await db.divideSites(["site-1"])).has("one"));
  const read = (siteId: string) => db.all(`SELECT id FROM events WHERE site_id = $1 LIMIT 1`, [siteId]);
  const write = (siteId: string) => db.write((tx) => tx.all(`DELETE FROM leases WHERE site_id = $1 AND name = 'none'`, [siteId]));
  return { url, db, gateways, read, write };
}

test.skipIf(inject("inSchemas"))(
  "a silent machine fails its own sites, soon at once, and no others; they are served when it is back",
  async () => {
    const { db, gateways, read, write } = await createCluster();
    await Promise.all(["site-1", "site-2"].flatMap((site) => [read(site), write(site)]));
    gateways.one.mode = "silent";
    // More than there are connections.
    const failing = Array.from({ length: 40 }, (_, i) =>
      (i % 2 ? read : write)("site-1").then(
        () => "answered",
        (error: unknown) => (error instanceof MachineDown ? "down" : error),
      ),
    );
    for (let i = 0; i < 20; i += 1) {
      await read("site-2");
      await write("site-3");
      await db.all(`SELECT 1`);
    }
    expect(new Set(await Promise.all(failing))).toEqual(new Set(["down"]));
    expect(db.countDownMachines()).toBe(1);
    const error = await read("site-1").catch((thrown: unknown) => thrown);
    expect([db.isMachineError(error), db.isOwnError(error)]).toEqual([true, true]);
    const commits: boolean[][] = [];
    const inFlight = link<InFlightCommit>({ startedAt: 0 });
    const onCommit = (_ms: number, ...how: boolean[]) => void commits.push(how);
    const observed = timed(db, { inFlight, onCommit, onWrite() {} });
    for (const siteId of ["site-1", "site-2"])
      await observed.write((tx) => tx.all(`DELETE FROM leases WHERE site_id = $1 AND name = 'none'`, [siteId])).catch(() => {});
    // The lease of a node is on a machine, like the rows of a site.
    await nodeStore(observed)
      .renew("node", "0", 1000)
      .catch(() => {});
    // They failed, but not because of the database as a whole.
    expect(commits).toEqual([
      [true, true],
      [false, false],
      [true, true],
    ]);
    gateways.one.mode = "open";
    await eventually("it is back", () =>
      read("site-1").then(
        () => true,
        () => false,
      ),
    );
    await write("site-1");
    expect([db.countDownMachines(), db.promotions()]).toEqual([0, 0]);
  },
);

test.skipIf(inject("inSchemas")).each(["closed", "silent"] as const)(
  "the sites of listed machines go on while the coordinator is %s, and what it reads is read from them",
  async (mode) => {
    const url = await migratedDatabase();
    const gateway = await createGateway(url);
    const { db, read, write } = await createCluster(url.replace(new URL(url).host, gateway.host), url);
    const nodes = nodeStore(db);
    const readConfiguration = () => db.all(`SELECT MAX(version) AS version FROM migrations`);
    const before = await readConfiguration();
    gateway.mode = mode;
    if (mode === "closed") gateway.cut();
    for (const siteId of ["site-1", "site-2"]) {
      await read(siteId);
      await write(siteId);
    }
    expect(await readConfiguration()).toEqual(before);
    expect(await db.background.all(`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
    // Only the coordinator knows of its promotions, and of machines that are not listed.
    const errors = await Promise.all(
      [nodes.renew("node", "0", 60_000), write("site-5")].map((one) => one.catch((e: unknown) => e)),
    );
    expect(errors.map((error) => db.isMachineError(error))).toEqual([true, true]);
    expect(db.countDownMachines()).toBeGreaterThan(0);
    // At once, now that it is known.
    const [startedAt, count] = [performance.now(), 50];
    for (let i = 0; i < count; i += 1) await write("site-1");
    expect((performance.now() - startedAt) / count).toBeLessThan(1900);
    gateway.mode = "open";
    await eventually("it is back", () =>
      write("site-5").then(
        () => true,
        () => false,
      ),
    );
    await nodes.renew("node", "0", 60_000);
    expect([db.countDownMachines(), db.promotions()]).toEqual([0, 0]);
  },
);

test.skipIf(inject("inSchemas"))("a slow statement on a machine that answers is awaited", async () => {
  const { db } = await createCluster();
  const slow = db.all(
    `SELECT pg_sleep(2.5) AS slept FROM (SELECT 1 AS n FROM leases WHERE site_id = $1 UNION ALL SELECT 1) AS one`,
    ["site-1"],
  );
  expect(await slow).toHaveLength(1);
  expect(db.countDownMachines()).toBe(0);
});

test.skipIf(inject("inSchemas"))("a machine that refuses connections is reached through the coordinator", async () => {
  const { gateways, read, write, db } = await createCluster();
  gateways.one.mode = "closed";
  gateways.one.cut();
  await read("site-1");
  await write("site-1");
  expect(db.countDownMachines()).toBe(0);
});

test.skipIf(inject("inSchemas"))(
  "a node's mark is not written to a machine after the coordinator was replaced, which does not count against the machine",
  async () => {
    const coordinatorUrl = await migratedDatabase();
    const { promote } = await simulateTimeline(coordinatorUrl);
    const { db, url } = await createCluster(coordinatorUrl);
    const nodes = nodeStore(db);
    await nodes.renew("node", "0", 60_000, 0);
    await promote();
    await eventually("the promotion is counted", () =>
      nodes.renew("node", "1", 60_000, 0).then(
        () => expect.unreachable("it was written"),
        (error: unknown) => error instanceof MarkOutdated,
      ),
    );
    expect(db.promotions()).toBe(1);
    // The machine itself has not failed: it is still connected to directly.
    const direct = await db.all(
      `SELECT current_database() AS name FROM (SELECT 1 FROM leases WHERE site_id = $1 UNION ALL SELECT 1) AS one`,
      [""],
    );
    expect([direct, db.countDownMachines()]).toEqual([[{ name: new URL(url).pathname.slice(1) }], 0]);
    const marks = (at: string) => sql({ engine: "postgres", url: at, connections: 1 }, `SELECT low_water FROM nodes`);
    expect([await marks(url), await marks(coordinatorUrl)]).toEqual([[{ low_water: "0" }], []]);
  },
);

test.skipIf(inject("inSchemas"))(
  "a machine that a statement did not find is down until a statement finds it; where no machine is found, none is down",
  async () => {
    const { db, url, read } = await createCluster();
    // So the coordinator says that it cannot reach a machine.
    await sql(
      { engine: "postgres", url, connections: 1 },
      `CREATE FUNCTION unreachable() RETURNS integer LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'could not connect' USING ERRCODE = '08006'; END $$`,
    );
    const miss = (siteId: string) =>
      db
        .all(`SELECT unreachable() FROM (SELECT 1 FROM leases WHERE site_id = $1 UNION ALL SELECT 1) AS one`, [siteId])
        .catch((error: unknown) => db.isMachineError(error));
    expect([await miss("site-1"), db.countDownMachines()]).toEqual([true, 1]);
    await Promise.all(["site-1", "site-2", "site-5"].map(miss));
    expect(db.countDownMachines()).toBe(0);
    await read("site-5");
    expect(db.countDownMachines()).toBe(2);
    await Promise.all(["site-1", "site-2"].map(read));
    expect(db.countDownMachines()).toBe(0);
  },
);

test("a machine that a statement did not find counts as down for ten seconds, and only while it has sites", async () => {
  let elapsed = 0;
  let placed = ["one", "two"];
  const machines = createMachines({
    readPlacement: async () => ({
      shards: new Map([
        ["site-1", "1"],
        ["site-2", "2"],
      ]),
      machines: new Map(placed.map((name, i) => [String(i + 1), name])),
      servers: null,
    }),
    answersFor: () => Promise.resolve(true),
    connections: 1,
    sessionName: "cleancast test",
    coordinator: () => null,
    elapsed: () => elapsed,
    random: Math.random,
  });
  onTestFinished(() => machines.close());
  await machines.read();
  machines.of("site-1")?.setFound(false);
  const counts = [0, 9_999, 10_000].map((ms) => {
    elapsed = ms;
    return machines.countDown();
  });
  expect(counts).toEqual([1, 1, 0]);
  machines.of("site-1")?.setFound(false);
  expect(machines.countDown()).toBe(1);
  // Its shards were moved to another machine.
  placed = ["three", "two"];
  await machines.read();
  expect(machines.countDown()).toBe(0);
});

test("a listed machine that was down is probed until it answers, and soon where there is no coordinator to reach it through", async () => {
  let elapsed = 0;
  let coordinator: string | null = "postgres://coordinator";
  let answering = ["one", "two"];
  const reads: boolean[] = [];
  const machines = createMachines({
    readPlacement: async ({ isProbing }) => {
      reads.push(isProbing);
      const server = (machine: string) =>
        [machine, { server: `postgres://${machine}`, machine, system: "1", timeline: 1 }] as const;
      return {
        shards: new Map([
          ["site-1", "1"],
          ["site-2", "2"],
        ]),
        machines: new Map([
          ["1", "one"],
          ["2", "two"],
        ]),
        servers: isProbing ? new Map(answering.map(server)) : null,
      };
    },
    answersFor: () => Promise.resolve(true),
    connections: 1,
    sessionName: "cleancast test",
    coordinator: () => coordinator,
    elapsed: () => elapsed,
    random: Math.random,
  });
  onTestFinished(() => machines.close());
  const isDirect = (siteId: string) => machines.of(siteId)?.direct() != null;
  const settle = () => new Promise(setImmediate);
  await machines.read();
  expect([isDirect("site-1"), isDirect("site-2")]).toEqual([true, true]);
  // The next probe does not find the first machine, and nobody asks for its sites.
  answering = ["two"];
  elapsed = 61_000;
  isDirect("site-2");
  await settle();
  expect([isDirect("site-1"), isDirect("site-2")]).toEqual([false, true]);
  elapsed += 10_001;
  isDirect("site-2");
  await settle();
  expect(reads).toEqual([true, true, true]);
  // It is back, and the coordinator goes.
  answering = ["one", "two"];
  coordinator = null;
  elapsed += 1001;
  isDirect("site-1");
  await settle();
  expect([isDirect("site-1"), reads.length]).toEqual([true, 4]);
  // All are found: there is nothing more to look for.
  elapsed += 1001;
  isDirect("site-1");
  await settle();
  expect(reads).toHaveLength(4);
});

test("sites are divided by machine, and those of a machine by shard", async () => {
  const { db } = await createCluster();
  expect(await db.divideSites(["site-1", "site-2", "site-3"])).toEqual(
    new Map([
      ["one", new Map([["1", ["site-1"]]])],
      [
        "two",
        new Map([
          ["2", ["site-2"]],
          ["3", ["site-3"]],
        ]),
      ],
    ]),
  );
});

test("sites share transactions by machine where it is connected to directly, and by shard elsewhere", async () => {
  const { db } = await createCluster();
  const groups = [1, 2, 3, 4, 5, 6, 7].map((n) => db.commitGroup(`site-${n}`));
  expect(groups.slice(1, 4)).toEqual(Array(3).fill(groups[1]));
  expect(groups[5]).toBe(groups[4]);
  expect(new Set(groups).size).toBe(4);
  // It is not known where this one is.
  expect(groups[6]).toBe("site-7");
});
