// How many visits there were, of people and of others: counted in memory, written in groups. Nothing is lost on a stop;
// a crash loses at most one interval.

import type { VisitBucket } from "../event.ts";
import type { Store } from "../store/store.ts";
import { hourMs, type VisitCount } from "../store/traffic.ts";

const flushMs = 1000;
/** A page that was loaded ahead is shown within this time, or counts as a new one. */
const keptHours = 2;

export type VisitCounts = {
  count(siteId: string, bucket: VisitBucket, reason: string, now: number): void;
  /** A page that was counted as not a visit has been shown: it is counted again, as what it is. */
  wasShown(siteId: string, now: number): void;
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
  let writing: Promise<void> = Promise.resolve();

  const keyOf = (siteId: string, hour: number, bucket: string, reason: string) =>
    `${siteId} ${hour} ${bucket} ${reason}`;

  async function write(): Promise<void> {
    const unwritten = [...counters.values()].filter((counter) => !counter.isWritten);
    if (unwritten.length === 0) return;
    for (const counter of unwritten) counter.isWritten = true;
    try {
      await store.traffic.saveCounts(writer, unwritten);
    } catch (error) {
      // Nothing is lost: the next interval says it again.
      for (const counter of unwritten) counter.isWritten = false;
      onDefect(error);
    }
  }

  function flush(): Promise<void> {
    writing = writing.then(write);
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

  return {
    count(siteId, bucket, reason, now) {
      const hour = Math.floor(now / hourMs);
      const key = keyOf(siteId, hour, bucket, reason);
      const counter = counters.get(key);
      if (!counter) counters.set(key, { siteId, hour, bucket, reason, visits: 1, isWritten: false });
      else {
        counter.visits += 1;
        counter.isWritten = false;
      }
    },
    wasShown(siteId, now) {
      const current = Math.floor(now / hourMs);
      for (let hour = current; hour >= current - keptHours; hour -= 1) {
        const counter = counters.get(keyOf(siteId, hour, "not a visit", ""));
        if (!counter?.visits) continue;
        counter.visits -= 1;
        counter.isWritten = false;
        return;
      }
    },
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
