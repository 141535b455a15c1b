// Counts by site and hour in memory and writes the counts that changed, one batch for each site and hour. A batch that
// failed is written again. A crash loses only the counts that were not written yet, usually those of one second.

import { hourMs } from "../kernel/time.ts";
import { defaultPollMs, poll } from "./poll.ts";

export type Counted<Label> = Label & {
  /** Hours since the epoch. */
  hour: number;
  /** Everything that this process counted under the label in that hour. */
  count: number;
  /** The part of `count` that no earlier batch contained. */
  added: number;
  lastAt: number;
};

type FlushedCounterOptions<Label> = {
  /** Names this process. */
  writer: string;
  /** Identifies a label within its site. */
  keyOf: (label: Label) => string;
  /**
   * Writes a batch of one site and hour; `total` is the sum of all counts of that site and hour under the name `writer`. A batch
   * that failed may have been committed: the same batch is written again, unchanged, before anything else of its site and hour.
   */
  write: (batch: Counted<Label>[], writer: string, total: number) => Promise<void>;
  onError: (error: unknown) => void;
  pollMs?: number | undefined;
};

type FlushedCounter<Label> = {
  /** Returns a function that takes the count back, as long as it is kept in memory. */
  add(label: Label, at: number): () => void;
  /** Writes the rest and stops. */
  stop(): Promise<void>;
};

type Counter<Label> = { label: Label; count: number; written: number; lastAt: number };
type Group<Label> = {
  hour: number;
  /**
   * A name of its own: a clock that ran ahead and is corrected comes to an hour again whose counts are no longer in memory, and what
   * begins at 0 must not replace them.
   */
  writer: string;
  total: number;
  counters: Map<string, Counter<Label>>;
  changed: Set<Counter<Label>>;
  /** The batch under way, or the one whose write failed. */
  batch: { rows: (readonly [Counter<Label>, Counted<Label>])[]; total: number } | null;
  /** By the monotonic clock, so that the wall clock may be set. */
  changedAt: number;
};

/** Counts stay in memory for this long after the last change in their site and hour. */
const keptMs = 2 * hourMs;
/** Further labels are not counted, so that a database that is unavailable for days does not fill the memory. */
export const maxCounters = 200_000;

export function flushedCounter<Label extends { siteId: string }>(options: FlushedCounterOptions<Label>): FlushedCounter<Label> {
  const { keyOf, write, onError, pollMs = defaultPollMs } = options;
  const groups = new Map<string, Group<Label>>();
  let begun = 0;
  let size = 0;
  let dropped = 0;

  function change(group: Group<Label>, counter: Counter<Label>, by: number): void {
    counter.count += by;
    group.total += by;
    group.changed.add(counter);
    group.changedAt = performance.now();
  }

  function nextBatch({ hour, total, changed }: Group<Label>) {
    const rows = [...changed].map((counter) => {
      const { label, count, written, lastAt } = counter;
      return [counter, { ...label, hour, count, added: count - written, lastAt }] as const;
    });
    changed.clear();
    return { rows, total };
  }

  async function flushGroup(group: Group<Label>): Promise<void> {
    const isRepeated = group.batch !== null;
    if (!isRepeated && group.changed.size === 0) return;
    const { rows, total } = (group.batch ??= nextBatch(group));
    await write(
      rows.map(([, row]) => row),
      group.writer,
      total,
    );
    for (const [counter, { count }] of rows) counter.written = count;
    group.batch = null;
    if (isRepeated) await flushGroup(group);
  }

  async function flush(): Promise<void> {
    const failures: unknown[] = [];
    for (const group of groups.values()) await flushGroup(group).catch((error: unknown) => failures.push(error));
    // One error is enough, because usually all have the same cause.
    if (failures.length > 0) onError(failures[0]);
    if (dropped > 0) onError(new Error(`${dropped} counts were dropped: too many are waiting to be written`));
    dropped = 0;
    purge();
  }

  function purge(): void {
    const before = performance.now() - keptMs;
    for (const [key, { changedAt, batch, changed, counters }] of groups) {
      if (changedAt >= before || batch || changed.size > 0) continue;
      groups.delete(key);
      size -= counters.size;
    }
  }

  const loop = poll({ everyMs: pollMs, firstMs: pollMs, work: flush, onError });
  return {
    add(label, at) {
      const hour = Math.floor(at / hourMs);
      const [groupKey, key] = [`${hour} ${label.siteId}`, keyOf(label)];
      const group = groups.get(groupKey) ?? {
        hour,
        writer: `${options.writer}.${(begun += 1)}`,
        total: 0,
        counters: new Map<string, Counter<Label>>(),
        changed: new Set<Counter<Label>>(),
        batch: null,
        changedAt: 0,
      };
      const known = group.counters.get(key);
      if (!known && size >= maxCounters) {
        dropped += 1;
        return () => {};
      }
      const counter = known ?? { label, count: 0, written: 0, lastAt: 0 };
      if (!known) {
        groups.set(groupKey, group);
        group.counters.set(key, counter);
        size += 1;
      }
      counter.lastAt = Math.max(counter.lastAt, at);
      change(group, counter, 1);
      return () => {
        if (groups.get(groupKey) === group) change(group, counter, -1);
      };
    },
    async stop() {
      await loop.stop();
      await flush();
    },
  };
}
