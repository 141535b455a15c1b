// Runs one seed: an installation, its traffic and its faults, and then the time after the faults, in which everything must
// drain.

import { isTransient } from "../../src/observability/repeatedFaults.ts";
import { platformOf } from "../../src/platforms/index.ts";
import { findInconsistency } from "./checks/integrity.ts";
import { Rules, Violation } from "./checks/rules.ts";
import { Cluster, healthy, placeCluster } from "./database/cluster.ts";
import { placeDisk } from "./database/disk.ts";
import { DatabaseFile, placeFile, SqliteError } from "./database/file.ts";
import { keyOf, type Change } from "./database/tables.ts";
import { takeDecisions } from "./decisions.ts";
import { beginFault, type FaultContext } from "./faults/kinds.ts";
import { createInternet } from "./network/internet.ts";
import { servePlatforms } from "./network/platforms.ts";
import { serveReceivers } from "./network/receivers.ts";
import type { Base } from "./relay/base.ts";
import { postgresConfig, sqliteConfig } from "./relay/config.ts";
import { Station } from "./relay/fleet.ts";
import type { RelayNode } from "./relay/node.ts";
import { Operator } from "./relay/operator.ts";
import { Senders } from "./relay/senders.ts";
import { ProcessDied, World, type SimulatedProcess } from "./runtime/world.ts";
import { drawScenario, type Focus, type PlatformLimits, type Scenario } from "./scenario.ts";

export type SeedResult = {
  seed: number;
  /** The name of its focus, if it has one. */
  focus: string | null;
  hash: string;
  /** Null where every promise held. */
  failure: string | null;
  trace: string[] | null;
  /** Simulated milliseconds. */
  ms: number;
  counts: Record<string, number>;
  /** How often each fault took effect. */
  faults: Record<string, number>;
  /** The decisions of the product that were the reason for something. */
  decisions: string[];
};

/** Rarely silent: the relay waits fifteen seconds for a receiver. */
const receiverFaults = ["failing", "deaf", "failing", "deaf", "failing", "deaf", "silent"] as const;

/** After any other fault of a node, of PostgreSQL or of the network, a node may misjudge the time of the database for a while. */
const harmlessForClocks = new Set([
  "PostgreSQL: wait for a lock",
  "PostgreSQL: slow commit",
  "PostgreSQL: commit that overtakes an earlier one",
  "network: platform out of reach",
  "network: lost request of a sender",
  "network: lost answer to a sender",
]);
/** These do not delay what the relay itself does. Transactions wait for each other without a fault, too. */
const harmlessForLanes = /^(?:platform|receiver)|: lost .* sender$|: wait for a lock$|: commit that overtakes/;
const isOfClocks = (fault: string) => /^(?:node|PostgreSQL|network): /.test(fault) && !harmlessForClocks.has(fault);

/** By then everything must have drained. */
const maxDrainMs = 120_000;
/**
 * Under a focus no fault needs longer, except one that keeps due times from being corrected or a result from being written: the relay
 * corrects due times again after a minute. A planted bug that keeps something open is found after a third of the steps.
 */
const maxFocusedDrainMs = 40_000;
/** What a node committed after its death, and after others took over from it, is found when its row is read again. */
const maxLateDrainMs = 720_000;

type NamedFocus = { name: string; focus: Focus };

export async function runSeed(
  base: Base,
  seed: number,
  { focus = null, isTraced = false }: { focus?: NamedFocus | null; isTraced?: boolean } = {},
): Promise<SeedResult> {
  const world = new World(seed, { isTraced });
  const scenario = drawScenario(world.random.stream("scenario"), base.sites, focus?.focus);
  const run = new Run(world, scenario, base, focus ? maxFocusedDrainMs : maxDrainMs);
  let failure: string | null = null;
  const onUnhandledRejection = (error: unknown) => run.onUnhandledRejection(error);
  process.on("unhandledRejection", onUnhandledRejection);
  try {
    await run.toEnd();
  } catch (error) {
    failure = error instanceof Violation ? error.message : String(error instanceof Error ? error.stack : error);
  }
  run.close();
  process.off("unhandledRejection", onUnhandledRejection);
  return {
    seed,
    focus: focus?.name ?? null,
    hash: world.trace.hash,
    failure,
    trace: world.trace.lines,
    ms: world.now,
    counts: run.counts,
    faults: world.occurred.counts,
    decisions: takeDecisions(),
  };
}

class Run {
  readonly #world: World;
  readonly #scenario: Scenario;
  readonly #base: Base;
  readonly #drainMs: number;
  readonly #rules: Rules;
  readonly #file: DatabaseFile | null = null;
  readonly #cluster: Cluster | null = null;
  readonly #stations: Station[];
  readonly #senders: Senders;
  readonly #operator: Operator;
  readonly #faults: FaultContext;
  /** Processes that were told to stop and had work left when their time was over. */
  readonly #stoppedLate = new Set<SimulatedProcess>();
  #isOver = false;
  /** A correction of due times failed, or came before a result could be written. */
  #hasUncorrectedTimes = false;

  constructor(world: World, scenario: Scenario, base: Base, drainMs: number) {
    this.#world = world;
    this.#scenario = scenario;
    this.#base = base;
    this.#drainMs = drainMs;
    const { engine, isSynchronous, replicationMs } = scenario;
    const tables = base.tables[engine];
    tables.reset();
    this.#rules = new Rules(world, {
      isDurable: (commit) => this.#file?.isDurable(commit) ?? this.#cluster?.isDurable(commit) ?? true,
      mayLose: engine === "postgres" && !isSynchronous,
      commitsWholeBatches: engine === "postgres",
      hasExactLeases: () => this.#cluster !== null && !world.occurred.names.some(isOfClocks),
      isUndisturbed: () => world.occurred.names.every((name) => harmlessForLanes.test(name)),
    });
    this.#rules.ledger.apply(tables.base, 0);
    const onCommit: DatabaseFile["onCommit"] = (changes, commit, isLost) => {
      logCommit(world, changes, commit, isLost);
      this.#rules.onCommit(changes, commit, isLost);
    };
    if (engine === "sqlite") {
      this.#file = new DatabaseFile(tables);
      this.#file.onCommit = onCommit;
    } else {
      this.#cluster = new Cluster(world, tables, { isSynchronous, replicationMs });
      this.#cluster.onCommit = onCommit;
      placeCluster(this.#cluster);
    }
    const config = engine === "sqlite" ? sqliteConfig : postgresConfig;
    this.#stations = Array.from(
      { length: scenario.nodes },
      (_, i) =>
        new Station({ world, config, onDefect: (process, error, about) => this.#onDefect(process, error, about) }, `n${i + 1}`),
    );
    this.#faults = this.#openFaults();
    this.#openNetwork();
    const findNode = () => this.#findNode();
    this.#senders = new Senders({
      world,
      random: world.random.stream("senders"),
      lossRate: () => (this.#isOver ? 0 : scenario.senderLossRate),
      findNode,
      watcher: this.#rules,
    });
    this.#operator = new Operator({
      world,
      random: world.random.stream("operator"),
      rules: this.#rules,
      sites: base.sites,
      findNode,
    });
  }

  #openFaults(): FaultContext {
    const world = this.#world;
    const random = world.random.stream("disk");
    const disk: FaultContext["disk"] = {
      flushMs: () => random.between(0.5, 6),
      nextError: null,
      hasFailed: false,
    };
    for (const { machine } of this.#stations) {
      if (this.#file) placeFile(machine, this.#file);
      placeDisk(machine, {
        flush() {
          const error = disk.nextError;
          disk.nextError = null;
          if (error) world.occurred.add("embedded database", "failed flush");
          return { ms: disk.flushMs(), error };
        },
      });
    }
    return {
      world,
      random: world.random.stream("faults"),
      stations: this.#stations,
      file: this.#file,
      cluster: this.#cluster,
      internet: createInternet(world),
      connections: this.#base.sites.flatMap(({ connections }) => connections),
      outages: new Map(),
      clocks: this.#scenario.clocks,
      disk,
      isOver: () => this.#isOver,
    };
  }

  #openNetwork(): void {
    const { platforms, receiverFaultRate } = this.#scenario;
    const { internet, outages } = this.#faults;
    const { sites } = this.#base;
    limitPlatforms(platforms.limits);
    const random = this.#world.random.stream("platforms");
    const nextFault = () =>
      !this.#isOver && platforms.faults.length > 0 && random.chance(platforms.rate) ? random.pick(platforms.faults) : null;
    servePlatforms(internet, sites, { random, nextFault, outages }, this.#rules);
    const receiverRandom = this.#world.random.stream("receivers");
    const nextReceiverFault = () =>
      !this.#isOver && receiverRandom.chance(receiverFaultRate) ? receiverRandom.pick(receiverFaults) : null;
    serveReceivers(internet, sites, { random: receiverRandom, nextFault: nextReceiverFault }, (push) => this.#rules.onPush(push));
  }

  /** Any node that is up, as a load balancer chooses it. */
  #findNode(): RelayNode | null {
    const up = this.#stations.flatMap(({ node }) => (node?.process.isAlive ? [node] : []));
    return up.length === 0 ? null : this.#world.random.pick(up);
  }

  #onDefect(process: SimulatedProcess, error: unknown, about: Record<string, unknown>): void {
    // A dead process reports nothing.
    if (!process.isAlive) return;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#world.log(process.name, `defect ${text.split("\n", 1)[0]} ${JSON.stringify(about)}`);
    if ("dueTimes" in about || "event" in about) this.#hasUncorrectedTimes = true;
    // Without its database a relay cannot stop in order. It says what is left, and ends. What is left finds the store closed.
    if ("stopping" in about) this.#stoppedLate.add(process);
    const isOfStop =
      this.#stoppedLate.has(process) &&
      ("stopping" in about || (error instanceof Error && error.message === "the store is closed"));
    const isOfLostEvent = typeof about.event === "string" && this.#rules.isLost(about.event);
    const isExpectedHere = isExpected(error) || isOfLostEvent || isOfStop;
    if (!isExpectedHere) this.#rules.fail(`a defect was reported: ${text}`);
  }

  onUnhandledRejection(error: unknown): void {
    // The code of a process that has died does not run on; what it throws has no effect.
    if (error instanceof ProcessDied) return;
    this.#rules.fail(`unhandled rejection: ${error instanceof Error ? error.stack : String(error)}`);
  }

  async toEnd(): Promise<void> {
    const { trafficMs, requests, faults, actions } = this.#scenario;
    const world = this.#world;
    for (const { at, request } of requests) world.after(at, "sender", () => this.#senders.send(request));
    for (const { at, kind } of faults)
      world.after(at, "fault", () => {
        if (!this.#isOver) beginFault(kind, this.#faults);
      });
    for (const { at, kind } of actions) world.after(at, "operator", () => this.#operator.act(kind));
    for (const station of this.#stations) station.start();
    world.afterAction = () => {
      if (this.#rules.violation) throw this.#rules.violation;
    };
    await world.runUntil(() => world.now >= trafficMs);
    this.#heal();
    let checkedAt = -1;
    let isOpen = true;
    // Only a commit can change it.
    const isDrained = () => {
      if (this.#senders.open > 0 || this.#operator.open > 0) return false;
      if (!this.#stations.every((station) => station.knowsItsClock)) return false;
      if (this.#rules.seen.commits !== checkedAt) isOpen = this.#rules.findOpen() !== null;
      checkedAt = this.#rules.seen.commits;
      return !isOpen;
    };
    const drainMs = () => {
      if (this.#cluster?.hasLateCommits) return maxLateDrainMs;
      return this.#hasUncorrectedTimes ? maxDrainMs : this.#drainMs;
    };
    const until = () => trafficMs + drainMs();
    await world.runUntil(() => world.now >= until() || isDrained());
    if (!isDrained()) {
      const { open } = this.#operator;
      this.#rules.fail(`not drained: ${this.#senders.open} senders, ${open} actions, ${this.#rules.findOpen()}`);
    }
    this.#rules.checkEnd();
    await this.#checkIntegrity();
    if (this.#rules.violation) throw this.#rules.violation;
  }

  async #checkIntegrity(): Promise<void> {
    // Rows of an event stay behind when the commit of the event itself is lost.
    if (this.#rules.hasLost || this.#rules.violation) return;
    this.#cluster?.transactions.leave();
    const found = await findInconsistency(this.#base.tables[this.#scenario.engine], this.#world.epoch + this.#world.now);
    if (found !== null) this.#rules.fail(`the check of the data finds ${found}`);
  }

  /** The faults stop. */
  #heal(): void {
    const world = this.#world;
    world.log("world", "faults stop");
    this.#isOver = true;
    const { file, cluster, internet, outages, disk } = this.#faults;
    internet.heal();
    outages.clear();
    disk.nextError = null;
    const random = world.random.stream("healed");
    disk.flushMs = () => random.between(0.5, 6);
    if (file) file.failure = null;
    if (cluster) {
      cluster.faults = healthy(random);
      cluster.restart();
      cluster.returnStandby();
      cluster.rejoin();
    }
    for (const station of this.#stations) {
      station.correctClock();
      station.downUntil = 0;
      if (station.process) Object.assign(station.process, { death: null, suspension: null });
      station.start();
    }
    // A relay whose flush has failed refuses writes until it is started again.
    if (disk.hasFailed) this.#stations[0]?.kill();
    this.#operator.keepResuming();
  }

  get counts(): Record<string, number> {
    const starts = this.#stations.reduce((sum, station) => sum + station.starts, 0);
    const events = this.#rules.ledger.events.size;
    return { ...this.#rules.seen, ...this.#senders.answers, starts, events, steps: this.#world.steps };
  }

  /** Nothing of the seed may run on. */
  close(): void {
    for (const { process } of this.#stations) {
      process?.onEnd.clear();
      if (process) process.isAlive = false;
    }
  }
}

/** The trace names the rows. Its hash depends on their contents, too. */
function logCommit(world: World, changes: readonly Change[], commit: number, isLost: boolean): void {
  const rows = changes.map(({ table, before, after }) => {
    const [sign, row] = after ? [before ? "~" : "+", after] : ["-", before ?? []];
    return `${sign}${keyOf(table, row)}`;
  });
  world.log("database", `${isLost ? "loses" : "has"} commit ${commit}: ${rows.join(", ")}`);
  world.trace.mix(JSON.stringify(changes.map(({ after }) => after)));
}

/** Errors of a broken infrastructure, which the product reports and survives. */
function isExpected(error: unknown): boolean {
  if (isTransient(error) || error instanceof SqliteError) return true;
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  // A statement that waited too long for a lock; a transaction that a failed statement had ended.
  if (["57014", "25P02"].includes(code)) return true;
  // A relay that cannot open its database at the start ends with a message, and is started again. A mark that was computed before a
  // promotion is not written. A database that answers late does not tell the time.
  return ["FlushFailed", "ConfigFaults", "MarkOutdated", "ClockNotRead"].includes(error.constructor.name);
}

const limited = ["webhook", "meta", "segment"];

/** The seed decides how much fits into the lanes. */
function limitPlatforms({ lanes, batch, perSecond }: PlatformLimits): void {
  for (const id of limited) {
    const platform = platformOf(id) as unknown as Record<string, unknown>;
    platform.lanes = lanes;
    if (id !== "webhook") platform.batch = batch;
    if (id === "segment") platform.quota = { requests: perSecond, seconds: 1 };
  }
}
