// How many visits there were, of people and of others: counted in memory, written in groups. Nothing is lost on a stop;
// a crash loses at most one interval.

import type { VisitBucket } from "../kernel/event.ts";
import type { Store } from "../store/store.ts";
import { hourMs, type VisitCount } from "../store/statistics/traffic.ts";

const flushMs = 1000;
/** A page that was loaded ahead is shown within this time, or counts as a new one. */
const keptHours = 2;

const maxAhead = 10_000;

export type VisitCounts = {
  count(siteId: string, bucket: VisitBucket, reason: string, now: number): void;
  /** A page was loaded ahead of time. `pageId` is what it will call itself when it is shown; null where it cannot. */
  countAhead(siteId: string, pageId: string | null, now: number): void;
  /** A page is shown. If it was counted as loaded ahead, it is not any more: it is counted as what it is. */
  wasShown(siteId: string, pageId: string | null): void;
  /** Writes what is left and stops. */
  stop(): Promise<void>;
};

type Counter = VisitCount & { isWritten: boolean };

export function countVisits(
  store: Pick<Store, "traffic">,
  /** This process: it writes whole counts, so that a repeated write changes nothing. */
  writer: string,
  onDefect: (error: unknown) => void,
): VisitCounts {
  const counters = new Map<string, Counter>();
  let writing: Promise<void> | null = null;

  /** Bots' visits to each site since this process started. Never forgotten: webhooks report what it grows by. */
  const bots = new Map<string, number>();

  /** Pages that were loaded ahead, and where each was counted. */
  const ahead = new Map<string, Counter>();

  const keyOf = ({ siteId, hour, bucket, reason }: Omit<VisitCount, "visits">) =>
    `${siteId} ${hour} ${bucket} ${reason}`;

  async function write(): Promise<void> {
    const unwritten = [...counters.values()].filter((counter) => !counter.isWritten);
    if (unwritten.length === 0) return;
    const said = unwritten.map(({ siteId, hour, bucket, reason, visits }) => ({
      siteId,
      hour,
      bucket,
      reason,
      visits,
    }));
    try {
      await store.traffic.saveCounts(writer, said, new Map(bots));
      // What came meanwhile, and all of it after a failure, is said in the next interval.
      for (const [i, counter] of unwritten.entries()) counter.isWritten = counter.visits === said[i]?.visits;
    } catch (error) {
      onDefect(error);
    }
  }

  function flush(): Promise<void> {
    writing ??= write().finally(() => {
      writing = null;
    });
    return writing;
  }

  function forget(now: number): void {
    const oldest = Math.floor(now / hourMs) - keptHours;
    for (const [key, { hour, isWritten }] of counters) if (isWritten && hour < oldest) counters.delete(key);
  }

  const timer = setInterval(() => {
    void flush();
    forget(Date.now());
  }, flushMs);

  function add(siteId: string, bucket: VisitBucket, reason: string, now: number): Counter {
    const hour = Math.floor(now / hourMs);
    const key = keyOf({ siteId, hour, bucket, reason });
    let counter = counters.get(key);
    if (!counter)
      counters.set(key, (counter = { siteId, hour, bucket, reason, visits: 0, isWritten: false }));
    counter.visits += 1;
    counter.isWritten = false;
    if (bucket === "bots") bots.set(siteId, (bots.get(siteId) ?? 0) + 1);
    return counter;
  }

  return {
    count: (siteId, bucket, reason, now) => void add(siteId, bucket, reason, now),
    countAhead(siteId, pageId, now) {
      const counter = add(siteId, "not a visit", "", now);
      if (pageId === null) return;
      const [oldest] = ahead.keys();
      if (ahead.size >= maxAhead && oldest !== undefined) ahead.delete(oldest);
      ahead.set(`${siteId} ${pageId}`, counter);
    },
    wasShown(siteId, pageId) {
      const key = `${siteId} ${pageId}`;
      const counter = ahead.get(key);
      ahead.delete(key);
      // An hour that was let go of cannot be changed any more.
      if (!counter || !counters.has(keyOf(counter))) return;
      counter.visits -= 1;
      counter.isWritten = false;
    },
    async stop() {
      clearInterval(timer);
      await writing;
      await flush();
    },
  };
}
