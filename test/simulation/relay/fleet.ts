// The nodes of a seed: each is a machine on which a supervisor starts the relay again when it ends.

import type { Config } from "../../../src/installation/config.ts";
import { maxSkewMs } from "../../../src/kernel/time.ts";
import { Machine, type SimulatedProcess, type World } from "../runtime/world.ts";
import { startNode, type RelayNode } from "./node.ts";

type FleetOptions = {
  world: World;
  config: Config;
  /** An error that the product reported. */
  onDefect: (process: SimulatedProcess, error: unknown, about: Record<string, unknown>) => void;
};

/** A supervisor waits this long before it starts the process again. */
const restartMs = 200;

/** The relay compares its two clocks every second. */
const noticedMs = 1200;
/** Far longer than the correction of the few rows of a seed takes. */
const correctionMs = 300;

export class Station {
  readonly machine: Machine;
  /** The process that was started last. */
  process: SimulatedProcess | null = null;
  /** Set while the relay accepts requests. */
  node: RelayNode | null = null;
  #upAt = 0;
  /** Set by a fault: the supervisor is stopped until then. */
  downUntil = 0;
  readonly #options: FleetOptions;
  starts = 0;

  constructor(options: FleetOptions, name: string) {
    this.#options = options;
    this.machine = new Machine(options.world, name);
  }

  start(): void {
    const { world, config, onDefect } = this.#options;
    if (this.process?.isAlive) return;
    if (world.now < this.downUntil) return this.#startLater();
    const process = this.machine.start();
    this.process = process;
    this.starts += 1;
    process.onEnd.add(() => this.#onEnd(process));
    process.run(() => {
      startNode(process, { config, onDefect: (error, about) => onDefect(process, error, about) }).then(
        (node) => {
          if (!process.isAlive) return;
          world.log(process.name, "is up");
          this.node = node;
          this.#upAt = world.now;
        },
        (error: unknown) => {
          if (!process.isAlive) return;
          onDefect(process, error, { at: "start" });
          process.kill("could not start");
        },
      );
    });
  }

  #onEnd(process: SimulatedProcess): void {
    if (this.process === process) this.node = null;
    this.#startLater();
  }

  #startLater(): void {
    const { world } = this.#options;
    const ms = Math.max(restartMs, this.downUntil - world.now);
    world.after(ms, `start ${this.machine.name}`, () => this.start());
  }

  /** Corrects a clock that is wrong, as soon as a relay that was not suspended must have noticed it. */
  correctClock(): void {
    const { machine, process } = this;
    const { world } = this.#options;
    if (Math.abs(machine.clockOffset) <= maxSkewMs) return;
    const wrongMs = world.now - Math.max(machine.clockSetAt, process?.pausedUntil ?? 0);
    if (wrongMs >= noticedMs) machine.setClock(-machine.clockOffset);
    else world.after(Math.max(1, noticedMs - wrongMs), `correct ${machine.name}`, () => this.correctClock());
  }

  /**
   * False while the relay may not have noticed yet that its clock was set by hours, and that its rows are to be corrected. One that
   * died with a wrong clock corrects the rows when it is up again.
   */
  get knowsItsClock(): boolean {
    const { machine, process, node } = this;
    if (Math.abs(machine.clockOffset) > maxSkewMs) return false;
    if (machine.correctedAt === 0) return true;
    const since = Math.max(machine.correctedAt, process?.pausedUntil ?? 0, this.#upAt);
    return node !== null && this.#options.world.now >= since + noticedMs + correctionMs;
  }

  /** As kill -9 does. */
  kill(): void {
    this.process?.kill("killed");
  }

  /** Ends in order, as on SIGTERM. No request reaches it meanwhile. */
  stop(): void {
    const { node, process } = this;
    if (!node || !process) return;
    this.node = null;
    const { world } = this.#options;
    world.log(process.name, "stops");
    world.occurred.add("node", "restart in order");
    process.run(() => {
      node.stop().then(
        () => process.kill("stopped"),
        (error: unknown) => {
          this.#options.onDefect(process, error, { at: "stop" });
          process.kill("could not stop");
        },
      );
    });
  }
}
