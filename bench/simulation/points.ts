// What was measured, as the simulation reads it: written by `npm run bench -- --only nodes`, read by `npm run simulate`.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Drain } from "../backlogDrain.ts";
import type { FleetTurn, Shape } from "../support/fleet.ts";
import type { Look } from "../look.ts";

/** Senders that wait for their answers, or events at random moments. */
export type PointManner = { senders: number } | { arrivals: number };

export type Point = Shape & PointManner & { platformMs: number; turn: FleetTurn };

export type Measured = {
  measuredOn: string;
  cores: number;
  points: Point[];
  drains: Drain[];
  look: Look;
  /** Bytes that an event leaves in the tables, by its connections. */
  bytesPerEvent: Record<string, number>;
  fsyncMs: number;
  roundTripMs: number;
  /** Largest resident memory of a node, MB. */
  nodeMb: number;
  /** Connections that a node may open, and had open at the end. */
  poolSize: number;
  poolUsed: number;
};

/** What is predicted and compared. */
export const figures = ["perSecond", "cpu", "databaseCpu", "statements", "requests", "p50", "p99"] as const;
export type Figure = (typeof figures)[number];

const file = fileURLToPath(new URL("./measured.json", import.meta.url));

export const readMeasured = (): Measured => JSON.parse(readFileSync(file, "utf8"));
export const writeMeasured = (measured: Measured) =>
  writeFileSync(file, `${JSON.stringify(measured, roundedTo4, 2)}\n`);

const roundedTo4 = (_key: string, value: unknown) =>
  typeof value === "number" ? Number(value.toPrecision(4)) : value;

const plural = (n: number, one: string) => `${n} ${one}${n === 1 ? "" : "s"}`;

export function nameOf(point: Shape & PointManner & { platformMs: number }): string {
  const manner =
    "senders" in point ? plural(point.senders, "sender") : `${point.arrivals}/s at random moments`;
  return [
    plural(point.connections, "connection"),
    plural(point.sites, "site"),
    plural(point.nodes, "node"),
    manner,
    `platform ${point.platformMs} ms`,
  ].join(", ");
}
