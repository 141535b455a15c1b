// Formats the tables of the part `nodes`.

import type { FleetResult } from "./support/fleet.ts";
import { median, medianRatio, number, type Findings, type Table } from "./part.ts";
import { nameOf, type Measured, type Point } from "./simulation/points.ts";

type Results = Readonly<Record<string, FleetResult[]>>;

export function findingsOf(measured: Measured, results: Results): Findings {
  return {
    tables: [comparisonTable(measured, results), pointsTable(measured), drainsTable(measured)],
    targets: [],
    notes: notesOf(measured),
  };
}

function comparisonTable({ points }: Measured, results: Results): Table {
  const pairs = points
    .filter(({ nodes }) => nodes === 2)
    .map((two) => {
      const one = points.find((point) => nameOf(point) === nameOf({ ...two, nodes: 1 })) as Point;
      return [one, two] as const;
    });
  const figures = (point: Point, what: keyof FleetResult) =>
    (results[nameOf(point)] ?? []).map((result) => result[what]);
  return {
    title: "64 senders, platforms that answer at once",
    head: ["connections", "nodes", "events/s", "× one node", "node CPU µs/event", "× one node", "database CPU µs/event",
      "× one node", "statements/event", "CPU of other processes, cores"], // prettier-ignore
    rows: pairs.flatMap(([one, two]) =>
      [one, two].map((point) => {
        const ratio = (what: keyof FleetResult) =>
          number(medianRatio(figures(point, what), figures(one, what)));
        const { result } = point;
        return [
          String(point.connections),
          String(point.nodes),
          number(result.perSecond),
          ratio("perSecond"),
          number(result.cpu),
          ratio("cpu"),
          number(result.databaseCpu),
          ratio("databaseCpu"),
          number(result.statements),
          number(result.foreign),
        ];
      }),
    ),
  };
}

function pointsTable({ points }: Measured): Table {
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
        ).map((what) => number(point.result[what])),
      ]),
  };
}

const drainsTable = ({ drains }: Measured): Table => ({
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
  poll,
  nodeMb,
  poolUsed,
}: Measured): string[] {
  const bytes = Object.entries(bytesPerEvent).map(([n, size]) => `${number(size)} with ${n}`);
  const foreign = median(points.map(({ result }) => result.foreign));
  return [
    `The sites of a row share its events equally, and events of a quarter of the sites on one node share a commit. Bytes per event in the
tables, including indexes and before any vacuum: ${bytes.join(", ")} connections. An fsync of the log took ${number(fsyncMs)} ms, an empty
statement ${number(roundTripMs)} ms. A node used at most ${number(nodeMb)} MB and had ${poolUsed} connections open.`,
    `The query for due deliveries costs ${number(poll.databaseCpu)} µs of the database's CPU and ${number(poll.cpu)} µs of the node's for each connection of the
installation, once a second on every node, and the same again every two seconds for parked ones. Other processes used ${number(foreign)} cores of the
machine during the measurement (median).`,
  ];
}
