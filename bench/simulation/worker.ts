// The delivery worker of a node, as in src/delivery/worker.ts: polls once a second, and claims due deliveries up to the capacity
// of the lanes. Every connection is taken to have waiting deliveries, as in an outage: others cost a poll nothing. On a sharded
// database looks take the place of the queries of a poll.

import { lookMs } from "../../src/delivery/looks.ts";
import { maxClaimed, pollMs, sweepMs, wakeDelayMs } from "../../src/delivery/worker.ts";
import { maxRowsPerStatement } from "../../src/store/engine/database.ts";
import { statementsFor } from "./database.ts";
import type { Limits } from "./lanes.ts";
import type { RelayNode } from "./relayNode.ts";

export type Backlog = {
  limits: Limits;
  /** Deliveries waiting in the store, by site. */
  bySite: number[];
  waiting: number;
  claimed: number;
  sent: number;
  isDown: () => boolean;
};

export type WorkerCosts = {
  /** Microseconds of a poll per connection with waiting deliveries, and of claiming a delivery, without the cost of its attempt. */
  pollNode: number;
  pollDatabase: number;
  claimNode: number;
  claimDatabase: number;
};

/** Microseconds of the database for one look of a node, and the statements in it. */
export type LookCosts = { statements: number; database: number };

/** Looks for what waits on the sites of the node, as src/delivery/looks.ts. */
export function startLooks(node: RelayNode, looks: LookCosts, random: () => number): void {
  const { clock, thread, database, costs } = node.options;
  const { statements } = looks;
  const look = () =>
    node.readers.use((release) =>
      database.ask(thread, statements, statements * costs.node.statement, looks.database, () => {
        release();
        clock.after(lookMs * (0.9 + 0.2 * random()), look);
      }),
    );
  clock.after(lookMs * random(), look);
}

/** `connections` is the number of those that a poll asks for. */
export function startWorker(
  node: RelayNode,
  connections: number,
  backlog: Backlog,
  costs: WorkerCosts,
  random: () => number,
): void {
  const { clock, thread } = node.options;
  let sweptAt = -Infinity;
  let more = false;
  let hasCapacity = false;
  let isPolling = false;
  /** The newest schedule: an earlier poll replaces a later one. */
  let schedule = 0;

  function schedulePoll(ms: number): void {
    const own = ++schedule;
    clock.after(ms, () => own === schedule && poll());
  }

  function poll(): void {
    isPolling = true;
    more = false;
    hasCapacity = false;
    const sweeps = clock.now - sweptAt >= sweepMs;
    if (sweeps) sweptAt = clock.now;
    findDue(connections * (sweeps ? 2 : 1), () => claimFrom(0));
  }

  function findDue(left: number, done: () => void): void {
    if (left <= 0) return done();
    const some = Math.min(left, maxRowsPerStatement);
    const { database } = node.options;
    node.readers.use((release) =>
      database.ask(thread, 1, some * costs.pollNode, some * costs.pollDatabase, () => {
        release();
        findDue(left - some, done);
      }),
    );
  }

  function claimFrom(site: number): void {
    while (site < backlog.bySite.length && !backlog.bySite[site]) site += 1;
    if (site >= backlog.bySite.length || backlog.isDown()) return end();
    const limit = Math.min(node.lanes.capacity(backlog.limits, site), maxClaimed);
    const count = Math.min(limit, backlog.bySite[site] as number);
    if (limit === 0 || count === limit) more = true;
    if (count === 0) return claimFrom(site + 1);
    backlog.bySite[site] = (backlog.bySite[site] as number) - count;
    backlog.waiting -= count;
    backlog.claimed += count;
    claim(site, count, () => claimFrom(site + 1));
  }

  function claim(site: number, count: number, done: () => void): void {
    node.writers.use((release) =>
      node.ask(2, count * costs.claimDatabase, () =>
        node.commit(() => {
          release();
          node.readers.use((releaseReader) =>
            node.ask(statementsFor(count), 0, () => {
              releaseReader();
              let left = count;
              const read = () => {
                left -= 1;
                if (left === 0) thread.run(count * costs.claimNode, () => handOver(site, count, done));
              };
              for (let i = 0; i < count; i++) node.readConsent(site, read);
            }),
          );
        }),
      ),
    );
  }

  function handOver(site: number, count: number, done: () => void): void {
    const settled = (sent: boolean) => {
      backlog.claimed -= 1;
      if (sent) backlog.sent += 1;
      else putBack(backlog, site);
      onCapacity();
    };
    node.lanes.send(
      backlog.limits,
      site,
      Array.from({ length: count }, () => ({ settled })),
    );
    done();
  }

  function onCapacity(): void {
    hasCapacity = true;
    if (!more || isPolling) return;
    more = false;
    schedulePoll(wakeDelayMs);
  }

  function end(): void {
    isPolling = false;
    schedulePoll(more && hasCapacity ? wakeDelayMs : pollMs * (0.8 + 0.4 * random()));
  }

  schedulePoll(pollMs * random());
}

/** Renews the node's lease on its events, and looks for nodes whose lease has ended: once a second, as src/delivery/openEvents.ts. */
export function keepLease(node: RelayNode, random: () => number): void {
  const { clock } = node.options;
  const renew = () =>
    node.writers.use((release) =>
      node.ask(2, 0, () =>
        node.commit(() => {
          release();
          node.readers.use((releaseReader) => node.ask(1, 0, releaseReader));
          clock.after(pollMs * (0.8 + 0.4 * random()), renew);
        }),
      ),
    );
  clock.after(pollMs * random(), renew);
}

export function putBack(backlog: Backlog, site: number): void {
  backlog.bySite[site] = (backlog.bySite[site] ?? 0) + 1;
  backlog.waiting += 1;
}
