// Runs one candidate under load, and measures its throughput, latency and cost per event.

import { eventFields, type Population } from "./input.ts";
import { median, number, type Mode } from "../part.ts";
import { cpuOf, cpuOfFamily, startChild, type Child } from "./processes.ts";
import { install, platforms, postmaster, startRelay, type Engine } from "./relay.ts";
import { seedIdentities } from "./seed.ts";
import type { SendOptions, SendResult, SiteKey } from "./sender.ts";
import type { StubPlatform, StubState } from "./stub.ts";

export type LoadResult = Pick<SendResult, "p50" | "p99"> & {
  perSecond: number;
  /** Microseconds per event. */
  cpu: number;
  /** The CPU of the database server, when there is one. */
  databaseCpu: number;
  /** Requests to platforms per event. */
  requests: number;
};

/** A server under test: the relay, the bare server, or the stub platform itself. */
export type Candidate = {
  port: number;
  pid: number;
  key: string;
  /** Replaces `key` when there are several sites. */
  sites?: readonly SiteKey[];
  known: number;
  databasePid: number | null;
  stop: () => Promise<void>;
};

export type Harness = { stub: Child; state: StubState; sender: Child };

/** Starts the processes around the candidates: the stub platforms and the sender. */
export async function openHarness(delayMs: number): Promise<Harness> {
  const stub = startChild("./stub.ts", { STUB_DELAY_MS: String(delayMs) });
  return { stub, state: await stub.ask<StubState>("state"), sender: startChild("./sender.ts") };
}

export async function closeHarness(
  { stub, sender }: Harness,
  candidates: Iterable<Candidate>,
): Promise<void> {
  for (const one of candidates) await one.stop();
  await stub.stop();
  await sender.stop();
}

export async function startBare({ state }: Harness, connections: number): Promise<Candidate> {
  const targets = platforms.slice(0, connections).map((id) => `http://127.0.0.1:${state.ports[id]}`);
  const child = startChild("./bareServer.ts", { BARE_TARGETS: JSON.stringify(targets) });
  const { port } = await child.ask<{ port: number }>("port");
  return { port, pid: child.pid, key: "none", known: 0, databasePid: null, stop: child.stop };
}

const knownPeople = 20_000;

export async function startOurs(
  { state }: Harness,
  engine: Engine,
  connected: readonly StubPlatform[],
  nodeArgs: string[] = [],
): Promise<Candidate> {
  const installation = await install(engine, connected, state);
  await seedIdentities(installation, knownPeople);
  const relay = await startRelay(installation, nodeArgs);
  const databasePid = engine === "postgres" ? await postmaster() : null;
  return { ...relay, key: installation.key, known: knownPeople, databasePid };
}

/** SendOptions without the address and the people. */
export type LoadOptions = { ms: number } & ({ senders: number; atLeast?: number } | { perSecond: number });

/** Node compiles code while it runs: the cost of an event is stable only after some thousand events. */
export async function warmUp(
  harness: Harness,
  candidates: Iterable<Candidate>,
  { quick }: Pick<Mode, "quick">,
): Promise<void> {
  for (const one of candidates)
    await measureLoad(harness, one, { senders: 128, ms: 0, atLeast: quick ? 200 : 8000 });
}

let runCount = 0;

export async function measureLoad(
  { stub, sender }: Harness,
  one: Candidate,
  load: LoadOptions,
): Promise<LoadResult> {
  const population: Population = { prefix: `${process.pid}-${runCount++}`, known: one.known };
  const options: SendOptions = {
    ...population,
    port: one.port,
    key: one.key,
    ...(one.sites && { sites: one.sites }),
    ...load,
  };
  const before = await stub.ask<StubState>("state");
  const [cpu, databaseCpu] = spentBy(one);
  const sent = await sender.ask<SendResult>(options);
  const [cpuAfter, databaseCpuAfter] = spentBy(one);
  const after = await stub.ask<StubState>("state");
  // A candidate must not look fast because it fails.
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

function spentBy({ pid, databasePid }: Candidate): [own: number, database: number] {
  return [cpuOf(pid), databasePid === null ? 0 : cpuOfFamily(databasePid)];
}

export const pick = (results: readonly LoadResult[], field: keyof LoadResult) =>
  results.map((result) => result[field]);
export const middle = (results: readonly LoadResult[], field: keyof LoadResult) =>
  number(median(pick(results, field)));

/** The size of one event, for the report. */
export const eventBytes = JSON.stringify(eventFields(1, { prefix: "1", known: 0 })).length;
