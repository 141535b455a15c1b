// Counts visits by site, hour, bucket and reason.

import { flushedCounter } from "../background/flushedCounter.ts";
import type { VisitBucket } from "../kernel/event.ts";
import type { Store } from "../store/store.ts";
import type { EvidenceBucket } from "../store/statistics/traffic.ts";

/** Beyond this number the oldest page is dropped: if it is shown later, it counts twice. */
const maxPrerendered = 10_000;

export type VisitCounts = {
  /** Returns a function that counts the visit in another bucket. */
  count(siteId: string, bucket: VisitBucket, reason: string, now: number): (bucket: VisitBucket, reason: string) => void;
  countEvidence(siteId: string, names: readonly string[], isEmail: boolean, now: number): void;
  /** A browser prerendered a page. `pageId` is the id that the page will send when it is shown; null where it has none. */
  countPrerendered(siteId: string, pageId: string | null, now: number): void;
  /** Takes back the count of a prerendered page, which is now shown. */
  uncountPrerendered(siteId: string, pageId: string | null): void;
  /** Writes the rest and stops. */
  stop(): Promise<void>;
};

export function countVisits(
  store: Pick<Store, "traffic">,
  /** Names this process, which writes whole counts, so that a repeated write changes nothing. */
  writer: string,
  onDefect: (error: unknown) => void,
  pollMs?: number,
): VisitCounts {
  /** Visits of bots to each site since this process started. Never purged: webhooks report by how much the number grew. */
  const bots = new Map<string, number>();
  const prerendered = new Map<string, () => void>();

  const counter = flushedCounter<{ siteId: string; bucket: VisitBucket | EvidenceBucket; reason: string }>({
    keyOf: ({ bucket, reason }) => `${bucket} ${reason}`,
    async write(batch) {
      const counts = batch.map(({ siteId, hour, bucket, reason, count }) => ({
        siteId,
        hour,
        bucket,
        reason,
        visits: count,
      }));
      const siteId = batch[0]?.siteId ?? "";
      const seen = bots.get(siteId);
      await store.traffic.saveCounts(writer, counts, new Map(seen ? [[siteId, seen]] : []));
    },
    onError: onDefect,
    pollMs,
  });

  return {
    count(siteId, bucket, reason, now) {
      const add = (to: VisitBucket, why: string) => {
        if (to === "bots") bots.set(siteId, (bots.get(siteId) ?? 0) + 1);
        return counter.add({ siteId, bucket: to, reason: why }, now);
      };
      const uncount = add(bucket, reason);
      return (to, why) => {
        uncount();
        add(to, why);
      };
    },
    countEvidence(siteId, names, isEmail, now) {
      for (const reason of names) counter.add({ siteId, bucket: isEmail ? "evidence at emails" : "evidence", reason }, now);
    },
    countPrerendered(siteId, pageId, now) {
      const uncount = counter.add({ siteId, bucket: "not a visit", reason: "" }, now);
      if (pageId === null) return;
      const [oldest] = prerendered.keys();
      if (prerendered.size >= maxPrerendered && oldest !== undefined) prerendered.delete(oldest);
      prerendered.set(`${siteId} ${pageId}`, uncount);
    },
    uncountPrerendered(siteId, pageId) {
      const key = `${siteId} ${pageId}`;
      prerendered.get(key)?.();
      prerendered.delete(key);
    },
    stop: () => counter.stop(),
  };
}
