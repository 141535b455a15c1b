// Laws that the simulation behind docs/explanation/capacity-planning.md must obey, whatever was measured.

import { describe, expect, test } from "vitest";
import { readCitusCosts } from "../bench/simulation/citus.ts";
import { nonNegativeFit, type Costs } from "../bench/simulation/costs.ts";
import { readsFor, statementsFor } from "../bench/simulation/database.ts";
import { faultsOf } from "../bench/simulation/page.ts";
import type { LookCosts } from "../bench/simulation/worker.ts";
import { simulate, type Scenario } from "../bench/simulation/world.ts";
import { chunks } from "../src/store/engine/database.ts";

/** Round numbers, so that sums are easy to check by hand. */
const costs: Costs = {
  node: { event: 300, delivery: 100, request: 200, statement: 50 },
  database: { event: 100, delivery: 100, statement: 20 },
  bench: { sender: 50, request: 50 },
};

const scenario: Scenario = {
  seed: 7,
  warmMs: 1000,
  ms: 4000,
  nodes: 2,
  sites: 4,
  platforms: ["meta", "tiktok", "segment"],
  platformMs: 20,
  load: { perSecond: 200 },
  costs,
  worker: { pollNode: 5, pollDatabase: 2, claimNode: 50, claimDatabase: 50 },
  fsyncMs: 1,
  roundTripMs: 0.2,
  poolSize: 10,
  commitGroups: 4,
  machines: { databaseCores: 4 },
};

describe("the simulation", () => {
  test("the simulation is the same for the same seed, and differs for another", () => {
    expect(simulate(scenario)).toEqual(simulate(scenario));
    expect(simulate({ ...scenario, seed: 8 }).p50).not.toBe(simulate(scenario).p50);
  });

  test("the simulation follows the utilisation law: utilisation is rate times cost", () => {
    const { busy, perSecond, cpu, databaseCpu } = simulate({ ...scenario, ms: 20_000 });
    // Busy time is measured by the clock and cost by the work; each piece of work varies around its cost.
    expect(Math.abs(busy.node / ((perSecond * cpu) / 1e6 / scenario.nodes) - 1)).toBeLessThan(0.03);
    expect(Math.abs(busy.database / ((perSecond * databaseCpu) / 1e6 / 4) - 1)).toBeLessThan(0.03);
  });

  test("the simulation follows Little's law: waiting senders are rate times wait", () => {
    const senders = 32;
    const { perSecond, p50 } = simulate({ ...scenario, load: { senders }, ms: 10_000 });
    // The median replaces the mean: a closed loop has no long tail.
    expect(Math.abs((perSecond * p50) / 1000 / senders - 1)).toBeLessThan(0.15);
  });

  test("the simulation loses no event and no delivery, also while a platform is down", () => {
    const ended = simulate({
      ...scenario,
      warmMs: 0,
      ms: 20_000,
      // No sender is left at the end: `load` stops, and requests in flight arrive.
      load: { perSecond: 100, untilMs: 10_000 },
      outage: { fromMs: 2000, toMs: 6000 },
    });
    expect(ended.arrived).toBeGreaterThan(800);
    expect(ended.answered).toBe(ended.arrived);
    expect(ended.sentLater).toBeGreaterThan(300);
    expect(ended.sentAtOnce + ended.sentLater + ended.waiting).toBe(ended.arrived * 3);
    expect(ended.waiting).toBe(0);
  });

  test("a simulated backlog takes longer to drain after a longer outage", () => {
    const drainMs = (seconds: number) => {
      const toMs = 1000 + seconds * 1000;
      const { drainedAtMs } = simulate({
        ...scenario,
        nodes: 1,
        sites: 1,
        warmMs: 0,
        ms: toMs + 30_000,
        load: { perSecond: 300 },
        outage: { fromMs: 1000, toMs },
      });
      return (drainedAtMs ?? Infinity) - toMs;
    };
    const [short, long] = [drainMs(2), drainMs(20)];
    expect(short).toBeGreaterThan(0);
    expect(long).toBeGreaterThan(1.5 * short);
    expect(long).toBeLessThan(30_000);
  });

  test("simulated events cost less when they share a commit", () => {
    const withSites = (sites: number) => simulate({ ...scenario, nodes: 1, sites, load: { senders: 64 } });
    const [shared, alone] = [withSites(1), withSites(64)];
    expect(shared.statements).toBeLessThan(alone.statements / 2);
    expect(shared.cpu).toBeLessThan(alone.cpu);
    expect(shared.databaseCpu).toBeLessThan(alone.databaseCpu);
  });

  test("simulated looks cost every node once in ten seconds, and take the place of polls", () => {
    const ms = 100_000;
    const worker = { ...scenario.worker, pollDatabase: 10_000 };
    const busyMs = (more: { looks?: LookCosts }) =>
      simulate({ ...scenario, ms, load: { perSecond: 1 }, worker, ...more }).busy.database * 4 * ms;
    const free = busyMs({ looks: { statements: 1, database: 0 } });
    // Every poll asks for 12 connections.
    expect(busyMs({}) - free).toBeGreaterThan(2 * 90 * 12 * 10);
    const looked = busyMs({ looks: { statements: 1, database: 500_000 } }) - free;
    // Ten looks of each of two nodes. The duration of each varies around its cost.
    expect(Math.abs(looked / (2 * 10 * 500) - 1)).toBeLessThan(0.6);
  });

  test("the simulation keeps a platform's quota", () => {
    const seconds = 60;
    // The quota is a burst of 300 and then 5 a second: src/platforms/linkedin/index.ts.
    const { requests, events } = simulate({
      ...scenario,
      nodes: 1,
      sites: 1,
      platforms: ["linkedin"],
      warmMs: 0,
      ms: seconds * 1000,
      load: { perSecond: 50 },
    });
    expect(requests * events).toBeLessThanOrEqual(300 + 5 * seconds);
    expect(requests * events).toBeGreaterThan(300 + 5 * (seconds - 20));
  });
});

test("fitted costs match the costs that the points were made from", () => {
  const known = [3, 0, 40];
  const samples = [
    [1, 2, 3],
    [1, 0, 1],
    [1, 5, 9],
    [1, 1, 0.2],
    [1, 4, 2],
  ].map((x) => ({
    x,
    y: x.reduce((sum, value, i) => sum + value * (known[i] as number), 0),
  }));
  const found = nonNegativeFit(samples);
  known.forEach((cost, i) => expect(found[i]).toBeCloseTo(cost, 2));
});

test("the simulation counts as many statements as the store sends", () => {
  for (const rows of [1, 3, 8, 9, 31, 63, 64, 65, 200])
    expect(statementsFor(rows)).toBe([...chunks(Array.from({ length: rows }))].length);
  expect([1, 64, 65, 200].map(readsFor)).toEqual([1, 1, 2, 4]);
});

describe("the costs of Citus", () => {
  const page = [
    "| plain PostgreSQL: 2 nodes without traffic, database CPU | 3.0 ms/s (4 + 0) |",
    "| plain PostgreSQL: CPU of an event, 16 senders on 8 sites | database 800 µs (800 + 0 + 0), nodes 2000 µs; 500 events/s |",
    "| plain PostgreSQL: CPU of an event, 64 senders on 4 sites | database 400 µs (400 + 0 + 0), nodes 1000 µs; 900 events/s |",
    "| Citus, the coordinator listed: 8 nodes without traffic, database CPU | 900.0 ms/s (1) |",
    "| Citus, every machine listed: 2 nodes without traffic, database CPU | 20.0 ms/s (9 + 11 + 5) |",
    "| Citus, every machine listed: 8 nodes without traffic, database CPU | 32.0 ms/s (9 + 11 + 5) |",
    "| Citus, every machine listed: CPU of an event, 16 senders on 9 sites | database 2400 µs (38 + 1), nodes 2200 µs; 300 events/s |",
    "| Citus, every machine listed: CPU of an event, 64 senders on 4 sites | database 1400 µs (11 + 8), nodes 1050 µs; 600 events/s |",
  ];

  test("the costs of Citus are the larger ratios of an event, and a line through the idle nodes", () => {
    const { database, node, idleNodeMs, idleWorkerMs } = readCitusCosts(page.join("\n"));
    expect([database, node]).toEqual([3.5, 1.1]);
    expect(idleNodeMs).toBeCloseTo(2);
    // 20 ms/s without 2 ms/s for each of two nodes, on two workers.
    expect(idleWorkerMs).toBeCloseTo(8);
  });

  test("a page without the rows is refused, and the published one has them", () => {
    for (const missing of [/2 nodes without/, /16 senders on 8/])
      expect(() => readCitusCosts(page.filter((line) => !missing.test(line)).join("\n"))).toThrow("engines-measured.md");
    expect(readCitusCosts().database).toBeGreaterThan(1);
  });
});

test("docs/explanation/capacity-planning.md has the tables that `npm run simulate` writes", () => {
  expect(faultsOf()).toEqual([]);
});
