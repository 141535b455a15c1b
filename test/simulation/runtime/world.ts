// The simulated world of one seed: its time, its machines and the processes on them. Whatever happens is an action that is
// scheduled at a moment; between two actions all microtasks run. Nothing else moves time.

import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers";
import { maxSkewMs } from "../../../src/kernel/time.ts";
import { Occurrences } from "./occurrences.ts";
import { Random } from "./random.ts";
import { Trace } from "./trace.ts";

/** The process whose code runs. Promises carry it along. */
const running = new AsyncLocalStorage<SimulatedProcess>();

export const currentProcess = (): SimulatedProcess | undefined => running.getStore();

/** The process whose code runs, for what only code of the product may call. */
export function callingProcess(): SimulatedProcess {
  const process = running.getStore();
  if (!process) throw new Error("code of the product runs outside of a simulated process");
  return process;
}

/** Thrown by synchronous calls of a process that has died. Its code goes on for the rest of the microtask, without effect. */
export class ProcessDied extends Error {}

export type Action = {
  at: number;
  order: number;
  label: string;
  process: SimulatedProcess | null;
  run: () => void;
  isCancelled: boolean;
};

const nothing = () => {};

/** Cancels an action. It stays in its place until its time has come, and must not keep alive what it would have used. */
export function cancel(action: Action): void {
  action.isCancelled = true;
  action.run = nothing;
}

/** A run that does not end by itself. Orders of magnitude above what a seed needs. */
const maxActions = 2_000_000;

export class World {
  /** Milliseconds since the seed began. */
  now = 0;
  readonly random: Random;
  readonly trace: Trace;
  readonly occurred = new Occurrences();
  /** Of the real clock at the beginning. */
  readonly epoch: number;
  readonly machines: Machine[] = [];
  /** Called after every action, when its microtasks have run. */
  afterAction: () => void = () => {};
  /** In the order in which they will run, the next one last. */
  readonly #actions: Action[] = [];
  #count = 0;
  /** The actions so far. */
  steps = 0;

  constructor(seed: number, { isTraced = false } = {}) {
    this.random = new Random(String(seed));
    this.trace = new Trace(isTraced);
    // The installation that all seeds begin with is that of seed 0.
    const day = seed === 0 ? 0 : 1 + this.random.stream("epoch").next();
    this.epoch = Date.UTC(2026, 10, 15) + Math.floor(day * 86_400_000);
  }

  log(who: string, what: string): void {
    this.trace.add(this.now, who, what);
  }

  after(ms: number, label: string, run: () => void, process: SimulatedProcess | null = null): Action {
    const at = this.now + Math.max(0, ms);
    const action = { at, order: this.#count++, label, process, run, isCancelled: false };
    this.#insert(action);
    return action;
  }

  #insert(action: Action): void {
    const actions = this.#actions;
    let [low, high] = [0, actions.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = actions[middle] as Action;
      if (other.at > action.at || (other.at === action.at && other.order > action.order)) low = middle + 1;
      else high = middle;
    }
    actions.splice(low, 0, action);
  }

  #step(): void {
    const action = this.#actions.pop();
    if (!action) throw new Error("nothing is left to happen");
    if (action.isCancelled) return;
    const { process } = action;
    if (process && !process.isAlive) return;
    if (process && process.pausedUntil > action.at) {
      action.at = process.pausedUntil;
      return this.#insert(action);
    }
    this.steps += 1;
    this.now = action.at;
    this.trace.add(this.now, process?.name ?? "world", action.label);
    if (!process) return action.run();
    try {
      process.run(action.run);
    } catch (error) {
      if (!(error instanceof ProcessDied)) throw error;
    }
  }

  /** Runs actions until `isDone`. Rejects with what `afterAction` throws. */
  runUntil(isDone: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      const end = (error?: unknown) => {
        isOver = true;
        if (error === undefined) resolve();
        else reject(error);
      };
      const step = () => {
        if (isOver) return;
        try {
          this.afterAction();
          if (isDone()) return end();
          if (this.#count > maxActions) throw new Error("the run does not end");
          this.#step();
        } catch (error) {
          end(error);
        }
      };
      // The event loop runs all microtasks after each of a list of immediates, and begins a new turn only after the list.
      const turn = () => {
        for (let i = 0; i < 64; i++) setImmediate(step);
        setImmediate(() => {
          if (!isOver) turn();
        });
      };
      turn();
    });
  }
}

/** A machine keeps its clock and its disk when a process on it dies. */
export class Machine {
  readonly world: World;
  readonly name: string;
  /** How far the machine's clock is ahead of the world's time. */
  clockOffset = 0;
  /** When its clock was set last. */
  clockSetAt = 0;
  /** When it was last set by hours, which may have been its correction; 0 if never. */
  correctedAt = 0;
  #processes = 0;

  constructor(world: World, name: string) {
    this.world = world;
    this.name = name;
    world.machines.push(this);
  }

  /** Moves its clock. Monotonic clocks do not notice. */
  setClock(ms: number): void {
    const { occurred } = this.world;
    const direction = ms < 0 ? "back" : "forward";
    this.world.log(this.name, `has its clock set by ${ms} ms`);
    const isLong = Math.abs(ms) > maxSkewMs;
    occurred.add("node", isLong ? `clock set ${direction} by an hour or so` : `clock set ${direction}`);
    this.clockOffset += ms;
    this.clockSetAt = this.world.now;
    if (isLong) this.correctedAt = this.world.now;
  }

  start(): SimulatedProcess {
    this.#processes += 1;
    return new SimulatedProcess(this, `${this.name}.${this.#processes}`);
  }
}

export class SimulatedProcess {
  readonly world: World;
  readonly machine: Machine;
  readonly name: string;
  readonly random: Random;
  readonly bootedAt: number;
  isAlive = true;
  /** Nothing runs before: the machine is suspended, or busy elsewhere. */
  pausedUntil = 0;
  /** Set by a fault: the process dies at this effect, before or after it takes place. */
  death: { atEffect: number; isAfter: boolean } | null = null;
  /** What others can notice of the process, counted. */
  effects = 0;
  /**
   * Set by a fault: from this effect on, the process is suspended when it sends a statement, before the statement leaves, or when
   * it has called a platform.
   */
  suspension: { atEffect: number; ms: number; by: "statement" | "call" } | null = null;
  /** The state of modules that belongs to a process. */
  readonly modules = new Map<string, unknown>();
  /** What the operating system does when the process ends: it closes sockets and files. */
  readonly onEnd = new Set<() => void>();
  /** Runs code of the process. */
  readonly run: <T>(work: () => T) => T;

  constructor(machine: Machine, name: string) {
    this.machine = machine;
    this.world = machine.world;
    this.name = name;
    this.random = this.world.random.stream(name);
    this.bootedAt = this.world.now;
    // One snapshot for all actions: `running.run` would make a new one for each.
    this.run = running.run(this, () => AsyncLocalStorage.snapshot());
  }

  /** The machine's clock. */
  clock(): number {
    return Math.floor(this.world.epoch + this.world.now + this.machine.clockOffset);
  }

  /** Milliseconds on the monotonic clock. */
  elapsed(): number {
    return this.world.now - this.bootedAt;
  }

  /** Schedules an action of this process. */
  after(ms: number, label: string, run: () => void): Action {
    return this.world.after(ms, label, run, this);
  }

  /** Every effect on the outside passes here. False when the process is dead, or dies before the effect. */
  act(label: string): boolean {
    if (!this.isAlive) return false;
    this.world.log(this.name, label);
    this.effects += 1;
    if (this.death?.atEffect !== this.effects) return true;
    const { isAfter } = this.death;
    this.world.occurred.add("node", isAfter ? "crash after a call" : "crash before a call");
    this.world.log(this.name, `dies ${isAfter ? "after" : "before"} ${label}`);
    // An effect that still takes place is on its way before the sockets close.
    if (isAfter) this.world.after(0, "end", () => this.kill("killed"));
    else this.kill("killed");
    if (isAfter) this.isAlive = false;
    return isAfter;
  }

  suspend(ms: number): void {
    this.world.log(this.name, `is suspended for ${Math.round(ms)} ms`);
    this.world.occurred.add("node", "suspension");
    this.pausedUntil = this.world.now + ms;
  }

  /** Begins the suspension that a fault has set for this moment. Returns how long a message that is sent now stays inside. */
  heldMs(by: "statement" | "call"): number {
    if (this.suspension?.by === by && this.effects >= this.suspension.atEffect) {
      this.suspend(this.suspension.ms);
      this.suspension = null;
    }
    return Math.max(0, this.pausedUntil - this.world.now);
  }

  kill(reason: string): void {
    this.isAlive = false;
    if (this.onEnd.size === 0) return;
    this.world.log(this.name, reason);
    const ends = [...this.onEnd];
    this.onEnd.clear();
    for (const end of ends) end();
  }
}
