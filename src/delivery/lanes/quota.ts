// Limits requests to each platform's quota with a token bucket, which holds as many as may be sent at once and refills.

export type Quota = {
  /** Takes one request and returns 0, or returns the milliseconds until one is available. `at` is on a monotonic clock. */
  take(key: string, allowed: { requests: number; seconds: number }, at: number): number;
};

export function createQuota(): Quota {
  const buckets = new Map<string, { left: number; at: number }>();
  return {
    take(key, { requests, seconds }, at) {
      const bucket = buckets.get(key) ?? { left: requests, at };
      const perMs = requests / (seconds * 1000);
      bucket.left = Math.min(requests, bucket.left + Math.max(0, at - bucket.at) * perMs);
      bucket.at = at;
      buckets.set(key, bucket);
      if (bucket.left < 1) return Math.ceil((1 - bucket.left) / perMs);
      bucket.left -= 1;
      return 0;
    },
  };
}
