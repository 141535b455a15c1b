import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createLimit, createThreadShare } from "./concurrency.ts";

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
  const countBySlice = (length: number) =>
    countingTurns(async (turn) => {
      const seen: number[] = [];
      const items = Array.from({ length }, (_, i) => i);
      const doOne = (item: number, i: number) => {
        work();
        seen.push(turn());
        return item + i;
      };
      expect(await share.map("busy", items, doOne)).toEqual(items.map((i) => 2 * i));
      return Map.groupBy(seen, (at) => at)
        .values()
        .map((ofTurn) => ofTurn.length)
        .toArray();
    });
  const slices = await countBySlice(500);
  expect(Math.max(...slices)).toBeLessThanOrEqual(11);
  expect(slices.reduce((sum, one) => sum + one, 0)).toBe(500);
  await nextTurn();
  expect(await countBySlice(9)).toEqual([9]);
});

test.each([
  ["of one key shares one slice", () => "busy", 11],
  ["of many keys begins a few slices", (n: number) => `busy ${n}`, 31],
])("in a turn of the event loop, all work %s", async (_name, keyOf, max) => {
  const { elapsed, work } = workClock();
  const share = createThreadShare({ elapsed });
  const perTurn = await countingTurns(async (turn) => {
    const turns: number[] = [];
    const doOne = () => {
      work();
      turns.push(turn());
    };
    await Promise.all(Array.from({ length: 20 }, (_, n) => share.map(keyOf(n), Array(20).fill(0), doOne)));
    return Map.groupBy(turns, (at) => at)
      .values()
      .map((ofTurn) => ofTurn.length)
      .toArray();
  });
  expect(perTurn.reduce((sum, one) => sum + one, 0)).toBe(400);
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(max);
});

test("while a request of another site is being answered, the pause after a slice that took long is as long", async () => {
  let now = 0;
  const pauses: { ms: number; next: () => void }[] = [];
  const share = createThreadShare({ elapsed: () => now, afterPause: (next, ms) => pauses.push({ ms, next }) });
  const other = Promise.withResolvers<void>();
  const answered = share.answer("quiet", () => other.promise);
  const lengths = [1, 30, 5000, 1];
  const work = (async () => {
    for (const ms of lengths) {
      await share.nextSlice("busy");
      now += ms;
    }
  })();
  const waited: number[] = [];
  for (; waited.length < lengths.length; await nextTurn()) {
    const pause = pauses.shift();
    if (!pause) continue;
    waited.push(pause.ms);
    pause.next();
  }
  other.resolve();
  await Promise.all([work, answered]);
  expect(waited).toEqual([4, 4, 30, 100]);
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

test("of short work one piece begins in a turn while a request of another site is being answered, and sites take turns", async () => {
  const share = createThreadShare();
  const begun: string[] = [];
  const begin = async (key: string) => {
    await share.piece(key);
    begun.push(key);
  };
  const beginAll = (...keys: string[]) => Promise.all(keys.map(begin));
  // Nobody else is being answered.
  await share.answer("busy", async () => {
    expect(Array.from({ length: 9 }, () => share.piece("busy"))).toEqual(Array(9).fill(undefined));
  });
  await nextTurn();

  const other = Promise.withResolvers<void>();
  const answered = share.answer("quiet", () => other.promise);
  const counts = await countingTurns(async (turn) => {
    const turns: number[] = [];
    const noteTurn = (work: Promise<void>) => work.then(() => void turns.push(turn()));
    const busy = Array.from({ length: 6 }, () => noteTurn(begin("busy")));
    await Promise.all([...busy, noteTurn(begin("another"))]);
    return Map.groupBy(turns, (at) => at)
      .values()
      .map((ofTurn) => ofTurn.length)
      .toArray();
  });
  expect(counts.reduce((sum, one) => sum + one, 0)).toBe(7);
  expect(Math.max(...counts)).toBe(1);
  expect(begun.indexOf("another")).toBeLessThan(4);

  // What waits goes on when the request has been answered.
  const rest = beginAll("busy", "busy", "busy", "busy");
  other.resolve();
  await Promise.all([answered, rest]);
  expect(begun).toHaveLength(11);
});

test("of one site a thousand short pieces of work wait, and no more; of another one some still can", async () => {
  const share = createThreadShare();
  const other = Promise.withResolvers<void>();
  const answered = share.answer("quiet", () => other.promise);
  const given = Array.from({ length: 5000 }, () => share.piece("busy"));
  expect(given.filter((one) => one === undefined)).toHaveLength(1);
  expect(given.filter((one) => one === "full")).toHaveLength(3999);
  const another = share.piece("another");
  expect(another).toBeInstanceOf(Promise);
  await another;
  other.resolve();
  await Promise.all([answered, ...given]);
  expect(share.piece("busy")).not.toBe("full");
});

test("while others are active, nobody has a slice until what the one before began has ended, and slices are smaller", async () => {
  let now = 0;
  const share = createThreadShare({ elapsed: () => now });
  const begun: PromiseWithResolvers<void>[] = [];
  const begin = (item: number) => {
    const first = Promise.withResolvers<void>();
    begun.push(first);
    return { first: first.promise, result: item };
  };
  const items = Array.from({ length: 9 }, (_, i) => i);
  const sizes = { alone: 6, shared: 3 };
  const turns = async () => {
    for (let n = 0; n < 5; n += 1) await nextTurn();
  };
  /** Ends what was begun, as long as that lets something begin. */
  const endAll = async () => {
    const counts: number[] = [];
    for (await turns(); begun.length > 0; await turns()) {
      counts.push(begun.length);
      for (const one of begun.splice(0)) one.resolve();
    }
    return counts;
  };

  // Alone, and with requests of its own only.
  await share.answer("busy", async () => {});
  expect(await share.beginSome("busy", items, sizes, begin)).toEqual(items);
  expect(await endAll()).toEqual([9]);

  await share.answer("quiet", async () => {});
  await share.answer("busy", async () => {});
  const both = [share.beginSome("busy", items, sizes, begin), share.beginSome("busy", items, sizes, begin)];
  let hasOther = false;
  void share.nextSlice("other").then(() => (hasOther = true));
  await turns();
  expect([begun.length, hasOther]).toEqual([3, false]);
  expect(await endAll()).toEqual([3, 3, 3, 3, 3, 3]);
  expect(await Promise.all(both)).toEqual([items, items]);
  expect(hasOther).toBe(true);

  // Nobody but the busy one has sent anything for a while.
  now += 2000;
  expect(await share.beginSome("busy", items, sizes, begin)).toEqual(items);
  expect(await endAll()).toEqual([9]);
});

test("while others are active, nobody has a slice until the commit that a turn was for has ended", async () => {
  const share = createThreadShare();
  await share.answer("quiet", async () => {});
  const commit = Promise.withResolvers<string>();
  const taken = share.takeTurn("busy", () => commit.promise);
  let hasOther = false;
  const other = share.nextSlice("other").then(() => (hasOther = true));
  for (let n = 0; n < 5; n += 1) await nextTurn();
  expect(hasOther).toBe(false);
  commit.resolve("done");
  expect(await taken).toBe("done");
  await other;
});

test("what a slice has begun does not keep others waiting for good", async () => {
  const share = createThreadShare();
  await share.answer("quiet", async () => {});
  const hung = { first: new Promise<void>(() => {}), result: 0 };
  await share.beginSome("busy", [1], { alone: 1, shared: 1 }, () => hung);
  await share.nextSlice("other");
});

test("so many go on at a time, of one key fewer, and keys that wait get their places in turn, also after a failure", async () => {
  const limit = createLimit({ max: 3, maxOfKey: 2 });
  const begun: string[] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const run = (key: string) =>
    limit.run(key, () => {
      const end = Promise.withResolvers<void>();
      begun.push(key);
      ends.push(end);
      return end.promise;
    });
  const runs = ["a", "a", "a", "a", "b", "b", "c"].map((key) => run(key).catch(() => {}));
  expect(begun).toEqual(["a", "a", "b"]);
  expect([limit.waiting("a"), limit.waiting("b"), limit.waiting("c")]).toEqual([2, 1, 1]);
  ends[0]?.reject(new Error("a defect"));
  await nextTurn();
  expect(begun).toEqual(["a", "a", "b", "a"]);
  // The key of the last one is at its limit.
  ends[2]?.resolve();
  await nextTurn();
  expect(begun).toEqual(["a", "a", "b", "a", "b"]);
  for (let n = 0; n < 7; n += 1) {
    for (const end of ends) end.resolve();
    await nextTurn();
  }
  await Promise.all(runs);
  expect(begun.toSorted()).toEqual(["a", "a", "a", "a", "b", "b", "c"]);
  expect(limit.waiting("a")).toBe(0);
});
