// Runs one candidate under load, and measures its throughput, latency and cost per event.

import { eventFields, type Population } from "./input.ts";
import { median, number, type Mode } from "../part.ts";
import { cpuOf, cpuOfFamily, startChild, type Child } from "./processes.ts";
import { install, platforms, postmaster, startRelay, type Engine } from "./relay.ts";
import { seedIdentities } from "./seed.ts";
import type { LoadOptions, SendResult, SendTarget, SiteKey } from "./sender.ts";
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

export const knownPeople = 20_000;

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

/** Node compiles code while it runs: the cost of an event is stable only after some thousand events. */
export async function warmUp(
  harness: Harness,
  candidates: Iterable<Candidate>,
  { quick }: Pick<Mode, "quick">,
): Promise<void> {
  for (const one of candidates)
    await measureLoad(harness, one, { senders: 128, ms: 0, atLeast: quick ? 200 : 8000 });
}

export class EventsFailed extends Error {}

let runCount = 0;

/** Sends events; `perEvent` has the growth of the counters that `read` returns, and of the requests to platforms. */
export async function sendLoad<Counter extends string>(
  { stub, sender }: Harness,
  options: SendTarget & LoadOptions & Pick<Population, "known">,
  read: () => Record<Counter, number>,
  maxFailed = 0,
): Promise<{ sent: SendResult; perEvent: Record<Counter | "requests", number> }> {
  const { requests } = await stub.ask<StubState>("state");
  const before: Record<string, number> = { ...read(), requests };
  const sent = await sender.ask<SendResult>({ ...options, prefix: `${process.pid}-${runCount++}` });
  const after: Record<string, number> = read();
  after.requests = (await stub.ask<StubState>("state")).requests;
  // A candidate must not look fast because it fails.
  if (sent.failed > sent.events * maxFailed)
    throw new EventsFailed(`${sent.failed} of ${sent.events} events failed: ${sent.failure}`);
  const perEvent = Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, (count - (before[name] ?? 0)) / sent.events]),
  ) as Record<Counter | "requests", number>;
  return { sent, perEvent };
}

export async function measureLoad(
  harness: Harness,
  { pid, databasePid, port, key, sites, known }: Candidate,
  load: LoadOptions,
): Promise<LoadResult> {
  const { sent, perEvent } = await sendLoad(
    harness,
    { port, key, known, ...(sites && { sites }), ...load },
    () => ({ cpu: cpuOf(pid), databaseCpu: databasePid === null ? 0 : cpuOfFamily(databasePid) }),
  );
  return { ...perEvent, perSecond: sent.events / sent.seconds, p50: sent.p50, p99: sent.p99 };
}

export const pick = (results: readonly LoadResult[], field: keyof LoadResult) =>
  results.map((result) => result[field]);
export const middle = (results: readonly LoadResult[], field: keyof LoadResult) =>
  number(median(pick(results, field)));

/** The size of one event, for the report. */
export const eventBytes = JSON.stringify(eventFields(1, { prefix: "1", known: 0 })).length;
