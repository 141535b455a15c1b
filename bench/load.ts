// Measures the effect of batching: many concurrent senders, and platforms that answer slowly.

import {
  busyNote,
  closeHarness,
  middle,
  middleOf,
  createHarness,
  pick,
  startBare,
  startOurs,
  measureLoad,
  warmUp,
} from "./support/loadTest.ts";
import { atMost, interleaved, medianRatio, roundsOf, timesBase, type Findings, type Mode, type Part } from "./part.ts";
import { platforms } from "./support/relay.ts";

const loads = [64, 256] as const;

async function run(mode: Mode): Promise<Findings> {
  const harness = await createHarness(50);
  const bare = await startBare(harness, 3);
  const ours = await startOurs(harness, "sqlite", platforms.slice(0, 3));
  const single = await startOurs(harness, "sqlite", ["ga4"]);
  const candidates = { "the baseline": bare, "SQLite, 3 connections": ours, "SQLite, ga4 alone": single };
  await warmUp(harness, Object.values(candidates), mode);
  const runs = loads.flatMap((senders) =>
    Object.entries(candidates).map(([name, one]) => {
      const load = { senders, ms: mode.quick ? 400 : 2500 };
      return [`${senders} ${name}`, () => measureLoad(harness, one, load)] as const;
    }),
  );
  const results = await interleaved(roundsOf(mode), Object.fromEntries(runs));
  await closeHarness(harness, [bare, ours, single]);

  const of = (senders: number, name: string) => results[`${senders} ${name}`] ?? [];
  const ratio = (senders: number, name: string, what: "cpu" | "perSecond") =>
    medianRatio(pick(of(senders, name), what), pick(of(senders, "the baseline"), what));
  const times = (senders: number, name: string, what: "cpu" | "perSecond") =>
    timesBase(ratio(senders, name, what), middleOf(of(senders, "the baseline"), what));
  const absolutes = ["SQLite, 3 connections", "the baseline"].map((name) => middle(of(256, name), "cpu"));
  return {
    tables: [
      {
        title: "Platforms that answer after 50 ms",
        head: ["senders", "", "events/s", "× baseline", "CPU µs/event", "× baseline", "requests/event", "p50 ms", "p99 ms"],
        rows: loads.flatMap((senders) =>
          Object.keys(candidates).map((name) => [
            String(senders),
            name,
            middle(of(senders, name), "perSecond"),
            times(senders, name, "perSecond"),
            middle(of(senders, name), "cpu"),
            times(senders, name, "cpu"),
            ...(["requests", "p50", "p99"] as const).map((what) => middle(of(senders, name), what)),
          ]),
        ),
      },
    ],
    targets: [
      atMost(
        "256 senders, platforms of 50 ms, 3 connections, SQLite: CPU per event, relative to the baseline",
        ratio(256, "SQLite, 3 connections", "cpu"),
        0.9,
        " ×",
        `${absolutes.join(" and ")} µs`,
      ),
    ],
    notes: ["ga4 takes one event per request: it shows a connection that cannot batch.", busyNote(Object.values(results))],
  };
}

export const load: Part = {
  name: "load",
  title: "Under load",
  about: `Each sender sends its next event when the last one is answered. A connection has a limit of concurrent requests. Events that
arrive when the limit is reached are sent together, so an event needs fewer requests under load.`,
  run,
};
