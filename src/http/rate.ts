import { minuteMs } from "../kernel/time.ts";

/** Returns the seconds to wait; 0 when the request is admitted. Each node counts for itself, by the minute, in bounded memory. */
export type RateLimit = (key: string, perMinute: number, now: number) => number;

const maxKeys = 100_000;

export function createRateLimit(): RateLimit {
  const counts = new Map<string, number>();
  let minute = 0;
  return (key, perMinute, now) => {
    if (perMinute === 0) return 0;
    const current = Math.floor(now / minuteMs);
    if (current !== minute) {
      counts.clear();
      minute = current;
    }
    // Above the bound new keys share one count: too strict for a minute is better than out of memory.
    const counter = counts.has(key) || counts.size < maxKeys ? key : "";
    const count = (counts.get(counter) ?? 0) + 1;
    counts.set(counter, count);
    return count > perMinute ? ((current + 1) * minuteMs - now) / 1000 : 0;
  };
}
