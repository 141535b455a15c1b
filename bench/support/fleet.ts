// Runs one or several nodes of the relay on one database under load, and measures the cost per event of each process.

import { knownPeople, requirePeopleFound, sendLoad, warmUpEvents, type Harness } from "./loadTest.ts";
import type { Mode } from "../part.ts";
import type { Meter } from "./databaseMeter.ts";
import { cpuOf, cpuOfFamily, cpuOfMachine, pinToCore } from "./processes.ts";
import { databaseOf, freshFolder, install, platforms, postmaster, startRelay, type Installation, type Relay } from "./relay.ts";
import { seedIdentities } from "./seed.ts";
import type { LoadOptions, SendResult } from "./sender.ts";

export type Shape = { nodes: number; sites: number; connections: number };

export type Fleet = Shape & {
  installation: Installation;
  relays: Relay[];
  database: string;
  databasePid: number;
  known: number;
  /** The response time of the platforms. */
  platformMs: number;
};

/** CPU is in microseconds per event; counts are per event. */
export type FleetResult = Pick<SendResult, "p50" | "p99"> & {
  perSecond: number;
  cpu: number;
  databaseCpu: number;
  /** The senders and the stub platforms use the same machine. */
  senderCpu: number;
  stubCpu: number;
  requests: number;
  statements: number;
  commits: number;
  walBytes: number;
  /** Cores that other processes used meanwhile. */
  foreign: number;
  /** Share of events that were not sent to every platform at once. */
  failed: number;
};

/** On a busy machine a few consent reads may time out; more failures are a fault. */
const maxFailed = 0.02;

export async function startFleet({ state }: Harness, shape: Shape, platformMs: number, nodeArgs: string[] = []): Promise<Fleet> {
  const connected = platforms.slice(0, shape.connections);
  const installation = await install("postgres", connected, state, shape.sites);
  const known = Math.round(knownPeople / shape.sites);
  await seedIdentities(installation, known);
  const relays: Relay[] = [];
  for (let n = 0; n < shape.nodes; n++) {
    const relay = await startRelay({ env: { ...installation.env, CLEANCAST_DATA: freshFolder() } }, { nodeArgs });
    // As on machines of their own, nodes do not interrupt each other.
    pinToCore(relay.pid, n);
    relays.push(relay);
  }
  const database = databaseOf(installation);
  return { ...shape, installation, relays, database, databasePid: await postmaster(), known, platformMs };
}

/** Every node sees as many events as the only node of another fleet, so that all are equally warm. */
export async function warmUpFleet(harness: Harness, fleet: Fleet, meter: Meter, mode: Pick<Mode, "quick">): Promise<void> {
  const atLeast = warmUpEvents(mode) * fleet.nodes;
  await measureFleet(harness, fleet, meter, { senders: 64, ms: 0, atLeast });
  await requirePeopleFound(fleet);
}

export async function stopFleets(fleets: Iterable<Fleet>): Promise<void> {
  for (const fleet of fleets) {
    for (const relay of fleet.relays) await relay.stop();
    await requirePeopleFound(fleet);
  }
}

export async function measureFleet(harness: Harness, fleet: Fleet, meter: Meter, load: LoadOptions): Promise<FleetResult> {
  const { relays, installation, known, database } = fleet;
  const { key, sites } = installation;
  const [port, ...otherPorts] = relays.map((relay) => relay.port) as [number, ...number[]];
  const count = await meter.count(database);
  const { sent, perEvent } = await sendLoad(
    harness,
    { known, port, otherPorts, key, sites, ...load },
    () => spentBy(harness, fleet),
    maxFailed,
  );
  const countAfter = await meter.count(database);
  const counted = (what: keyof typeof count) => (countAfter[what] - count[what]) / sent.events;
  const { benchCpu, machineCpu, ...costs } = perEvent;
  const ours = costs.cpu + costs.databaseCpu + costs.senderCpu + costs.stubCpu + benchCpu;
  return {
    ...costs,
    perSecond: sent.events / sent.seconds,
    p50: sent.p50,
    p99: sent.p99,
    statements: counted("statements"),
    commits: counted("commits"),
    walBytes: counted("walBytes"),
    failed: sent.failed / sent.events,
    foreign: Math.max(0, ((machineCpu - ours) * sent.events) / 1e6 / sent.seconds),
  };
}

function spentBy({ stub, sender }: Harness, fleet: Fleet) {
  const own = process.cpuUsage();
  return {
    cpu: nodesCpu(fleet),
    databaseCpu: cpuOfFamily(fleet.databasePid),
    senderCpu: cpuOf(sender.pid),
    stubCpu: cpuOf(stub.pid),
    benchCpu: own.user + own.system,
    machineCpu: cpuOfMachine(),
  };
}

export const nodesCpu = ({ relays }: Fleet) => relays.reduce((sum, { pid }) => sum + cpuOf(pid), 0);
