// Fits the CPU costs of an event, a delivery, a request and a statement, in microseconds, to the measured points. Each point has
// counts of statements, requests and deliveries; the fit is by least squares, and no cost is negative.

import type { Measured, Point } from "./points.ts";
import type { WorkerCosts } from "./worker.ts";

export type Costs = {
  node: { event: number; delivery: number; request: number; statement: number };
  database: { event: number; delivery: number; statement: number };
  /** The benchmark's own processes on the measured machine. */
  bench: { sender: number; request: number };
};

export function calibrate(points: readonly Point[]): Costs {
  const fit = (wanted: (point: Point) => number, ...features: ((point: Point) => number)[]) =>
    nonNegativeFit(points.map((point) => ({ x: features.map((feature) => feature(point)), y: wanted(point) })));
  const one = () => 1;
  const connections = (point: Point) => point.connections;
  const requests = ({ result }: Point) => result.requests;
  const statements = ({ result }: Point) => result.statements;
  const [nodeEvent, nodeDelivery, nodeRequest, nodeStatement] = fit(
    ({ result }) => result.cpu,
    one,
    connections,
    requests,
    statements,
  );
  const [event, delivery, statement] = fit(({ result }) => result.databaseCpu, one, connections, statements);
  const [sender, request] = fit(({ result }) => result.senderCpu + result.stubCpu, one, requests);
  return {
    node: { event: nodeEvent, delivery: nodeDelivery, request: nodeRequest, statement: nodeStatement },
    database: { event, delivery, statement },
    bench: { sender, request },
  };
}

/** A delivery of the backlog is measured as a whole; the cost of claiming it is the rest after its attempt. */
export function workerCostsOf({ poll, drains }: Measured, costs: Costs): WorkerCosts {
  const drain = drains.find(({ nodes }) => nodes === 1);
  return {
    pollNode: poll.cpu,
    pollDatabase: poll.databaseCpu,
    claimNode: Math.max(0, (drain?.cpu ?? 0) - costs.node.delivery),
    claimDatabase: Math.max(0, (drain?.databaseCpu ?? 0) - costs.database.delivery),
  };
}

type Sample = { x: number[]; y: number };

/** Least squares of the relative errors by coordinate descent; costs are not negative. */
export function nonNegativeFit(samples: readonly Sample[]): [number, number, number, number] {
  const weighted = samples.map(({ x, y }) => ({ x: x.map((value) => value / y), y: 1 }));
  const width = samples[0]?.x.length ?? 0;
  const costs = Array.from({ length: width }, () => 0);
  for (let pass = 0; pass < 20_000; pass++) {
    for (let i = 0; i < width; i++) {
      let over = 0;
      let under = 0;
      for (const { x, y } of weighted) {
        const rest = x.reduce((sum, value, j) => (j === i ? sum : sum - value * (costs[j] as number)), y);
        over += rest * (x[i] as number);
        under += (x[i] as number) ** 2;
      }
      costs[i] = under === 0 ? 0 : Math.max(0, over / under);
    }
  }
  return [costs[0] ?? 0, costs[1] ?? 0, costs[2] ?? 0, costs[3] ?? 0];
}
