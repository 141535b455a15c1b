// The tables of the part `nodes`.

import type { FleetTurn } from "./support/fleet.ts";
import { median, medianRatio, number, type Findings, type Table } from "./part.ts";
import { nameOf, type Measured, type Point } from "./simulation/points.ts";

type Turns = Readonly<Record<string, FleetTurn[]>>;

export function findingsOf(measured: Measured, turns: Turns): Findings {
  return {
    tables: [contestOf(measured, turns), pointsOf(measured), drainsOf(measured)],
    targets: [],
    notes: notesOf(measured),
  };
}

function contestOf({ points }: Measured, turns: Turns): Table {
  const pairs = points
    .filter(({ nodes }) => nodes === 2)
    .map((two) => {
      const one = points.find((point) => nameOf(point) === nameOf({ ...two, nodes: 1 })) as Point;
      return [one, two] as const;
    });
  const figures = (point: Point, what: keyof FleetTurn) =>
    (turns[nameOf(point)] ?? []).map((turn) => turn[what]);
  return {
    title: "64 senders, platforms that answer at once",
    head: ["connections", "nodes", "events/s", "× one node", "node CPU µs/event", "× one node", "database CPU µs/event",
      "× one node", "statements/event", "CPU of other processes, cores"], // prettier-ignore
    rows: pairs.flatMap(([one, two]) =>
      [one, two].map((point) => {
        const ratio = (what: keyof FleetTurn) =>
          number(medianRatio(figures(point, what), figures(one, what)));
        const { turn } = point;
        return [
          String(point.connections),
          String(point.nodes),
          number(turn.perSecond),
          ratio("perSecond"),
          number(turn.cpu),
          ratio("cpu"),
          number(turn.databaseCpu),
          ratio("databaseCpu"),
          number(turn.statements),
          number(turn.foreign),
        ];
      }),
    ),
  };
}

function pointsOf({ points }: Measured): Table {
  return {
    title:
      "One node under different loads (the simulation for [capacity planning](capacity-planning.md) is fitted to and checked against these)",
    head: ["", "events/s", "node CPU µs/event", "database CPU µs/event", "statements/event", "commits/event",
      "requests/event", "log bytes/event", "p50 ms", "p99 ms"], // prettier-ignore
    rows: points
      .filter(({ nodes }) => nodes === 1)
      .map((point) => [
        nameOf(point).replace("1 node, ", ""),
        ...(
          [
            "perSecond",
            "cpu",
            "databaseCpu",
            "statements",
            "commits",
            "requests",
            "walBytes",
            "p50",
            "p99",
          ] as const
        ).map((what) => number(point.turn[what])),
      ]),
  };
}

const drainsOf = ({ drains }: Measured): Table => ({
  title: "A backlog that becomes due at once, 3 connections",
  head: ["nodes", "deliveries", "delivered/s", "node CPU µs/delivery", "database CPU µs/delivery"],
  rows: drains.map((drain) => [
    String(drain.nodes),
    ...[drain.deliveries, drain.perSecond, drain.cpu, drain.databaseCpu].map(number),
  ]),
});

function notesOf({
  points,
  bytesPerEvent,
  fsyncMs,
  roundTripMs,
  look,
  nodeMb,
  poolUsed,
}: Measured): string[] {
  const bytes = Object.entries(bytesPerEvent).map(([n, size]) => `${number(size)} with ${n}`);
  const foreign = median(points.map(({ turn }) => turn.foreign));
  return [
    `The sites of a row share its events equally, and events of a quarter of the sites on one node share a commit. Bytes per event in the
tables, including indexes and before any vacuum: ${bytes.join(", ")} connections. An fsync of the log took ${number(fsyncMs)} ms, an empty
statement ${number(roundTripMs)} ms. A node used at most ${number(nodeMb)} MB and had ${poolUsed} connections open.`,
    `The query for due deliveries costs ${number(look.databaseCpu)} µs of the database's CPU and ${number(look.cpu)} µs of the node's for each connection of the
installation, once a second on every node, and the same again every two seconds for parked ones. Other processes used ${number(foreign)} cores of the
machine during the measurement (median).`,
  ];
}
