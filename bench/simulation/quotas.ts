// The quotas that the platforms declare: the maximum rate of a connection, and the number of sites that can share one quota.

import { platforms } from "../../src/platforms/index.ts";
import { commitGroups } from "../../src/store/engine/postgres/engine.ts";
import { workerCostsOf, type Costs } from "./costs.ts";
import { assumed } from "./plan.ts";
import type { Measured } from "./points.ts";
import { simulate } from "./world.ts";

export type Allowance = {
  platform: string;
  requestsPerSecond: number;
  /** In full batches. */
  eventsPerSecond: number;
  shared: boolean;
};

export const allowances = (): Allowance[] =>
  platforms.flatMap(({ name, quota, batch }) => {
    if (!quota) return [];
    const requestsPerSecond = quota.requests / quota.seconds;
    const shared = quota.sharedBy === "app";
    return [{ platform: name, requestsPerSecond, eventsPerSecond: requestsPerSecond * batch, shared }];
  });

export type Sharing = { platform: string; sites: number; p50: number; p99: number };

/** Simulates a minute of one node with one event per second and site, where all sites share one quota. */
export function shareAllowance(measured: Measured, costs: Costs, sitesEach: readonly number[]): Sharing[] {
  const shared = platforms.filter(({ quota }) => quota?.sharedBy === "app");
  return shared.flatMap(({ id, name }) =>
    sitesEach.map((sites) => {
      const { p50, p99 } = simulate({
        seed: 1,
        // The initial burst is used up before the measurement.
        warmMs: 120_000,
        ms: 60_000,
        nodes: 1,
        sites,
        platforms: [id],
        platformMs: assumed.platformMs,
        load: { perSecond: sites },
        costs,
        worker: workerCostsOf(measured, costs),
        fsyncMs: measured.fsyncMs,
        roundTripMs: assumed.roundTripMs,
        poolSize: measured.poolSize,
        commitGroups,
        machines: { databaseCores: 8 },
      });
      return { platform: name, sites, p50, p99 };
    }),
  );
}
