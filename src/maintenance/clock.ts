// Decides whether the clock can be trusted for purging: a clock that is wrong by a year would purge everything. A clock that is
// days ahead of all stored times, or was set days ahead, is trusted only after an hour. A machine that started without its
// time gets it from the network long before.

import { dayMs, hourMs } from "../kernel/time.ts";

const suspiciousMs = 2 * dayMs;
const waitMs = hourMs;

/** Returns a function that is true while the clock can be trusted. `newest` is the latest stored time, if there is one. */
export function trustClock(now: () => number, elapsed: () => number, newest: number | null): () => boolean {
  // The clock's time at the start of the monotonic clock changes only when the clock is set.
  let origin = (newest ?? now()) - elapsed();
  let trustedFrom = elapsed();
  return () => {
    const seen = now() - elapsed();
    if (seen - origin > suspiciousMs) trustedFrom = elapsed() + waitMs;
    origin = seen;
    return elapsed() >= trustedFrom;
  };
}
