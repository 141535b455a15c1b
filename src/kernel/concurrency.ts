import { yieldToEventLoop } from "./deadline.ts";

/** Calls `work` for every item, at most `limit` at a time. */
export async function forEachConcurrently<Item>(
  items: Iterable<Item>,
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = Iterator.from(items);
  const workNext = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: limit }, workNext));
}

/** Events that are worked on without a pause: one or two milliseconds. */
const sliceItems = 16;

/** Works on a list in slices, so that other requests run in between. A list of one slice is done at once. */
export async function inSlices<Item, Result>(items: readonly Item[], work: (item: Item, i: number) => Result): Promise<Result[]> {
  const results: Result[] = [];
  for (const [i, item] of items.entries()) {
    if (i > 0 && i % sliceItems === 0) await yieldToEventLoop();
    results.push(work(item, i));
  }
  return results;
}

/** Lets one at a time work. Keys take turns: however many of one key wait, another's is next. */
export function createTurns() {
  /** Those who wait, by key. A key that had its turn goes to the end. */
  const waiting = new Map<string, (() => void)[]>();
  let isTaken = false;

  function next(): void {
    const [first] = waiting;
    if (!first) {
      isTaken = false;
      return;
    }
    const [key, starts] = first;
    const start = starts.shift();
    waiting.delete(key);
    if (starts.length > 0) waiting.set(key, starts);
    start?.();
  }

  return {
    async take<T>(key: string, work: () => Promise<T>): Promise<T> {
      if (isTaken)
        await new Promise<void>((resolve) => {
          const starts = waiting.get(key);
          if (starts) starts.push(resolve);
          else waiting.set(key, [resolve]);
        });
      isTaken = true;
      try {
        return await work();
      } finally {
        next();
      }
    },
  };
}
