// A lease lets one node at a time do a job for the whole installation. It is a row in the store that names its holder and
// the time when it ends. A holder renews it while it works; when the holder dies, the lease ends and another node takes it.

import type { SharedClock } from "./sharedClock.ts";

export type LeaseStore<Name extends string> = {
  /** True when `owner` holds the lease until `until`. False while another node holds it. */
  acquire(name: Name, owner: string, now: number, until: number): Promise<boolean>;
  release(name: Name, owner: string): Promise<void>;
};

type Clocks = {
  now: () => number;
  /** Milliseconds on a monotonic clock. */
  elapsed: () => number;
};

type LeaseOptions<Name extends string> = Clocks & {
  leases: LeaseStore<Name>;
  name: Name;
  /** This node. */
  owner: string;
  lengthMs: number;
  onError: (error: unknown) => void;
};

export type Lease = {
  /** True while this node holds the lease. Ask before every step: it acquires or renews the lease where that is due. */
  hold(): Promise<boolean>;
  /** Hands the lease to the next node that asks for it. */
  release(): Promise<void>;
};

/**
 * Returns a function that says how much time has passed since: the longer of what the two clocks say, because the monotonic one stops
 * while the machine is suspended. Infinity after the wall clock was set back: then neither says whether it was suspended, and
 * what was stored by the earlier time is too far ahead.
 */
export function startStopwatch({ now, elapsed }: Clocks): () => number {
  const [at, started] = [now(), elapsed()];
  return () => {
    const byWallClock = now() - at;
    return byWallClock < 0 ? Infinity : Math.max(byWallClock, elapsed() - started);
  };
}

/** A lease is renewed when this share of it has passed: in the rest, a renewal that failed can be repeated. */
const renewAfter = 1 / 3;

export function createLease<Name extends string>(options: LeaseOptions<Name>): Lease {
  const { leases, name, owner, lengthMs, now, onError } = options;
  const never = () => Infinity;
  /** The time since the last acquisition. */
  let heldMs = never;

  return {
    async hold() {
      if (heldMs() < lengthMs * renewAfter) return true;
      heldMs = never;
      const passedMs = startStopwatch(options);
      const at = now();
      if (!(await leases.acquire(name, owner, at, at + lengthMs))) return false;
      heldMs = passedMs;
      return true;
    },
    async release() {
      heldMs = never;
      await leases.release(name, owner).catch(onError);
    },
  };
}

/** Gives leases the times of the shared clock. A node whose own clock is off gets none. */
export const leasesBy = <Name extends string>(clock: SharedClock, leases: LeaseStore<Name>): LeaseStore<Name> => ({
  async acquire(name, owner, now, until) {
    const shared = await clock.read();
    return !shared.isOff && leases.acquire(name, owner, shared.now, shared.now + until - now);
  },
  release: (name, owner) => leases.release(name, owner),
});
