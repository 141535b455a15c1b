import { minuteMs } from "../kernel/time.ts";
import { createBoundedMemory } from "./boundedMemory.ts";

/**
 * Returns the seconds to wait; 0 when the request is admitted. Each node counts for itself, by the minute, in bounded memory. `siteId` is
 * the site of the key, if it has one: of a site with too many keys those are forgotten that came longest ago, and begin again.
 */
export type RateLimit = (key: string, perMinute: number, now: number, siteId?: string) => number;

const maxKeys = 100_000;

export function createRateLimit(): RateLimit {
  let counts = createBoundedMemory<string, number>(maxKeys);
  let minute = 0;
  return (key, perMinute, now, siteId = "") => {
    if (perMinute === 0) return 0;
    const current = Math.floor(now / minuteMs);
    if (current !== minute) {
      counts = createBoundedMemory(maxKeys);
      minute = current;
    }
    const count = (counts.get(siteId, key) ?? 0) + 1;
    counts.set(siteId, key, count);
    return count > perMinute ? ((current + 1) * minuteMs - now) / 1000 : 0;
  };
}
