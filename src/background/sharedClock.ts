// The time by which nodes agree on leases and due times: the database's. A node whose own clock is off would otherwise take
// what another node has in hand. The database is asked every few seconds; in between, the monotonic clock goes on from its answer.

import { maxSkewMs } from "../kernel/time.ts";

export type SharedClock = {
  read(): Promise<SharedTime>;
  /** Converts a time of this node's clock, by the last reading. */
  fromLocal: (at: number) => number;
  /**
   * How far the shared time may be ahead of what this node takes for it: the answer of the database took a while, and the
   * machine may have been suspended since. A lease may end that much earlier than its node believes.
   */
  lagMs: () => number;
};

type SharedTime = {
  now: number;
  /** This node's clock differs by more than is permitted: it must not claim anything. */
  isOff: boolean;
};

type SharedClockOptions = {
  /** Returns the time of the database; null where it has no clock of its own. */
  readDatabase: () => Promise<number | null>;
  now: () => number;
  /** Milliseconds on a monotonic clock. */
  elapsed: () => number;
};

/** The database was too slow to say what time it is: nothing is claimed until it answers faster. */
class ClockNotRead extends Error {}

const maxAgeMs = 10_000;
/** An answer that took longer says too little about the present time. */
const maxReadMs = 2000;
/** The wall clock was set, or the machine was suspended, if the two clocks of the node move apart by more than this. */
const maxDriftMs = 500;

/**
 * `aheadMs` is how far the database's clock was ahead of the monotonic one, give or take `errorMs`; `driftMs` how far the wall
 * clock was.
 */
type Reading = { at: number; aheadMs: number; driftMs: number; errorMs: number };

export function createSharedClock({ readDatabase, now, elapsed }: SharedClockOptions): SharedClock {
  let reading: Reading | null = null;
  let running: Promise<Reading | null> | null = null;

  const isCurrent = ({ at, driftMs }: Reading) => elapsed() - at < maxAgeMs && Math.abs(now() - elapsed() - driftMs) < maxDriftMs;

  async function readAnew(): Promise<Reading | null> {
    const startedAt = elapsed();
    const time = await readDatabase();
    const tookMs = elapsed() - startedAt;
    if (time === null) return null;
    if (tookMs > maxReadMs) throw new ClockNotRead("the database's clock could not be read in time");
    const at = startedAt + tookMs / 2;
    reading = { at, aheadMs: time - at, driftMs: now() - elapsed(), errorMs: tookMs / 2 };
    return reading;
  }

  return {
    async read() {
      const current = reading && isCurrent(reading) ? reading : await (running ??= readAnew().finally(() => (running = null)));
      if (!current) return { now: now(), isOff: false };
      const time = Math.round(elapsed() + current.aheadMs);
      return { now: time, isOff: Math.abs(now() - time) > maxSkewMs };
    },
    fromLocal: (at) => (reading ? Math.round(at - now() + elapsed() + reading.aheadMs) : at),
    lagMs: () => (reading ? Math.ceil(reading.errorMs + Math.max(0, now() - elapsed() - reading.driftMs)) : 0),
  };
}

/** The node's own clock, where no other node has to agree. */
export const localClock = (now: () => number): SharedClock => ({
  read: async () => ({ now: now(), isOff: false }),
  fromLocal: (at) => at,
  lagMs: () => 0,
});
