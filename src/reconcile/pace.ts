// Chooses how many orders a step compares, and the pause after it. A step works on the thread that accepts events, so it is kept
// to a few milliseconds. Pauses are short while the thread has little else to do, and grow while events keep it busy.

const minRows = 16;
/** The length of a pause, as a multiple of the step before it. */
const [minFactor, maxFactor] = [0.25, 8];
/** The share of a pause from which on the thread counts as busy. */
const busyShare = 0.3;

export type PaceOptions = {
  /** The longest work of a step that is intended, in milliseconds. */
  stepMs: number;
  maxRows: number;
};

export function openPace({ stepMs, maxRows }: PaceOptions) {
  let rows = minRows;
  let factor = 1;
  return {
    rows: () => rows,

    /** Returns the milliseconds to pause after a step that worked for `workedMs`. */
    afterStep(workedMs: number): number {
      if (workedMs > stepMs) rows = Math.max(minRows, Math.floor(rows / 2));
      else if (workedMs < stepMs / 2) rows = Math.min(maxRows, rows * 2);
      return Math.max(1, workedMs * factor);
    },

    /** `share` is the share of the pause in which the thread did other work. */
    afterPause(share: number): void {
      factor = share > busyShare ? Math.min(maxFactor, factor * 2) : Math.max(minFactor, factor / 2);
    },
  };
}
