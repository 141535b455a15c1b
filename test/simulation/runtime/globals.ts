// The clocks, timers and random numbers that code of the product finds in its globals. Each belongs to the process whose code
// asks. Code outside of any process has none, but may read the time.

import { callingProcess, cancel, currentProcess, type Action, type SimulatedProcess } from "./world.ts";

const maxDelayMs = 2 ** 31 - 1;

/** Timers are late, never early. */
const delayOf = (process: SimulatedProcess, ms: number) => {
  const whole = ms >= 1 && ms <= maxDelayMs ? Math.trunc(ms) : 1;
  return whole + process.random.next() * (process.random.chance(0.05) ? 10 : 1);
};

class Timer {
  action: Action | null = null;
  readonly #start: (timer: Timer) => void;

  constructor(start: (timer: Timer) => void) {
    this.#start = start;
    this.refresh();
  }

  refresh(): this {
    this.close();
    this.#start(this);
    return this;
  }

  close(): this {
    if (this.action) cancel(this.action);
    this.action = null;
    return this;
  }

  ref = () => this;
  unref = () => this;
  hasRef = () => true;
}

export function setVirtualTimeout(work: (...args: unknown[]) => void, ms = 1, ...args: unknown[]): Timer {
  const process = callingProcess();
  return new Timer((timer) => {
    timer.action = process.after(delayOf(process, ms), "timer", () => {
      timer.action = null;
      work(...args);
    });
  });
}

function setVirtualInterval(work: (...args: unknown[]) => void, ms = 1, ...args: unknown[]): Timer {
  const process = callingProcess();
  return new Timer((timer) => {
    timer.action = process.after(delayOf(process, ms), "interval", () => {
      timer.refresh();
      work(...args);
    });
  });
}

/** A turn of the event loop takes a moment. */
const turnMs = 0.01;

export function setVirtualImmediate(work: (...args: unknown[]) => void, ...args: unknown[]): Timer {
  const process = callingProcess();
  return new Timer((timer) => {
    timer.action = process.after(turnMs, "immediate", () => {
      timer.action = null;
      work(...args);
    });
  });
}

const clearVirtual = (timer: Timer | null | undefined): void => void timer?.close();

const RealDate = Date;
const realNow = Date.now;

export const virtualPerformance = {
  now: () => callingProcess().elapsed(),
  timeOrigin: 0,
  /** The simulated machines are half busy: enough idle time that no batch is held open. */
  eventLoopUtilization: () => {
    const half = callingProcess().elapsed() / 2;
    return { idle: half, active: half, utilization: 0.5 };
  },
};

class VirtualDate extends RealDate {
  constructor(...given: [] | [number | string | Date]) {
    super(...((given.length === 0 ? [VirtualDate.now()] : given) as [number]));
  }

  static override now(): number {
    return currentProcess()?.clock() ?? realNow();
  }
}

export function installGlobals(): void {
  Object.assign(globalThis, {
    setTimeout: setVirtualTimeout,
    setInterval: setVirtualInterval,
    setImmediate: setVirtualImmediate,
    clearTimeout: clearVirtual,
    clearInterval: clearVirtual,
    clearImmediate: clearVirtual,
    Date: VirtualDate,
  });
  Object.defineProperty(globalThis, "performance", { value: virtualPerformance, configurable: true });
  Math.random = () => callingProcess().random.next();
}
