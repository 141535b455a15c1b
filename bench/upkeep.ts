// Measures counting and purging beside events, with all their pauses: how fast they are, and what events notice of them.

import { timeOfId } from "../src/kernel/ids.ts";
import { dayMs, hourMs } from "../src/kernel/time.ts";
import { commandIn } from "../test/support/commands.ts";
import {
  closeHarness,
  createHarness,
  knownPeople,
  measureLoad,
  pick,
  type Candidate,
  type Harness,
  type LoadResult,
} from "./support/loadTest.ts";
import { writeCapacityPage } from "./capacity.ts";
import { readMeasured, upkeepWorks, writeMeasured, type Upkeep } from "./measured.ts";
import { atLeast, atMost, median, number, type Findings, type Mode, type Part } from "./part.ts";
import { sleep, startChild, type Child } from "./support/processes.ts";
import { connectStoreOf, install, startRelay, stopPostgres, type Engine, type Installation } from "./support/relay.ts";
import { createSql, seededDays, seedEvents, seedIdentities } from "./support/seed.ts";
import { postEvent, timeStart } from "./start.ts";

/** The round trip that is added to that of loopback. */
const distanceMs = 1;
/** The load beside which counting and purging run. */
const perSecond = 100;
const pollMs = 500;
/** What twelve nodes have to count, and of how many events they have to remove answers, together. */
const all = { perSecond: 20_000, nodes: 12 };
const purgedPerSecond = { sqlite: 3000, postgres: 20_000 };
/** A starved machine refuses some events, which the report shows. */
const maxFailed = 0.1;
/** How long the embedded store may block the thread that accepts events. */
const maxBlockMs = 5;

type WorkName = "none" | Upkeep;
type Work = { name: WorkName; done: (sql: Sql) => Promise<number> };
type Sql = Awaited<ReturnType<typeof createSql>>;
type Watched = { runs: LoadResult[]; perSecond: number; left: number };
type Measured = { p50: number; p99: number; longest: number; cpu: number; refused: number; perSecond: number; left: number };

/** Twenty seconds of purging at 20,000 a second. */
const sizeOf = ({ quick, full }: Mode) => (quick ? 3000 : full ? 1_600_000 : 400_000);
/** The longest a work is watched. Counting may take longer than that, and purging waits for nothing that is counted. */
const maxMsOf = ({ quick, full }: Mode) => (quick ? 20_000 : full ? 300_000 : 60_000);

async function readText(sql: Sql, text: string): Promise<string> {
  const [row] = await sql.run(text);
  const [value] = Object.values(row ?? {});
  return typeof value === "string" ? value : String(Number(value ?? 0));
}
const readNumber = async (sql: Sql, text: string) => Number(await readText(sql, text));

/** Sends events until `work` has done `size` events, or for a while; the rate is that between its first and its last step. */
async function measure(
  { name, done }: Work,
  size: number,
  candidate: Candidate,
  sql: Sql,
  harness: Harness,
  mode: Mode,
): Promise<Watched> {
  const { quick } = mode;
  const steps: { at: number; done: number }[] = [];
  // The newest hours may have to stay.
  const ofTwoHours = Math.ceil(size / (seededDays * 12));
  const endAt = performance.now() + maxMsOf(mode);
  let isOver = false;
  async function watch(): Promise<void> {
    while (!isOver) {
      steps.push({ at: performance.now(), done: await done(sql) });
      if ((steps.at(-1)?.done ?? 0) >= size - ofTwoHours || performance.now() > endAt) isOver = true;
      else await sleep(quick ? pollMs / 10 : pollMs);
    }
  }
  const watching = name === "none" ? null : watch();
  // Short, because the work has begun.
  await measureLoad(harness, candidate, { senders: 16, ms: 0, atLeast: quick ? 100 : 1500 }, maxFailed);
  const runs: LoadResult[] = [];
  const isEnough = () => (name === "none" ? runs.length >= (quick ? 1 : 7) : isOver);
  do {
    const one = await measureLoad(harness, candidate, { perSecond, ms: quick ? 500 : 3000, pid: candidate.pid }, maxFailed);
    // The one in which the work ends is only partly beside it.
    if (!isOver || runs.length === 0) runs.push(one);
  } while (!isEnough());
  await watching;
  // The work may have begun between two looks.
  const first = steps.findLast((step) => step.done <= (steps[0]?.done ?? 0));
  const last = steps.find((step) => step.done >= (steps.at(-1)?.done ?? 0));
  if (name !== "none" && !(last && first && last.done > first.done)) throw new Error(`no ${name} was seen`);
  return {
    runs,
    perSecond: last && first ? ((last.done - first.done) * 1000) / (last.at - first.at) : Number.NaN,
    left: size - (last?.done ?? size),
  };
}

const summarize = ({ runs, ...rest }: Watched): Measured => ({
  p50: median(pick(runs, "alone50")),
  p99: median(pick(runs, "alone99")),
  longest: Math.max(...pick(runs, "aloneMax")),
  cpu: median(pick(runs, "cpu")),
  refused: pick(runs, "failed").reduce((sum, one) => sum + one, 0),
  ...rest,
});

async function measureEngine(engine: Engine, mode: Mode, harness: Harness): Promise<Record<WorkName, Measured>> {
  const size = sizeOf(mode);
  const installation = await install(engine, ["meta"], harness.state);
  await seedIdentities(installation, knownPeople);
  // seedEvents copies this event.
  await timeStart(() => startRelay(installation), postEvent(installation.key));
  await seedEvents(installation, size);
  const distance = engine === "postgres" ? await startDistance(installation) : null;
  const sql = await createSql(installation);
  const firstId = await readText(sql, `SELECT MIN(id) AS id FROM events`);
  /** The events are spread evenly over the time, and the oldest come first: to count them would be work, too. */
  const doneUntil = (id: string) =>
    Math.min(size, Math.round((size * (timeOfId(id) - timeOfId(firstId))) / (seededDays * dayMs)));
  const reads: Work[] = [
    { name: "none", done: () => Promise.resolve(0) },
    { name: "counting", done: (on) => readNumber(on, `SELECT SUM(settled_events) AS n FROM statistics_hours`) },
    {
      name: "removing answers",
      done: async (on) => {
        const reached = await readText(on, `SELECT MIN(reached) AS id FROM cursors WHERE name = 'purged answers'`);
        return reached === "0" ? 0 : doneUntil(reached);
      },
    },
    { name: "purging", done: async (on) => doneUntil(await readText(on, `SELECT MIN(id) AS id FROM events`)) },
  ];
  const watched = new Map<WorkName, Watched>();
  // What no work disturbs is measured before and after the works: the first relay finds a database that was just filled.
  for (const work of [...reads, ...reads.slice(0, 1)]) {
    if (work.name === "none" && !watched.size) await skipStatistics(installation);
    if (work.name === "counting") await sql.run(`DELETE FROM statistics_heads`);
    if (work.name === "removing answers") {
      await countAllHours(installation, sql, timeOfId(firstId));
      await setRetention(installation, "keep_log");
    }
    if (work.name === "purging") await setRetention(installation, "keep_events");
    const relay = await startRelay(distance?.installation ?? installation);
    const candidate = { ...relay, key: installation.key, known: knownPeople, databasePid: null, installation };
    const one = await measure(work, size, candidate, sql, harness, mode);
    await relay.stop();
    watched.set(work.name, { ...one, runs: [...(watched.get(work.name)?.runs ?? []), ...one.runs] });
    console.error(`${engine}, ${work.name}: ${JSON.stringify(summarize(one))}`);
  }
  await sql.close();
  await distance?.child.stop();
  return Object.fromEntries([...watched].map(([name, one]) => [name, summarize(one)])) as Record<WorkName, Measured>;
}

async function startDistance(installation: Installation): Promise<{ child: Child; installation: Installation }> {
  const url = new URL(installation.env.DATABASE_URL ?? "");
  const settings = { DISTANCE_MS: String(distanceMs), DISTANCE_HOST: url.hostname, DISTANCE_PORT: url.port };
  const child = startChild("./distance.ts", settings);
  url.hostname = "127.0.0.1";
  url.port = String(await child.ask<number>("port"));
  return { child, installation: { ...installation, env: { ...installation.env, DATABASE_URL: url.href } } };
}

async function skipStatistics(installation: Installation): Promise<void> {
  const store = await connectStoreOf(installation);
  await store.statistics.saveHead(installation.siteId, { fromHour: 0, toHour: Math.ceil(Date.now() / hourMs) });
  await store.close();
}

/** Says of all hours that were not reached that they were counted: purging waits for them. */
async function countAllHours({ siteId }: Installation, sql: Sql, from: number): Promise<void> {
  const [first, end] = [from, Date.now()].map((at) => Math.floor(at / hourMs));
  await sql.run(
    `INSERT INTO statistics_hours (site_id, hour, rolled_at, due_at)
     SELECT '${siteId}', n, ${Date.now()}, ${Number.MAX_SAFE_INTEGER} FROM ${sql.numbers(first ?? 0, (end ?? 0) - 2)} AS hours
     WHERE TRUE ON CONFLICT DO NOTHING`,
  );
}

/** All that was seeded is older. */
async function setRetention({ env, sites }: Installation, setting: "keep_events" | "keep_log"): Promise<void> {
  const { out, err } = await commandIn({ args: ["site", "set", sites[0]?.host ?? "", `${setting}=1d`, "--yes"], env });
  if (out === "") throw new Error(err);
}

async function run(mode: Mode): Promise<Findings> {
  const harness = await createHarness(0);
  const engines = ["sqlite", "postgres"] as const;
  const results = new Map<Engine, Record<WorkName, Measured>>();
  for (const engine of engines) results.set(engine, await measureEngine(engine, mode, harness));
  await closeHarness(harness, []);
  await stopPostgres();
  const onServer = results.get("postgres");
  if (onServer && !mode.quick) {
    const rates = Object.fromEntries(upkeepWorks.map((work) => [work, onServer[work].perSecond]));
    writeMeasured({ ...readMeasured(), upkeep: rates as Record<Upkeep, number> });
    await writeCapacityPage();
  }
  const nameOf = { sqlite: "SQLite", postgres: `PostgreSQL at ${distanceMs} ms` };
  const each = engines.flatMap((engine) => {
    const of = results.get(engine);
    return of ? [{ engine, of, name: nameOf[engine] }] : [];
  });
  const times = (of: Record<WorkName, Measured>, work: WorkName) => of[work].p99 / of.none.p99;
  return {
    tables: [
      {
        title: `One node, ${perSecond} events/s meanwhile, one connection`,
        head: [
          "store",
          "work",
          "events/s of the work",
          "left",
          "p50 ms",
          "p99 ms",
          "p99, × without",
          "longest ms",
          "refused",
          "CPU µs/event",
        ],
        rows: each.flatMap(({ of, name }) =>
          (["none", ...upkeepWorks] as const).map((work) => [
            name,
            work === "none" ? "" : `${work} ${sizeOf(mode).toLocaleString("en")}`,
            work === "none" ? "" : number(of[work].perSecond),
            work === "none" ? "" : number(of[work].left),
            number(of[work].p50),
            number(of[work].p99),
            work === "none" ? "" : number(times(of, work)),
            number(of[work].longest),
            String(of[work].refused),
            number(of[work].cpu),
          ]),
        ),
      },
    ],
    targets: each.flatMap(({ engine, of, name }) => [
      atLeast(`Events purged per second by one node, with pauses, ${name}`, of.purging.perSecond, purgedPerSecond[engine]),
      ...(engine === "postgres"
        ? (["counting", "removing answers"] as const).map((work) =>
            atLeast(
              `Events per second of one node of ${all.nodes}, ${work}, with pauses, ${name}`,
              of[work].perSecond,
              Math.ceil(all.perSecond / all.nodes),
            ),
          )
        : []),
      ...(engine === "sqlite"
        ? [
            atMost(
              `Longest answer during purging, more than without, ${name}`,
              Math.max(0, of.purging.longest - of.none.longest),
              maxBlockMs,
              " ms",
              `${number(of.purging.longest)} and ${number(of.none.longest)} ms`,
            ),
          ]
        : []),
      ...upkeepWorks.map((work) =>
        atMost(
          `p99 of events during ${work}, relative to that without, ${name}`,
          times(of, work),
          1.2,
          " ×",
          `${number(of[work].p99)} and ${number(of.none.p99)} ms`,
        ),
      ),
    ]),
    notes: [
      `CPU includes that of the work. What is left was not done within ${maxMsOf(mode) / 1000} seconds, or is of the newest two hours. The seeded events are spread over
${seededDays} days. Times are those of a relay that never waits for a processor: what its thread waited for one is subtracted.`,
    ],
  };
}

export const upkeep: Part = {
  name: "upkeep",
  title: "Statistics and purge",
  about: `A relay counts the hours of events that were stored meanwhile, then removes the platforms' answers because \`keep_log\` was lowered,
and then purges the events because \`keep_events\` was, each beside ${perSecond} events a second, and with the pauses by which it gives way
to them. The statements to PostgreSQL go through a process that adds ${distanceMs} ms to each round trip. Rates are those of one node: several nodes divide the sites.`,
  run,
};
