// Answers whether requests may be sent to this node (/readyz). Proxies ask every few seconds, so an answer is cached for a
// second: no client can put load on the database by asking. Each check has a name and a state; `cleancast doctor` explains it.

import { maxSkewMs, minuteMs } from "../kernel/time.ts";
import { within } from "../kernel/deadline.ts";
import type { Pulse } from "../store/statistics/health.ts";

type Check = "ok" | "failing";
export type Readiness = { ok: boolean; checks: Record<string, Check> };

type ReadinessOptions = {
  pulse: () => Promise<Pulse>;
  /** The schema that this version knows. */
  schema: number;
  /** Time of the worker's last poll, by `elapsed`. */
  workerPolledAt: () => number;
  /** Time when the configuration was last read, by `elapsed`. */
  configurationReadAt: () => number;
  /** Number of consecutive failed commits, or of events that were not accepted. */
  failedInARow: () => number;
  /** Time since a transaction last finished, while others are running. */
  stuckMs: () => number;
  now: () => number;
  /** A monotonic clock in milliseconds. */
  elapsed: () => number;
};

const storeTimeoutMs = 1000;
const cacheMs = 1000;
/** A poll may wait for a slow database. */
const maxPollGapMs = minuteMs;
/** The configuration is read every second. A node with an old copy still accepts keys that were revoked. */
const maxConfigurationAgeMs = 5000;
const maxFailures = 3;
/** Far longer than a commit waits in its queue: the disk, a lock or a standby does not respond. */
const maxCommitMs = 3000;

export function createReadiness(options: ReadinessOptions) {
  const { pulse, elapsed, now } = options;
  let stopping = false;
  let cached: { readiness: Promise<Readiness>; at: number } | null = null;
  let skewMs: number | null = null;

  async function check(): Promise<Readiness> {
    const found = await within(storeTimeoutMs, checkStore(), "the store did not answer in time").catch(() => null);
    const holds = {
      store: found !== null,
      writes: options.failedInARow() < maxFailures && options.stuckMs() < maxCommitMs,
      configuration: elapsed() - options.configurationReadAt() < maxConfigurationAgeMs,
      worker: elapsed() - options.workerPolledAt() < maxPollGapMs,
      clock: found === null || found.clock,
      // A newer schema is fine during an upgrade of another node, unless it removed what this version needs. An older
      // schema means that the database was replaced while this node ran.
      schema: found === null || (found.schema >= options.schema && found.oldest <= options.schema),
    };
    const checks = Object.fromEntries(
      Object.entries(holds).map(([name, isOk]): [string, Check] => [name, isOk ? "ok" : "failing"]),
    );
    return { ok: Object.values(holds).every(Boolean), checks };
  }

  async function checkStore(): Promise<{ schema: number; oldest: number; clock: boolean }> {
    const { schema, oldest, migratedAt, clock } = await pulse();
    skewMs = clock === null ? null : now() - clock;
    // Without another clock to compare with: the database cannot have been created in the future.
    const isBehind = now() < migratedAt - maxSkewMs;
    return { schema, oldest, clock: !isBehind && Math.abs(skewMs ?? 0) <= maxSkewMs };
  }

  return {
    async read(): Promise<Readiness> {
      if (stopping) return { ok: false, checks: { stopping: "failing" } };
      if (!cached || elapsed() - cached.at >= cacheMs) cached = { readiness: check(), at: elapsed() };
      const readiness = await cached.readiness;
      // A stop may have begun in the meantime.
      return stopping ? this.read() : readiness;
    },
    /** From now on the node is not ready. */
    stop(): void {
      stopping = true;
    },
    /** The difference to the database's clock at the last check; null where there is no other clock. */
    skewMs: () => skewMs,
  };
}

const recentMs = 5000;

/**
 * Counts consecutive failures, and returns to 0 when the last one is not recent: a node that gets no requests because it
 * was not ready writes little, and would never recover otherwise.
 */
export function countConsecutiveFailures(elapsed: () => number) {
  let count = 0;
  let lastAt = 0;
  return {
    add(failed: boolean): void {
      count = failed ? count + 1 : 0;
      if (failed) lastAt = elapsed();
    },
    inARow: () => (elapsed() - lastAt < recentMs ? count : 0),
  };
}

const minJumpMs = 2000;

/** Reports when the system clock was set, by comparing it with the monotonic clock. Returns a function that stops this. */
export function watchClockJumps(
  { now, elapsed }: Pick<ReadinessOptions, "now" | "elapsed">,
  onJump: (ms: number) => void,
  everyMs = 1000,
): () => void {
  let offset = now() - elapsed();
  const timer = setInterval(() => {
    const moved = now() - elapsed() - offset;
    offset += moved;
    if (Math.abs(moved) >= minJumpMs) onJump(Math.round(moved));
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
