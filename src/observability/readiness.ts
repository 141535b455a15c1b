// May requests come here? Asked by proxies every few seconds, so an answer holds for a second: nobody can load the
// database by asking. Each check is a name and whether it holds; who wants to know why runs `cleancast doctor`.

import { minuteMs } from "../kernel/time.ts";
import { within } from "../kernel/deadline.ts";
import type { Pulse } from "../store/statistics/health.ts";

export type Check = "ok" | "failing";
export type Readiness = { ok: boolean; checks: Record<string, Check> };

export type ReadyOptions = {
  pulse: () => Promise<Pulse>;
  /** The schema that this version knows. */
  schema: number;
  /** When the worker last looked for what is due, by `elapsed`. */
  workerLookedAt: () => number;
  /** Commits that failed one after the other, or events that were not taken. */
  failedInARow: () => number;
  /** How long transactions have been under way without one of them coming to its end. */
  stuckMs: () => number;
  now: () => number;
  /** Milliseconds that passed, whatever happens to the clock. */
  elapsed: () => number;
};

const answerMs = 1000;
const holdsMs = 1000;
/** A look may wait for a database that is slow, and a connection is as good as its next look. */
const workerMs = minuteMs;
/** Beyond it, leases of one node look over to another. */
const maxSkewMs = 30_000;
const failuresInARow = 3;
/** Far more than a commit takes that only waits its turn: the disk, a lock or a standby is not there. */
const maxCommitMs = 3000;

export function openReadiness(options: ReadyOptions) {
  const { pulse, elapsed, now } = options;
  let stopping = false;
  let known: { readiness: Promise<Readiness>; at: number } | null = null;
  let skewMs: number | null = null;

  async function look(): Promise<Readiness> {
    const found = await within(answerMs, measured(), "the store did not answer in time").catch(() => null);
    const holds = {
      store: found !== null,
      writes: options.failedInARow() < failuresInARow && options.stuckMs() < maxCommitMs,
      worker: elapsed() - options.workerLookedAt() < workerMs,
      clock: found === null || found.clock,
      // A newer schema is fine: another node is ahead in an upgrade. Not one that has taken away what this version needs;
      // and an older one was put there under our feet.
      schema: found === null || (found.schema >= options.schema && found.oldest <= options.schema),
    };
    const checks = Object.fromEntries(
      Object.entries(holds).map(([name, isOk]): [string, Check] => [name, isOk ? "ok" : "failing"]),
    );
    return { ok: Object.values(holds).every(Boolean), checks };
  }

  async function measured(): Promise<{ schema: number; oldest: number; clock: boolean }> {
    const { schema, oldest, migratedAt, clock } = await pulse();
    skewMs = clock === null ? null : now() - clock;
    // Where there is no other clock to compare with: nothing can have been written in the future.
    const isBehind = now() < migratedAt - maxSkewMs;
    return { schema, oldest, clock: !isBehind && Math.abs(skewMs ?? 0) <= maxSkewMs };
  }

  return {
    async read(): Promise<Readiness> {
      if (stopping) return { ok: false, checks: { stopping: "failing" } };
      if (!known || elapsed() - known.at >= holdsMs) known = { readiness: look(), at: elapsed() };
      const readiness = await known.readiness;
      // A stop that began meanwhile counts.
      return stopping ? this.read() : readiness;
    },
    /** From now on the answer is no, at once. */
    stop(): void {
      stopping = true;
    },
    /** How far this clock was from the database's at the last look; null where there is none to compare with. */
    skewMs: () => skewMs,
  };
}

/** Tells when the clock was set: it moved, and time did not. Returns how to stop. */
export function watchClock(
  { now, elapsed }: Pick<ReadyOptions, "now" | "elapsed">,
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

const minJumpMs = 2000;
