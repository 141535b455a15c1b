import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { hourMs } from "../kernel/time.ts";
import { flushedCounter, maxCounters, type Counted } from "./flushedCounter.ts";

const now = Date.UTC(2026, 10, 15, 12);
type Label = { siteId: string; kind: string };

beforeEach(() => void vi.useFakeTimers({ now }));
afterEach(() => void vi.useRealTimers());

function start() {
  const batches: { counts: string[]; total: number }[] = [];
  /** What a store has that replaces the counts of a writer. */
  const stored = new Map<string, number>();
  const errors: unknown[] = [];
  const state = { failing: "", slowMs: 0 };
  const textOf = ({ siteId, kind, hour, count, added }: Counted<Label>) =>
    `${siteId} ${kind} ${hour - now / hourMs}h: ${count} (+${added})`;
  const counter = flushedCounter<Label>({
    writer: "w",
    keyOf: ({ kind }) => kind,
    async write(batch, writer, total) {
      if (state.slowMs) await new Promise((resolve) => setTimeout(resolve, state.slowMs));
      batches.push({ counts: batch.map(textOf), total });
      for (const { siteId, kind, hour, count } of batch) stored.set([writer, siteId, kind, hour - now / hourMs].join(" "), count);
      if (batch[0]?.siteId === state.failing) throw new Error("the store is down");
    },
    onError: (error) => errors.push(error),
  });
  const add = (siteId: string, kind: string, at = now) => counter.add({ siteId, kind }, at);
  /** The sum over all writers. */
  const sumOf = (key: string) => stored.entries().reduce((sum, [name, count]) => sum + (name.endsWith(` ${key}`) ? count : 0), 0);
  return { counter, add, batches, errors, state, sumOf };
}

test("counts are written once in each interval, in one batch for each site and hour", async () => {
  const { counter, add, batches } = start();
  for (let i = 0; i < 1000; i++) add("a", "x");
  add("a", "y");
  add("a", "x", now + hourMs);
  add("b", "x");
  expect(batches).toEqual([]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(batches).toEqual([
    { counts: ["a x 0h: 1000 (+1000)", "a y 0h: 1 (+1)"], total: 1001 },
    { counts: ["a x 1h: 1 (+1)"], total: 1 },
    { counts: ["b x 0h: 1 (+1)"], total: 1 },
  ]);
  await counter.stop();
  expect(batches).toHaveLength(3);
});

test("a batch contains only the counts that changed", async () => {
  const { counter, add, batches } = start();
  add("a", "x");
  add("a", "y");
  await vi.advanceTimersByTimeAsync(1000);
  add("a", "y");
  await counter.stop();
  expect(batches.at(-1)).toEqual({ counts: ["a y 0h: 2 (+1)"], total: 3 });
});

test("a batch that failed is written again unchanged, followed at once by the counts since then", async () => {
  const { counter, add, batches, errors, state } = start();
  state.failing = "a";
  add("a", "x");
  add("b", "x");
  await vi.advanceTimersByTimeAsync(1000);
  add("a", "x");
  await vi.advanceTimersByTimeAsync(1000);
  expect(errors).toHaveLength(2);
  state.failing = "";
  batches.length = 0;
  await vi.advanceTimersByTimeAsync(1000);
  expect(batches).toEqual([
    { counts: ["a x 0h: 1 (+1)"], total: 1 },
    { counts: ["a x 0h: 2 (+1)"], total: 2 },
  ]);
  await counter.stop();
});

test("a stop waits for the write under way and writes what was counted meanwhile", async () => {
  const { counter, add, batches, state } = start();
  state.slowMs = 500;
  add("a", "x");
  await vi.advanceTimersByTimeAsync(1100);
  add("a", "x");
  const stopped = counter.stop();
  await vi.advanceTimersByTimeAsync(1000);
  await stopped;
  expect(batches.map(({ counts }) => counts)).toEqual([["a x 0h: 1 (+1)"], ["a x 0h: 2 (+1)"]]);
});

test("a count can be taken back as long as it is in memory, also after a clock ran ahead", async () => {
  const { counter, add, batches } = start();
  const [takeBack, tooLate] = [add("a", "x"), add("a", "x")];
  add("a", "x", now + 5 * hourMs);
  await vi.advanceTimersByTimeAsync(1000);
  takeBack();
  await vi.advanceTimersByTimeAsync(1000);
  expect(batches.at(-1)).toEqual({ counts: ["a x 0h: 1 (+-1)"], total: 1 });
  await vi.advanceTimersByTimeAsync(5 * hourMs);
  tooLate();
  add("a", "x", now + 5 * hourMs);
  await counter.stop();
  expect(batches.at(-1)?.counts).toEqual(["a x 5h: 1 (+1)"]);
});

test.each([
  ["for a moment", 1000],
  ["for hours", 5 * hourMs],
])("a clock that ran ahead %s and is corrected comes to the same hours again, and loses no count", async (_howLong, ms) => {
  const { counter, add, sumOf } = start();
  const hours = [0, 3];
  for (let again = 0; again < 3; again += 1) {
    for (const hour of hours) add("a", "x", now + hour * hourMs);
    await vi.advanceTimersByTimeAsync(ms);
  }
  await counter.stop();
  expect(hours.map((hour) => sumOf(`a x ${hour}`))).toEqual([3, 3]);
});

test("the number of counters in memory is limited, and the number of dropped counts is reported", async () => {
  const { counter, add, errors, batches } = start();
  for (let i = 0; i < maxCounters + 3; i++) add("a", String(i));
  await counter.stop();
  expect(batches[0]?.total).toBe(maxCounters);
  expect(errors).toEqual([new Error("3 counts were dropped: too many are waiting to be written")]);
});
