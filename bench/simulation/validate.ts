// Fits the costs to some of the measured points, predicts the others, and reports the error of each.

import { commitGroups } from "../../src/store/engine/postgres/engine.ts";
import { platforms } from "../support/relay.ts";
import { calibrate, workerCostsOf, type Costs } from "./costs.ts";
import { figures, nameOf, type Figure, type Measured, type Point } from "./points.ts";
import { simulate, type Scenario } from "./world.ts";

/** One node with few and many senders, one site and many, with and without connections. All other points are predicted. */
export function isForCalibration(point: Point): boolean {
  if (point.nodes > 1 || (point.connections === 3 && point.platformMs === 0)) return false;
  if ("arrivals" in point) return point.arrivals === 50;
  if (point.sites > 1) return point.connections === 3 && point.senders === 16;
  if (point.connections === 0) return point.senders === 4 || point.senders === 256;
  // The sixth platform takes one event per request: without it the fit could not separate a request from its deliveries.
  if (point.connections === 6) return point.senders === 256;
  return point.connections === 3 && (point.senders === 16 || point.senders === 256);
}

export const costsOf = ({ points }: Measured): Costs => calibrate(points.filter(isForCalibration));

/** Describes the measured machine: all processes on the same cores, part of which other processes used. */
export function scenarioOf(point: Point, measured: Measured, costs: Costs): Scenario {
  const { cores, fsyncMs, roundTripMs, poolSize } = measured;
  const { nodes, sites, platformMs, result } = point;
  return {
    seed: 1,
    warmMs: 1000,
    ms: 4000,
    nodes,
    sites,
    platforms: platforms.slice(0, point.connections),
    platformMs,
    load: "senders" in point ? { senders: point.senders } : { perSecond: point.arrivals },
    costs,
    worker: workerCostsOf(measured, costs),
    fsyncMs,
    roundTripMs,
    poolSize,
    commitGroups,
    machines: { shared: cores, speed: Math.max(0.1, (cores - result.foreign) / cores) },
  };
}

export type Check = {
  name: string;
  forCalibration: boolean;
  /** The relative error of the simulation. */
  errors: Record<Figure, number>;
};

export function check(point: Point, measured: Measured, costs: Costs): Check {
  const simulated = simulate(scenarioOf(point, measured, costs));
  const error = (figure: Figure) => (point.result[figure] === 0 ? 0 : simulated[figure] / point.result[figure] - 1);
  return {
    name: nameOf(point),
    forCalibration: isForCalibration(point),
    errors: Object.fromEntries(figures.map((figure) => [figure, error(figure)])) as Check["errors"],
  };
}

export const checkAll = (measured: Measured, costs: Costs): Check[] =>
  measured.points.map((point) => check(point, measured, costs));
