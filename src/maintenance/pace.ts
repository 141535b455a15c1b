// Background work that is not felt: small steps, each as large as fits into a few milliseconds, and after each a pause that
// is a multiple of what it took.

import type { Step } from "../store/maintenance/purge.ts";

/** In the embedded store a step holds up the thread that takes events in. */
const stepMs = 5;
const restShare = 4;
const minPauseMs = 10;
const smallest = 8;
const first = 32;

export type Pace = {
  elapsed: () => number;
  sleep: (ms: number) => Promise<void>;
  /** Asked before every step. */
  mayGoOn: () => Promise<boolean>;
};

/** Takes steps until one says that nothing is left. `most` is never above `largest`. Returns how much was removed. */
export async function walk(
  { elapsed, sleep, mayGoOn }: Pace,
  largest: number,
  step: (after: string, most: number) => Promise<Step>,
): Promise<number> {
  let most = Math.min(first, largest);
  let removed = 0;
  for (let after = ""; await mayGoOn();) {
    const begunAt = elapsed();
    const done = await step(after, most);
    const took = elapsed() - begunAt;
    removed += done.removed;
    if (done.next === null) return removed;
    after = done.next;
    if (took > stepMs) most = Math.max(smallest, Math.floor(most / 2));
    else if (took < stepMs / 2) most = Math.min(largest, most * 2);
    await sleep(Math.max(minPauseMs, took * restShare));
  }
  return removed;
}
