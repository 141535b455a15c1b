// The measurements in measured.json: `npm run bench -- --only nodes` writes them, capacity.ts computes with them.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { countOf } from "../src/kernel/text.ts";
import type { Drain, PollCost } from "./deliveryWorker.ts";
import type { FleetResult, Shape } from "./support/fleet.ts";

/** Senders that wait for their answers, or random arrivals per second. */
export type PointLoad = { senders: number } | { arrivals: number };

export type Point = Shape & PointLoad & { platformMs: number; result: FleetResult };

export type Measured = {
  measuredOn: string;
  cores: number;
  points: Point[];
  drains: Drain[];
  poll: PollCost;
  /** Bytes of an event in the tables, by its number of connections. */
  bytesPerEvent: Record<string, number>;
  fsyncMs: number;
  roundTripMs: number;
  /** Largest resident memory of a node, MB. */
  nodeMb: number;
  /** Connections that a node may open, and had open at the end. */
  poolSize: number;
  poolUsed: number;
  /** Events a second that one node counts and deletes on PostgreSQL: `npm run bench -- --only upkeep` writes them. */
  upkeep: Record<Upkeep, number>;
};

export const upkeepWorks = ["counting", "removing answers", "purging"] as const;
export type Upkeep = (typeof upkeepWorks)[number];

const file = fileURLToPath(new URL("./measured.json", import.meta.url));

export const readMeasured = (): Measured => JSON.parse(readFileSync(file, "utf8"));
export const writeMeasured = (measured: Measured) => writeFileSync(file, `${JSON.stringify(measured, roundedTo4, 2)}\n`);

const roundedTo4 = (_key: string, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(4)) : value);

export function nameOf(point: Shape & PointLoad & { platformMs: number }): string {
  const load = "senders" in point ? countOf(point.senders, "sender") : `${point.arrivals}/s at random moments`;
  return [
    countOf(point.connections, "connection"),
    countOf(point.sites, "site"),
    countOf(point.nodes, "node"),
    load,
    `platform ${point.platformMs} ms`,
  ].join(", ");
}
