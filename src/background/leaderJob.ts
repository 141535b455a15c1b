// A leader job runs periodically on one node at a time and works for the whole installation. The node holds a lease while it
// works; when it dies, the lease ends and another node goes on.

import { createLease, type LeaseStore } from "./lease.ts";
import { poll } from "./poll.ts";

/** The node that a job runs on. */
export type JobNode = {
  /** The owner of leases. */
  owner: string;
  now: () => number;
  /** Milliseconds on a monotonic clock. */
  elapsed: () => number;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
  /** The pause between two runs, and the delay before the first one. Each job has defaults. */
  everyMs?: number;
  firstMs?: number;
};

export type Leadership = {
  /** Aborted by a stop. */
  signal: AbortSignal;
  /** True while this node leads and was not stopped. Ask before every step: it takes or renews the lease where that is due. */
  mayContinue: () => Promise<boolean>;
  /** Works on one item after the other while this node leads. One that fails is reported with `about`, and stops no other. */
  each: <T>(
    items: Iterable<T>,
    about: (item: T) => Record<string, unknown>,
    work: (item: T) => Promise<unknown>,
  ) => Promise<void>;
};

type LeaderJobOptions<Name extends string> = JobNode & {
  name: Name;
  leases: LeaseStore<Name>;
  leaseMs: number;
  everyMs: number;
  /** True where nodes divide the work among themselves by other means: every node leads its part, without a lease. */
  isDivided?: boolean | undefined;
  work: (leadership: Leadership) => Promise<unknown>;
};

export type LeaderJob = {
  name: string;
  /** Works once. The node keeps the lease. */
  run(signal?: AbortSignal): Promise<void>;
  release(): Promise<void>;
  /** Runs until it is stopped, and then releases the lease. */
  start(): { stop(): Promise<void> };
};

export function createLeaderJob<Name extends string>(options: LeaderJobOptions<Name>): LeaderJob {
  const { name, leaseMs, everyMs, firstMs = everyMs, isDivided, onDefect, work } = options;
  const onError = (error: unknown) => onDefect(error, { worker: name });
  const lease = createLease({ ...options, lengthMs: leaseMs, onError });

  async function run(signal = new AbortController().signal): Promise<void> {
    const mayContinue = async () => !signal.aborted && (isDivided === true || (await lease.hold()));
    await work({
      signal,
      mayContinue,
      async each(items, about, workOn) {
        for (const item of items) {
          if (!(await mayContinue())) return;
          try {
            await workOn(item);
          } catch (error) {
            onDefect(error, { worker: name, ...about(item) });
          }
        }
      },
    });
  }

  const release = async () => void (isDivided || (await lease.release()));
  return {
    name,
    run,
    release,
    start() {
      const loop = poll({ everyMs, firstMs, jitter: 0.2, work: run, onError });
      return {
        async stop() {
          await loop.stop();
          await release();
        },
      };
    },
  };
}
