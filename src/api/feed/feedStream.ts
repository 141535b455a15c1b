// One listener of the feed: a short queue of messages, a sign of life, and an end.

import { minuteMs } from "../../kernel/time.ts";

const aliveMs = 15_000;
/** A session or key that was ended is at an end here, too. */
const checkMs = 2_000;
/** Browsers connect again by themselves; so a stream never outlives what it was allowed for by much. */
const maxMs = 10 * minuteMs;
/** A listener that is too slow misses the oldest. */
const maxQueued = 500;

export type Stream = { send(message: string): void; pieces: AsyncIterable<string> };

export function openStream(isAllowed: () => Promise<boolean>, onEnd: () => void): Stream {
  const queue: string[] = ["retry: 3000\n\n"];
  let waiting: ((result: IteratorResult<string>) => void) | null = null;
  let ended = false;

  function send(message: string): void {
    if (ended) return;
    if (waiting) {
      waiting({ done: false, value: message });
      waiting = null;
      return;
    }
    if (queue.length >= maxQueued) queue.shift();
    queue.push(message);
  }

  function end(): void {
    if (ended) return;
    ended = true;
    clearInterval(alive);
    clearInterval(checking);
    clearTimeout(longest);
    waiting?.({ done: true, value: undefined });
    waiting = null;
    onEnd();
  }

  const alive = setInterval(() => send(": alive\n\n"), aliveMs);
  const checking = setInterval(() => {
    // What cannot be checked is not allowed.
    void isAllowed().then(
      (is) => is || end(),
      () => end(),
    );
  }, checkMs);
  const longest = setTimeout(end, maxMs);

  const iterator: AsyncIterator<string> = {
    async next() {
      const message = queue.shift();
      if (message !== undefined) return { done: false, value: message };
      if (ended) return { done: true, value: undefined };
      return new Promise((resolve) => {
        waiting = resolve;
      });
    },
    // At once: a generator would first wait for the next message.
    async return() {
      end();
      return { done: true, value: undefined };
    },
  };
  return { send, pieces: { [Symbol.asyncIterator]: () => iterator } };
}
