// Two nodes against one on the same PostgreSQL; and what an event costs each side, as the load and its shape change.

import { cpus } from "node:os";
import { closeField, openField, type Field } from "./support/contest.ts";
import { drainBacklog, type Drain } from "./backlogDrain.ts";
import { meterSettings, openMeter, type Meter } from "./support/databaseMeter.ts";
import {
  fleetTurn,
  startFleet,
  stopFleets,
  type Fleet,
  type FleetTurn,
  type Shape,
} from "./support/fleet.ts";
import { measureLook } from "./look.ts";
import { findingsOf } from "./nodesReport.ts";
import { interleaved, median, roundsOf, type Findings, type Mode, type Part } from "./part.ts";
import { memoryOf } from "./support/processes.ts";
import { benchPostgres, stopPostgres } from "./support/relay.ts";
import { nameOf, writeMeasured, type Measured, type Point, type PointManner } from "./simulation/points.ts";

/** Shapes that are loaded in several ways, each on a database of its own. */
const slowPlatformMs = 20;
const shapes = (quick: boolean): { shape: Shape; platformMs: number; manners: PointManner[] }[] => {
  const senders = (quick ? [64] : [4, 16, 64, 256]).map((n) => ({ senders: n }));
  const arrivals = [50, 200].map((n) => ({ arrivals: n }));
  const one = { nodes: 1, sites: 1 };
  const contest = [{ senders: 64 }];
  /** More than some senders, so that hardly two events share a commit. */
  const many = quick ? 4 : 32;
  const few = quick ? senders : senders.slice(1, 3);
  const contests = [
    { shape: { ...one, connections: 0 }, platformMs: 0, manners: quick ? contest : senders },
    { shape: { ...one, connections: 0, nodes: 2 }, platformMs: 0, manners: contest },
    { shape: { ...one, connections: 3 }, platformMs: 0, manners: contest },
    { shape: { ...one, connections: 3, nodes: 2 }, platformMs: 0, manners: contest },
    { shape: { ...one, connections: 0, sites: many }, platformMs: 0, manners: few },
  ];
  if (quick) return contests;
  const crowd = senders.slice(-2);
  return [
    ...contests,
    { shape: { ...one, connections: 3 }, platformMs: slowPlatformMs, manners: [...senders, ...arrivals] },
    { shape: { ...one, connections: 1 }, platformMs: slowPlatformMs, manners: crowd },
    { shape: { ...one, connections: 3, sites: many }, platformMs: slowPlatformMs, manners: few },
    { shape: { ...one, connections: 6 }, platformMs: slowPlatformMs, manners: crowd },
  ];
};

type Planned = { fleet: Fleet; field: Field; manner: PointManner };

async function run(mode: Mode): Promise<Findings> {
  await benchPostgres(meterSettings);
  const fields = new Map([0, slowPlatformMs].map((ms) => [ms, openField(ms)]));
  const planned: Planned[] = [];
  for (const { shape, platformMs, manners } of shapes(mode.quick)) {
    const field = (await fields.get(platformMs)) as Field;
    const fleet = await startFleet(field, shape, platformMs);
    for (const manner of manners) planned.push({ fleet, field, manner });
  }
  const fleets = [...new Set(planned.map(({ fleet }) => fleet))];
  const meter = await openMeter();
  for (const fleet of fleets) {
    const { field } = planned.find((one) => one.fleet === fleet) as Planned;
    await fleetTurn(field, fleet, meter, {
      senders: 64,
      ms: 0,
      atLeast: (mode.quick ? 100 : 2000) * fleet.nodes,
    });
  }
  const turns = await interleaved(
    roundsOf(mode, 3),
    Object.fromEntries(
      planned.map((one) => [nameOf({ ...one.fleet, ...one.manner }), () => takeTurn(one, meter, mode)]),
    ),
  );
  const points = planned.map((one) => pointOf(one, turns[nameOf({ ...one.fleet, ...one.manner })] ?? []));
  // Before the backlog is made, which rewrites rows.
  const bytesPerEvent = await bytesOf(fleets, meter);
  const drains: Drain[] = [];
  for (const fleet of fleets)
    if (fleet.connections === 3 && fleet.sites === 1 && fleet.platformMs === 0)
      drains.push(await drainBacklog(fleet));
  const measured: Measured = { ...(await measuredOf(fleets, meter)), points, drains, bytesPerEvent };
  if (!mode.quick) writeMeasured(measured);
  await stopFleets(fleets);
  for (const field of fields.values()) await closeField(await field, []);
  await meter.close();
  await stopPostgres();
  return findingsOf(measured, turns);
}

function takeTurn({ fleet, field, manner }: Planned, meter: Meter, { quick }: Mode): Promise<FleetTurn> {
  const ms = quick ? 300 : 1500;
  if ("senders" in manner) return fleetTurn(field, fleet, meter, { ...manner, ms });
  return fleetTurn(field, fleet, meter, { perSecond: manner.arrivals, ms: 2 * ms });
}

/** Each figure is the median of the rounds. */
function pointOf({ fleet, manner }: Planned, turns: FleetTurn[]): Point {
  const { nodes, sites, connections, platformMs } = fleet;
  const figures = Object.keys(turns[0] ?? {}) as (keyof FleetTurn)[];
  const turn = Object.fromEntries(figures.map((what) => [what, median(turns.map((one) => one[what]))]));
  return { nodes, sites, connections, platformMs, ...manner, turn: turn as FleetTurn };
}

async function bytesOf(fleets: readonly Fleet[], meter: Meter): Promise<Measured["bytesPerEvent"]> {
  const bytes: Record<string, number> = {};
  for (const { connections, installation, nodes, sites } of fleets)
    if (nodes === 1 && sites === 1)
      bytes[connections] = await meter.bytesPerEvent(installation.env.DATABASE_URL ?? "");
  return bytes;
}

async function measuredOf(fleets: readonly Fleet[], meter: Meter) {
  const pools: number[] = [];
  for (const { database, nodes } of fleets) pools.push((await meter.connections(database)) / nodes);
  return {
    measuredOn: new Date().toISOString().slice(0, 10),
    cores: cpus().length,
    look: await measureLook(fleets[0] as Fleet),
    fsyncMs: await meter.fsyncMs(),
    roundTripMs: await meter.roundTripMs(),
    nodeMb: Math.max(...fleets.flatMap(({ relays }) => relays.map(({ pid }) => memoryOf(pid, "VmHWM")))),
    poolSize: poolSizeOf(fleets[0] as Fleet),
    poolUsed: Math.max(...pools),
  };
}

const poolSizeOf = ({ installation: { store } }: Fleet) =>
  store.engine === "postgres" ? store.connections : 1;

export const nodes: Part = {
  name: "nodes",
  title: "Two nodes, and the database cost of an event",
  about: `One PostgreSQL with fsync, and one or two nodes of the relay on the same database. The senders are the same, distributed over
the nodes. Senders, platforms, nodes and database share the cores of one machine, so two nodes cannot be twice as fast here. The question
is whether an event costs more CPU when two nodes share the database. All platforms accept.`,
  run,
};
