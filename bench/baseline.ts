// Compares the relay with a bare Node server that does the unavoidable minimum of work, and with one that is durable besides, and
// counts what an event costs.

import { countOf } from "../src/kernel/text.ts";
import {
  busyNote,
  closeHarness,
  stopCandidates,
  eventBytes,
  middle,
  middleOf,
  createHarness,
  pick,
  startBare,
  startOurs,
  measureLoad,
  warmUp,
  type Candidate,
  type LoadResult,
} from "./support/loadTest.ts";
import {
  atLeast,
  atMost,
  interleaved,
  medianRatio,
  number,
  roundsOf,
  timesBase,
  type Findings,
  type Mode,
  type Part,
  type Target,
} from "./part.ts";
import { meterSettings, createMeter } from "./support/databaseMeter.ts";
import { benchPostgres, platforms, stopPostgres } from "./support/relay.ts";
import { bytesPerEvent } from "./support/seed.ts";

/** The greatest CPU per event relative to the baseline, by the number of connections. */
const maxCpu: Readonly<Record<number, number>> = { 0: 2.4, 1: 1.4, 3: 1.0, 6: 1.2 };
/** CPU and rate relative to the durable floor, by the number of connections. */
const floorLimits: Readonly<Record<number, { maxCpu: number; minRate: number }>> = {
  0: { maxCpu: 1.4, minRate: 0.8 },
  1: { maxCpu: 1, minRate: 1.1 },
  3: { maxCpu: 0.75, minRate: 1.4 },
};
const kinds = ["bare", "floor", "SQLite", "PostgreSQL"] as const;
type Kind = (typeof kinds)[number];
/** Many senders, whose events share commits and requests, and one that waits for each answer. */
const senderCounts = [64, 1] as const;
type Senders = (typeof senderCounts)[number];
const nameOf = (kind: Kind, connections: number) => `${kind} ${connections}`;

type Measured = {
  counts: number[];
  resultsOf: (kind: Kind, connections: number, senders: Senders) => LoadResult[];
  /** Results with counters, which cost CPU themselves. */
  countedOf: (kind: Kind, connections: number, senders: Senders) => LoadResult[];
  bytesOf: (kind: Kind, connections: number) => number;
};

async function run(mode: Mode): Promise<Findings> {
  const counts = mode.quick ? [0, 3] : Object.keys(maxCpu).map(Number);
  await benchPostgres(meterSettings);
  const meter = await createMeter();
  const harness = await createHarness(0);
  const results: Record<string, LoadResult[]> = {};
  const counted: Record<string, LoadResult[]> = {};
  const bytes = new Map<string, number>();
  // One number of connections after the other: candidates that wait disturb the one that is measured.
  for (const connections of counts) {
    const connected = platforms.slice(0, connections);
    const candidates: Record<Kind, Candidate> = {
      bare: await startBare(harness, connections),
      floor: await startBare(harness, connections, { isDurable: true }),
      SQLite: await startOurs(harness, "sqlite", connected, { counts: meter }),
      PostgreSQL: await startOurs(harness, "postgres", connected, { counts: meter }),
    };
    await warmUp(harness, Object.values(candidates), mode);
    const runs = (isCounted: boolean) =>
      senderCounts.flatMap((senders) =>
        kinds.map((kind) => {
          const { counters, ...uncounted } = candidates[kind];
          const one = isCounted && counters ? { ...uncounted, counters } : uncounted;
          const load = { senders, ms: mode.quick ? 250 : 2500 };
          return [`${nameOf(kind, connections)} ${senders}`, () => measureLoad(harness, one, load)] as const;
        }),
      );
    Object.assign(results, await interleaved(roundsOf(mode), Object.fromEntries(runs(false))));
    Object.assign(counted, await interleaved(1, Object.fromEntries(runs(true))));
    await stopCandidates(Object.values(candidates));
    for (const kind of kinds) {
      const { installation } = candidates[kind];
      if (installation) bytes.set(nameOf(kind, connections), await bytesPerEvent(installation));
    }
  }
  await closeHarness(harness, []);
  await meter.close();
  await stopPostgres();
  return findingsOf({
    counts,
    resultsOf: (kind, connections, senders) => results[`${nameOf(kind, connections)} ${senders}`] ?? [],
    countedOf: (kind, connections, senders) => counted[`${nameOf(kind, connections)} ${senders}`] ?? [],
    bytesOf: (kind, connections) => bytes.get(nameOf(kind, connections)) ?? Number.NaN,
  });
}

const kilobytes = (bytes: number) => bytes / 1024;

function findingsOf({ counts, resultsOf, countedOf, bytesOf }: Measured): Findings {
  const middleIn = (kind: Kind, connections: number, senders: Senders, what: keyof LoadResult) =>
    middleOf(resultsOf(kind, connections, senders), what);
  const ratio = (kind: Kind, connections: number, senders: Senders, what: "cpu" | "perSecond", to: Kind = "bare") =>
    medianRatio(pick(resultsOf(kind, connections, senders), what), pick(resultsOf(to, connections, senders), what));
  const rowOf = (connections: number, senders: Senders, kind: Kind) => {
    const results = resultsOf(kind, connections, senders);
    const counted = countedOf(kind, connections, senders);
    const times = (what: "cpu" | "perSecond") =>
      timesBase(ratio(kind, connections, senders, what), middleIn("bare", connections, senders, what));
    const inKilobytes = (value: number) => (Number.isNaN(value) ? "" : number(kilobytes(value)));
    return [
      `${connections}`,
      `${senders}`,
      kind === "bare" ? "the baseline" : kind === "floor" ? "the durable floor" : kind,
      middle(results, "perSecond"),
      times("perSecond"),
      middle(results, "p50"),
      middle(results, "p99"),
      middle(results, "cpu"),
      times("cpu"),
      kind === "bare" ? "" : number(ratio(kind, connections, senders, "cpu", "floor")),
      inKilobytes(middleOf(counted, "allocated")),
      inKilobytes(middleOf(counted, "walBytes")),
      inKilobytes(bytesOf(kind, connections)),
      kind === "PostgreSQL" ? middle(results, "databaseCpu") : "",
      kind === "PostgreSQL" ? middle(counted, "statements") : "",
      middle(results, "requests"),
    ];
  };
  const cpuTarget = (kind: Kind, connections: number, limit: number): Target =>
    atMost(
      `${countOf(connections, "connection")}, ${kind}: CPU per event, relative to the baseline`,
      ratio(kind, connections, 64, "cpu"),
      limit,
      " ×",
      [kind, "bare" as const].map((one) => number(middleIn(one, connections, 64, "cpu"))).join(" and ") + " µs",
    );
  const floorTargets = (connections: number): Target[] => {
    const limits = floorLimits[connections];
    if (!limits) return [];
    const absolutes = (what: "cpu" | "perSecond") =>
      (["SQLite", "floor"] as const).map((one) => number(middleIn(one, connections, 64, what))).join(" and ");
    const of = `${countOf(connections, "connection")}, SQLite:`;
    return [
      atMost(
        `${of} CPU per event, relative to the durable floor`,
        ratio("SQLite", connections, 64, "cpu", "floor"),
        limits.maxCpu,
        " ×",
        `${absolutes("cpu")} µs`,
      ),
      atLeast(
        `${of} events per second, relative to the durable floor`,
        ratio("SQLite", connections, 64, "perSecond", "floor"),
        limits.minRate,
        " ×",
        absolutes("perSecond"),
      ),
    ];
  };
  const perSecond = (kind: Kind) => number(middleIn(kind, 3, 64, "perSecond"));
  return {
    tables: [
      {
        title: "One event, all connected platforms answer at once",
        head: [
          "connections",
          "senders",
          "",
          "events/s",
          "× baseline",
          "p50 ms",
          "p99 ms",
          "CPU µs",
          "× baseline",
          "× floor",
          "allocated KB",
          "database log KB",
          "at rest KB",
          "database CPU µs",
          "statements",
          "requests",
        ],
        rows: counts.flatMap((connections) =>
          senderCounts.flatMap((senders) => kinds.map((kind) => rowOf(connections, senders, kind))),
        ),
      },
    ],
    targets: [
      ...counts.map((connections) => cpuTarget("SQLite", connections, maxCpu[connections] ?? Number.NaN)),
      ...counts.flatMap(floorTargets),
      cpuTarget("PostgreSQL", 3, 1.1),
      atMost(
        "3 connections, PostgreSQL: CPU of the database per event",
        middleIn("PostgreSQL", 3, 64, "databaseCpu"),
        250,
        " µs",
      ),
      atMost(
        "3 connections, PostgreSQL: log of the database per event",
        kilobytes(middleOf(countedOf("PostgreSQL", 3, 64), "walBytes")),
        2.5,
        " KB",
      ),
      atMost(
        "3 connections, SQLite: log of the database for an event that comes alone",
        kilobytes(middleOf(countedOf("SQLite", 3, 1), "walBytes")),
        30,
        " KB",
      ),
      atMost("3 connections, SQLite: bytes at rest per event, without answers", kilobytes(bytesOf("SQLite", 3)), 1.5, " KB"),
    ],
    gains: `With three connections, one process takes ${perSecond("SQLite")} events a second with the embedded database and \
${perSecond("PostgreSQL")} with PostgreSQL. Each is durable before it is sent.`,
    notes: [
      `One sender waits for each answer, so its events come alone: nothing is shared, and p50 is the wall-clock time of an event.
Allocated bytes are those of the JavaScript heap. The database's log is SQLite's write-ahead log, in whole pages, or PostgreSQL's (of the
whole server, without checkpoints). Bytes at rest are the tables of events with their indexes, without the platforms' answers. Database
CPU is that of all PostgreSQL processes. 1 KB is 1,024 bytes.`,
      busyNote(kinds.flatMap((kind) => counts.map((connections) => resultsOf(kind, connections, 64)))),
    ],
  };
}

export const baseline: Part = {
  name: "baseline",
  title: "The baseline",
  about: `The baseline is a bare Node server that parses the same JSON (${eventBytes} bytes), sends one bare pooled request (undici) to each
platform, and answers in the same format. It checks and stores nothing. The durable floor is the same server that also hashes the contact
data, and stores a claim, the event and its outcomes in SQLite: all events of 2 ms in one commit that is on the disk before the calls. The
relay does everything: keys, checks, hashing, consent and
identity records (every second event belongs to a person who has one), storage that is durable before the calls, the results after
them, and the log file. Connections: ${platforms.join(", ")}, in this order. CPU is that of the server's process, all threads. A ratio stands before the
value of the baseline that it refers to.`,
  run,
};
