// How many times something failed without succeeding in between, if the last time was a moment ago: a node that gets no
// requests because it was not ready writes little, and would never learn that it could.

const momentMs = 5000;

export function openFailures(elapsed: () => number) {
  let count = 0;
  let lastAt = 0;
  return {
    ended(failed: boolean): void {
      count = failed ? count + 1 : 0;
      if (failed) lastAt = elapsed();
    },
    inARow: () => (elapsed() - lastAt < momentMs ? count : 0),
  };
}
