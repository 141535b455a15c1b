import { minuteMs } from "../kernel/time.ts";

/** Seconds until one more is allowed; 0 when it is now. Counted by this node, by the minute, in bounded memory. */
export type Rate = (who: string, perMinute: number, now: number) => number;

const maxCounted = 100_000;

export function countByMinute(): Rate {
  const counts = new Map<string, number>();
  let minute = 0;
  return (who, perMinute, now) => {
    if (perMinute === 0) return 0;
    const current = Math.floor(now / minuteMs);
    if (current !== minute) {
      counts.clear();
      minute = current;
    }
    // Beyond the bound newcomers share one count: rather too strict for a minute than out of memory.
    const counter = counts.has(who) || counts.size < maxCounted ? who : "";
    const count = (counts.get(counter) ?? 0) + 1;
    counts.set(counter, count);
    return count > perMinute ? ((current + 1) * minuteMs - now) / 1000 : 0;
  };
}
