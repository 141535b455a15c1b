/** Seconds until the key may send again; 0 when it may now. Counted by this node, by the minute. */
export type RateLimit = (keyId: string, perMinute: number, now: number) => number;

const minuteMs = 60_000;

export function countRequests(): RateLimit {
  const counts = new Map<string, number>();
  let minute = 0;
  return (keyId, perMinute, now) => {
    if (perMinute === 0) return 0;
    const current = Math.floor(now / minuteMs);
    if (current !== minute) {
      counts.clear();
      minute = current;
    }
    const count = (counts.get(keyId) ?? 0) + 1;
    counts.set(keyId, count);
    return count > perMinute ? ((current + 1) * minuteMs - now) / 1000 : 0;
  };
}
