// Runs one candidate under load, and measures its throughput, latency and cost per event.

import { join } from "node:path";
import { hourMs } from "../../src/kernel/time.ts";
import { allocationCounter, databaseCounter, logCounter, uncounted, type Counter, type Counts } from "./counters.ts";
import type { Meter } from "./databaseMeter.ts";
import { eventFields, type Population } from "./input.ts";
import { median, number, type Mode } from "../part.ts";
import { cpuOf, cpuOfFamily, cpuOfMachine, startChild, type Child } from "./processes.ts";
import {
  databaseOf,
  freshFolder,
  install,
  connectStoreOf,
  platforms,
  postmaster,
  startRelay,
  type Engine,
  type Installation,
} from "./relay.ts";
import { seedIdentities } from "./seed.ts";
import type { LoadOptions, SendResult, SendTarget, SiteKey } from "./sender.ts";
import type { StubPlatform, StubState } from "./stub.ts";

export type LoadResult = Pick<SendResult, "p50" | "p99" | "alone50" | "alone99" | "aloneMax" | "failed"> &
  Counts & {
    perSecond: number;
    /** Microseconds per event. */
    cpu: number;
    /** The CPU of the database server, when there is one. */
    databaseCpu: number;
    /** Requests to platforms per event. */
    requests: number;
    /** Cores that the sender and the stub platforms used. Each is a single thread. */
    senderCores: number;
    stubCores: number;
    /** Cores that other processes of the machine used meanwhile. */
    otherCores: number;
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
  /** Null when the candidate is not a relay. */
  installation: Installation | null;
  counters?: readonly Counter[];
  stop: () => Promise<void>;
};

export type Harness = { stub: Child; state: StubState; sender: Child };

/** Starts the processes around the candidates: the stub platforms and the sender. */
export async function createHarness(delayMs: number): Promise<Harness> {
  const stub = startChild("./stub.ts", { STUB_DELAY_MS: String(delayMs) });
  return { stub, state: await stub.ask<StubState>("state"), sender: startChild("./sender.ts") };
}

export async function stopCandidates(candidates: Iterable<Candidate>): Promise<void> {
  for (const one of candidates) {
    await one.stop();
    await requirePeopleFound(one);
  }
}

export async function closeHarness({ stub, sender }: Harness, candidates: Iterable<Candidate>): Promise<void> {
  await stopCandidates(candidates);
  await stub.stop();
  await sender.stop();
}

export async function startBare(
  { state }: Harness,
  connections: number,
  { isDurable = false }: { isDurable?: boolean } = {},
): Promise<Candidate> {
  const targets = platforms.slice(0, connections).map((id) => `http://127.0.0.1:${state.ports[id]}`);
  const file = isDurable ? join(freshFolder(), "floor.db") : null;
  const child = startChild("./bareServer.ts", { BARE_TARGETS: JSON.stringify(targets), ...(file && { BARE_FILE: file }) });
  const { port } = await child.ask<{ port: number }>("port");
  const counters = [allocationCounter((order) => child.ask<number>(order)), ...(file ? [logCounter(file)] : [])];
  const { pid, stop } = child;
  return { port, pid, key: "none", known: 0, databasePid: null, installation: null, counters, stop };
}

export const knownPeople = 20_000;

/** With `counts`, allocations and the bytes of the database's log are counted too, and the statements of a server, with its meter. */
export async function startOurs(
  { state }: Harness,
  engine: Engine,
  connected: readonly StubPlatform[],
  { nodeArgs = [], counts = false }: { nodeArgs?: string[]; counts?: Meter | boolean } = {},
): Promise<Candidate> {
  const installation = await install(engine, connected, state);
  await seedIdentities(installation, knownPeople);
  const relay = await startRelay(installation, { nodeArgs, countsAllocations: counts !== false });
  const databasePid = engine === "postgres" ? await postmaster() : null;
  const { key, store } = installation;
  const counters = counts !== false && [
    allocationCounter(relay.ask),
    ...(store.engine === "sqlite" ? [logCounter(store.file)] : []),
    ...(store.engine === "postgres" && counts !== true ? [databaseCounter(counts, databaseOf(installation))] : []),
  ];
  return { ...relay, key, known: knownPeople, databasePid, installation, ...(counters && { counters }) };
}

/** Node compiles code while it runs: the cost of an event falls by a fifth between the 10,000th and the 20,000th. */
export const warmUpEvents = ({ quick }: Pick<Mode, "quick">) => (quick ? 200 : 25_000);

export async function warmUp(harness: Harness, candidates: Iterable<Candidate>, mode: Pick<Mode, "quick">): Promise<void> {
  for (const one of candidates) {
    await measureLoad(harness, one, { senders: 128, ms: 0, atLeast: warmUpEvents(mode) });
    await requirePeopleFound(one);
  }
}

/** Half of the sent events belong to people with a record. Finding them is a part of the measured work. */
const minFoundShare = 0.45;
const checkedEvents = 1000;

/** Fails when the relay did not find the people of the newest events. */
export async function requirePeopleFound({ installation, known }: Pick<Candidate, "installation" | "known">): Promise<void> {
  if (!installation || known === 0) return;
  const store = await connectStoreOf(installation);
  const pages = await Promise.all(
    installation.sites.map(({ id }, _, { length }) =>
      // Seeded events are older.
      store.events.listPage(id, { from: Date.now() - hourMs }, { before: null, limit: Math.ceil(checkedEvents / length) }),
    ),
  );
  await store.close();
  const events = pages.flatMap((page) => page.events);
  const share = events.filter(({ identity }) => identity === "found").length / events.length;
  if (!(share >= minFoundShare))
    throw new Error(
      `${number(share * 100)} % of ${events.length} events found their person; at least ${minFoundShare * 100} % should`,
    );
}

export class EventsFailed extends Error {}

let runCount = 0;
/** More than one run has. */
const maxPeople = 50_000;

/** Sends events; `perEvent` has the growth of the counters that `read` returns, and of the requests to platforms. */
export async function sendLoad<Name extends string>(
  { stub, sender }: Harness,
  options: SendTarget & LoadOptions & Pick<Population, "known">,
  read: () => Record<Name, number>,
  maxFailed = 0,
): Promise<{ sent: SendResult; perEvent: Record<Name | "requests", number> }> {
  const { requests } = await stub.ask<StubState>("state");
  const before: Record<string, number> = { ...read(), requests };
  const prefix = `${process.pid}-${runCount}`;
  const firstPerson = runCount++ * maxPeople;
  const sent = await sender.ask<SendResult>({ ...options, prefix, firstPerson });
  const after: Record<string, number> = read();
  after.requests = (await stub.ask<StubState>("state")).requests;
  // A candidate must not look fast because it fails.
  if (sent.failed > sent.events * maxFailed)
    throw new EventsFailed(`${sent.failed} of ${sent.events} events failed: ${sent.failure}`);
  const perEvent = Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, (count - (before[name] ?? 0)) / sent.events]),
  ) as Record<Name | "requests", number>;
  return { sent, perEvent };
}

export async function measureLoad(
  harness: Harness,
  { pid, databasePid, port, key, sites, known, counters = [] }: Candidate,
  load: LoadOptions & Pick<SendTarget, "pid" | "source">,
  maxFailed = 0,
): Promise<LoadResult> {
  const endCounts = await Promise.all(counters.map((begin) => begin()));
  const options = { port, key, known, ...(sites && { sites }), ...load };
  const readCpu = () => ({
    cpu: cpuOf(pid),
    databaseCpu: databasePid === null ? 0 : cpuOfFamily(databasePid),
    senderCpu: cpuOf(harness.sender.pid),
    stubCpu: cpuOf(harness.stub.pid),
    machineCpu: cpuOfMachine(),
  });
  const { sent, perEvent } = await sendLoad(harness, options, readCpu, maxFailed);
  const counts: Counts = { ...uncounted };
  for (const one of await Promise.all(endCounts.map((end) => end())))
    for (const [name, count] of Object.entries(one)) counts[name as keyof Counts] = count / sent.events;
  const { cpu, databaseCpu, senderCpu, stubCpu, machineCpu, requests } = perEvent;
  const perSecond = sent.events / sent.seconds;
  const coresOf = (us: number) => (us * perSecond) / 1e6;
  return {
    ...counts,
    cpu,
    databaseCpu,
    requests,
    perSecond,
    senderCores: coresOf(senderCpu),
    stubCores: coresOf(stubCpu),
    otherCores: Math.max(0, coresOf(machineCpu - cpu - databaseCpu - senderCpu - stubCpu)),
    p50: sent.p50,
    p99: sent.p99,
    alone50: sent.alone50,
    alone99: sent.alone99,
    aloneMax: sent.aloneMax,
    failed: sent.failed,
  };
}

export const pick = (results: readonly LoadResult[], field: keyof LoadResult) => results.map((result) => result[field]);
export const middleOf = (results: readonly LoadResult[], field: keyof LoadResult) => median(pick(results, field));
export const middle = (results: readonly LoadResult[], field: keyof LoadResult) => number(middleOf(results, field));

/** Says how busy the measuring processes were, and others, which make a run worthless. */
export function busyNote(results: readonly (readonly LoadResult[])[]): string {
  const cores = (field: "senderCores" | "stubCores" | "otherCores") => results.map((some) => middleOf(some, field));
  const most = (values: number[]) => number(Math.max(...values));
  return `The sender used at most ${most(cores("senderCores"))} cores and the stub platforms ${most(cores("stubCores"))}; each is one thread, so at one core it
would be the bottleneck. Other processes used ${number(median(cores("otherCores")))} cores (median).`;
}

/** The size of one event, for the report. */
export const eventBytes = JSON.stringify(eventFields(1, { prefix: "1", known: 0 })).length;
