// Simulates a whole installation under load: senders, nodes, database and platforms. The same seed gives the same run.

import { seededRandom } from "../../standins/shared/seededRandom.ts";
import { Clock } from "./clock.ts";
import type { Costs } from "./costs.ts";
import { Database } from "./database.ts";
import { limitsOf, type Limits } from "./lanes.ts";
import { startLoad, type Load } from "./load.ts";
import { Cores, Thread } from "./machine.ts";
import { RelayNode } from "./relayNode.ts";
import { keepLease, putBack, startLooks, startWorker, type Backlog, type LookCosts, type WorkerCosts } from "./worker.ts";
import { Tally, type Result } from "./tally.ts";

export type Scenario = {
  seed: number;
  warmMs: number;
  ms: number;
  nodes: number;
  sites: number;
  platforms: readonly string[];
  platformMs: number;
  load: Load;
  costs: Costs;
  worker: WorkerCosts;
  /** For a sharded database, where nodes look for what waits instead of asking at every poll. */
  looks?: LookCosts;
  fsyncMs: number;
  roundTripMs: number;
  poolSize: number;
  commitGroups: number;
  /** Separate machines, or one for all processes as in the measurement, at the speed that other processes leave. */
  machines: { databaseCores: number; databaseSpeed?: number } | { shared: number; speed: number };
  /** Deliveries of each site that wait for the first platform at the start. */
  backlogBySite?: number;
  /** The first platform is down during this time. */
  outage?: { fromMs: number; toMs: number };
};

export function simulate(scenario: Scenario): Result {
  const clock = new Clock();
  const random = seededRandom(scenario.seed);
  const { machines, costs } = scenario;
  const shared = "shared" in machines ? new Cores(clock, random, machines.shared, machines.speed) : null;
  const databaseCores =
    "shared" in machines ? (shared as Cores) : new Cores(clock, random, machines.databaseCores, machines.databaseSpeed ?? 1);
  const database = new Database(clock, { ...scenario, cores: databaseCores });
  const platforms = scenario.platforms.map(limitsOf);
  const isDown = (limits?: Limits) =>
    (!limits || limits.id === platforms[0]?.id) &&
    scenario.outage !== undefined &&
    clock.now >= scenario.outage.fromMs &&
    clock.now < scenario.outage.toMs;
  const backlog = backlogOf(scenario, platforms[0], () => isDown());
  const stub = shared && new Thread(shared);
  const call = (limits: Limits, answered: (passed: boolean) => void) => {
    const answer = () => clock.after(scenario.platformMs, () => answered(!isDown(limits)));
    if (stub) stub.run(costs.bench.request, answer);
    else answer();
  };
  const tally = new Tally(scenario, clock, database, databaseCores, backlog);
  const onFirst = (_limits: Limits, site: number, sent: boolean) => {
    if (sent) tally.sentAtOnce += 1;
    else putBack(backlog, site);
  };
  const nodes = Array.from({ length: scenario.nodes }, () => {
    const thread = new Thread(shared ?? new Cores(clock, random, 1));
    const { poolSize, commitGroups } = scenario;
    return new RelayNode({
      clock,
      thread,
      database,
      poolSize,
      costs,
      commitGroups,
      platforms,
      call,
      onFirst,
    });
  });
  tally.watch(nodes);
  const { looks } = scenario;
  const polled = looks ? 0 : scenario.sites * platforms.length;
  for (const node of nodes) {
    startWorker(node, polled, backlog, scenario.worker, random);
    if (looks) startLooks(node, looks, random);
    keepLease(node, random);
  }
  startLoad(scenario.load, {
    clock,
    random,
    nodes,
    sites: scenario.sites,
    deliveries: platforms.length,
    sender: shared && { thread: new Thread(shared), us: costs.bench.sender },
    untilMs: scenario.warmMs + scenario.ms,
    onArrived: () => void (tally.arrived += 1),
    onAnswered: (ms) => tally.answer(ms),
  });
  clock.runUntil(scenario.warmMs);
  tally.begin();
  clock.runUntil(scenario.warmMs + scenario.ms);
  return tally.end();
}

function backlogOf(scenario: Scenario, first: Limits | undefined, isDown: () => boolean): Backlog {
  const each = first ? (scenario.backlogBySite ?? 0) : 0;
  const bySite = Array.from({ length: scenario.sites }, () => each);
  const limits = first ?? { id: "none", lanes: 1, batch: 1 };
  return { limits, bySite, waiting: each * scenario.sites, claimed: 0, sent: 0, isDown };
}
