// What changes when the database grows: nothing should.

import { openStore, type Store } from "../src/store/store.ts";
import {
  closeField,
  middle,
  openField,
  pick,
  turnOf,
  warmUp,
  type Contestant,
  type Field,
} from "./support/contest.ts";
import { daysAgo, knownEmail } from "./support/input.ts";
import {
  atMost,
  interleaved,
  median,
  medianRatio,
  number,
  roundsOf,
  type Findings,
  type Mode,
  type Part,
} from "./part.ts";
import { memoryOf } from "./support/processes.ts";
import { install, startRelay, stopPostgres, type Installation } from "./support/relay.ts";
import { openSql, seedEvents, seedIdentities } from "./support/seed.ts";
import { postEvent, timeStart, type Start } from "./start.ts";
import { hashEmail } from "../test/support/person.ts";

/** As many identity records and events each. */
type Size = {
  records: number;
  installation: Installation;
  bytesPerRecord: number;
  bytes: number;
  purgedPerSecond: number;
  start: Start;
};

/** The default of a site's setting `keep`. */
const keptDays = 90;

const sizesOf = ({ quick, full }: Mode) =>
  quick ? [1000, 10_000] : [10_000, 100_000, 1_000_000, ...(full ? [5_000_000] : [])];

async function prepare(records: number, mode: Mode, field: Field): Promise<Size> {
  const installation = await install(mode.engine, ["meta"], field.state);
  // One real event, to be multiplied.
  await timeStart(() => startRelay(installation), postEvent(installation.key));
  const old = Math.min(records / 10, 20_000);
  await seedIdentities(installation, records, old);
  await seedEvents(installation, records);
  const sql = await openSql(installation);
  const bytesPerRecord = (await sql.bytes("identities")) / records;
  const bytes = await sql.bytes();
  await sql.close();
  // Before a relay runs on it, which would purge by itself, and be measured while it does.
  const purgedPerSecond = await purge(installation, old);
  const start = await timeStart(() => startRelay(installation), postEvent(installation.key));
  return { records, installation, bytesPerRecord, bytes, purgedPerSecond, start };
}

/** What people look at, and how long it takes; the median of some looks, in milliseconds. */
async function lookAt({ installation, records }: Size, looks: number): Promise<[what: string, ms: number][]> {
  const store = await storeOf(installation);
  const { siteId } = installation;
  const [connectionId = ""] = installation.connectionIds;
  const newest = { before: null, limit: 50 };
  const emailSha256 = hashEmail(knownEmail(records - 1));
  const questions: [string, () => Promise<unknown>][] = [
    ["events, newest 50", () => store.events.list(siteId, { limit: 50 })],
    ["events of a person", () => store.events.list(siteId, { emailSha256, limit: 50 })],
    ["event of an order", () => store.events.list(siteId, { orderId: `S-${records >> 1}`, limit: 50 })],
    ["filtered events", () => store.events.list(siteId, { status: "filtered", limit: 50 })],
    ["sync log, newest 50", () => store.syncLog.listPage(siteId, {}, newest)],
    ["sync log of a connection", () => store.syncLog.listPage(siteId, { connectionId }, newest)],
    ["sync log, rejected deliveries", () => store.syncLog.listPage(siteId, { states: ["rejected"] }, newest)],
  ];
  const answers: [string, number][] = [];
  for (const [what, ask] of questions) {
    const times: number[] = [];
    for (let i = 0; i < looks; i++) {
      const began = performance.now();
      await ask();
      times.push(performance.now() - began);
    }
    answers.push([what, median(times)]);
  }
  await store.close();
  return answers;
}

/** Forgets the old records; how many a second, without the pauses that the relay makes to stay unnoticed. */
async function purge(installation: Installation, old: number): Promise<number> {
  const store = await storeOf(installation);
  const began = performance.now();
  let purged = 0;
  for (let after: string | null = ""; after !== null;) {
    const step = await store.people.purgePeople(installation.siteId, daysAgo(keptDays), after, 500);
    purged += step.removed;
    after = step.next;
  }
  await store.close();
  if (purged !== old) throw new Error(`${purged} records were purged, ${old} were old`);
  return (purged * 1000) / (performance.now() - began);
}

function storeOf({ store, env }: Installation): Promise<Store> {
  const key = Buffer.from(env.CLEANCAST_ENCRYPTION_KEY ?? "", "hex");
  return openStore(store, key, () => crypto.randomUUID());
}

async function run(mode: Mode): Promise<Findings> {
  const field = await openField(0);
  const sizes: Size[] = [];
  for (const records of sizesOf(mode)) sizes.push(await prepare(records, mode, field));
  const contestants = new Map<string, Contestant>();
  for (const { records, installation } of sizes) {
    const relay = await startRelay(installation);
    contestants.set(String(records), { ...relay, key: installation.key, known: records, databasePid: null });
  }
  await warmUp(field, contestants.values(), mode);
  const manner = { senders: 64, ms: mode.quick ? 400 : 3000 };
  const turns = await interleaved(
    roundsOf(mode),
    Object.fromEntries([...contestants].map(([name, one]) => [name, () => turnOf(field, one, manner)])),
  );
  const of = (records: number) => turns[String(records)] ?? [];
  const memory = [...contestants.values()].map(({ pid }) => memoryOf(pid, "VmHWM"));
  await closeField(field, contestants.values());

  const looks = await Promise.all(sizes.map((size) => lookAt(size, mode.quick ? 3 : 21)));
  await stopPostgres();

  const [smallest, largest] = [sizes[0] as Size, sizes.at(-1) as Size];
  const grown = (records: number) => medianRatio(pick(of(records), "cpu"), pick(of(smallest.records), "cpu"));
  return {
    tables: [
      {
        title: `${mode.engine === "sqlite" ? "SQLite" : "PostgreSQL"}, one connection, 64 senders`,
        head: [
          "identity records and events", "CPU µs/event", "× smallest", "p50 ms", "p99 ms", "peak memory MB",
          "bytes/record", "database MB", "start ms", "purged/s",
        ], // prettier-ignore
        rows: sizes.map(({ records, bytesPerRecord, bytes, start, purgedPerSecond }, i) => [
          records.toLocaleString("en"),
          middle(of(records), "cpu"),
          number(grown(records)),
          middle(of(records), "p50"),
          middle(of(records), "p99"),
          number(memory[i] ?? Number.NaN),
          number(bytesPerRecord),
          number(bytes / 2 ** 20),
          number(start.ms),
          number(purgedPerSecond),
        ]),
      },
      {
        title: "Queries of the dashboard and the command line, ms",
        head: ["", ...sizes.map(({ records }) => `${records.toLocaleString("en")} events`)],
        rows: (looks[0] ?? []).map(([what], i) => [
          what,
          ...looks.map((times) => number(times[i]?.[1] ?? Number.NaN)),
        ]),
      },
    ],
    targets: [
      atMost(
        `CPU per event at ${largest.records.toLocaleString("en")} records, of that at ${smallest.records.toLocaleString("en")}`,
        grown(largest.records),
        1.3,
      ),
      atMost("Bytes per identity record, indexes included", largest.bytesPerRecord, 600),
    ],
    notes: [
      "Start is the time from the start of the process to the first answered event. Purging is measured without the pauses that it makes in a relay.",
    ],
  };
}

export const growth: Part = {
  name: "growth",
  title: "Growth",
  about: `The database holds as many identity records as events with their deliveries, attempts and claims. A record holds one visit
with three click ids and UTM fields. Half of the measured events belong to people with a record, spread over all records.`,
  run,
};
