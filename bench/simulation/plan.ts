// Finds the number of nodes and the size of the database for a rate: the simulation must keep each at half of its capacity.

import { lookMs } from "../../src/delivery/looks.ts";
import { commitGroups } from "../../src/store/engine/postgres/engine.ts";
import type { CitusCosts } from "./citus.ts";
import { workerCostsOf, type Costs } from "./costs.ts";
import type { Measured } from "./points.ts";
import type { Result } from "./tally.ts";
import type { LookCosts } from "./worker.ts";
import { simulate, type Scenario } from "./world.ts";

/** Assumptions, because these differ between installations. */
export const assumed = {
  platforms: ["meta", "tiktok", "segment"],
  platformMs: 150,
  /** Between a node and the database, in one zone. */
  roundTripMs: 0.5,
  /** The rate of peaks that last a second, relative to the average. */
  peak: 2,
  /** The planned utilisation of a node's thread and of the database's cores. */
  target: 0.5,
  /** The largest single database machine, and the size of a worker of a sharded one. */
  largestDatabaseCores: 64,
  workerCores: 32,
  /** The latency that Citus adds to a statement. */
  citusMs: 1,
  outageSeconds: 3600,
} as const;

export type Step = {
  perSecond: number;
  sites: number;
  /** Commits wait for a standby: docs/how-to/database-failover.md. */
  standby: boolean;
};
export const steps: readonly Step[] = [
  { perSecond: 10, sites: 10, standby: false },
  { perSecond: 1000, sites: 100, standby: true },
  { perSecond: 10_000, sites: 1000, standby: true },
  { perSecond: 100_000, sites: 10_000, standby: true },
];

type Size = { nodes: number; databaseCores: number; poolSize: number };

export type Plan = Step &
  Size & {
    sharded: boolean;
    result: Result;
    drainSeconds: number;
    /** The resource that is exhausted first, and the rate at which it is. */
    first: { what: Resource; perSecond: number };
  };

const resources = ["node", "database", "pool"] as const;
type Resource = (typeof resources)[number];

/** All nodes are alike, so a few of them are simulated with their share of the load and of the database. */
const maxSimulated = 4;

/** `citus` is null for plain PostgreSQL. */
type Setting = { step: Step; measured: Measured; costs: Costs; citus: CitusCosts | null };

export function planFor(step: Step, measured: Measured, costs: Costs, citus: CitusCosts): Plan {
  const plain = findPlan({ step, measured, costs, citus: null });
  const isTooLarge = plain.databaseCores > assumed.largestDatabaseCores;
  return isTooLarge ? findPlan({ step, measured, costs: onCitus(costs, citus), citus }) : plain;
}

function onCitus({ node, database, bench }: Costs, citus: CitusCosts): Costs {
  return {
    node: {
      event: node.event * citus.node,
      delivery: node.delivery * citus.node,
      request: node.request * citus.node,
      statement: node.statement * citus.node,
    },
    database: {
      event: database.event * citus.database,
      delivery: database.delivery * citus.database,
      statement: database.statement * citus.database,
    },
    bench,
  };
}

/** The statements of a look: the placement of shards (2), the holders of slices, the lease, and what waits on a machine. */
const lookStatements = 5;

/**
 * One look of a node: what an idle node costs in that time, its share of what an idle cluster costs, and its share of the connections
 * that have waiting deliveries, each of which is looked at by one node.
 */
function lookCostsOf({ step, measured }: Setting, citus: CitusCosts, size: Size): LookCosts {
  const idleMs = citus.idleNodeMs + (citus.idleWorkerMs * workersOf(size)) / size.nodes;
  const connections = step.sites * assumed.platforms.length;
  const waiting = (connections * measured.poll.databaseCpu * citus.database) / size.nodes;
  // Milliseconds a second, for as many milliseconds, are microseconds.
  return { statements: lookStatements, database: idleMs * lookMs + waiting };
}

function findPlan(setting: Setting): Plan {
  const { step, measured, costs, citus } = setting;
  const share = (busy: number) => busy / assumed.target;
  // The first guess assumes that every event has its own commit.
  const cpuPerEvent = costs.node.event + assumed.platforms.length * (costs.node.delivery + 4 * costs.node.statement);
  let size: Size = { nodes: 1, databaseCores: 1, poolSize: measured.poolSize };
  size.nodes = size.databaseCores = Math.ceil(share((step.perSecond * cpuPerEvent) / 1e6));
  let result = simulate(sliceOf(setting, size));
  for (let tries = 0; tries < 8; tries++) {
    const next = {
      nodes: Math.ceil(share(size.nodes * result.busy.node)),
      databaseCores: wholeMachine(share(size.databaseCores * result.busy.database)),
      poolSize: Math.max(measured.poolSize, 2 * Math.ceil(share(size.poolSize * result.busy.pool) / 2)),
    };
    if (Object.values(next).join() === Object.values(size).join()) break;
    size = next;
    result = simulate(sliceOf(setting, size));
  }
  const what = resources.reduce((a, b) => (result.busy[b] > result.busy[a] ? b : a));
  const first = { what, perSecond: step.perSecond / result.busy[what] };
  return {
    ...step,
    ...size,
    sharded: citus !== null,
    result,
    drainSeconds: drainSeconds(setting, size),
    first,
  };
}

/** Machines have 2, 4, 8, 16 or 32 cores; above that, several of 32 are used. */
const wholeMachine = (cores: number) =>
  cores <= 32 ? 2 ** Math.max(1, Math.ceil(Math.log2(cores))) : Math.ceil(cores / 32) * 32;

/** The workers of a sharded database. The sites of each share transactions. */
export const workersOf = ({ databaseCores }: Pick<Size, "databaseCores">) => Math.ceil(databaseCores / assumed.workerCores);

function sliceOf(setting: Setting, size: Size): Scenario {
  const { step, measured, costs, citus } = setting;
  const some = Math.min(size.nodes, maxSimulated);
  const cores = (size.databaseCores * some) / size.nodes;
  const whole = Math.max(1, Math.round(cores));
  const perSecond = (step.perSecond * some) / size.nodes;
  return {
    seed: 1,
    warmMs: 10_000,
    // At least two peaks, and enough events for a p99.
    ms: perSecond < 100 ? 120_000 : 20_000,
    nodes: some,
    sites: step.sites,
    platforms: assumed.platforms,
    platformMs: assumed.platformMs,
    load: { perSecond, peak: assumed.peak },
    costs,
    worker: workerCostsOf(measured, costs),
    ...(citus && { looks: lookCostsOf(setting, citus, size) }),
    // A synchronous standby adds its own write and the network between them.
    fsyncMs: step.standby ? 2 * measured.fsyncMs + assumed.roundTripMs : measured.fsyncMs,
    roundTripMs: assumed.roundTripMs + (citus ? assumed.citusMs : 0),
    poolSize: size.poolSize,
    commitGroups: citus ? workersOf(size) : commitGroups,
    machines: { databaseCores: whole, databaseSpeed: cores / whole },
  };
}

/**
 * Returns the seconds in which the backlog of one platform's outage drains under the usual load: simulated, or extrapolated
 * from the rate if the simulation ends first.
 */
function drainSeconds(setting: Setting, size: Size): number {
  const { step } = setting;
  const slice = sliceOf(setting, size);
  const backlog = (step.perSecond * assumed.outageSeconds * slice.nodes) / size.nodes;
  const { drainedPerSecond, drainedAtMs } = simulate({
    ...slice,
    warmMs: 2000,
    ms: 10_000,
    backlogBySite: Math.ceil(backlog / step.sites),
  });
  return drainedAtMs === null ? backlog / drainedPerSecond : drainedAtMs / 1000;
}
