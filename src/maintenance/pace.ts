// Paces background work so that it does not slow down events: each step takes a few milliseconds, and is followed by a pause
// of a multiple of its duration.

import type { PurgeStep } from "../store/maintenance/purge.ts";

/** In the embedded store a step blocks the thread that accepts events. */
const stepMs = 5;
const pauseFactor = 4;
const minPauseMs = 10;
const [minRows, firstRows] = [8, 32];

export type Pace = {
  elapsed: () => number;
  sleep: (ms: number) => Promise<void>;
  /** Called before every step. */
  mayContinue: () => Promise<boolean>;
};

/** Runs steps of at most `maxRows` rows until nothing is left. Returns how many rows were removed. */
export async function runPaced(
  { elapsed, sleep, mayContinue }: Pace,
  maxRows: number,
  step: (after: string, limit: number) => Promise<PurgeStep>,
): Promise<number> {
  let limit = Math.min(firstRows, maxRows);
  let removed = 0;
  for (let after = ""; await mayContinue();) {
    const startedAt = elapsed();
    const done = await step(after, limit);
    const took = elapsed() - startedAt;
    removed += done.removed;
    if (done.next === null) return removed;
    after = done.next;
    if (took > stepMs) limit = Math.max(minRows, Math.floor(limit / 2));
    else if (took < stepMs / 2) limit = Math.min(maxRows, limit * 2);
    await sleep(Math.max(minPauseMs, took * pauseFactor));
  }
  return removed;
}
