// One turn of one contestant under load: how many events, and what they cost.

import { eventFields, type Population } from "./input.ts";
import { median, number, type Mode } from "../part.ts";
import { cpuOf, cpuOfFamily, startPeer, type Peer } from "./processes.ts";
import { install, platforms, postmaster, startRelay, type Engine } from "./relay.ts";
import { seedIdentities } from "./seed.ts";
import type { Order, Sendings, SiteKey } from "./sender.ts";
import type { StubPlatform, StubState } from "./stub.ts";

export type Turn = Pick<Sendings, "p50" | "p99"> & {
  perSecond: number;
  /** Microseconds per event. */
  cpu: number;
  /** The same of the database server, where there is one beside the relay. */
  databaseCpu: number;
  /** Requests to platforms per event. */
  requests: number;
};

/** Somebody who answers events on a port. */
export type Contestant = {
  port: number;
  pid: number;
  key: string;
  /** In place of `key`, where it has many sites. */
  sites?: readonly SiteKey[];
  known: number;
  databasePid: number | null;
  stop: () => Promise<void>;
};

export type Field = { stub: Peer; state: StubState; sender: Peer };

/** The processes around the contestants. */
export async function openField(delayMs: number): Promise<Field> {
  const stub = startPeer("./stub.ts", { STUB_DELAY_MS: String(delayMs) });
  return { stub, state: await stub.ask<StubState>("state"), sender: startPeer("./sender.ts") };
}

export async function closeField({ stub, sender }: Field, contestants: Iterable<Contestant>): Promise<void> {
  for (const one of contestants) await one.stop();
  await stub.stop();
  await sender.stop();
}

/** The floor with n platforms. */
export async function startBare({ state }: Field, connections: number): Promise<Contestant> {
  const targets = platforms.slice(0, connections).map((id) => `http://127.0.0.1:${state.ports[id]}`);
  const peer = startPeer("./bare.ts", { BARE_TARGETS: JSON.stringify(targets) });
  const { port } = await peer.ask<{ port: number }>("port");
  return { port, pid: peer.pid, key: "none", known: 0, databasePid: null, stop: peer.stop };
}

const knownPeople = 20_000;

export async function startOurs(
  { state }: Field,
  engine: Engine,
  connected: readonly StubPlatform[],
  nodeArgs: string[] = [],
): Promise<Contestant> {
  const installation = await install(engine, connected, state);
  await seedIdentities(installation, knownPeople);
  const relay = await startRelay(installation, nodeArgs);
  const databasePid = engine === "postgres" ? await postmaster() : null;
  return { ...relay, key: installation.key, known: knownPeople, databasePid };
}

/** How events are sent: see Order. */
export type Manner = { ms: number } & ({ senders: number; atLeast?: number } | { perSecond: number });

/** Code is compiled while it runs: only after some thousand events does it cost what it costs from then on. */
export async function warmUp(
  field: Field,
  contestants: Iterable<Contestant>,
  { quick }: Pick<Mode, "quick">,
): Promise<void> {
  for (const one of contestants)
    await turnOf(field, one, { senders: 128, ms: 0, atLeast: quick ? 200 : 8000 });
}

let turnsMade = 0;

export async function turnOf({ stub, sender }: Field, one: Contestant, manner: Manner): Promise<Turn> {
  const population: Population = { prefix: `${process.pid}-${turnsMade++}`, known: one.known };
  const order: Order = {
    ...population,
    port: one.port,
    key: one.key,
    ...(one.sites && { sites: one.sites }),
    ...manner,
  };
  const before = await stub.ask<StubState>("state");
  const [cpu, databaseCpu] = spentBy(one);
  const sent = await sender.ask<Sendings>(order);
  const [cpuAfter, databaseCpuAfter] = spentBy(one);
  const after = await stub.ask<StubState>("state");
  // A contestant that is quick because it fails must not win.
  if (sent.failed > 0) throw new Error(`${sent.failed} of ${sent.events} events failed: ${sent.failure}`);
  return {
    perSecond: sent.events / sent.seconds,
    cpu: (cpuAfter - cpu) / sent.events,
    databaseCpu: (databaseCpuAfter - databaseCpu) / sent.events,
    requests: (after.requests - before.requests) / sent.events,
    p50: sent.p50,
    p99: sent.p99,
  };
}

function spentBy({ pid, databasePid }: Contestant): [own: number, database: number] {
  return [cpuOf(pid), databasePid === null ? 0 : cpuOfFamily(databasePid)];
}

export const pick = (turns: readonly Turn[], field: keyof Turn) => turns.map((turn) => turn[field]);
export const middle = (turns: readonly Turn[], field: keyof Turn) => number(median(pick(turns, field)));

/** Bytes of one event as it is sent; said in the report. */
export const eventBytes = JSON.stringify(eventFields(1, { prefix: "1", known: 0 })).length;
