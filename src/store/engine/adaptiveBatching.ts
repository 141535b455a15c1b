// Adaptive batching. A commit, and the requests that leave after it, cost nearly the same for one event as for ten. So a
// process that is nearly saturated holds a small batch open for a few milliseconds; one with idle time does so only where each
// statement is expensive. Both do it only for batches that follow each other closely: what keeps a process busy may be other work,
// such as visits to one site, and then nothing would come to share the commit with.

import { performance } from "node:perf_hooks";

/** The event loop utilization above which a process counts as busy. */
const busyUtilization = 0.6;
/** Shorter than the time that a saturated process makes every event wait anyway. */
const batchWindowMs = 6;
/** A batch of this size leaves at once. */
const minBatch = 32;
/** The utilization is measured over at least this time. */
const sampleMs = 100;

/** Batches that follow each other within this time count as frequent. */
const frequentMs = 16;
const frequentWindowMs = 8;

/**
 * Returns for how many milliseconds a batch of `size` items should stay open for more. `idleMs` have passed since the last batch of
 * its group ended.
 */
export type BatchWindow = (size: number, idleMs: number) => number;

/** For statements that cost the server much, whatever they read: a batch stays open only if another has just ended. */
export const batchWhenFrequent: BatchWindow = (size, idleMs) => (size < minBatch && idleMs < frequentMs ? frequentWindowMs : 0);

/** The milliseconds that the event loop was idle and active. */
type Utilization = { idle: number; active: number };

export function batchWhenBusy(measure: () => Utilization = () => performance.eventLoopUtilization()): BatchWindow {
  let last = measure();
  let isBusy = false;

  function sample(): void {
    const { idle, active } = measure();
    const [idleMs, activeMs] = [idle - last.idle, active - last.active];
    if (idleMs + activeMs < sampleMs) return;
    isBusy = activeMs / (idleMs + activeMs) > busyUtilization;
    last = { idle, active };
  }

  return (size, idleMs) => {
    if (size >= minBatch) return 0;
    sample();
    return isBusy && idleMs < batchWindowMs ? batchWindowMs : 0;
  };
}
