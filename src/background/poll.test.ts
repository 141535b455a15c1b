import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { poll, type PollOptions } from "./poll.ts";

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

/** A loop whose runs last `state.lastsMs`, and the times at which they started. */
function start(options: Partial<PollOptions> = {}) {
  const started: number[] = [];
  const errors: unknown[] = [];
  const state = { lastsMs: 0, underWay: 0, maxUnderWay: 0, aborted: false };
  const loop = poll({
    everyMs: 1000,
    async work(signal) {
      started.push(Date.now());
      state.underWay += 1;
      state.maxUnderWay = Math.max(state.maxUnderWay, state.underWay);
      if (state.lastsMs) await new Promise((resolve) => setTimeout(resolve, state.lastsMs));
      state.underWay -= 1;
      state.aborted = signal.aborted;
    },
    onError: (error) => errors.push(error),
    ...options,
  });
  return { loop, started, errors, state };
}

test("work runs after the first delay, and then again after each pause", async () => {
  const { loop, started } = start({ firstMs: 300 });
  await vi.advanceTimersByTimeAsync(2500);
  expect(started).toEqual([300, 1300, 2300]);
  await loop.stop();
});

test("work that lasts longer than the pause never overlaps itself: the pause begins at its end", async () => {
  const { loop, started, state } = start();
  state.lastsMs = 2500;
  await vi.advanceTimersByTimeAsync(8000);
  expect(started).toEqual([0, 3500, 7000]);
  expect(state.maxUnderWay).toBe(1);
  await vi.advanceTimersByTimeAsync(2000);
  await loop.stop();
});

test("work that fails is reported and runs again", async () => {
  const failure = new Error("the store is down");
  const { loop, errors } = start({ work: () => Promise.reject(failure) });
  await vi.advanceTimersByTimeAsync(1000);
  expect(errors).toEqual([failure, failure]);
  await loop.stop();
});

test("work that throws before its first await is reported and runs again", async () => {
  const { loop, errors } = start({
    work: () => {
      throw new Error("at once");
    },
  });
  await vi.advanceTimersByTimeAsync(0);
  loop.wake(5);
  await vi.advanceTimersByTimeAsync(5);
  expect(errors).toEqual([new Error("at once"), new Error("at once")]);
  await loop.stop();
});

test("a stop during a run aborts its signal and waits for its end, and no further run starts", async () => {
  const { loop, started, state } = start();
  state.lastsMs = 500;
  await vi.advanceTimersByTimeAsync(100);
  let isStopped = false;
  const stopped = loop.stop().then(() => (isStopped = true));
  await vi.advanceTimersByTimeAsync(300);
  expect(isStopped).toBe(false);
  await vi.advanceTimersByTimeAsync(100);
  await stopped;
  expect(state.aborted).toBe(true);
  loop.wake(0);
  await vi.advanceTimersByTimeAsync(5000);
  expect(started).toEqual([0]);
});

test("a stop before the first run, or a second stop, has nothing to wait for", async () => {
  const { loop, started } = start({ firstMs: 10 });
  await loop.stop();
  await loop.stop();
  await vi.advanceTimersByTimeAsync(5000);
  expect(started).toEqual([]);
});

test("jitter varies each pause by its share in both directions", async () => {
  const values = [0, 1, 0.5];
  const { loop, started } = start({ jitter: 0.2, random: () => values.shift() ?? 0.5 });
  await vi.advanceTimersByTimeAsync(3000);
  expect(started).toEqual([0, 800, 2000, 3000]);
  await loop.stop();
});

test("a wake between two runs starts the next one early, and further wakes do not postpone it", async () => {
  const { loop, started } = start();
  await vi.advanceTimersByTimeAsync(100);
  loop.wake(5);
  await vi.advanceTimersByTimeAsync(4);
  loop.wake(5);
  await vi.advanceTimersByTimeAsync(1001);
  expect(started).toEqual([0, 105, 1105]);
  await loop.stop();
});

test("a wake during a run starts the next one soon after its end", async () => {
  const { loop, started, state } = start();
  state.lastsMs = 100;
  await vi.advanceTimersByTimeAsync(50);
  loop.wake(5);
  await vi.advanceTimersByTimeAsync(60);
  expect(started).toEqual([0, 105]);
  await vi.advanceTimersByTimeAsync(100);
  await loop.stop();
});
