// A lease lets one node at a time do a job for the whole installation. It is a row in the store that names its holder and
// the time when it ends. A holder renews it while it works; when the holder dies, the lease ends and another node takes it.

export type LeaseStore<Name extends string> = {
  /** True when `owner` holds the lease until `until`. False while another node holds it. */
  acquire(name: Name, owner: string, now: number, until: number): Promise<boolean>;
  release(name: Name, owner: string): Promise<void>;
};

type LeaseOptions<Name extends string> = {
  leases: LeaseStore<Name>;
  name: Name;
  /** This node. */
  owner: string;
  lengthMs: number;
  now: () => number;
  onError: (error: unknown) => void;
};

export type Lease = {
  /** True while this node holds the lease. Ask before every step: it acquires or renews the lease where that is due. */
  hold(): Promise<boolean>;
  /** Hands the lease to the next node that asks for it. */
  release(): Promise<void>;
};

/** A lease is renewed when this share of it has passed: in the rest, a renewal that failed can be repeated. */
const renewAfter = 1 / 3;

export function openLease<Name extends string>(options: LeaseOptions<Name>): Lease {
  const { leases, name, owner, lengthMs, now, onError } = options;
  let acquiredAt: number | null = null;

  return {
    async hold() {
      const at = now();
      const heldMs = acquiredAt === null ? Infinity : at - acquiredAt;
      // After the clock was set back, the remaining time of the lease is unknown.
      if (heldMs >= 0 && heldMs < lengthMs * renewAfter) return true;
      acquiredAt = null;
      if (!(await leases.acquire(name, owner, at, at + lengthMs))) return false;
      acquiredAt = at;
      return true;
    },
    async release() {
      acquiredAt = null;
      await leases.release(name, owner).catch(onError);
    },
  };
}
