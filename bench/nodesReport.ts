// Formats the tables of the part `nodes`.

import type { FleetResult } from "./support/fleet.ts";
import { atMost, median, medianRatio, number, timesBase, type Findings, type Table } from "./part.ts";
import { nameOf, type Measured, type Point } from "./measured.ts";

type Results = Readonly<Record<string, FleetResult[]>>;

/** The senders of the only node that two nodes are compared with. */
const comparedSenders = 64;

export function findingsOf(measured: Measured, results: Results): Findings {
  const two = measured.points.find((point) => isPair(point) && point.connections === 3 && hasSenders(point, 64));
  const one = two && partnerOf(two, measured.points);
  return {
    tables: [comparisonTable(measured, results), pointsTable(measured), drainsTable(measured)],
    targets:
      two && one
        ? [
            atMost(
              "Two nodes against one, PostgreSQL, 3 connections: CPU of the nodes per event",
              ratioOf(results, two, one, "cpu"),
              1.15,
              " ×",
              `${number(two.result.cpu)} and ${number(one.result.cpu)} µs`,
            ),
          ]
        : [],
    notes: notesOf(measured),
  };
}

const isPair = ({ nodes }: Point) => nodes === 2;
const hasSenders = (point: Point, senders: number) => "senders" in point && point.senders === senders;

function partnerOf(two: Point, points: readonly Point[]): Point {
  const wanted = nameOf({ ...two, nodes: 1, senders: comparedSenders });
  return points.find((point) => nameOf(point) === wanted) as Point;
}

function ratioOf(results: Results, point: Point, base: Point, what: keyof FleetResult): number {
  const figures = (of: Point) => (results[nameOf(of)] ?? []).map((result) => result[what]);
  return medianRatio(figures(point), figures(base));
}

function comparisonTable({ points }: Measured, results: Results): Table {
  const connections = [...new Set(points.filter(isPair).map((point) => point.connections))];
  const rows = connections.flatMap((count) => {
    const twos = points.filter((point) => isPair(point) && point.connections === count);
    const one = partnerOf(twos[0] as Point, points);
    return [one, ...twos].map((point) => {
      const { result } = point;
      const times = (what: keyof FleetResult) => timesBase(ratioOf(results, point, one, what), one.result[what]);
      return [
        String(point.connections),
        String(point.nodes),
        "senders" in point ? String(point.senders) : "",
        number(result.perSecond),
        times("perSecond"),
        number(result.cpu),
        times("cpu"),
        number(result.databaseCpu),
        times("databaseCpu"),
        number(result.statements),
        number(result.foreign),
      ];
    });
  });
  return {
    title: "Platforms that answer at once",
    head: [
      "connections",
      "nodes",
      "senders",
      "events/s",
      "× one node",
      "node CPU µs/event",
      "× one node",
      "database CPU µs/event",
      "× one node",
      "statements/event",
      "CPU of other processes, cores",
    ],
    rows,
  };
}

function pointsTable({ points }: Measured): Table {
  return {
    title: "One node under different loads ([capacity planning](capacity-planning.md) computes with them)",
    head: [
      "",
      "events/s",
      "node CPU µs/event",
      "database CPU µs/event",
      "statements/event",
      "commits/event",
      "requests/event",
      "log bytes/event",
      "p50 ms",
      "p99 ms",
    ],
    rows: points
      .filter(({ nodes }) => nodes === 1)
      .map((point) => [
        nameOf(point).replace("1 node, ", ""),
        ...(["perSecond", "cpu", "databaseCpu", "statements", "commits", "requests", "walBytes", "p50", "p99"] as const).map(
          (what) => number(point.result[what]),
        ),
      ]),
  };
}

const drainsTable = ({ drains }: Measured): Table => ({
  title: "A backlog that becomes due at once, 3 connections",
  head: ["nodes", "deliveries", "delivered/s", "node CPU µs/delivery", "database CPU µs/delivery"],
  rows: drains.map((drain) => [
    String(drain.nodes),
    ...[drain.deliveries, drain.perSecond, drain.cpu, drain.databaseCpu].map((value) => number(value)),
  ]),
});

function notesOf({ points, bytesPerEvent, fsyncMs, roundTripMs, poll, nodeMb, poolUsed }: Measured): string[] {
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
