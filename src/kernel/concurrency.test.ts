import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createThreadShare } from "./concurrency.ts";

/** Counts the turns of the event loop until `work` is over. */
async function countingTurns<T>(work: (turn: () => number) => Promise<T>): Promise<T> {
  let turns = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; turns += 1) await nextTurn();
  })();
  const result = await work(() => turns).finally(() => (isOver = true));
  await counting;
  return result;
}

/** A clock on which each step of work takes a tenth of a millisecond. */
function workClock() {
  let now = 0;
  return { elapsed: () => now, work: () => (now += 0.1) };
}

test("a long list is worked on in slices of a millisecond, between which others run, and a short one at once", async () => {
  const { elapsed, work } = workClock();
  const share = createThreadShare({ elapsed });
  const countBySlice = (length: number, maxItems?: number) =>
    countingTurns(async (turn) => {
      const seen: number[] = [];
      const items = Array.from({ length }, (_, i) => i);
      const doOne = (item: number, i: number) => {
        work();
        seen.push(turn());
        return item + i;
      };
      expect(await share.map("busy", items, doOne, maxItems)).toEqual(items.map((i) => 2 * i));
      return Map.groupBy(seen, (at) => at)
        .values()
        .map((ofTurn) => ofTurn.length)
        .toArray();
    });
  const slices = await countBySlice(500);
  expect(Math.max(...slices)).toBeLessThanOrEqual(11);
  expect(slices.reduce((sum, one) => sum + one, 0)).toBe(500);
  expect(Math.max(...(await countBySlice(500, 4)))).toBe(4);
  expect(await countBySlice(9)).toEqual([9]);
});

test("in a turn of the event loop one has a slice, and a site with much work does not keep another from its turn", async () => {
  const share = createThreadShare();
  const slices: string[] = [];
  await countingTurns(async (turn) => {
    const work = async (key: string, name: string) => {
      for (let n = 0; n < 3; n += 1) {
        await share.nextSlice(key);
        slices.push(`${turn()} ${name}`);
      }
    };
    await Promise.all([work("busy", "a"), work("busy", "b"), work("busy", "c"), work("quiet", "quiet")]);
  });
  const [turns, names] = [0, 1].map((part) => slices.map((one) => one.split(" ")[part])) as [string[], string[]];
  expect(new Set(turns).size).toBe(12);
  expect(names.slice(0, 6)).toEqual(["a", "quiet", "b", "quiet", "c", "quiet"]);
});

test("long work pauses while a request of another site is being answered, and goes on when that fails", async () => {
  const pauses: (() => void)[] = [];
  const share = createThreadShare({ afterPause: (next) => pauses.push(next) });
  const other = Promise.withResolvers<void>();
  const answered = share.answer("quiet", () => other.promise);
  let slices = 0;
  const work = (async () => {
    for (; slices < 4; slices += 1) await share.nextSlice("busy");
  })();
  await nextTurn();
  await nextTurn();
  expect([slices, pauses.length]).toEqual([0, 1]);
  pauses.shift()?.();
  await nextTurn();
  expect([slices, pauses.length]).toEqual([1, 1]);
  other.reject(new Error("a defect"));
  await expect(answered).rejects.toThrow("a defect");
  pauses.shift()?.();
  await work;
  expect(pauses).toEqual([]);
  // A site does not wait for its own requests.
  await share.answer("busy", () => share.nextSlice("busy"));
  expect(pauses).toEqual([]);
});
