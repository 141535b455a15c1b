// Limits requests to each platform's quota with a token bucket, which holds as many as may be sent at once and refills.

import { platformOf } from "../../platforms/index.ts";
import type { Connection } from "../../sites/directory.ts";
import { connectionKey } from "./deliver.ts";

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

type QuotaOptions = { quota: Quota; /** Milliseconds on a monotonic clock. */ elapsed: () => number };

/**
 * Takes one request from the quota of a connection's platform. Returns 0, or the milliseconds until there is one to take. `own` is a
 * further limit, of one kind of requests.
 */
export function takeQuota(
  { quota, elapsed }: QuotaOptions,
  { siteId, id, platform }: Pick<Connection, "siteId" | "id" | "platform">,
  own?: { kind: string; perMinute: number },
): number {
  const allowed = platformOf(platform)?.quota;
  const key = allowed?.sharedBy === "app" ? platform : connectionKey({ siteId, connectionId: id });
  const waitMs = own ? quota.take(`${own.kind} ${key}`, { requests: own.perMinute, seconds: 60 }, elapsed()) : 0;
  return waitMs > 0 || !allowed ? waitMs : quota.take(key, allowed, elapsed());
}
