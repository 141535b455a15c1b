// Many senders at once, and platforms that take their time: what batching in lanes buys.

import {
  closeField,
  middle,
  openField,
  pick,
  startBare,
  startOurs,
  turnOf,
  warmUp,
} from "./support/contest.ts";
import {
  atMost,
  interleaved,
  medianRatio,
  number,
  roundsOf,
  type Findings,
  type Mode,
  type Part,
} from "./part.ts";
import { platforms } from "./support/relay.ts";

const loads = [64, 256] as const;

async function run(mode: Mode): Promise<Findings> {
  const field = await openField(50);
  const bare = await startBare(field, 3);
  const ours = await startOurs(field, "sqlite", platforms.slice(0, 3));
  const single = await startOurs(field, "sqlite", ["ga4"]);
  const contestants = { "the floor": bare, "SQLite, 3 connections": ours, "SQLite, ga4 alone": single };
  await warmUp(field, [bare, ours], mode);
  const manners = loads.flatMap((senders) =>
    Object.entries(contestants).map(([name, one]) => {
      const manner = { senders, ms: mode.quick ? 400 : 2500 };
      return [`${senders} ${name}`, () => turnOf(field, one, manner)] as const;
    }),
  );
  const turns = await interleaved(roundsOf(mode), Object.fromEntries(manners));
  await closeField(field, [bare, ours, single]);

  const of = (senders: number, name: string) => turns[`${senders} ${name}`] ?? [];
  const ratio = (senders: number, name: string, what: "cpu" | "perSecond") =>
    medianRatio(pick(of(senders, name), what), pick(of(senders, "the floor"), what));
  return {
    tables: [
      {
        title: "Platforms that answer after 50 ms",
        head: [
          "senders", "", "events/s", "× floor", "CPU µs/event", "× floor", "requests/event", "p50 ms", "p99 ms",
        ], // prettier-ignore
        rows: loads.flatMap((senders) =>
          Object.keys(contestants).map((name) => [
            String(senders),
            name,
            middle(of(senders, name), "perSecond"),
            number(ratio(senders, name, "perSecond")),
            middle(of(senders, name), "cpu"),
            number(ratio(senders, name, "cpu")),
            ...(["requests", "p50", "p99"] as const).map((what) => middle(of(senders, name), what)),
          ]),
        ),
      },
    ],
    targets: loads.map((senders) =>
      atMost(
        `${senders} senders, 3 connections: CPU per event, of the floor's`,
        ratio(senders, "SQLite, 3 connections", "cpu"),
        0.6,
      ),
    ),
    notes: ["ga4 takes one event per request: it shows what a connection does that cannot batch."],
  };
}

export const load: Part = {
  name: "load",
  title: "Under load",
  about: `Each sender sends its next event when the last one is answered. A connection has a limit of concurrent requests. Events that
arrive when the limit is reached are sent together, so an event needs fewer requests under load.`,
  run,
};
