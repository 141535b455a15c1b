// How many requests a platform allows: a bucket that holds as many as may go at once, and fills as time passes.

export type Quota = {
  /** Takes one request; or how many milliseconds until there is one. */
  take(key: string, allowed: { requests: number; seconds: number }, now: number): number;
};

export function openQuota(): Quota {
  const buckets = new Map<string, { left: number; at: number }>();
  return {
    take(key, { requests, seconds }, now) {
      const bucket = buckets.get(key) ?? { left: requests, at: now };
      const perMs = requests / (seconds * 1000);
      bucket.left = Math.min(requests, bucket.left + Math.max(0, now - bucket.at) * perMs);
      bucket.at = now;
      buckets.set(key, bucket);
      if (bucket.left < 1) return Math.ceil((1 - bucket.left) / perMs);
      bucket.left -= 1;
      return 0;
    },
  };
}
