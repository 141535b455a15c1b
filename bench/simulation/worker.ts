// The worker of a node, as src/delivery/worker.ts: a look over all connections once a second, and what is due is taken in hand,
// no more than the lanes have room for.

import { statementsFor } from "./database.ts";
import type { Limits } from "./lanes.ts";
import type { RelayNode } from "./relayNode.ts";

export type Backlog = {
  limits: Limits;
  /** Deliveries that wait in the store, by site. */
  bySite: number[];
  waiting: number;
  inHand: number;
  sent: number;
  isDown: () => boolean;
};

export type WorkerCosts = {
  /** Microseconds for each connection of a look, and for each delivery that is taken, beside what its attempt costs. */
  lookNode: number;
  lookDatabase: number;
  takeNode: number;
  takeDatabase: number;
};

const pollMs = 1000;
const sweepMs = 2000;
const gatherMs = 5;
const maxAtOnce = 200;
const perStatement = 64;

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
  let roomSinceLook = false;
  let isLooking = false;
  /** Grows with each plan: a look that was planned for later is forgotten when one comes sooner. */
  let plan = 0;

  function planLook(ms: number): void {
    const mine = ++plan;
    clock.after(ms, () => mine === plan && look());
  }

  function look(): void {
    isLooking = true;
    more = false;
    roomSinceLook = false;
    const sweeps = clock.now - sweptAt >= sweepMs;
    if (sweeps) sweptAt = clock.now;
    askAbout(connections * (sweeps ? 2 : 1), () => takeFrom(0));
  }

  function askAbout(left: number, done: () => void): void {
    if (left <= 0) return done();
    const some = Math.min(left, perStatement);
    const { database } = node.options;
    node.readers.use((release) =>
      database.ask(thread, 1, some * costs.lookNode, some * costs.lookDatabase, () => {
        release();
        askAbout(left - some, done);
      }),
    );
  }

  function takeFrom(site: number): void {
    while (site < backlog.bySite.length && !backlog.bySite[site]) site += 1;
    if (site >= backlog.bySite.length || backlog.isDown()) return end();
    const limit = Math.min(node.lanes.room(backlog.limits, site), maxAtOnce);
    const count = Math.min(limit, backlog.bySite[site] as number);
    if (limit === 0 || count === limit) more = true;
    if (count === 0) return takeFrom(site + 1);
    backlog.bySite[site] = (backlog.bySite[site] as number) - count;
    backlog.waiting -= count;
    backlog.inHand += count;
    claim(site, count, () => takeFrom(site + 1));
  }

  function claim(site: number, count: number, done: () => void): void {
    node.writers.use((release) =>
      node.ask(2, count * costs.takeDatabase, () =>
        node.commit(() => {
          release();
          node.readers.use((releaseReader) =>
            node.ask(statementsFor(count), 0, () => {
              releaseReader();
              let left = count;
              const read = () => {
                left -= 1;
                if (left === 0) thread.run(count * costs.takeNode, () => handOver(site, count, done));
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
      backlog.inHand -= 1;
      if (sent) backlog.sent += 1;
      else putBack(backlog, site);
      madeRoom();
    };
    node.lanes.send(
      backlog.limits,
      site,
      Array.from({ length: count }, () => ({ settled })),
    );
    done();
  }

  function madeRoom(): void {
    roomSinceLook = true;
    if (!more || isLooking) return;
    more = false;
    planLook(gatherMs);
  }

  function end(): void {
    isLooking = false;
    planLook(more && roomSinceLook ? gatherMs : pollMs * (0.8 + 0.4 * random()));
  }

  planLook(pollMs * random());
}

export function putBack(backlog: Backlog, site: number): void {
  backlog.bySite[site] = (backlog.bySite[site] ?? 0) + 1;
  backlog.waiting += 1;
}
