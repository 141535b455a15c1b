// One site with a large backlog to platforms that are down, and ninety-nine quiet ones: do these notice?

import { closeField, openField, pick, turnOf, type Contestant, type Turn } from "./support/contest.ts";
import type { Dead } from "./support/dead.ts";
import { pileUp, settle } from "./neighbours.ts";
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
import { memoryOf, sleep, startPeer } from "./support/processes.ts";
import { startRelay, type Engine } from "./support/relay.ts";

const quiet = 99;
const waiting = 200_000;
const stubMs = 20;
const limit = 1.25;
/** Short turns, and many of them: what else the machine does hits both alike. */
const turnMs = 1500;
const settlingMs = 500;

type Ratios = { engine: Engine; rows: string[][]; p50: number; p99: number };

async function measure(engine: Engine, mode: Mode): Promise<Ratios> {
  const field = await openField(stubMs);
  const dead = startPeer("./dead.ts");
  const { urls } = await dead.ask<Dead>("urls");
  const open = async (backlog: number): Promise<Contestant> => {
    const installation = await settle(engine, field.state, urls, quiet);
    if (backlog > 0) await pileUp(installation, backlog);
    const relay = await startRelay(installation);
    // Told apart by their keys, whatever the host.
    const sites = installation.keys.map((key) => ({ host: "127.0.0.1", key }));
    return { ...relay, key: "", sites, known: 0, databasePid: null };
  };
  const without = await open(0);
  const beside = await open(mode.quick ? 2000 : waiting);
  const direct: Contestant = { ...without, port: field.state.ports.meta, pid: field.stub.pid };
  // Few at a time: what is measured is a relay with time on its hands.
  for (const one of [without, beside])
    await turnOf(field, one, { senders: 8, ms: 0, atLeast: mode.quick ? 200 : 1500 });

  const manner = { perSecond: 100, ms: mode.quick ? 500 : turnMs };
  // Whoever is not measured stands still: on a small machine its work would weigh on the other.
  const alone = async (one: Contestant): Promise<Turn> => {
    process.kill(one.pid, "SIGCONT");
    await sleep(settlingMs);
    const turn = await turnOf(field, one, manner);
    process.kill(one.pid, "SIGSTOP");
    return turn;
  };
  for (const one of [without, beside]) process.kill(one.pid, "SIGSTOP");
  const turns = await interleaved(roundsOf(mode, 25), {
    direct: () => turnOf(field, direct, manner),
    without: () => alone(without),
    beside: () => alone(beside),
  });
  for (const one of [without, beside]) process.kill(one.pid, "SIGCONT");
  const memory = { without: memoryOf(without.pid, "VmHWM"), beside: memoryOf(beside.pid, "VmHWM") };
  await closeField(field, [without, beside]);
  await dead.stop();

  const added = (of: "without" | "beside", what: "p50" | "p99") =>
    pick(turns[of], what).map((ms, round) => ms - (turns.direct[round]?.[what] ?? 0));
  const row = (of: "without" | "beside", name: string) => [
    engine,
    name,
    number(median(added(of, "p50"))),
    number(median(added(of, "p99"))),
    number(median(pick(turns[of], "cpu"))),
    number(memory[of]),
  ];
  return {
    engine,
    rows: [row("without", "without a backlog"), row("beside", `with ${number(waiting)} waiting`)],
    p50: medianRatio(added("beside", "p50"), added("without", "p50")),
    p99: medianRatio(added("beside", "p99"), added("without", "p99")),
  };
}

async function run(mode: Mode): Promise<Findings> {
  const measured: Ratios[] = [];
  for (const engine of ["sqlite", "postgres"] as const) measured.push(await measure(engine, mode));
  return {
    tables: [
      {
        title: `${quiet} quiet sites, 100 events/s together, platforms that answer after ${stubMs} ms`,
        head: ["store", "", "added p50 ms", "added p99 ms", "CPU µs/event", "peak memory MB"],
        rows: measured.flatMap(({ rows }) => rows),
      },
    ],
    targets: measured.flatMap(({ engine, p50, p99 }) => [
      atMost(`Added latency of quiet sites on ${engine}, p50, of that without the backlog`, p50, limit, " ×"),
      atMost(`Added latency of quiet sites on ${engine}, p99, of that without the backlog`, p99, limit, " ×"),
    ]),
    notes: [],
  };
}

export const fairness: Part = {
  name: "fairness",
  title: "Effect of one site's backlog on other sites",
  about: `One of a hundred sites has ${number(waiting)} deliveries waiting, all due at once, for three platforms that are down: one that
accepts requests and never answers, one that answers 503, and one that refuses connections. The same events go to a relay without
that backlog. The two alternate, and the one that is not measured is suspended. Added latency is the difference to the platform's stand-in
in the same round. Ratios are computed per round, and figures are medians.`,
  run,
};
