// A lease lets one node at a time do a job for the whole installation. It is a row in the store that names its holder and
// the time when it ends. A holder renews it while it works; when the holder dies, the lease ends and another node takes it.

export type LeaseStore = {
  /** True when `owner` holds the lease until `until`. False while another node holds it. */
  take(owner: string, now: number, until: number): Promise<boolean>;
  release(owner: string): Promise<void>;
};

export type LeaseOptions = {
  store: LeaseStore;
  /** This node. */
  owner: string;
  lengthMs: number;
  now: () => number;
  onError: (error: unknown) => void;
};

export type Lease = {
  /** True while this node holds the lease. Ask before every step: it takes or renews the lease where that is due. */
  hold(): Promise<boolean>;
  /** Hands the lease to the next node that asks for it. */
  release(): Promise<void>;
};

/** A lease is renewed when this share of it has passed: two more renewals may fail before it is lost. */
const renewAfter = 1 / 3;

export function openLease({ store, owner, lengthMs, now, onError }: LeaseOptions): Lease {
  let takenAt: number | null = null;

  return {
    async hold() {
      const at = now();
      const heldMs = takenAt === null ? Infinity : at - takenAt;
      // A clock that was set back tells nothing about how long the lease still lasts.
      if (heldMs >= 0 && heldMs < lengthMs * renewAfter) return true;
      takenAt = null;
      if (!(await store.take(owner, at, at + lengthMs))) return false;
      takenAt = at;
      return true;
    },
    async release() {
      takenAt = null;
      await store.release(owner).catch(onError);
    },
  };
}
