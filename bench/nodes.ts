// Compares two nodes with one on the same PostgreSQL, and measures the cost of an event under different loads.

import { cpus } from "node:os";
import { writeCapacityPage } from "./capacity.ts";
import { closeHarness, createHarness, type Harness } from "./support/loadTest.ts";
import { drainBacklog, measurePoll, type Drain } from "./deliveryWorker.ts";
import { meterSettings, createMeter, type Meter } from "./support/databaseMeter.ts";
import { measureFleet, startFleet, stopFleets, warmUpFleet, type Fleet, type FleetResult, type Shape } from "./support/fleet.ts";
import { findingsOf } from "./nodesReport.ts";
import { interleaved, median, roundsOf, type Findings, type Mode, type Part } from "./part.ts";
import { memoryOf } from "./support/processes.ts";
import { benchPostgres, stopPostgres } from "./support/relay.ts";
import { bytesPerEvent } from "./support/seed.ts";
import { nameOf, readMeasured, writeMeasured, type Measured, type Point, type PointLoad } from "./measured.ts";

const slowPlatformMs = 20;

/** Each shape has its own database and is measured under several loads. */
const shapes = (quick: boolean): { shape: Shape; platformMs: number; loads: PointLoad[] }[] => {
  const senders = (quick ? [64] : [4, 16, 64, 256]).map((n) => ({ senders: n }));
  const arrivals = [50, 200].map((n) => ({ arrivals: n }));
  const one = { nodes: 1, sites: 1 };
  const comparison = [{ senders: 64 }];
  /** More sites than the fewest senders, so that few events share a commit. */
  const many = quick ? 4 : 32;
  const few = quick ? senders : senders.slice(1, 3);
  const always = [
    { shape: { ...one, connections: 0 }, platformMs: 0, loads: quick ? comparison : senders },
    { shape: { ...one, connections: 0, nodes: 2 }, platformMs: 0, loads: comparison },
    { shape: { ...one, connections: 3 }, platformMs: 0, loads: comparison },
    // With twice the senders, each of two nodes has as much to do as the only one.
    {
      shape: { ...one, connections: 3, nodes: 2 },
      platformMs: 0,
      loads: [...comparison, ...(quick ? [] : [{ senders: 128 }])],
    },
    { shape: { ...one, connections: 0, sites: many }, platformMs: 0, loads: few },
  ];
  if (quick) return always;
  const most = senders.slice(-2);
  return [
    ...always,
    { shape: { ...one, connections: 3 }, platformMs: slowPlatformMs, loads: [...senders, ...arrivals] },
    { shape: { ...one, connections: 1 }, platformMs: slowPlatformMs, loads: most },
    { shape: { ...one, connections: 3, sites: many }, platformMs: slowPlatformMs, loads: few },
    { shape: { ...one, connections: 6 }, platformMs: slowPlatformMs, loads: most },
  ];
};

type Planned = { fleet: Fleet; harness: Harness; load: PointLoad };

async function run(mode: Mode): Promise<Findings> {
  await benchPostgres(meterSettings);
  const harnesses = new Map([0, slowPlatformMs].map((ms) => [ms, createHarness(ms)]));
  const planned: Planned[] = [];
  for (const { shape, platformMs, loads } of shapes(mode.quick)) {
    const harness = (await harnesses.get(platformMs)) as Harness;
    const fleet = await startFleet(harness, shape, platformMs);
    for (const load of loads) planned.push({ fleet, harness, load });
  }
  const fleets = [...new Set(planned.map(({ fleet }) => fleet))];
  const meter = await createMeter();
  const harnessOf = (fleet: Fleet) => (planned.find((one) => one.fleet === fleet) as Planned).harness;
  for (const fleet of fleets) await warmUpFleet(harnessOf(fleet), fleet, meter, mode);
  const results = await interleaved(
    roundsOf(mode, 3),
    Object.fromEntries(planned.map((one) => [nameOf({ ...one.fleet, ...one.load }), () => measurePlanned(one, meter, mode)])),
  );
  const points = planned.map((one) => pointOf(one, results[nameOf({ ...one.fleet, ...one.load })] ?? []));
  // Creating the backlog rewrites rows, so the size is read first.
  const bytes = await bytesOf(fleets);
  const drains: Drain[] = [];
  for (const fleet of fleets)
    if (fleet.connections === 3 && fleet.sites === 1 && fleet.platformMs === 0)
      drains.push(await drainBacklog(harnessOf(fleet), fleet));
  const measured: Measured = {
    ...(await measuredOf(fleets, meter)),
    points,
    drains,
    bytesPerEvent: bytes,
    upkeep: readMeasured().upkeep,
  };
  if (!mode.quick) {
    writeMeasured(measured);
    await writeCapacityPage();
  }
  await stopFleets(fleets);
  for (const harness of harnesses.values()) await closeHarness(await harness, []);
  await meter.close();
  await stopPostgres();
  return findingsOf(measured, results);
}

function measurePlanned({ fleet, harness, load }: Planned, meter: Meter, { quick }: Mode): Promise<FleetResult> {
  const ms = quick ? 300 : 1500;
  if ("senders" in load) return measureFleet(harness, fleet, meter, { ...load, ms });
  return measureFleet(harness, fleet, meter, { perSecond: load.arrivals, ms: 2 * ms });
}

/** Each figure is the median of the rounds. */
function pointOf({ fleet, load }: Planned, results: FleetResult[]): Point {
  const { nodes, sites, connections, platformMs } = fleet;
  const figures = Object.keys(results[0] ?? {}) as (keyof FleetResult)[];
  const result = Object.fromEntries(figures.map((what) => [what, median(results.map((one) => one[what]))]));
  return { nodes, sites, connections, platformMs, ...load, result: result as FleetResult };
}

async function bytesOf(fleets: readonly Fleet[]): Promise<Measured["bytesPerEvent"]> {
  const bytes: Record<string, number> = {};
  for (const { connections, installation, nodes, sites } of fleets)
    if (nodes === 1 && sites === 1) bytes[connections] = await bytesPerEvent(installation);
  return bytes;
}

async function measuredOf(fleets: readonly Fleet[], meter: Meter) {
  const pools: number[] = [];
  for (const { database, nodes } of fleets) pools.push((await meter.connections(database)) / nodes);
  return {
    measuredOn: new Date().toISOString().slice(0, 10),
    cores: cpus().length,
    poll: await measurePoll(fleets[0] as Fleet),
    fsyncMs: await meter.fsyncMs(),
    roundTripMs: await meter.roundTripMs(),
    nodeMb: Math.max(...fleets.flatMap(({ relays }) => relays.map(({ pid }) => memoryOf(pid, "VmHWM")))),
    poolSize: poolSizeOf(fleets[0] as Fleet),
    poolUsed: Math.max(...pools),
  };
}

const poolSizeOf = ({ installation: { store } }: Fleet) => (store.engine === "postgres" ? store.connections : 1);

export const nodes: Part = {
  name: "nodes",
  title: "Two nodes, and the database cost of an event",
  about: `One PostgreSQL with fsync, and one or two nodes of the relay on the same database. The senders are the same, distributed over
the nodes. Each node keeps to one core, and two nodes to different ones (\`taskset\`), so that they do not interrupt each other; senders,
platforms and database share all cores of the machine with them, so two nodes cannot be twice as fast here. The question
is whether an event costs more CPU when two nodes share the database. With 64 senders in all, each of two nodes has half of the events, so
fewer of them share a commit; with 128 it has as many as the only node. The nodes of all rows run at the same time and wait for their
turn, and their databases are on one server, so an event costs more here than in the first part. All platforms accept.`,
  run,
};
