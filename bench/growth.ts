// Measures events, queries, start and purge on databases of different sizes. None should become slower as the database grows.

import {
  closeHarness,
  middle,
  middleOf,
  createHarness,
  pick,
  measureLoad,
  warmUp,
  type Candidate,
  type Harness,
} from "./support/loadTest.ts";
import { daysAgo, knownEmail } from "./support/input.ts";
import {
  atMost,
  interleaved,
  median,
  medianRatio,
  number,
  roundsOf,
  timesBase,
  type Findings,
  type Mode,
  type Part,
} from "./part.ts";
import { memoryOf } from "./support/processes.ts";
import { install, connectStoreOf, postmaster, startRelay, stopPostgres, type Installation } from "./support/relay.ts";
import { createSql, seedEvents, seedIdentities } from "./support/seed.ts";
import { postEvent, timeStart, type Start } from "./start.ts";
import type { Sha256 } from "../src/kernel/event.ts";
import { hourMs } from "../src/kernel/time.ts";
import { hashEmail } from "../test/support/person.ts";

/** An installation with `records` identity records and as many events. */
type Size = {
  records: number;
  installation: Installation;
  bytesPerRecord: number;
  bytes: number;
  purgeReadPerSecond: number;
  start: Start;
};

/** The default of a site's setting `keep`. */
const keptDays = 90;

const sizesOf = ({ quick, full }: Mode) => (quick ? [1000, 10_000] : [10_000, 100_000, 1_000_000, ...(full ? [5_000_000] : [])]);

async function prepare(records: number, mode: Mode, harness: Harness): Promise<Size> {
  const installation = await install(mode.engine, ["meta"], harness.state);
  // seedEvents copies this event.
  await timeStart(() => startRelay(installation), postEvent(installation.key));
  const old = Math.min(records / 10, 20_000);
  await seedIdentities(installation, records, old);
  await seedEvents(installation, records);
  const sql = await createSql(installation);
  const bytesPerRecord = (await sql.bytes("identities")) / (records + old);
  const bytes = await sql.bytes();
  await sql.close();
  // A running relay would purge by itself, so this comes first.
  const purgeReadPerSecond = await purge(installation, records, old);
  const start = await timeStart(() => startRelay(installation), postEvent(installation.key));
  return { records, installation, bytesPerRecord, bytes, purgeReadPerSecond, start };
}

/** Times the queries of the dashboard and the command line; returns the median of `times` queries each, in milliseconds. */
async function timeQueries({ installation, records }: Size, times: number): Promise<[what: string, ms: number][]> {
  const store = await connectStoreOf(installation);
  const { siteId } = installation;
  const [connectionId = ""] = installation.connectionIds;
  const newest = { before: null, limit: 50 };
  const lastHour = Math.floor(Date.now() / hourMs) - 1;
  const emailSha256 = hashEmail(knownEmail(records - 1));
  const listSome = async (filter: { emailSha256?: Sha256; orderId?: string }) => {
    if ((await store.events.list(siteId, { ...filter, limit: 50 })).length === 0) throw new Error("a query found no event");
  };
  const queries: [string, () => Promise<unknown>][] = [
    ["events, newest 50", () => listSome({})],
    ["events of a person", () => listSome({ emailSha256 })],
    ["event of an order", () => listSome({ orderId: `S-${records >> 1}` })],
    ["filtered events", () => store.events.list(siteId, { status: "filtered", limit: 50 })],
    ["sync log, newest 50", () => store.syncLog.listPage(siteId, {}, newest)],
    ["sync log of a connection", () => store.syncLog.listPage(siteId, { connectionId }, newest)],
    ["sync log, rejected deliveries", () => store.syncLog.listPage(siteId, { states: ["rejected"] }, newest)],
    ["counting an hour, its first 5", () => store.statistics.listPortion(siteId, lastHour, "", 5)],
  ];
  const medians: [string, number][] = [];
  for (const [what, query] of queries) {
    const durations: number[] = [];
    for (let i = 0; i < times; i++) {
      const began = performance.now();
      await query();
      durations.push(performance.now() - began);
    }
    medians.push([what, median(durations)]);
  }
  await store.close();
  return medians;
}

/** Purges the old records without the pauses of a running relay; returns how many of all records it read per second. */
async function purge(installation: Installation, records: number, old: number): Promise<number> {
  const store = await connectStoreOf(installation);
  const began = performance.now();
  let purged = 0;
  for (let after: string | null = ""; after !== null;) {
    const step = await store.people.purgePeople(installation.siteId, daysAgo(keptDays), after, 500);
    purged += step.removed;
    after = step.next;
  }
  await store.close();
  if (purged !== old) throw new Error(`${purged} records were purged, ${old} were old`);
  return ((records + old) * 1000) / (performance.now() - began);
}

/** Keeps the relay from computing the statistics of all that was seeded. */
async function skipStatistics(installation: Installation): Promise<void> {
  const store = await connectStoreOf(installation);
  const hour = Math.ceil(Date.now() / hourMs);
  for (const { id } of installation.sites) await store.statistics.saveHead(id, { fromHour: 0, toHour: hour });
  await store.close();
}

async function run(mode: Mode): Promise<Findings> {
  const harness = await createHarness(0);
  const sizes: Size[] = [];
  for (const records of sizesOf(mode)) sizes.push(await prepare(records, mode, harness));
  const databasePid = mode.engine === "postgres" ? await postmaster() : null;
  const candidates = new Map<string, Candidate>();
  for (const { records, installation } of sizes) {
    await skipStatistics(installation);
    const relay = await startRelay(installation);
    const { key } = installation;
    candidates.set(String(records), { ...relay, key, known: records, databasePid, installation });
  }
  await warmUp(harness, candidates.values(), mode);
  const load = { senders: 64, ms: mode.quick ? 400 : 3000 };
  const results = await interleaved(
    roundsOf(mode),
    Object.fromEntries([...candidates].map(([name, one]) => [name, () => measureLoad(harness, one, load)])),
  );
  const of = (records: number) => results[String(records)] ?? [];
  const memory = [...candidates.values()].map(({ pid }) => memoryOf(pid, "VmHWM"));
  await closeHarness(harness, candidates.values());

  const queries: [what: string, ms: number][][] = [];
  for (const size of sizes) queries.push(await timeQueries(size, mode.quick ? 3 : 21));
  await stopPostgres();

  const [smallest, largest] = [sizes[0] as Size, sizes.at(-1) as Size];
  const cpuAt = (records: number) => middleOf(of(records), "cpu");
  const grown = (records: number) => medianRatio(pick(of(records), "cpu"), pick(of(smallest.records), "cpu"));
  return {
    tables: [
      {
        title: `${mode.engine === "sqlite" ? "SQLite" : "PostgreSQL"}, one connection, 64 senders`,
        head: [
          "identity records and events",
          "CPU µs/event",
          "× smallest",
          "database CPU µs/event",
          "p50 ms",
          "p99 ms",
          "peak memory MB",
          "bytes/record",
          "database MB",
          "start ms",
          "purge reads/s",
        ],
        rows: sizes.map(({ records, bytesPerRecord, bytes, start, purgeReadPerSecond }, i) => [
          records.toLocaleString("en"),
          middle(of(records), "cpu"),
          timesBase(grown(records), cpuAt(smallest.records)),
          databasePid === null ? "" : middle(of(records), "databaseCpu"),
          middle(of(records), "p50"),
          middle(of(records), "p99"),
          number(memory[i] ?? Number.NaN),
          number(bytesPerRecord),
          number(bytes / 2 ** 20),
          number(start.ms),
          number(purgeReadPerSecond),
        ]),
      },
      {
        title: "Queries of the dashboard and the command line, ms",
        head: ["", ...sizes.map(({ records }) => `${records.toLocaleString("en")} events`)],
        rows: (queries[0] ?? []).map(([what], i) => [what, ...queries.map((times) => number(times[i]?.[1] ?? Number.NaN))]),
      },
    ],
    targets: [
      atMost(
        `CPU per event at ${largest.records.toLocaleString("en")} records, relative to ${smallest.records.toLocaleString("en")} records`,
        grown(largest.records),
        1.2,
        " ×",
        `${number(cpuAt(largest.records))} and ${number(cpuAt(smallest.records))} µs`,
      ),
      atMost("Bytes per identity record, indexes included", largest.bytesPerRecord, 600),
    ],
    notes: [
      "Start is the time from the start of the process to the first answered event. A purge reads every record, because records have no index by age; it is measured without the pauses that it makes in a relay.",
    ],
  };
}

export const growth: Part = {
  name: "growth",
  title: "Growth",
  about: `The database holds as many identity records as events with their claims and outcomes. A record holds one visit
with three click ids and UTM fields. Half of the measured events belong to people with a record, spread over all records.`,
  run,
};
