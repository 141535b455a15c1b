// Sizes installations: arithmetic on the measurements in measured.json.
//
//   npx node bench/capacity.ts   writes the tables of docs/explanation/capacity-planning.md; the benchmark of the nodes does so too
//
// Peaks, queues and limits of platforms are not in the numbers, but for the day that day.ts simulates.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { platforms } from "../src/platforms/index.ts";
import { simulateDay } from "./day.ts";
import { readMeasured, upkeepWorks, type Measured, type Point } from "./measured.ts";
import { number, type Table } from "./part.ts";
import { tableText } from "./report.ts";

/** Assumptions, because these differ between installations. */
const assumed = {
  connections: 3,
  /** The planned utilisation of a node's thread and of the database's cores. */
  target: 0.5,
  /** Between a node and the database, in one zone. */
  roundTripMs: 0.5,
  /** The latency that Citus adds to a statement. */
  citusMs: 1,
  /** The largest single database machine, and the size of a worker of a sharded one. */
  largestDatabaseCores: 64,
  workerCores: 32,
  outageSeconds: 3600,
  /** The default of `keep_events`, and of `dedup_order`. */
  keptDays: 90,
  dollarsPerCore: 20,
};

/** CPU of an event compared with plain PostgreSQL: docs/explanation/engines-measured.md, "What an event costs". */
export const citusCost = { database: 2.6, node: 1 };

type Step = { perSecond: number; sites: number; /** Commits wait for a standby. */ standby: boolean };
/** The step whose parts are shown one by one. */
const large: Step = { perSecond: 20_000, sites: 5000, standby: true };
const steps: readonly Step[] = [
  { perSecond: 10, sites: 10, standby: false },
  { perSecond: 1000, sites: 100, standby: true },
  { perSecond: 10_000, sites: 1000, standby: true },
  large,
  { perSecond: 100_000, sites: 10_000, standby: true },
];

/** What an event and the polls of a node cost, in microseconds of CPU. */
type Costs = { node: number; database: number; statements: number; pollNode: number; pollDatabase: number; addedMs: number };

/**
 * The base is the load that keeps a node half busy: 200 events a second at random moments. Its events are of one site and share
 * some statements. Those of many quiet sites share none, like the events of the row with 50 a second. CPU is taken to grow with
 * the statements.
 */
export function costsOf({ points, poll, roundTripMs }: Measured): Costs {
  const half = arrivalsOf(points, 200);
  const { statements } = arrivalsOf(points, 50).result;
  const factor = statements / half.result.statements;
  return {
    node: half.result.cpu * factor,
    database: half.result.databaseCpu * factor,
    statements,
    // Due deliveries are looked for once a second, parked ones every two seconds.
    pollNode: 1.5 * poll.cpu,
    pollDatabase: 1.5 * poll.databaseCpu,
    addedMs: half.result.p50 - half.platformMs + statements * (assumed.roundTripMs - roundTripMs),
  };
}

function arrivalsOf(points: readonly Point[], perSecond: number): Point {
  const found = points.find((one) => "arrivals" in one && one.arrivals === perSecond && one.connections === assumed.connections);
  if (!found) throw new Error(`bench/measured.json has no point with ${perSecond} arrivals a second`);
  return found;
}

type Plan = Step & { nodes: number; databaseCores: number; sharded: boolean; busy: { node: number; database: number } };

export function planFor(step: Step, costs: Costs): Plan {
  const plain = sizeFor(step, costs, false);
  return plain.databaseCores > assumed.largestDatabaseCores ? sizeFor(step, costs, true) : plain;
}

/** `busy` is in cores. Polls are those of an outage: deliveries wait at every connection. Citus divides them among the nodes. */
function sizeFor(step: Step, costs: Costs, sharded: boolean): Plan {
  const factor = sharded ? citusCost : { node: 1, database: 1 };
  const connections = step.sites * assumed.connections;
  const events = { node: step.perSecond * costs.node * factor.node, database: step.perSecond * costs.database * factor.database };
  const pollers = (nodes: number) => (sharded ? 1 : nodes);
  const nodeBusy = (nodes: number) => (events.node + pollers(nodes) * connections * costs.pollNode) / 1e6;
  let nodes = 1;
  while (nodes * assumed.target < nodeBusy(nodes)) nodes++;
  const database = (events.database + pollers(nodes) * connections * costs.pollDatabase * factor.database) / 1e6;
  return {
    ...step,
    nodes,
    databaseCores: wholeMachine(database / assumed.target),
    sharded,
    busy: { node: nodeBusy(nodes), database },
  };
}

/** Machines have 2, 4, 8, 16 or 32 cores; above that, several of 32 are used. */
const wholeMachine = (cores: number) =>
  cores <= 32 ? 2 ** Math.max(1, Math.ceil(Math.log2(cores))) : Math.ceil(cores / 32) * 32;

/** The backlog of one platform leaves as fast as the free CPU allows, at the cost of a delivery measured with two nodes. */
export function drainSeconds({ perSecond, nodes, databaseCores, sharded, busy }: Plan, { drains }: Measured): number {
  const cost = drains.find((one) => one.nodes === 2) ?? { cpu: Number.NaN, databaseCpu: Number.NaN };
  const databaseCpu = cost.databaseCpu * (sharded ? citusCost.database : 1);
  const rate = Math.min((nodes - busy.node) / cost.cpu, (databaseCores - busy.database) / databaseCpu) * 1e6;
  return (perSecond * assumed.outageSeconds) / rate;
}

type Tables = Record<"plans" | "parts" | "day" | "cores" | "quotas", Omit<Table, "title">>;

async function capacityTables(measured = readMeasured()): Promise<Tables> {
  const costs = costsOf(measured);
  const plans = steps.map((step) => planFor(step, costs));
  const alike = measured.points.filter(({ connections }) => connections === assumed.connections);
  const highest = Math.max(...alike.map(({ result }) => result.perSecond));
  /** What is above every rate that was measured is struck out. */
  const marked = ({ perSecond }: Plan, row: string[]) => (perSecond > highest ? row.map((cell) => `~~${cell}~~`) : row);
  return {
    plans: {
      head: [
        "events/s",
        "sites",
        "nodes (a core each)",
        "database",
        "connections",
        "memory of all nodes",
        "disk a month",
        "added p50",
        "drain time",
        "first bottleneck",
      ],
      rows: plans.map((plan) => marked(plan, planRow(plan, costs, measured))),
    },
    parts: {
      head: ["part", "needed", "measured", "of the plan", "gives way at"],
      rows: partRows(planFor(large, costs), costs, measured),
    },
    day: {
      head: ["nodes", "largest site", "events of the busiest node", "an hour is counted within", "and purged within", ""],
      rows: await Promise.all(
        [12, 24, planFor(large, costs).nodes].flatMap((nodes) =>
          [false, true].map((isUneven) => dayRow(nodes, isUneven, measured)),
        ),
      ),
    },
    cores: {
      head: ["events/s", "nodes", "cores of the database", "cores in all", "USD a month"],
      rows: plans.map((plan) => marked(plan, coreRow(plan))),
    },
    quotas: {
      head: ["platform", "requests/s", "events/s in full batches", "limit applies to"],
      rows: platforms.flatMap(({ name, quota, batch }) => {
        if (!quota) return [];
        const requests = quota.requests / quota.seconds;
        return [
          [name, number(requests), number(requests * batch), quota.sharedBy === "app" ? "all sites together" : "each connection"],
        ];
      }),
    },
  };
}

function planRow(plan: Plan, costs: Costs, measured: Measured): string[] {
  const { perSecond, sites, nodes, databaseCores, standby, sharded, busy } = plan;
  const workers = `Citus, ${Math.ceil(databaseCores / assumed.workerCores)} workers of ${assumed.workerCores} cores`;
  const drain = drainSeconds(plan, measured);
  const rates = { nodes: (perSecond * nodes) / busy.node, database: (perSecond * databaseCores) / busy.database };
  const first = rates.nodes < rates.database ? "nodes" : "database";
  const standbyMs = standby ? measured.fsyncMs + assumed.roundTripMs : 0;
  const citusMs = sharded ? costs.statements * assumed.citusMs : 0;
  return [
    number(perSecond),
    number(sites),
    number(nodes),
    `${sharded ? workers : `PostgreSQL, ${databaseCores} cores`}${standby ? ", with a standby" : ""}`,
    number(nodes * measured.poolSize),
    bytes(nodes * measured.nodeMb * 1e6),
    bytes(perSecond * 30 * 86_400 * (measured.bytesPerEvent[assumed.connections] ?? Number.NaN)),
    `${number(costs.addedMs + standbyMs + citusMs)} ms`,
    drain < 100 ? `${number(drain)} s` : `${number(drain / 60)} min`,
    `the CPU of the ${first}, at ${number(rates[first])}/s`,
  ];
}

/** The parts of a large plan, the one that gives way first at the top. A part without a rate does not end at one. */
function partRows(plan: Plan, costs: Costs, measured: Measured): string[][] {
  const { perSecond, nodes, databaseCores, sharded, busy } = plan;
  const factor = sharded ? citusCost : { node: 1, database: 1 };
  const coresOf = (cores: number) => `${number(cores)} cores busy`;
  const eventBytes = measured.bytesPerEvent[assumed.connections] ?? Number.NaN;
  const kept = perSecond * assumed.keptDays * 86_400;
  const limited: { cells: string[]; until: number }[] = [
    {
      cells: ["nodes", coresOf(busy.node), `${number(costs.node * factor.node)} µs an event`, `${number(nodes)} nodes`],
      until: (perSecond * nodes) / busy.node,
    },
    {
      cells: [
        "database",
        coresOf(busy.database),
        `${number(costs.database * factor.database)} µs an event`,
        `${databaseCores} cores`,
      ],
      until: (perSecond * databaseCores) / busy.database,
    },
    ...upkeepWorks.map((work) => ({
      cells: [
        work,
        `${number(perSecond / nodes)}/s for each node`,
        `${number(measured.upkeep[work])}/s`,
        "divided over the nodes",
      ],
      until: measured.upkeep[work] * nodes,
    })),
  ];
  return [
    ...limited
      .toSorted((one, other) => one.until - other.until)
      .map(({ cells, until }) => [...cells, `${number(Number(until.toPrecision(2)))}/s`]),
    [
      "claims read a day",
      `${number(kept / 86_400)}/s`,
      "not measured",
      `\`dedup_order\` of ${assumed.keptDays} days`,
      "not known",
    ],
    [
      "log of the database",
      `${bytes(perSecond * walOf(measured))}/s`,
      `${number(walOf(measured))} bytes an event`,
      "twice with the standby",
      "the disks",
    ],
    [
      "disk",
      bytes(kept * eventBytes),
      `${number(eventBytes)} bytes an event`,
      `\`keep_events\` of ${assumed.keptDays} days`,
      "the disks",
    ],
    [
      "connections",
      `${number(nodes * measured.poolSize)} on each machine`,
      `${measured.poolUsed} of ${measured.poolSize} used by a node`,
      "10 for each node",
      "`max_connections`",
    ],
  ];
}

async function dayRow(nodes: number, isUneven: boolean, measured: Measured): Promise<string[]> {
  const { perSecond, sites } = large;
  const day = await simulateDay({ perSecond, sites, nodes, isUneven }, measured);
  return [
    number(nodes),
    `${number(day.largestSite * 100)} %`,
    `${number(day.busiestNode)}/s`,
    day.keepsUp ? `${number(day.countedAfter)} min` : "–",
    day.keepsUp ? `${number(day.purgedAfter)} min` : "–",
    day.keepsUp ? "keeps up" : "**falls behind**",
  ];
}

const walOf = ({ points }: Measured) => arrivalsOf(points, 200).result.walBytes;

function coreRow({ perSecond, nodes, databaseCores, standby }: Plan): string[] {
  const cores = nodes + databaseCores * (standby ? 2 : 1);
  const database = `${number(databaseCores)}${standby ? ", twice with the standby" : ""}`;
  return [number(perSecond), number(nodes), database, number(cores), number(cores * assumed.dollarsPerCore)];
}

function bytes(count: number): string {
  const unit = Math.min(3, Math.floor(Math.log10(count / 1e6) / 3));
  return `${number(count / 1e6 / 1000 ** unit)} ${["MB", "GB", "TB", "PB"][unit]}`;
}

const page = fileURLToPath(new URL("../docs/explanation/capacity-planning.md", import.meta.url));

/** Replaces the tables, which stand between marker comments. The text is written by hand. */
export async function withTables(text: string): Promise<string> {
  return Object.entries(await capacityTables()).reduce((result, [name, table]) => {
    const place = new RegExp(`(<!-- computed: ${name} -->\n\n).*?(\n\n<!-- end -->)`, "s");
    if (!place.test(result)) throw new Error(`docs/explanation/capacity-planning.md has no place for the table ${name}`);
    return result.replace(place, (_, before, after) => `${before}${tableText(table)}${after}`);
  }, text);
}

export const capacityPage = () => readFileSync(page, "utf8");
export const writeCapacityPage = async () => writeFileSync(page, await withTables(capacityPage()));

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeCapacityPage();
