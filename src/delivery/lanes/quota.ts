// Limits requests to each platform's quota with a token bucket, which holds as many as may be sent at once and refills.

export type Quota = {
  /** Takes one request and returns 0, or returns the milliseconds until one is available. */
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
