// Measures the latency that the relay adds to that of the platforms.

import {
  closeHarness,
  EventsFailed,
  openHarness,
  pick,
  startBare,
  startOurs,
  measureLoad,
  warmUp,
  type Candidate,
  type LoadResult,
} from "./support/loadTest.ts";
import {
  atMost,
  interleaved,
  median,
  number,
  roundsOf,
  type Findings,
  type Mode,
  type Part,
} from "./part.ts";
import { platforms } from "./support/relay.ts";

const stubMs = 20;
const limits = [
  { perSecond: 200, p50: 1.5, p99: 6 },
  { perSecond: 1000, p50: 1.5, p99: 20 },
] as const;

/** Events are sent whether earlier ones are answered or not, so a machine that cannot keep up has no meaningful latency. */
function overrun(error: unknown): LoadResult {
  if (!(error instanceof EventsFailed)) throw error;
  return {
    perSecond: Number.NaN,
    cpu: Number.NaN,
    databaseCpu: 0,
    requests: Number.NaN,
    p50: Infinity,
    p99: Infinity,
  };
}

async function run(mode: Mode): Promise<Findings> {
  const harness = await openHarness(stubMs);
  const ours = await startOurs(harness, "sqlite", platforms.slice(0, 3));
  const bare = await startBare(harness, 3);
  // The same sender sends the same events directly to a stub platform.
  const direct: Candidate = { ...ours, port: harness.state.ports.meta, pid: harness.stub.pid };
  await warmUp(harness, [ours, bare], mode);
  const runs = limits.flatMap(({ perSecond }) => {
    const load = { perSecond, ms: mode.quick ? 500 : 5000 };
    return [
      [`${perSecond} direct`, () => measureLoad(harness, direct, load)] as const,
      [`${perSecond} bare`, () => measureLoad(harness, bare, load).catch(overrun)] as const,
      [`${perSecond} ours`, () => measureLoad(harness, ours, load).catch(overrun)] as const,
    ];
  });
  const results = await interleaved(roundsOf(mode), Object.fromEntries(runs));
  await closeHarness(harness, [ours, bare]);

  const of = (name: string): LoadResult[] => results[name] ?? [];
  const middle = (name: string, what: keyof LoadResult) => median(pick(of(name), what));
  const added = (perSecond: number, what: "p50" | "p99", by: "ours" | "bare" = "ours") =>
    median(
      pick(of(`${perSecond} ${by}`), what).map((ms, i) => ms - (of(`${perSecond} direct`)[i]?.[what] ?? 0)),
    );
  const rows = limits.flatMap(({ perSecond }) =>
    (["bare", "ours"] as const).map((by) => [
      String(perSecond),
      by === "bare" ? "the baseline" : "SQLite",
      both(middle(`${perSecond} direct`, "p50"), middle(`${perSecond} direct`, "p99")),
      both(middle(`${perSecond} ${by}`, "p50"), middle(`${perSecond} ${by}`, "p99")),
      both(added(perSecond, "p50", by), added(perSecond, "p99", by)),
      number(middle(`${perSecond} ${by}`, "cpu")),
      number(middle(`${perSecond} ${by}`, "requests")),
    ]),
  );
  return {
    tables: [
      {
        title: `3 connections, platforms that answer after ${stubMs} ms`,
        head: [
          "events/s", "", "platform p50 / p99 ms", "answered p50 / p99 ms", "added p50 / p99 ms", "CPU µs/event",
          "requests/event",
        ], // prettier-ignore
        rows,
      },
    ],
    targets: limits.flatMap(({ perSecond, p50, p99 }) => [
      atMost(`Added latency at ${perSecond} events/s, p50`, added(perSecond, "p50"), p50, " ms"),
      atMost(`Added latency at ${perSecond} events/s, p99`, added(perSecond, "p99"), p99, " ms"),
    ]),
    notes: [],
  };
}

const both = (p50: number, p99: number) => `${number(p50)} / ${number(p99)}`;

export const latency: Part = {
  name: "latency",
  title: "Latency",
  about: `Events are sent at random times (Poisson), whether earlier ones are answered or not. The clock starts when an event should
have been sent. The same sender also sends events at the same rate directly to a stub platform; the added latency is the difference in
the same round. The baseline is that of the first part: it checks and stores nothing.`,
  run,
};
