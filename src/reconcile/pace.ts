// Chooses how many orders a step compares, and the pause after it. In the embedded store a step works on the thread that accepts
// events, so it is kept to a few milliseconds. Pauses are short while the thread has little else to do, and grow while events keep
// it busy.

import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { yieldToEventLoop } from "../kernel/deadline.ts";

const minRows = 16;
/** The length of a pause, as a multiple of the step before it. */
const [minFactor, maxFactor] = [0.125, 8];
const minPauseMs = 2;
/** The share of a pause from which on the thread counts as busy. */
const busyShare = 0.3;
/** The weight of a step in the mean: the system counts the time of a thread in units of up to some milliseconds. */
const newestWeight = 0.25;

/** The loop of events needs less than this for a turn in which nothing waits. */
const idleTurnMs = 0.5;
const maxWaits = 8;

/** Pauses, and returns the share of the pause in which this thread did other work. */
export async function pauseFor(ms: number): Promise<number> {
  const before = performance.eventLoopUtilization();
  await wait(ms);
  return performance.eventLoopUtilization(before).utilization;
}

/** Lets what waits on this thread go first, with what follows from it: an event is accepted in several turns of the loop. */
async function letOthersIn(): Promise<void> {
  const startedAt = performance.now();
  await yieldToEventLoop();
  if (performance.now() - startedAt < idleTurnMs) return;
  for (let waits = 0; waits < maxWaits && (await pauseFor(minPauseMs)) > busyShare; waits++);
}

/** The milliseconds that this thread has worked. A clock would also count the time in which other programs had the processor. */
function threadWorked(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Measures how long a step works, without the work of others whom it lets in. */
export function watchStep(worked = threadWorked) {
  const startedAt = worked();
  let othersMs = 0;
  return {
    letOthersIn: async (): Promise<void> => {
      const before = worked();
      await letOthersIn();
      othersMs += worked() - before;
    },
    workedMs: () => worked() - startedAt - othersMs,
  };
}

export type PaceOptions = {
  /** The longest work of a step that is intended, in milliseconds. */
  stepMs: number;
  maxRows: number;
};

export function createPace({ stepMs, maxRows }: PaceOptions) {
  let rows = minRows;
  let meanMs = stepMs;
  let factor = 1;
  return {
    rows: () => rows,

    /** Returns the milliseconds to pause after a step that worked for `workedMs`. */
    afterStep(workedMs: number): number {
      meanMs += (workedMs - meanMs) * newestWeight;
      // At most doubled or halved: the next step may have other kinds of orders.
      const change = Math.min(2, Math.max(0.5, stepMs / Math.max(meanMs, 0.01)));
      const before = rows;
      rows = Math.min(maxRows, Math.max(minRows, Math.round(rows * change)));
      // As if the steps before had had as many rows.
      meanMs *= rows / before;
      return Math.max(minPauseMs, workedMs * factor);
    },

    /** `share` is the share of the pause in which the thread did other work. */
    afterPause(share: number): void {
      factor = share > busyShare ? Math.min(maxFactor, factor * 2) : Math.max(minFactor, factor / 2);
    },
  };
}
