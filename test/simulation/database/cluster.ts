// A simulated PostgreSQL with a standby. The primary has the data; the standby has the same commits, or all but the last ones.

import type { Random } from "../runtime/random.ts";
import type { SimulatedProcess, World } from "../runtime/world.ts";
import { invert } from "./file.ts";
import type { Session } from "./session.ts";
import type { Change, Tables } from "./tables.ts";
import { Transactions, type Transaction } from "./transactions.ts";

export type Server = {
  name: string;
  /** `silent`: it neither answers nor closes connections. */
  state: "up" | "down" | "silent";
  isWritable: boolean;
  timeline: number;
  sessions: Set<Session>;
};

type ClusterFaults = {
  /** How long a message travels between a node and the database, with the time that a statement takes. */
  latencyMs: (process: SimulatedProcess) => number;
  /** How long a commit takes on the server. */
  commitMs: () => number;
  /** Set by a fault: what happens to a commit that arrives. `before`: the connection breaks and nothing is committed.
   * `after`: it breaks when the transaction is committed, and the answer is lost. */
  commitFault: () => "before" | "after" | null;
  /** An error of the server in place of a statement's result; its SQLSTATE. */
  statementFault: () => string | null;
};

export const healthy = (random: Random): ClusterFaults => ({
  latencyMs: () => random.between(0.1, 0.6),
  commitMs: () => random.between(0.2, 2),
  commitFault: () => null,
  statementFault: () => null,
});

export class Cluster {
  readonly world: World;
  readonly transactions: Transactions;
  readonly servers: Server[];
  faults: ClusterFaults;
  /** Without it, a promoted standby lacks the last commits. */
  readonly isSynchronous: boolean;
  readonly #replicationMs: number;
  onCommit: (changes: readonly Change[], commit: number, isLost: boolean) => void = () => {};
  #committed = 0;
  /** Set by a fault: commits of a synchronous primary wait. */
  isStandbyAway = false;
  /** Commits that wait for the standby, by the session's process id. */
  readonly #waiting = new Map<number, (isConfirmed: boolean) => void>();
  /** A process had died when its transaction was committed. */
  hasLateCommits = false;
  /** Commits that the standby does not have yet. */
  readonly #unreplicated: (readonly Change[])[] = [];
  #pids = 1000;
  /** Commits that have arrived and not ended, in the order of their arrival. */
  readonly #committing = new Set<number>();
  #commits = 0;
  readonly #random: Random;

  constructor(world: World, tables: Tables, { isSynchronous, replicationMs }: { isSynchronous: boolean; replicationMs: number }) {
    this.world = world;
    this.#random = world.random.stream("cluster");
    this.isSynchronous = isSynchronous;
    this.#replicationMs = replicationMs;
    this.faults = healthy(this.#random);
    this.transactions = new Transactions(tables, () => Math.floor(world.epoch + world.now));
    this.servers = ["db1", "db2"].map((name, i) => ({
      name,
      state: "up",
      isWritable: i === 0,
      timeline: 1,
      sessions: new Set(),
    }));
  }

  server(name: string): Server {
    const server = this.servers.find((one) => one.name === name);
    if (!server) throw new Error(`there is no server ${name}`);
    return server;
  }

  get primary(): Server | null {
    return this.servers.find(({ state, isWritable }) => state === "up" && isWritable) ?? null;
  }

  newPid(): number {
    return ++this.#pids;
  }

  beginCommit(): number {
    this.#commits += 1;
    this.#committing.add(this.#commits);
    return this.#commits;
  }

  endCommit(number: number, hasEffect: boolean): void {
    this.#committing.delete(number);
    const [oldest = Infinity] = this.#committing;
    if (hasEffect && oldest < number) this.world.occurred.add("PostgreSQL", "commit that overtakes an earlier one");
  }

  /** Calls `finish` when the standby has everything, or when the wait for it is cancelled. */
  confirm(pid: number, finish: (isConfirmed: boolean) => void): void {
    if (!this.isSynchronous || !this.isStandbyAway) return finish(true);
    this.world.occurred.add("PostgreSQL", "commit that waits for the standby");
    this.#waiting.set(pid, finish);
  }

  cancelWait(pid: number): void {
    const finish = this.#waiting.get(pid);
    if (!finish) return;
    this.world.log("database", "stops waiting for the standby");
    this.world.occurred.add("PostgreSQL", "wait for the standby given up");
    this.#waiting.delete(pid);
    finish(false);
  }

  /** The standby gets everything. */
  returnStandby(): void {
    this.isStandbyAway = false;
    this.#unreplicated.length = 0;
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const finish of all) finish(true);
  }

  /** True when a promotion of the standby cannot undo this commit. */
  isDurable(commit: number): boolean {
    return !this.isSynchronous || commit <= this.#committed - this.#unreplicated.length;
  }

  commit(transaction: Transaction, by: SimulatedProcess, isConfirmed: boolean): void {
    const changes = this.transactions.commit(transaction);
    if (changes.length === 0) return;
    this.hasLateCommits ||= !by.isAlive;
    if (this.isSynchronous && !isConfirmed) this.#unreplicated.push(changes);
    if (!this.isSynchronous) {
      this.#unreplicated.push(changes);
      // The standby is a moment behind, and gets commits in their order, until the primary fails.
      this.world.after(this.#random.between(1, this.#replicationMs), "replicated", () => {
        if (this.primary && !this.isStandbyAway) this.#unreplicated.splice(0, this.#unreplicated.indexOf(changes) + 1);
      });
    }
    this.#committed += 1;
    this.onCommit(changes, this.#committed, false);
  }

  /** The primary fails. `isSilent`: its connections stay open, and nothing comes back. */
  fail(isSilent: boolean): void {
    const { primary } = this;
    if (!primary) return;
    this.world.log(primary.name, isSilent ? "falls silent" : "fails");
    primary.state = isSilent ? "silent" : "down";
    this.world.occurred.add("PostgreSQL", isSilent ? "primary silent" : "primary down");
    for (const session of Array.from(primary.sessions)) session.loseServer(isSilent);
  }

  /** The same server comes back, with everything that it had committed. */
  restart(): void {
    const server = this.servers.find(({ isWritable }) => isWritable);
    if (!server || server.state === "up") return;
    this.world.log(server.name, "starts again");
    for (const session of Array.from(server.sessions)) session.loseServer(false);
    server.state = "up";
    this.returnStandby();
  }

  /** The standby becomes the primary. The old one stays away until it has been made a standby. */
  promote(): void {
    const old = this.servers.find(({ isWritable }) => isWritable);
    const next = this.servers.find(({ isWritable }) => !isWritable);
    if (!old || !next || old.state === "up") return;
    this.isStandbyAway = false;
    this.#waiting.clear();
    for (const session of Array.from(old.sessions)) session.loseServer(true);
    // A synchronous standby lacks exactly what was never confirmed.
    const { length } = this.#unreplicated;
    const isLossy = length > 0 && this.#random.chance(0.8);
    const lost = this.isSynchronous ? length : isLossy ? 1 + this.#random.below(length) : 0;
    for (let i = 0; i < lost; i++) {
      const changes = this.#unreplicated.pop();
      if (!changes) break;
      this.transactions.undo(changes);
      this.#committed -= 1;
      this.onCommit(changes.map(invert).toReversed(), this.#committed, true);
    }
    this.#unreplicated.length = 0;
    this.world.log(next.name, `is promoted, ${lost} commits are lost`);
    const { occurred } = this.world;
    occurred.add("PostgreSQL", lost > 0 ? "failover with loss" : "failover without loss");
    occurred.add("PostgreSQL", "commit lost in a failover", lost);
    Object.assign(old, { isWritable: false });
    Object.assign(next, { isWritable: true, state: "up", timeline: old.timeline + 1 });
  }

  /** The old primary comes back as a standby. */
  rejoin(): void {
    for (const server of this.servers) {
      if (server.state === "up" || server.isWritable) continue;
      this.world.log(server.name, "comes back as a standby");
      for (const session of Array.from(server.sessions)) session.loseServer(false);
      server.state = "up";
      server.timeline = this.primary?.timeline ?? server.timeline;
    }
  }
}

const clusters = new WeakMap<World, Cluster>();

export const placeCluster = (cluster: Cluster) => void clusters.set(cluster.world, cluster);

export function clusterOf(world: World): Cluster {
  const cluster = clusters.get(world);
  if (!cluster) throw new Error("the world has no database server");
  return cluster;
}
