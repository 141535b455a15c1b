// How many nodes and what database a rate needs: as many as keep each at half of what it can, simulated.

import { workerCostsOf, type Costs } from "./costs.ts";
import type { Measured } from "./points.ts";
import type { Result } from "./tally.ts";
import { simulate, type Scenario } from "./world.ts";

/** What is taken for granted, because it is different everywhere. */
export const assumed = {
  platforms: ["meta", "tiktok", "segment"],
  platformMs: 150,
  /** Between a node and the database, in one zone. */
  roundTripMs: 0.5,
  /** Seconds-long peaks, above the average. */
  peak: 2,
  /** Share of a node's thread and of the database's cores that is planned for. */
  target: 0.5,
  /** The largest database machine that is planned with, and a worker of a sharded one. */
  largestDatabaseCores: 64,
  workerCores: 32,
  /** Citus: CPU of a statement, of plain PostgreSQL's, and what it takes longer; docs/how-to/sharding.md. */
  citusStatement: 2.5,
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

/** What is decided. */
type Size = { nodes: number; databaseCores: number; poolSize: number };

export type Plan = Step &
  Size & {
    sharded: boolean;
    result: Result;
    drainSeconds: number;
    /** What is full first, and at how many events a second. */
    first: { what: Sized; perSecond: number };
  };

const sizedBy = ["node", "database", "pool"] as const;
type Sized = (typeof sizedBy)[number];

/** Nodes are alike: a few of them with their part of the load and of the database stand for all. */
const maxSimulated = 4;

type Setting = { step: Step; measured: Measured; costs: Costs; sharded: boolean };

export function planFor(step: Step, measured: Measured, costs: Costs): Plan {
  const plain = sized({ step, measured, costs, sharded: false });
  const isTooLarge = plain.databaseCores > assumed.largestDatabaseCores;
  return isTooLarge ? sized({ step, measured, costs: onCitus(costs), sharded: true }) : plain;
}

function onCitus(costs: Costs): Costs {
  const { database } = costs;
  return { ...costs, database: { ...database, statement: database.statement * assumed.citusStatement } };
}

function sized(setting: Setting): Plan {
  const { step, measured, costs, sharded } = setting;
  const share = (busy: number) => busy / assumed.target;
  // A first guess: as if every event were alone in its commit.
  const lone = costs.node.event + assumed.platforms.length * (costs.node.delivery + 4 * costs.node.statement);
  let size: Size = { nodes: 1, databaseCores: 1, poolSize: measured.poolSize };
  size.nodes = size.databaseCores = Math.ceil(share((step.perSecond * lone) / 1e6));
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
  const what = sizedBy.reduce((a, b) => (result.busy[b] > result.busy[a] ? b : a));
  const first = { what, perSecond: step.perSecond / result.busy[what] };
  return { ...step, ...size, sharded, result, drainSeconds: drainSeconds(setting, size), first };
}

/** Machines are sold with 2, 4, 8 … cores, and many of them from some size on. */
const wholeMachine = (cores: number) =>
  cores <= 32 ? 2 ** Math.max(1, Math.ceil(Math.log2(cores))) : Math.ceil(cores / 32) * 32;

function sliceOf({ step, measured, costs, sharded }: Setting, size: Size): Scenario {
  const some = Math.min(size.nodes, maxSimulated);
  const cores = (size.databaseCores * some) / size.nodes;
  const whole = Math.max(1, Math.round(cores));
  const perSecond = (step.perSecond * some) / size.nodes;
  const worker = workerCostsOf(measured, costs);
  return {
    seed: 1,
    warmMs: 10_000,
    // Two peaks at least, and enough events to speak of one in a hundred.
    ms: perSecond < 100 ? 120_000 : 20_000,
    nodes: some,
    sites: step.sites,
    platforms: assumed.platforms,
    platformMs: assumed.platformMs,
    load: { perSecond, peak: assumed.peak },
    costs,
    // A sharded database is asked about all connections with one statement, whose cost was not measured.
    worker: sharded ? { ...worker, lookNode: 0, lookDatabase: 0 } : worker,
    // A standby that is waited for writes too, after the way there.
    fsyncMs: step.standby ? 2 * measured.fsyncMs + assumed.roundTripMs : measured.fsyncMs,
    roundTripMs: assumed.roundTripMs + (sharded ? assumed.citusMs : 0),
    poolSize: size.poolSize,
    sharded,
    machines: { databaseCores: whole, databaseSpeed: cores / whole },
  };
}

/** The backlog of an outage of one platform, divided by what leaves of it a second beside the usual load. */
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
