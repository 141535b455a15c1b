// Measures the latency that the relay adds to that of the platforms.

import {
  closeHarness,
  EventsFailed,
  createHarness,
  startBare,
  startOurs,
  measureLoad,
  warmUp,
  type Candidate,
  type LoadResult,
} from "./support/loadTest.ts";
import { atMost, interleaved, median, number, roundsOf, type Findings, type Mode, type Part } from "./part.ts";
import { platforms } from "./support/relay.ts";

const stubMs = 20;
const rates = [200, 1000] as const;

/** Events are sent whether earlier ones are answered or not, so a machine that cannot keep up has no meaningful latency. */
function overrun(error: unknown): Pick<LoadResult, Figure> {
  if (!(error instanceof EventsFailed)) throw error;
  return { cpu: Number.NaN, requests: Number.NaN, otherCores: Number.NaN, p50: Infinity, p99: Infinity };
}

type Figure = "p50" | "p99" | "cpu" | "requests" | "otherCores";

async function run(mode: Mode): Promise<Findings> {
  const harness = await createHarness(stubMs);
  const ours = await startOurs(harness, "sqlite", platforms.slice(0, 3));
  const bare = await startBare(harness, 3);
  const floor = await startBare(harness, 3, { isDurable: true });
  // The same sender sends the same events directly to a stub platform.
  const direct: Candidate = { ...ours, port: harness.state.ports.meta, pid: harness.stub.pid };
  const candidates = { bare, floor, ours };
  await warmUp(harness, Object.values(candidates), mode);
  // At a low rate events come one by one, which is other code than that of batches. It is compiled after some thousand events.
  for (const candidate of mode.quick ? [] : [ours, bare, floor, ours, bare, floor])
    await measureLoad(harness, candidate, { perSecond: rates[0], ms: 15_000 });
  const runs = rates.flatMap((perSecond) => {
    const load = { perSecond, ms: mode.quick ? 500 : 5000 };
    return [
      [`${perSecond} direct`, () => measureLoad(harness, direct, load)] as const,
      ...Object.entries(candidates).map(
        ([who, candidate]) => [`${perSecond} ${who}`, () => measureLoad(harness, candidate, load).catch(overrun)] as const,
      ),
    ];
  });
  const results = await interleaved(roundsOf(mode), Object.fromEntries(runs));
  await closeHarness(harness, Object.values(candidates));

  type Who = "direct" | keyof typeof candidates;
  const values = (perSecond: number, who: Who, what: Figure) =>
    (results[`${perSecond} ${who}`] ?? []).map((result) => result[what]);
  const middle = (perSecond: number, who: Who, what: Figure) => median(values(perSecond, who, what));
  /** Differences of the same round. */
  const above = (perSecond: number, what: "p50" | "p99", who: Who, base: Who) => {
    const bases = values(perSecond, base, what);
    return median(values(perSecond, who, what).map((ms, round) => ms - (bases[round] ?? Number.NaN)));
  };
  const absolutes = (perSecond: number, what: "p50" | "p99", base: Who) =>
    `${number(middle(perSecond, "ours", what))} and ${number(middle(perSecond, base, what))} ms`;
  const rows = rates.flatMap((perSecond) =>
    (["bare", "floor", "ours"] as const).map((who) => [
      String(perSecond),
      { bare: "the baseline", floor: "the durable floor", ours: "SQLite" }[who],
      both((what) => middle(perSecond, "direct", what)),
      both((what) => middle(perSecond, who, what)),
      both((what) => above(perSecond, what, who, "direct")),
      number(middle(perSecond, who, "cpu")),
      number(middle(perSecond, who, "requests")),
    ]),
  );
  return {
    tables: [
      {
        title: `3 connections, platforms that answer after ${stubMs} ms`,
        head: [
          "events/s",
          "",
          "platform p50 / p99 ms",
          "answered p50 / p99 ms",
          "added p50 / p99 ms",
          "CPU µs/event",
          "requests/event",
        ],
        rows,
      },
    ],
    targets: [
      ...(["p50", "p99"] as const).map((what) =>
        atMost(
          `Added latency at 200 events/s, ${what}`,
          above(200, what, "ours", "direct"),
          what === "p50" ? 2.5 : 10,
          " ms",
          absolutes(200, what, "direct"),
        ),
      ),
      atMost(
        "Latency at 1,000 events/s above that of the durable floor, p99",
        above(1000, "p99", "ours", "floor"),
        15,
        " ms",
        absolutes(1000, "p99", "floor"),
      ),
    ],
    gains: `With three connections and the embedded database it adds ${number(above(200, "p50", "ours", "direct"))} ms (median) and \
${number(above(200, "p99", "ours", "direct"))} ms (99th percentile) to the platforms' own time at 200 events a second.`,
    notes: [
      `Other processes used ${number(middle(200, "direct", "otherCores"))} cores (median at 200 events/s); they delay every answer.`,
    ],
  };
}

const both = (valueOf: (what: "p50" | "p99") => number) => `${number(valueOf("p50"))} / ${number(valueOf("p99"))}`;

export const latency: Part = {
  name: "latency",
  title: "Latency",
  about: `Events are sent at random times (Poisson), whether earlier ones are answered or not. The clock starts when an event should
have been sent. The same sender also sends events at the same rate directly to a stub platform; the added latency is the difference in
the same round. The baseline and the durable floor are those of the first part.`,
  run,
};
