// The pace of background work that reads or deletes many rows: it gives way to events.
//
// In the embedded store a step blocks the thread that accepts events, so it lasts a few milliseconds. On a server it runs beside the
// events, and every statement is a round trip, so a step is longer. The pauses grow while commits take longer than before, or this
// thread is late; otherwise they shrink. A log that grows fast delays the commits of events, too: on the disk, with the thread free.

import { setTimeout as wait } from "node:timers/promises";
import { yieldToEventLoop } from "../kernel/deadline.ts";

/** The commits of events since the process started: how many, and their durations together. */
export type CommitTimes = { count: number; ms: number };

export type Pace = {
  /** How long a step should take. */
  stepMs: number;
  /** Pauses after a step that took so long. */
  rest(tookMs: number, signal?: AbortSignal): Promise<void>;
};

/** For a database that takes no events meanwhile. */
export const unpaced: Pace = { stepMs: Infinity, rest: () => yieldToEventLoop() };

const [minRows, firstRows] = [8, 32];

export type StepSize = { rows: () => number; adapt: (tookMs: number) => void };

/** How many rows a step takes, up to `max`: half as many after one that took too long, and twice as many after a short one. */
export function createStepSize({ stepMs }: Pick<Pace, "stepMs">, max: number): StepSize {
  let rows = Math.min(firstRows, max);
  return {
    rows: () => rows,
    adapt(tookMs) {
      if (tookMs > stepMs) rows = Math.max(minRows, Math.floor(rows / 2));
      else if (tookMs < stepMs / 2) rows = Math.min(max, rows * 2);
    },
  };
}

type PaceOptions = {
  isServer: boolean;
  /** Milliseconds on a monotonic clock. */
  elapsed: () => number;
  readCommits: () => CommitTimes;
  /** How far a standby server is behind. */
  readLagBytes?: () => Promise<number>;
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
};

const stepsMs = { embedded: 4, server: 50 };
/** A pause is a multiple of its step. The smallest leaves events half of the time of the thread, or of the server. */
const multiples = { min: 1, max: 16 };
const minPauseMs = 1;
const maxPauseMs = 1000;
/** A timer of a quiet thread is late by less. */
const lateMs = 4;
/** So many commits tell whether events are disturbed. Fewer in so long tell nothing: their mean is chance. */
const look = { commits: 50, ms: 5000 };
/** Commits may take this much longer than when they were fastest. */
const slower = { factor: 1.2, ms: 0.25 };
/** What was fastest is forgotten slowly, because a database may become slower for other reasons: by this factor in a second. */
const forget = 1.002;
const maxLagBytes = 64 * 2 ** 20;
const lagEveryMs = 5000;

export function createPace({ isServer, elapsed, readCommits, readLagBytes, sleep = sleepUnlessStopped }: PaceOptions): Pace {
  const stepMs = isServer ? stepsMs.server : stepsMs.embedded;
  let multiple = 1;
  let fastestMs = Infinity;
  let lagReadAt = -Infinity;
  /** Since the last look. */
  let since = { at: elapsed(), commits: readCommits(), rests: 0, lateRests: 0 };

  /** Returns null while too little has happened to tell. */
  function areEventsDisturbed(): boolean | null {
    const { at, commits, rests, lateRests } = since;
    const now = readCommits();
    const count = now.count - commits.count;
    const tookMs = elapsed() - at;
    if (count < look.commits && tookMs < look.ms) return null;
    since = { at: elapsed(), commits: now, rests: 0, lateRests: 0 };
    const isLate = lateRests > rests / 4;
    if (count < look.commits) return isLate;
    const meanMs = (now.ms - commits.ms) / count;
    fastestMs = Math.min(meanMs, fastestMs * forget ** (tookMs / 1000));
    return isLate || meanMs > fastestMs * slower.factor + slower.ms;
  }

  async function isStandbyBehind(): Promise<boolean> {
    if (!readLagBytes || elapsed() - lagReadAt < lagEveryMs) return false;
    // Without the right to read it, or without an answer, the pace follows the commits alone.
    const lag = await readLagBytes().catch(() => 0);
    if (lag <= maxLagBytes) lagReadAt = elapsed();
    return lag > maxLagBytes;
  }

  return {
    stepMs,
    async rest(tookMs, signal) {
      const pauseMs = Math.min(maxPauseMs, Math.max(minPauseMs, tookMs * multiple));
      const startedAt = elapsed();
      await sleep(pauseMs, signal);
      since.rests += 1;
      if (elapsed() - startedAt - pauseMs > lateMs) since.lateRests += 1;
      const isDisturbing = areEventsDisturbed();
      if (isDisturbing !== null)
        multiple = Math.min(multiples.max, Math.max(multiples.min, isDisturbing ? multiple * 2 : multiple / 1.5));
      while (!signal?.aborted && (await isStandbyBehind())) await sleep(maxPauseMs, signal);
    },
  };
}

async function sleepUnlessStopped(ms: number, signal?: AbortSignal): Promise<void> {
  await wait(ms, undefined, signal && { signal }).catch(() => {});
}
