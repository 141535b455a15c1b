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

/** How long a slice lasts. */
const sliceMs = 1;
/** The pause between two slices while other requests are being answered: about as long as a slice and what follows from it. */
const pauseMs = 4;

type ShareOptions = {
  elapsed?: () => number;
  /** Calls back after a pause. */
  afterPause?: (next: () => void) => void;
};

/**
 * Shares a thread among those who have long work to do on it. They work in slices: in each turn of the event loop one of them has one, so
 * that requests run in between. Keys take turns: however many of one key wait, another's is next. While requests of other keys are being
 * answered there are pauses as well: an answer takes many turns of the event loop, and would wait for a slice in each of them.
 */
export function createThreadShare({
  elapsed = () => performance.now(),
  afterPause = (next) => void setTimeout(next, pauseMs),
}: ShareOptions = {}) {
  /** Those who wait, by key. A key that had its turn goes to the end. */
  const waiting = new Map<string, (() => void)[]>();
  /** The number of requests that are being answered, by key and in all. */
  const answering = new Map<string, number>();
  let answers = 0;

  function scheduleNext(): void {
    const [next = ""] = waiting.keys();
    if (answers > (answering.get(next) ?? 0)) afterPause(startNext);
    else setImmediate(startNext);
  }

  function startNext(): void {
    const [first] = waiting;
    if (!first) return;
    const [key, starts] = first;
    const start = starts.shift();
    waiting.delete(key);
    if (starts.length > 0) waiting.set(key, starts);
    if (waiting.size > 0) scheduleNext();
    start?.();
  }

  /** Resolves when the next slice of `key` begins. */
  function nextSlice(key: string): Promise<void> {
    return new Promise((resolve) => {
      const isFirst = waiting.size === 0;
      const starts = waiting.get(key);
      if (starts) starts.push(resolve);
      else waiting.set(key, [resolve]);
      if (isFirst) scheduleNext();
    });
  }

  /** Begins long work. What it returns is called between two steps, and waited for: it returns a promise when the slice is over. */
  function begin(key: string): () => Promise<void> | undefined {
    let endsAt = elapsed() + sliceMs;
    return () => {
      if (elapsed() < endsAt) return undefined;
      return nextSlice(key).then(() => {
        endsAt = elapsed() + sliceMs;
      });
    };
  }

  function countAnswers(key: string, by: number): void {
    answers += by;
    const ofKey = (answering.get(key) ?? 0) + by;
    if (ofKey > 0) answering.set(key, ofKey);
    else answering.delete(key);
  }

  return {
    begin,
    nextSlice,

    /** Works on a list in slices, each of at most `maxItems`. A list that takes no longer than one is done at once. */
    async map<Item, Result>(
      key: string,
      items: readonly Item[],
      work: (item: Item, i: number) => Result,
      maxItems = Infinity,
    ): Promise<Result[]> {
      const results: Result[] = [];
      const rest = begin(key);
      for (const [i, item] of items.entries()) {
        const resting = i > 0 && i % maxItems === 0 ? nextSlice(key) : rest();
        if (resting) await resting;
        results.push(work(item, i));
      }
      return results;
    },

    /** Answers a request, to which long work of other keys gives way. */
    async answer<T>(key: string, work: () => Promise<T>): Promise<T> {
      countAnswers(key, 1);
      try {
        return await work();
      } finally {
        countAnswers(key, -1);
      }
    },
  };
}

/** The thread that accepts events: this one. Keys are sites. */
export const threadShare = createThreadShare();
