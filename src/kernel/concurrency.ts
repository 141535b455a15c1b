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
/** After a wait for what a slice has begun: such slices are half as large, so that as much is done in the same time. */
const pauseAfterWaitMs = 2;
/** So long after their last request others count as active: their next one may come at any moment. */
const activeMs = 1000;
/** So many of one key wait for their turn. */
const maxWaitingPieces = 1000;
/** The longest wait for what a slice has begun: a store that hangs must not stop everybody's work. */
const maxHoldMs = 100;

/** Those who wait, by key. A key that had its turn goes to the end. */
function createQueue() {
  const waiting = new Map<string, (() => void)[]>();
  return {
    add(key: string, start: () => void): void {
      const starts = waiting.get(key);
      if (starts) starts.push(start);
      else waiting.set(key, [start]);
    },
    count: (key: string): number => waiting.get(key)?.length ?? 0,
    /** The key whose turn is next. */
    nextKey: (): string | undefined => waiting.keys().next().value,
    take(): (() => void) | undefined {
      const [first] = waiting;
      if (!first) return undefined;
      const [key, starts] = first;
      const start = starts.shift();
      waiting.delete(key);
      if (starts.length > 0) waiting.set(key, starts);
      return start;
    },
  };
}

type ShareOptions = {
  elapsed?: () => number;
  /** Calls back after a pause. */
  afterPause?: (next: () => void, ms: number) => void;
};

/**
 * Shares a thread among those who have long work to do on it. They work in slices: in each turn of the event loop one of them has one, so
 * that requests run in between. Keys take turns: however many of one key wait, another's is next. While requests of other keys are being
 * answered there are pauses as well: an answer takes many turns of the event loop, and would wait for a slice in each of them.
 *
 * Work that goes on in later turns, such as commits, is begun a few items at a time (`beginSome`). While other keys are active, nobody has a
 * slice until the first part of what was begun has ended: otherwise it would pile up, and a request that comes then would wait for all of it.
 */
export function createThreadShare({
  elapsed = () => performance.now(),
  afterPause = (next, ms) => void setTimeout(next, ms),
}: ShareOptions = {}) {
  const slices = createQueue();
  const pieces = createQueue();
  /** A piece began in this turn of the event loop. */
  let hasBegun = false;
  /** The number of requests that are being answered, by key and in all. */
  const answering = new Map<string, number>();
  let answers = 0;
  /** The last request, and the last one of another key than that. */
  let last = { key: "", at: -Infinity };
  let lastOther = last;
  let isScheduled = false;
  /** What has been begun and is waited for. */
  let held = 0;

  /** True while requests of other keys are being answered. */
  const isContended = (key: string) => answers > (answering.get(key) ?? 0);

  function scheduleNext(ms = pauseMs): void {
    const next = slices.nextKey();
    if (next === undefined || isScheduled || held > 0) return;
    isScheduled = true;
    if (isContended(next)) afterPause(startNext, ms);
    else setImmediate(startNext);
  }

  function startNext(): void {
    isScheduled = false;
    if (held > 0) return;
    const start = slices.take();
    scheduleNext();
    start?.();
  }

  /** Resolves when the next slice of `key` begins. */
  function nextSlice(key: string): Promise<void> {
    return new Promise((resolve) => {
      slices.add(key, resolve);
      scheduleNext();
    });
  }

  function notePiece(): void {
    if (!hasBegun) setImmediate(beginPiece);
    hasBegun = true;
  }

  function beginPiece(): void {
    hasBegun = false;
    const next = pieces.take();
    if (!next) return;
    notePiece();
    next();
  }

  /** No slice begins until `work` has ended. */
  function hold(work: Promise<unknown>): void {
    held += 1;
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      clearTimeout(timeout);
      held -= 1;
      scheduleNext(pauseAfterWaitMs);
    };
    const timeout = setTimeout(release, maxHoldMs);
    work.then(release, release);
  }

  function noteRequest(key: string): void {
    if (key !== last.key) lastOther = last;
    last = { key, at: elapsed() };
  }

  /** True while keys other than this one are active. */
  const isShared = (key: string) => elapsed() - (last.key === key ? lastOther : last).at < activeMs;

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

    /**
     * Short work that comes in floods, such as reports of visits: while requests of other keys are being answered, one piece begins in a turn
     * of the event loop, and the others wait for the next ones. An answer takes many turns, so that each must be short. Returns a promise when
     * the work must wait, and "full" when too much of its key waits already.
     */
    piece(key: string): Promise<void> | "full" | undefined {
      if (pieces.nextKey() === undefined && (!hasBegun || !isContended(key))) {
        notePiece();
        return undefined;
      }
      if (pieces.count(key) >= maxWaitingPieces) return "full";
      return new Promise((resolve) => pieces.add(key, resolve));
    },

    /** Works on a list in slices. A list that takes no longer than one is done at once. */
    async map<Item, Result>(key: string, items: readonly Item[], work: (item: Item, i: number) => Result): Promise<Result[]> {
      const results: Result[] = [];
      const rest = begin(key);
      for (const [i, item] of items.entries()) {
        const resting = rest();
        if (resting) await resting;
        results.push(work(item, i));
      }
      return results;
    },

    /**
     * Begins asynchronous work on each item of a list, at most `sizes.shared` in a slice while other keys are active, and `sizes.alone`
     * otherwise. It resolves with what they will result in when all have been begun. `first` is the part of the work that other keys would
     * wait for; it does not reject.
     */
    async beginSome<Item, Result>(
      key: string,
      items: readonly Item[],
      sizes: Readonly<Record<"alone" | "shared", number>>,
      beginOne: (item: Item) => { first: Promise<unknown>; result: Result },
    ): Promise<Result[]> {
      const results: Result[] = [];
      while (results.length < items.length) {
        // A few are begun at once, as those of single requests are.
        if (results.length > 0 || (isShared(key) && items.length > sizes.shared)) await nextSlice(key);
        const at = results.length;
        const begun = items.slice(at, at + (isShared(key) ? sizes.shared : sizes.alone)).map(beginOne);
        for (const { result } of begun) results.push(result);
        if (isShared(key)) hold(Promise.all(begun.map(({ first }) => first)));
      }
      return results;
    },

    /** Answers a request, to which long work of other keys gives way. */
    async answer<T>(key: string, work: () => Promise<T>): Promise<T> {
      countAnswers(key, 1);
      noteRequest(key);
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
