// Collects the results of a simulated run.

import { quantile } from "../part.ts";
import type { Clock } from "./clock.ts";
import type { Database } from "./database.ts";
import type { Cores } from "./machine.ts";
import type { RelayNode } from "./relayNode.ts";
import type { Backlog } from "./worker.ts";

/** Costs and counts are per event, after the warm-up, unless noted. */
export type Result = {
  events: number;
  perSecond: number;
  p50: number;
  p99: number;
  cpu: number;
  databaseCpu: number;
  statements: number;
  commits: number;
  requests: number;
  /** Utilisation of a node's thread, the database's cores, and a node's connections for writing. */
  busy: { node: number; database: number; pool: number };
  /** Totals since the start: events received and answered; deliveries sent at once, sent later, and not sent yet. */
  arrived: number;
  answered: number;
  sentAtOnce: number;
  sentLater: number;
  waiting: number;
  /** Deliveries of the backlog that were sent per measured second. */
  drainedPerSecond: number;
  /** The time at which the backlog was empty; null while it is not. */
  drainedAtMs: number | null;
};

type Counts = Record<
  "cpu" | "thread" | "databaseCpu" | "statements" | "commits" | "requests" | "pool" | "later" | "core",
  number
>;

export class Tally {
  arrived = 0;
  answered = 0;
  sentAtOnce = 0;
  #times: number[] = [];
  #nodes: readonly RelayNode[] = [];
  #before: Counts | undefined;
  #drainedAtMs: number | null = null;
  readonly options: { warmMs: number; ms: number };
  readonly clock: Clock;
  readonly database: Database;
  readonly cores: Cores;
  readonly backlog: Backlog;
  constructor(options: { warmMs: number; ms: number }, clock: Clock, database: Database, cores: Cores, backlog: Backlog) {
    this.options = options;
    this.clock = clock;
    this.database = database;
    this.cores = cores;
    this.backlog = backlog;
  }

  watch(nodes: readonly RelayNode[]): void {
    this.#nodes = nodes;
    const check = () => {
      const isEmpty = this.backlog.waiting + this.backlog.claimed === 0;
      if (!isEmpty) this.#drainedAtMs = null;
      else this.#drainedAtMs ??= this.clock.now;
      this.clock.after(20, check);
    };
    check();
  }

  answer(ms: number): void {
    this.answered += 1;
    if (this.#before) this.#times.push(ms);
  }

  begin(): void {
    this.#before = this.#counts();
  }

  #counts(): Counts {
    const sum = (of: (node: RelayNode) => number) => this.#nodes.reduce((total, node) => total + of(node), 0);
    return {
      cpu: sum(({ options }) => options.thread.usedUs),
      thread: sum(({ options }) => options.thread.busyMs),
      databaseCpu: this.database.usedUs,
      statements: this.database.statements,
      commits: this.database.commits,
      requests: sum(({ lanes }) => lanes.requests),
      pool: sum(({ writers }) => writers.heldMs),
      later: this.backlog.sent,
      core: this.cores.busyMs,
    };
  }

  end(): Result {
    const { ms } = this.options;
    const after = this.#counts();
    const events = this.#times.length;
    const spent = (what: keyof Counts) => after[what] - (this.#before?.[what] ?? 0);
    const per = (what: keyof Counts) => spent(what) / events;
    const writers = this.#nodes.reduce((total, node) => total + node.writers.size, 0);
    return {
      events,
      perSecond: (events * 1000) / ms,
      p50: quantile(this.#times, 0.5),
      p99: quantile(this.#times, 0.99),
      cpu: per("cpu"),
      databaseCpu: per("databaseCpu"),
      statements: per("statements"),
      commits: per("commits"),
      requests: per("requests"),
      busy: {
        node: spent("thread") / ms / this.#nodes.length,
        database: spent("core") / ms / this.cores.count,
        pool: spent("pool") / ms / writers,
      },
      arrived: this.arrived,
      answered: this.answered,
      sentAtOnce: this.sentAtOnce,
      sentLater: this.backlog.sent,
      waiting: this.backlog.waiting + this.backlog.claimed,
      drainedPerSecond: (spent("later") * 1000) / ms,
      drainedAtMs: this.#drainedAtMs,
    };
  }
}
