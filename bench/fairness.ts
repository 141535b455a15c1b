// Measures the effect of one site's backlog, for platforms that are down, on the latency of ninety-nine quiet sites.

import { idAt } from "../src/kernel/ids.ts";
import { packPlan } from "../src/store/deliveries/plan.ts";
import { packAttribution } from "../src/store/people/personCodec.ts";
import { closeHarness, createHarness, pick, measureLoad, type Candidate, type LoadResult } from "./support/loadTest.ts";
import type { FailingPlatforms } from "./support/failingPlatforms.ts";
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
  type Target,
} from "./part.ts";
import { memoryOf, sleep, startChild } from "./support/processes.ts";
import { startRelay, type Engine, type Installation } from "./support/relay.ts";
import { installSites, quietSites } from "./support/quietSites.ts";
import { createSql } from "./support/seed.ts";

const waiting = 200_000;
const stubMs = 20;
const limit = 1.25;
/** Runs are short and many, so that other load on the machine affects both candidates alike. */
const runMs = 1500;
const settleMs = 500;

/** Inserts events of the first site with queued deliveries, all due at the same time, as after a pause. */
async function insertBacklog({ store, siteId, connectionIds }: Installation, count: number): Promise<void> {
  const sql = await createSql({ store });
  const now = Date.now();
  // The ids carry the current time, because the events are new.
  const id = `'${idAt(now).slice(0, 16)}' || ${sql.digits("n")}`;
  const attribution = packAttribution({
    consent: "unknown",
    withheld: null,
    identity: "none",
    clickIds: {},
    browserIds: {},
    utm: {},
    browser: null,
  });
  const emailSha256 = sql.sha256("CAST(n AS text)");
  const byConnection = (valueOf: (connectionId: string) => string) =>
    `CASE n % ${connectionIds.length} ${connectionIds.map((one, i) => `WHEN ${i} THEN '${valueOf(one)}'`).join(" ")} END`;
  const plan = (connectionId: string) => packPlan([{ connectionId, platform: "webhook", by: "row", reason: null }]);
  await sql.run(
    `INSERT INTO events (site_id, id, key_id, mode, status, name, value, currency, email_ref, time, received_at, person,
       attribution, plan, owner, uses_order_event_id)
     SELECT '${siteId}', ${id}, 'bench', 'live', 'accepted', 'lead', 10, 'EUR', ${sql.emailRef(emailSha256)}, ${now}, ${now},
       ${emailSha256}, '${attribution}', ${byConnection(plan)}, '', 0
     FROM ${sql.numbers(1, count)} AS copies`,
  );
  await sql.run(
    `INSERT INTO deliveries (site_id, event_id, connection_id, platform, state, attempts, due_at, owner, updated_at)
     SELECT '${siteId}', ${id}, ${byConnection((one) => one)}, 'webhook', 'queued', 0, ${now}, '', ${now}
     FROM ${sql.numbers(1, count)} AS copies`,
  );
  await sql.flush();
  await sql.close();
}

type Ratios = { engine: Engine; rows: string[][]; targets: Target[] };

async function measure(engine: Engine, mode: Mode): Promise<Ratios> {
  const harness = await createHarness(stubMs);
  const failing = startChild("./failingPlatforms.ts");
  const { urls } = await failing.ask<FailingPlatforms>("urls");
  const open = async (deliveries: number): Promise<Candidate> => {
    const installation = await installSites(engine, harness.state, urls);
    if (deliveries > 0) await insertBacklog(installation, deliveries);
    const relay = await startRelay(installation);
    // The key identifies the site, so the host does not matter.
    const sites = installation.quietKeys.map((key) => ({ host: "127.0.0.1", key }));
    return { ...relay, key: "", sites, known: 0, databasePid: null, installation };
  };
  const without = await open(0);
  const backlog = mode.quick ? 2000 : waiting;
  const withBacklog = await open(backlog);
  const direct: Candidate = { ...without, port: harness.state.ports.meta, pid: harness.stub.pid };
  // Few senders: the relay under test must not be saturated.
  for (const one of [without, withBacklog])
    await measureLoad(harness, one, { senders: 8, ms: 0, atLeast: mode.quick ? 200 : 1500 });

  const load = { perSecond: 100, ms: mode.quick ? 500 : runMs };
  // The other candidate is suspended: on a small machine its work would slow down the measured one.
  const measureAlone = async (one: Candidate): Promise<LoadResult> => {
    process.kill(one.pid, "SIGCONT");
    await sleep(settleMs);
    const result = await measureLoad(harness, one, load);
    process.kill(one.pid, "SIGSTOP");
    return result;
  };
  for (const one of [without, withBacklog]) process.kill(one.pid, "SIGSTOP");
  const results = await interleaved(roundsOf(mode, 25), {
    direct: () => measureLoad(harness, direct, load),
    without: () => measureAlone(without),
    withBacklog: () => measureAlone(withBacklog),
  });
  for (const one of [without, withBacklog]) process.kill(one.pid, "SIGCONT");
  const memory = { without: memoryOf(without.pid, "VmHWM"), withBacklog: memoryOf(withBacklog.pid, "VmHWM") };
  await closeHarness(harness, [without, withBacklog]);
  await failing.stop();

  const added = (of: "without" | "withBacklog", what: "p50" | "p99") =>
    pick(results[of], what).map((ms, round) => ms - (results.direct[round]?.[what] ?? 0));
  const row = (of: "without" | "withBacklog", name: string) => [
    engine,
    name,
    number(median(added(of, "p50"))),
    number(median(added(of, "p99"))),
    number(median(pick(results[of], "cpu"))),
    number(memory[of]),
  ];
  return {
    engine,
    rows: [row("without", "without a backlog"), row("withBacklog", `with ${number(backlog)} waiting`)],
    targets: (["p50", "p99"] as const).map((what) =>
      atMost(
        `Added latency of quiet sites on ${engine}, ${what}, relative to no backlog`,
        medianRatio(added("withBacklog", what), added("without", what)),
        limit,
        " ×",
        `${number(median(added("withBacklog", what)))} and ${number(median(added("without", what)))} ms`,
      ),
    ),
  };
}

async function run(mode: Mode): Promise<Findings> {
  const measured: Ratios[] = [];
  for (const engine of ["sqlite", "postgres"] as const) measured.push(await measure(engine, mode));
  return {
    tables: [
      {
        title: `${quietSites} quiet sites, 100 events/s together, platforms that answer after ${stubMs} ms`,
        head: ["store", "", "added p50 ms", "added p99 ms", "CPU µs/event", "peak memory MB"],
        rows: measured.flatMap(({ rows }) => rows),
      },
    ],
    targets: measured.flatMap(({ targets }) => targets),
    notes: [],
  };
}

export const fairness: Part = {
  name: "fairness",
  title: "Effect of one site's backlog on other sites",
  about: `One of a hundred sites has ${number(waiting)} deliveries waiting, all due at once, for three platforms that are down: one that
accepts requests and never answers, one that answers 503, and one that refuses connections. The same events go to a relay without
that backlog. The two alternate, and the one that is not measured is suspended. Added latency is the difference to events sent directly
to a stub platform in the same round. Ratios are computed per round, and figures are medians.`,
  run,
};
