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
/** Whose slice would begin later than this in a turn of the event loop waits for another one. */
const maxBeginMs = 2;
/** The pause between two slices while other requests are being answered: about as long as a slice and what follows from it. */
const pauseMs = 4;
/** After a slice that took longer than it should the pause is as long as it was, up to this. */
const maxPauseMs = 100;
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
    /** Takes the next one, of the keys that may start. */
    take(mayStart: (key: string) => boolean = () => true): (() => void) | undefined {
      for (const [key, starts] of waiting) {
        if (!mayStart(key)) continue;
        const start = starts.shift();
        waiting.delete(key);
        if (starts.length > 0) waiting.set(key, starts);
        return start;
      }
      return undefined;
    },
  };
}

/** Counts what goes on, by key and in all. */
function createCounts() {
  const counts = new Map<string, number>();
  let all = 0;
  return {
    all: () => all,
    of: (key: string): number => counts.get(key) ?? 0,
    add(key: string, by: 1 | -1): void {
      all += by;
      const ofKey = (counts.get(key) ?? 0) + by;
      if (ofKey > 0) counts.set(key, ofKey);
      else counts.delete(key);
    },
  };
}

/** Lets at most `max` pieces of work go on at a time, of one key at most `maxOfKey`. Others wait, and keys get their places in turn. */
export function createLimit({ max = Infinity, maxOfKey }: { max?: number; maxOfKey: number }) {
  const waiting = createQueue();
  const counts = createCounts();
  const hasPlace = (key: string) => counts.all() < max && counts.of(key) < maxOfKey;
  return {
    waiting: (key: string): number => waiting.count(key),
    async run<T>(key: string, work: () => Promise<T>): Promise<T> {
      if (hasPlace(key)) counts.add(key, 1);
      else
        await new Promise<void>((resolve) =>
          waiting.add(key, () => {
            counts.add(key, 1);
            resolve();
          }),
        );
      try {
        return await work();
      } finally {
        counts.add(key, -1);
        waiting.take(hasPlace)?.();
      }
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
 * that requests run in between. Keys take turns: however many of one key wait, another's is next, and all that a key does in a turn is one
 * slice. While requests of other keys are being answered there are pauses as well: an answer takes many turns of the event loop, and would
 * wait for a slice in each of them.
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
  /** The slices of this turn of the event loop: when the first began, and when that of each key is over. */
  let turn: { beganAt: number; ends: Map<string, number> } | null = null;
  /** The requests that are being answered. */
  const answering = createCounts();
  /** The last request, and the last one of another key than that. */
  let last = { key: "", at: -Infinity };
  let lastOther = last;
  let isScheduled = false;
  /** What has been begun and is waited for. */
  let held = 0;

  /** True while requests of other keys are being answered. */
  const isContended = (key: string) => answering.all() > answering.of(key);

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
    if (!start) return;
    const startedAt = elapsed();
    start();
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      scheduleNext(Math.min(maxPauseMs, Math.max(pauseMs, elapsed() - startedAt)));
    });
  }

  function beginSlice(key: string): void {
    const now = elapsed();
    if (!turn) setImmediate(() => (turn = null));
    turn ??= { beganAt: now, ends: new Map() };
    turn.ends.set(key, now + sliceMs);
  }

  /** Resolves when the next slice of `key` begins. */
  function nextSlice(key: string): Promise<void> {
    return new Promise((resolve) => {
      slices.add(key, () => {
        beginSlice(key);
        resolve();
      });
      scheduleNext();
    });
  }

  /** True when what `key` does next in this turn must wait for another one. */
  function isOver(key: string): boolean {
    const end = turn?.ends.get(key);
    if (end !== undefined) return elapsed() >= end;
    return slices.count(key) > 0 || (turn !== null && elapsed() - turn.beganAt >= maxBeginMs);
  }

  /** Called between two steps of long work, and waited for: it returns a promise when the slice of its key is over. */
  function rest(key: string): Promise<void> | undefined {
    if (isOver(key)) return nextSlice(key);
    if (!turn?.ends.has(key)) beginSlice(key);
    return undefined;
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

  return {
    rest,
    /** The same for the steps of one piece of work. */
    begin: (key: string) => () => rest(key),
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
      for (const [i, item] of items.entries()) {
        const resting = rest(key);
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

    /** Begins what goes on in later turns, such as a commit, in a slice: while other keys are active, nobody has another until it ends. */
    async takeTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
      await nextSlice(key);
      const working = work();
      if (isShared(key)) hold(working);
      return working;
    },

    /** Answers a request, to which long work of other keys gives way. */
    async answer<T>(key: string, work: () => Promise<T>): Promise<T> {
      answering.add(key, 1);
      noteRequest(key);
      try {
        return await work();
      } finally {
        answering.add(key, -1);
      }
    },
  };
}

/** The thread that accepts events: this one. Keys are sites. */
export const threadShare = createThreadShare();
