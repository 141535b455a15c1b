// Measures the effect of one flooding site on ninety-nine others, for each way in which a site can keep the relay busy.

import { commandIn } from "../test/support/commands.ts";
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
import { floodNames, floods, type Flood, type FloodOrder, type FloodState } from "./support/flood.ts";
import { closeHarness, createHarness, measureLoad, pick, type Candidate, type LoadResult } from "./support/loadTest.ts";
import { sleep, startChild } from "./support/processes.ts";
import { installSites, quietSites } from "./support/quietSites.ts";
import { startRelay, type Installation } from "./support/relay.ts";
import { seedEvents } from "./support/seed.ts";

const stubMs = 20;
const perSecond = 50;
/** The flood runs for this long before others are measured. */
const settleMs = 1000;
const limits: Partial<Record<Flood, number>> = { "slow senders": 2 };
const usualLimit = 1.5;

async function addApiKey({ env }: Pick<Installation, "env">): Promise<string> {
  const { out, err } = await commandIn({
    args: ["--json", "api-key", "add", "bench", "--scope", "read,write"],
    env,
  });
  if (out === "") throw new Error(err);
  return (JSON.parse(out) as { key: string }).key;
}

async function run(mode: Mode): Promise<Findings> {
  const harness = await createHarness(stubMs);
  const installation = await installSites(mode.engine, harness.state, [], ["meta"]);
  const apiKey = await addApiKey(installation);
  const relay = await startRelay(installation);
  const sites = installation.quietKeys.map((key) => ({ host: "127.0.0.1", key }));
  const candidate: Candidate = { ...relay, key: "", sites, known: 0, databasePid: null, installation };
  await measureLoad(harness, candidate, { senders: 8, ms: 0, atLeast: mode.quick ? 200 : 2000 });
  await measureLoad(
    harness,
    { ...candidate, sites: [{ host: "127.0.0.1", key: installation.key }] },
    { senders: 1, ms: 0, atLeast: 1 },
  );
  // Outcomes are written a moment after the answer.
  await sleep(settleMs);
  await seedEvents(installation, mode.quick ? 1000 : 20_000);

  const flooder = startChild("./flood.ts");
  const { port } = relay;
  const [{ id: siteId, host, key }] = installation.sites as [Installation["sites"][0]];
  const answers = new Map<Flood, FloodState>();
  const load = { perSecond, ms: mode.quick ? 500 : 2500, pid: relay.pid };
  const during = (flood: Flood) => async (): Promise<LoadResult> => {
    await flooder.ask<FloodState>({ flood, port, siteId, host, key, apiKey } satisfies FloodOrder);
    await sleep(settleMs);
    const result = await measureLoad(harness, candidate, load);
    const { requests, answers: statuses } = await flooder.ask<FloodState>("end" satisfies FloodOrder);
    const known = answers.get(flood) ?? { requests: 0, answers: {} };
    for (const [status, count] of Object.entries(statuses)) known.answers[status] = (known.answers[status] ?? 0) + count;
    answers.set(flood, { requests: known.requests + requests, answers: known.answers });
    return result;
  };
  const names = mode.floods ?? floodNames;
  const results: Record<string, LoadResult[]> = await interleaved(roundsOf(mode, 9), {
    none: async () => {
      await sleep(settleMs);
      return measureLoad(harness, candidate, load);
    },
    ...Object.fromEntries(names.map((name) => [name, during(name)])),
  });
  await flooder.stop();
  await closeHarness(harness, [candidate]);

  const of = (name: string, what: keyof LoadResult) => pick(results[name] ?? [], what);
  const own = (name: string) => of(name, "alone99");
  const targets = names.map((name): Target => {
    const absolutes = `${number(median(own(name)), 3)} and ${number(median(own("none")), 3)} ms`;
    const ratio = medianRatio(own(name), own("none"));
    return atMost(
      `Latency of the other sites while one floods, p99: ${name}`,
      ratio,
      limits[name] ?? usualLimit,
      " ×",
      absolutes,
    );
  });
  const statusText = (name: Flood) =>
    Object.entries(answers.get(name)?.answers ?? {})
      .map(([status, count]) => `${number(count)} × ${status}`)
      .join(", ");
  return {
    tables: [
      {
        title: `${quietSites} sites, ${perSecond} events/s together, platforms that answer after ${stubMs} ms, ${mode.engine}`,
        head: ["flood", "p50 ms", "p99 ms", "measured p50 ms", "measured p99 ms", "other cores", "requests of the flood"],
        rows: ["none", ...names].map((name) => [
          name === "none" ? "none" : floods[name as Flood],
          ...(["alone50", "alone99", "p50", "p99"] as const).map((what) => number(median(of(name, what)))),
          number(median(pick(results[name] ?? [], "otherCores"))),
          name === "none"
            ? "–"
            : `${number(answers.get(name as Flood)?.requests ?? 0)} (${statusText(name as Flood) || "held open"})`,
        ]),
      },
    ],
    targets,
    notes: [
      `"Other cores" are those of processes that are neither relay, sender nor platform: the flood's own, and what else ran on the machine.`,
    ],
  };
}

export const isolation: Part = {
  name: "isolation",
  title: "Effect of one flooding site on other sites",
  about: `One of a hundred sites keeps the relay as busy as its connections can, in one way after the other, and the latency of conversions of the
others is compared with the same run without a flood. All of it runs on the same two cores, with the flood at the lowest priority. What
was measured therefore contains the time in which the flood and other programs had the processor and the relay waited for it. The targets
are about the latency without that time (the run queue delay of the relay's main thread, from the kernel): as on a machine where the relay has
a core to itself. Ratios are computed per round, and figures are medians.`,
  run,
};
