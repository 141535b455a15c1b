// What an answer takes longer than the platform behind it.

import {
  closeField,
  openField,
  pick,
  startOurs,
  turnOf,
  warmUp,
  type Contestant,
  type Turn,
} from "./contest.ts";
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
import { platforms } from "./relay.ts";

const stubMs = 20;
const limits = [
  { perSecond: 200, p50: 1.5, p99: 6 },
  { perSecond: 1000, p50: 1.5, p99: 20 },
] as const;

/** Events come whether they are answered or not: a machine that cannot keep up has no latency to speak of. */
function overrun(error: unknown): Turn {
  if (!/events failed/.test(String(error))) throw error;
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
  const field = await openField(stubMs);
  const ours = await startOurs(field, "sqlite", platforms.slice(0, 3));
  // The platform itself takes the same events from the same sender.
  const direct: Contestant = { ...ours, port: field.state.ports.meta, pid: field.stub.pid };
  await warmUp(field, [ours], mode);
  const manners = limits.flatMap(({ perSecond }) => {
    const manner = { perSecond, ms: mode.quick ? 500 : 5000 };
    return [
      [`${perSecond} direct`, () => turnOf(field, direct, manner)] as const,
      [`${perSecond} ours`, () => turnOf(field, ours, manner).catch(overrun)] as const,
    ];
  });
  const turns = await interleaved(roundsOf(mode), Object.fromEntries(manners));
  await closeField(field, [ours]);

  const of = (name: string): Turn[] => turns[name] ?? [];
  const middle = (name: string, what: keyof Turn) => median(pick(of(name), what));
  const added = (perSecond: number, what: "p50" | "p99") =>
    median(
      pick(of(`${perSecond} ours`), what).map((ms, i) => ms - (of(`${perSecond} direct`)[i]?.[what] ?? 0)),
    );
  return {
    tables: [
      {
        title: `3 connections, SQLite, platforms that answer after ${stubMs} ms`,
        head: [
          "events/s",
          "platform p50 / p99 ms",
          "relay p50 / p99 ms",
          "added p50 / p99 ms",
          "CPU µs/event",
          "requests/event",
        ],
        rows: limits.map(({ perSecond }) => [
          String(perSecond),
          both(middle(`${perSecond} direct`, "p50"), middle(`${perSecond} direct`, "p99")),
          both(middle(`${perSecond} ours`, "p50"), middle(`${perSecond} ours`, "p99")),
          both(added(perSecond, "p50"), added(perSecond, "p99")),
          number(middle(`${perSecond} ours`, "cpu")),
          number(middle(`${perSecond} ours`, "requests")),
        ]),
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
  about: `Events come at random moments (Poisson) whether the last ones are answered or not, and the clock starts at the moment
at which an event should have been sent. The same sender sends the same schedule straight to the platform's stand-in; added is
the difference in the same round.`,
  run,
};
