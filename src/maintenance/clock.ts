// Whether the clock can be trusted with forgetting: one that is wrong by a year would take everything along. A clock that
// is days ahead of all that is stored, or was set days ahead, is watched for an hour first. A machine that woke up without
// its time gets it from the network long before.

import { dayMs, hourMs } from "../kernel/time.ts";

const farMs = 2 * dayMs;
const watchedMs = hourMs;

/** `newest`: the latest time that is stored; null where nothing is. */
export function watchClock(now: () => number, elapsed: () => number, newest: number | null): () => boolean {
  // What the clock shows when nothing elapsed: it changes only when somebody sets the clock.
  let zero = (newest ?? now()) - elapsed();
  let trustedFrom = elapsed();
  return () => {
    const seen = now() - elapsed();
    if (seen - zero > farMs) trustedFrom = elapsed() + watchedMs;
    zero = seen;
    return elapsed() >= trustedFrom;
  };
}
