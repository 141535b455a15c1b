// Counts by site and hour in memory and writes the counts that changed, one batch for each site and hour. A stop loses
// nothing, nor does an unavailable database; a crash loses at most one interval.

import { hourMs } from "../kernel/time.ts";
import { poll } from "./poll.ts";

export type Counted<Label> = Label & {
  /** Hours since the epoch. */
  hour: number;
  /** Everything that this process counted under the label in that hour. */
  count: number;
  /** The part of `count` that no earlier batch contained. */
  added: number;
  lastAt: number;
};

export type FlushedCounterOptions<Label> = {
  /** Identifies a label within its site. */
  keyOf: (label: Label) => string;
  /**
   * Writes a batch of one site and hour; `total` is the sum of all counts of that site and hour. A batch that failed may
   * have been committed: the same batch is written again, unchanged, before anything else of its site and hour.
   */
  write: (batch: Counted<Label>[], total: number) => Promise<void>;
  onError: (error: unknown) => void;
};

export type FlushedCounter<Label> = {
  /** Returns a function that takes this one off again, as long as its hour is kept in memory. */
  add(label: Label, at: number): () => void;
  /** Writes the rest and stops. */
  stop(): Promise<void>;
};

type Counter<Label> = { label: Label; count: number; written: number; lastAt: number };
type Batch<Label> = { counters: Counter<Label>[]; counts: Counted<Label>[]; total: number };
type Group<Label> = {
  hour: number;
  total: number;
  counters: Map<string, Counter<Label>>;
  changed: Set<Counter<Label>>;
  /** The batch whose write failed. */
  unsure: Batch<Label> | null;
};

const everyMs = 1000;
const keptHours = 2;
/** More labels than this are not counted, so that a database that is unavailable for days does not fill the memory. */
export const maxCounters = 200_000;

export function flushedCounter<Label extends { siteId: string }>(
  options: FlushedCounterOptions<Label>,
): FlushedCounter<Label> {
  const { keyOf, write, onError } = options;
  const groups = new Map<string, Group<Label>>();
  let size = 0;
  let dropped = 0;
  let currentHour = 0;
  let purgedHour = 0;

  function findCounter(group: Group<Label>, label: Label): Counter<Label> | null {
    const key = keyOf(label);
    const known = group.counters.get(key);
    if (known) return known;
    if (size >= maxCounters) return null;
    size += 1;
    const counter = { label, count: 0, written: 0, lastAt: 0 };
    group.counters.set(key, counter);
    return counter;
  }

  function change(group: Group<Label>, counter: Counter<Label>, by: number): void {
    counter.count += by;
    group.total += by;
    group.changed.add(counter);
  }

  function nextBatch(group: Group<Label>): Batch<Label> | null {
    if (group.unsure) return group.unsure;
    const counters = [...group.changed];
    group.changed.clear();
    if (counters.length === 0) return null;
    const counts = counters.map(({ label, count, written, lastAt }) => ({
      ...label,
      hour: group.hour,
      count,
      added: count - written,
      lastAt,
    }));
    return { counters, counts, total: group.total };
  }

  async function flushGroup(group: Group<Label>): Promise<void> {
    const isRepeated = group.unsure !== null;
    const batch = nextBatch(group);
    if (!batch) return;
    group.unsure = batch;
    await write(batch.counts, batch.total);
    group.unsure = null;
    for (const [i, counter] of batch.counters.entries()) counter.written = batch.counts[i]?.count ?? 0;
    if (isRepeated) await flushGroup(group);
  }

  async function flush(): Promise<void> {
    const failures: unknown[] = [];
    for (const group of groups.values())
      await flushGroup(group).catch((error: unknown) => failures.push(error));
    // One of them is enough: most often all have one cause.
    if (failures.length > 0) onError(failures[0]);
    if (dropped > 0) onError(new Error(`${dropped} counts were dropped: too many are waiting to be written`));
    dropped = 0;
    purge();
  }

  function purge(): void {
    if (currentHour === purgedHour) return;
    purgedHour = currentHour;
    for (const [key, group] of groups) {
      if (group.hour >= currentHour - keptHours || group.unsure || group.changed.size > 0) continue;
      groups.delete(key);
      size -= group.counters.size;
    }
  }

  const loop = poll({ everyMs, firstMs: everyMs, work: flush, onError });
  return {
    add(label, at) {
      const hour = Math.floor(at / hourMs);
      currentHour = hour;
      const place = `${hour} ${label.siteId}`;
      let group = groups.get(place);
      if (!group) {
        group = { hour, total: 0, counters: new Map(), changed: new Set(), unsure: null };
        groups.set(place, group);
      }
      const counter = findCounter(group, label);
      if (!counter) {
        dropped += 1;
        return () => {};
      }
      counter.lastAt = Math.max(counter.lastAt, at);
      change(group, counter, 1);
      return () => {
        if (groups.get(place) === group) change(group, counter, -1);
      };
    },
    async stop() {
      await loop.stop();
      await flush();
    },
  };
}
