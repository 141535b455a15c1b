// Relays on a real Citus: workers that are down, silent, returning or new, a rebalance under load, and what it costs compared with
// the same PostgreSQL without Citus. It is slow, so `npm test` leaves it out.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ulid } from "../../src/kernel/ids.ts";
import { connectPostgres } from "../../src/store/engine/postgres/engine.ts";
import { checkedText, isLongRun, isMissing, isRun, createFigures, statusText } from "../support/engines/figures.ts";
import { countReady, measureCost, createLoad, type Load } from "../support/engines/load.ts";
import { measureSteps } from "../support/engines/stepCost.ts";
import { setUpSite, withStore, type SiteSetup } from "../support/installation.ts";
import { findCitus, hostOf, startCitus, type Citus } from "../support/postgres/citus.ts";
import { withClient, type Postgres } from "../support/postgres/postgres.ts";
import { startReceiver } from "../support/receiver.ts";
import { emptyInstallation, eventually, type Installation, type Relay } from "../support/relay.ts";

const found = isRun ? findCitus() : null;
const figures = createFigures("citus");
const seconds = Number(process.env["ENGINE_SECONDS"] ?? (isLongRun ? 10 : 2));
const minSites = isLongRun ? 8 : 2;
/** The sites of a worker in a load in which events of one site arrive together and share statements. */
const minSitesOfWorker = isLongRun ? 2 : 1;
const shardCount = isLongRun ? 32 : 2;
const fewShards = 4;
/** The limit of a statement on the connections of nodes. */
const statementTimeoutMs = 15_000;
/** Of a node, to each machine. */
const maxConnections = 10;
/** Their database CPU without traffic is measured. */
const idleNodes = [2, 4, 8];
/** What a busy machine adds to the median of a second. */
const noiseMs = 500;
/** A shard of every table is copied for each of these. */
const movedShardCount = 8;

describe.skipIf(!isRun || isMissing("Citus", found, "install it into a PostgreSQL of this machine"))(
  "Citus",
  { timeout: 600_000 },
  () => {
    let citus: Citus;
    beforeAll(async () => {
      citus = await startCitus(found ?? "");
    }, 600_000);
    afterAll(async () => {
      figures.publish();
      await citus?.stop();
    }, 600_000);

    type Setup = { home: Installation; load: Load; keysOf: string[][]; siteId: string };

    /** Two nodes with the given DATABASE_URL on a new database. */
    async function setUp(url: string, listed: readonly Postgres[]): Promise<Setup> {
      const receiver = await startReceiver();
      const atCoordinator = await emptyInstallation("postgres", {
        LOG_LEVEL: "silent",
        CLEANCAST_DATABASE_CONNECTIONS: String(maxConnections),
      });
      atCoordinator.env.DATABASE_URL = url;
      const hosts = listed.map(hostOf).join(",");
      const home = atCoordinator.with({ DATABASE_URL: url.replace(hostOf(citus.coordinator), hosts) });
      const added: SiteSetup[] = [];
      let keysOf: string[][] = [];
      // The ids of sites are random, and each worker has to have some.
      while (added.length < minSites || keysOf.some((keys) => keys.length < minSitesOfWorker)) {
        const host = `shop${added.length}.example.com`;
        added.push(await setUpSite(home, [["webhook", { url: receiver.url }]], host));
        keysOf = await groupKeys(url, added);
      }
      const relays = await Promise.all([home.start(), home.start()]);
      const load = createLoad(atCoordinator, relays, receiver);
      return { home, load, keysOf, siteId: added[0]?.siteId ?? "" };
    }

    /** The keys of the sites on each worker; all together on a database without Citus. */
    async function groupKeys(url: string, added: readonly SiteSetup[]): Promise<string[][]> {
      const portOf = await withClient(url, async (client) => {
        const { rowCount } = await client.query("SELECT 1 FROM pg_extension WHERE extname = 'citus'");
        if (rowCount === 0) return null;
        const { rows } = await client.query<{ id: string; port: number }>(
          `SELECT sites.site_id AS id, nodeport AS port FROM sites
           JOIN pg_dist_placement ON shardid = get_shard_id_for_distribution_column('events', sites.site_id)
           JOIN pg_dist_node ON pg_dist_node.groupid = pg_dist_placement.groupid`,
        );
        return new Map(rows.map(({ id, port }) => [id, String(port)]));
      });
      if (!portOf) return [added.map(({ key }) => key)];
      return citus.workers.map((worker) =>
        added.filter(({ siteId }) => hostOf(worker).endsWith(`:${portOf.get(siteId)}`)).map(({ key }) => key),
      );
    }

    /** The index of the worker that has the rows of no site, among them the leases of the nodes. */
    async function findLeaseWorker(url: string): Promise<number> {
      const { rows } = await withClient(url, (client) =>
        client.query<{ port: number }>(
          `SELECT nodeport AS port FROM pg_dist_placement
           JOIN pg_dist_node ON pg_dist_node.groupid = pg_dist_placement.groupid
           WHERE shardid = get_shard_id_for_distribution_column('nodes', '')`,
        ),
      );
      return citus.workers.findIndex((worker) => hostOf(worker).endsWith(`:${rows[0]?.port}`));
    }

    const databaseCpuMs = () => [citus.coordinator, ...citus.workers].map((server) => server.cpuMs());
    const since = (before: readonly number[]) => databaseCpuMs().map((ms, i) => ms - (before[i] ?? 0));
    const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

    /** What the servers use now, in milliseconds of CPU a second. The short run has no time for it. */
    async function measureIdle(): Promise<number[]> {
      if (!isLongRun) return [];
      const before = databaseCpuMs();
      const startedAt = performance.now();
      await sleep(6 * seconds * 1000);
      const passed = (performance.now() - startedAt) / 1000;
      return since(before).map((ms) => ms / passed);
    }

    async function noteCost(name: string, { load, keysOf }: Setup): Promise<void> {
      const all = keysOf.flat();
      const some = keysOf.flatMap((keys) => keys.slice(0, (2 * minSitesOfWorker) / keysOf.length));
      for (const { senders, keys } of [
        { senders: 16, keys: all },
        { senders: 64, keys: some },
      ]) {
        const cost = await measureCost(load, keys, senders, seconds * 1000, databaseCpuMs);
        const { p50, statuses } = cost.sent;
        figures.note(
          `${name}: CPU of an event, ${senders} senders on ${keys.length} sites`,
          `database ${sum(cost.databaseUs)} µs (${cost.databaseUs.join(" + ")}), nodes ${cost.nodesUs} µs; ${Math.round((statuses["200"] ?? 0) / seconds)} events/s, p50 ${p50} ms`,
        );
        expect(Object.keys(statuses)).toEqual(["200"]);
      }
    }

    /** Runs after everything that was sent was looked for: these events are delivered nowhere. */
    async function noteSteps(name: string, { home, siteId }: Setup): Promise<void> {
      if (!isLongRun) return;
      const costs = await measureSteps(home, siteId, () => sum(databaseCpuMs()));
      for (const together of [1, 8]) {
        const some = costs.filter((cost) => cost.together === together);
        figures.note(
          `${name}: database CPU of an event by step, ${together === 1 ? "alone" : `${together} events of a site together`}`,
          some.map(({ step, databaseUs }) => `${step} ${databaseUs} µs`).join(", "),
        );
        expect(some.every(({ databaseUs }) => databaseUs > 0)).toBe(true);
      }
    }

    /**
     * Notes what idle nodes cost: first the two of the setup, then more of them. Each adds its own lease and its own look at the
     * configuration. The shards are looked at by one node each, however many there are.
     */
    async function noteIdle(
      name: string,
      { home, load }: Setup,
      empty: readonly number[],
      counts: readonly number[],
    ): Promise<void> {
      if (!isLongRun) return;
      const more: Relay[] = [];
      const costs: number[] = [];
      for (const nodes of counts) {
        while (load.relays.length + more.length < nodes) more.push(await home.start());
        await sleep(15_000);
        const used = await measureIdle();
        const ofRelays = sum(used) - sum(empty);
        figures.note(
          `${name}: ${nodes} nodes without traffic, database CPU`,
          `${ofRelays.toFixed(1)} ms/s (${used.map((ms) => ms.toFixed(1)).join(" + ")}, of which ${sum(empty).toFixed(1)} without relays)`,
        );
        costs.push(ofRelays);
      }
      for (const relay of more) await relay.stop();
      // DueWork by every node at every shard took 193 ms/s for each node; a busy machine needs more time for the same work.
      expect(costs[0]).toBeLessThan(100);
      for (const [i, cost] of costs.entries()) expect(cost).toBeLessThan(100 + 20 * ((counts[i] ?? 0) - 2));
    }

    async function stopAll({ load }: Setup): Promise<void> {
      for (const relay of load.relays) await relay.stop();
    }

    async function checkAll(name: string, { load }: Setup): Promise<void> {
      const checked = await load.check();
      figures.note(`${name}: orders answered with 200`, `${checked.answered}; ${checkedText(checked)}`);
      expect(checked).toMatchObject({ notStored: 0, notReceived: 0, receivedTwice: 0 });
    }

    test.runIf(isLongRun)("the same load on PostgreSQL without Citus, to compare with", async () => {
      const empty = await measureIdle();
      const setup = await setUp(await citus.createPlainDatabase(), [citus.coordinator]);
      await noteIdle("plain PostgreSQL", setup, empty, idleNodes.slice(0, 1));
      await noteCost("plain PostgreSQL", setup);
      await checkAll("plain PostgreSQL", setup);
      await stopAll(setup);
      await noteSteps("plain PostgreSQL", setup);
    });

    // The short run is for what breaks most easily: a worker that goes and comes back while statements go to it directly.
    const listings = ["the coordinator", "every machine"] as const;
    describe.each(isLongRun ? listings : listings.slice(1))("with %s in DATABASE_URL", (listed) => {
      const name = `Citus, ${listed} listed`;
      let setup: Setup;
      let leaseWorker = 0;
      beforeAll(async () => {
        const url = await citus.createDatabase(shardCount);
        const isAll = listed === "every machine";
        const withoutRelays = await measureIdle();
        setup = await setUp(url, isAll ? [citus.coordinator, ...citus.workers] : [citus.coordinator]);
        leaseWorker = await findLeaseWorker(url);
        await noteIdle(name, setup, withoutRelays, idleNodes);
      }, 600_000);
      afterAll(async () => {
        for (const worker of citus?.workers ?? []) worker.thaw();
        if (setup) await stopAll(setup);
      });

      test.runIf(isLongRun)("an event costs what is published", async () => {
        await noteCost(name, setup);
      });

      test.runIf(isLongRun)("a node keeps its limit of connections to each worker", async () => {
        const { load, keysOf, home } = setup;
        await load.sendFor(keysOf.flat(), 64, seconds * 500);
        const database = /\/(\w+)$/.exec(home.env["DATABASE_URL"] ?? "")?.[1];
        const counts = await Promise.all(
          citus.workers.map((worker) =>
            withClient(worker.url, async (client) => {
              const { rows } = await client.query<{ nodes: string; own: string }>(
                `SELECT COUNT(*) FILTER (WHERE application_name LIKE 'cleancast%') AS nodes,
                        COUNT(*) FILTER (WHERE application_name LIKE 'citus%') AS own
                 FROM pg_stat_activity WHERE datname = $1`,
                [database],
              );
              return { nodes: Number(rows[0]?.nodes), own: Number(rows[0]?.own) };
            }),
          ),
        );
        const limit = load.relays.length * maxConnections;
        figures.note(
          `${name}: connections to each worker`,
          `${counts.map(({ nodes }) => nodes).join(" and ")} of the nodes, which may have ${limit} together; ${counts.map(({ own }) => own).join(" and ")} of Citus itself`,
        );
        const isDirect = listed === "every machine";
        for (const { nodes } of counts) {
          expect(nodes).toBeLessThanOrEqual(isDirect ? limit : 0);
          if (isDirect) expect(nodes).toBeGreaterThanOrEqual(2 * load.relays.length);
        }
      });

      test.runIf(isLongRun)("a silent worker costs its own sites only", async () => {
        const { load, keysOf } = setup;
        const [own = [], others = []] = keysOf;
        const [worker] = citus.workers;
        const before = await load.sendFor(others, 4, seconds * 1000);
        worker?.freeze();
        const { result, asked, ready } = await countReady(
          load.relays,
          Promise.all([load.sendFor(others, 4, seconds * 1000), load.sendFor(own, 4, seconds * 1000)]),
        ).finally(() => worker?.thaw());
        const [ofOthers, ofOwn] = result;
        const after = await load.sendFor(others, 4, seconds * 1000);
        figures.note(
          `${name}: a silent worker`,
          `other sites: p50 ${before.p50} → ${ofOthers.p50} → ${after.p50} ms, ${statusText(ofOthers.statuses)}; its own: ${statusText(ofOwn.statuses)}; ready ${ready} of ${asked}`,
        );
        expect(Object.keys(ofOthers.statuses)).toEqual(["200"]);
        expect(ready).toBe(asked);
        // Without connections of its own, a silent worker makes the others wait for the five seconds of a statement.
        expect(ofOthers.p50).toBeLessThan(1.5 * Math.max(before.p50, after.p50) + noiseMs);
        await eventually("its sites are served again", async () => (await load.send(own)) === 200);
      });

      test("a worker that is down stops no start and no other site, doctor names it, and it comes back", async () => {
        const { load, keysOf, home } = setup;
        const { [leaseWorker]: own = [], [1 - leaseWorker]: others = [] } = keysOf;
        const worker = citus.workers[leaseWorker];
        // It dies while it commits. Each order that was answered with 200 is looked for at the end.
        const dying = sleep(seconds * 500).then(() => worker?.kill());
        const before = await load.sendDuring(keysOf.flat(), 8, dying);
        expect(Object.keys(before.statuses).filter((status) => status !== "503")).toEqual(["200"]);
        /** Meanwhile the other nodes are idle. */
        async function startAnother(): Promise<void> {
          const late = await home.start();
          const event = { email: "late@example.com", event: "lead" };
          expect((await late.post(others[0] ?? "", event)).status).toBe(200);
          expect((await late.post(own[0] ?? "", event)).status).toBe(503);
          const { items } = await home.run("site", "list");
          const isUnknown = ({ health }: { health: { figures: unknown } }) => health.figures === null;
          expect([items.length, items.filter(isUnknown).length]).toEqual([keysOf.flat().length, own.length]);
          expect(await home.print("site", "list")).toContain("no answer");
          const text = await home.print("doctor", "--offline");
          expect(text).toContain(`the Citus node ${worker ? hostOf(worker) : ""} does not answer`);
          await late.stop();
          // A lease that cannot be renewed is tried again every few seconds.
          if (isLongRun) await sleep(15_000);
        }
        try {
          const idle = await countReady(load.relays, startAnother());
          const loaded = await countReady(
            load.relays,
            Promise.all([load.sendFor(others, 4, seconds * 500), load.sendFor(own, 4, seconds * 500)]),
          );
          const [sent, ofOwn] = loaded.result;
          const [asked, ready] = [idle.asked + loaded.asked, idle.ready + loaded.ready];
          figures.note(
            `${name}: a dead worker`,
            `other sites: ${statusText(sent.statuses)}, p50 ${sent.p50} ms; its own: ${statusText(ofOwn.statuses)}; ready ${ready} of ${asked}`,
          );
          expect([Object.keys(sent.statuses), Object.keys(ofOwn.statuses)]).toEqual([["200"], ["503"]]);
          // The short run has to pass on a machine that stalls.
          expect(ready).toBeGreaterThanOrEqual(isLongRun ? asked : 0.8 * asked);
        } finally {
          await worker?.restart();
        }
        // One after the other: both nodes are asked.
        const isServed = async () => (await load.send(own)) === 200 && (await load.send(own)) === 200;
        await eventually("its sites are served again by both nodes", isServed);
        const after = await load.sendFor(keysOf.flat(), 4, seconds * 500);
        expect(Object.keys(after.statuses)).toEqual(["200"]);
      });

      test.runIf(listed === "every machine")(
        "listed workers go on while the coordinator is dead or silent, also with one of them silent, and a start names the coordinator",
        async () => {
          const { load, keysOf, home } = setup;
          const { coordinator, workers } = citus;
          const faults = [
            ["a dead coordinator", () => coordinator.kill(), () => coordinator.restart(), keysOf.flat()],
            ["a silent coordinator", () => coordinator.freeze(), () => coordinator.thaw(), keysOf.flat()],
            [
              "a dead coordinator and a silent worker",
              () => (workers[0]?.freeze(), coordinator.kill()),
              () => (workers[0]?.thaw(), coordinator.restart()),
              keysOf[1] ?? [],
            ],
          ] as const;
          for (const [fault, begin, end, served] of faults) {
            const before = await load.sendFor(served, 4, seconds * 500);
            await begin();
            const begun = await countReady(load.relays, load.sendFor(served, 4, seconds * 1000));
            // By now the nodes know of it.
            const during = await countReady(load.relays, load.sendFor(served, 4, Math.max(seconds * 1000, 14_000)));
            const error = fault === "a dead coordinator" ? (await home.fails("site", "list")).error : null;
            await end();
            const isServed = async () => (await load.send(keysOf.flat())) === 200 && (await load.send(keysOf.flat())) === 200;
            await eventually("all sites are served again", isServed);
            figures.note(
              `${name}: ${fault}`,
              `p50 ${before.p50} → ${begun.result.p50} → ${during.result.p50} ms, ${statusText(begun.result.statuses)}, then ${statusText(during.result.statuses)}, longest gap ${Math.max(begun.result.gapMs, during.result.gapMs)} ms; ready ${begun.ready + during.ready} of ${begun.asked + during.asked}`,
            );
            expect(Object.keys(during.result.statuses)).toEqual(["200"]);
            expect(during.ready).toBeGreaterThan(0.8 * during.asked);
            if (error === null) continue;
            expect(error).toContain(hostOf(coordinator));
            for (const worker of workers) expect(error).not.toContain(hostOf(worker));
          }
        },
      );

      test("a statement that is repeated leaves nothing behind in its session", async () => {
        const { home, siteId } = setup;
        const sessionName = "repeated statement";
        const url = home.env["DATABASE_URL"] ?? "";
        const db = connectPostgres(url, { connections: 2, sessionName, shardedTables: new Set(["events"]) });
        onTestFinished(() => db.close());
        await db.isSharded();
        const read = async (times: number) => {
          for (let i = 0; i < times; i += 1)
            await db.all(`SELECT id FROM events WHERE site_id = $1 AND id = $2`, [siteId, String(i)]);
        };
        const memoryKb = async () =>
          sum(await Promise.all([citus.coordinator, ...citus.workers].map((at) => at.sessionKb(sessionName))));
        await read(50);
        const before = await memoryKb();
        await read(500);
        expect(before).toBeGreaterThan(0);
        // Plans that Citus keeps and does not find again took 30 KB each.
        expect((await memoryKb()) - before).toBeLessThan(5000);
      });

      test("the row of a node that died is removed", async () => {
        await withStore(setup.home, async ({ nodes }) => {
          const findExpired = async () => (await nodes.listExpired()).find(({ node }) => node.owner === "dead")?.node;
          await nodes.renew("dead", ulid(), 1);
          await eventually("its lease has ended", async () => (await findExpired()) !== undefined);
          const dead = (await findExpired()) ?? expect.unreachable();
          await nodes.removeExpired(dead);
          expect(await findExpired()).toBeUndefined();
        });
      });

      test("everything that was answered with 200 is stored and arrives once", async () => {
        await checkAll(name, setup);
        await stopAll(setup);
        await noteSteps(name, setup);
      });
    });

    test.runIf(isLongRun)("idle nodes on few shards, to compare with", async () => {
      const url = await citus.createDatabase(fewShards);
      const empty = await measureIdle();
      const setup = await setUp(url, [citus.coordinator, ...citus.workers]);
      await noteIdle(`Citus, every machine listed, ${fewShards} shards`, setup, empty, idleNodes);
      await stopAll(setup);
    });

    test.runIf(isLongRun)("tables are created although one takes longer than a statement may", async () => {
      const home = await emptyInstallation("postgres", { LOG_LEVEL: "silent" });
      home.env.DATABASE_URL = await citus.createDatabase(4);
      const [worker] = citus.workers;
      worker?.freeze();
      const thawed = sleep(statementTimeoutMs + 2000).then(() => worker?.thaw());
      expect((await home.run("site", "add", "shop.example.com")).hosts).toEqual(["shop.example.com"]);
      await thawed;
    });

    test.runIf(isLongRun)("a third worker is added and shards are moved to it under load", async () => {
      const url = await citus.createDatabase(movedShardCount);
      // Nodes send statements to the first two workers directly, while shards leave them.
      const setup = await setUp(url, [citus.coordinator, ...citus.workers]);
      const { load, keysOf } = setup;
      const worker = await citus.addWorker(url);
      const moving = withClient(url, (client) =>
        client.query("SELECT rebalance_table_shards(shard_transfer_mode := 'force_logical')"),
      );
      const sent = await load.sendDuring(keysOf.flat(), 4, moving);
      const { rows } = await withClient(url, (client) =>
        client.query<{ n: string }>(
          `SELECT COUNT(*) AS n FROM pg_dist_placement JOIN pg_dist_node USING (groupid) JOIN pg_dist_shard USING (shardid)
           WHERE nodeport = $1 AND logicalrelid = 'events'::regclass`,
          [hostOf(worker).split(":")[1]],
        ),
      );
      figures.note(
        "Citus: rebalance to a third worker under load",
        `${rows[0]?.n} of ${movedShardCount} shards moved; ${statusText(sent.statuses)}, the slowest ${sent.max} ms`,
      );
      expect(Number(rows[0]?.n)).toBeGreaterThan(0);
      await checkAll("Citus, rebalance", setup);
      await stopAll(setup);
    });
  },
);
