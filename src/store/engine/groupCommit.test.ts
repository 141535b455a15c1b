import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { inGroups } from "./groupCommit.ts";

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));
const never = () => false;

/** Makes runs that wait until the test finishes them. */
function gated() {
  const runs: { key: string; items: number[]; finish: (error?: unknown) => void }[] = [];
  const run = (key: string, items: number[]) =>
    new Promise<string[]>((resolve, reject) => {
      runs.push({
        key,
        items: [...items],
        finish: (error) => (error === undefined ? resolve(items.map((n) => `${key}${n}`)) : reject(error)),
      });
    });
  return { runs, run };
}

describe("group commit", () => {
  test("a lone caller is served on the next turn of the event loop", async () => {
    const { runs, run } = gated();
    const result = inGroups(run, { isDataError: never })("a", 1);
    expect(runs).toHaveLength(0);
    await tick();
    expect(runs.map((one) => one.items)).toEqual([[1]]);
    runs[0]?.finish();
    expect(await result).toBe("a1");
  });

  test("callers of the same turn share a run, in their order, and each gets its own result", async () => {
    const { runs, run } = gated();
    const add = inGroups(run, { isDataError: never });
    const results = [3, 1, 2].map((n) => add("a", n));
    await tick();
    expect(runs.map((one) => one.items)).toEqual([[3, 1, 2]]);
    runs[0]?.finish();
    expect(await Promise.all(results)).toEqual(["a3", "a1", "a2"]);
  });

  test("callers that arrive during a run wait and leave together", async () => {
    const { runs, run } = gated();
    const add = inGroups(run, { isDataError: never });
    const first = add("a", 0);
    await tick();
    const rest = [1, 2, 3, 4].map((n) => add("a", n));
    await tick();
    await tick();
    expect(runs).toHaveLength(1);
    runs[0]?.finish();
    expect(await first).toBe("a0");
    await tick();
    expect(runs.map((one) => one.items)).toEqual([[0], [1, 2, 3, 4]]);
    runs[1]?.finish();
    expect(await Promise.all(rest)).toEqual(["a1", "a2", "a3", "a4"]);
  });

  test("items of an open batch window leave together with those that arrive meanwhile", async () => {
    const { runs, run } = gated();
    const asked: number[] = [];
    const batchWindow = (size: number) => {
      asked.push(size);
      return size < 2 ? 300 : 0;
    };
    const add = inGroups(run, { isDataError: never, batchWindow });
    const first = add("a", 0);
    await tick();
    const others = [1, 2].map((n) => add("a", n));
    await tick();
    expect([runs.length, asked]).toEqual([0, [1]]);
    await expect.poll(() => runs.map((one) => one.items)).toEqual([[0, 1, 2]]);
    const rest = [3, 4].map((n) => add("a", n));
    runs[0]?.finish();
    expect(await Promise.all([first, ...others])).toEqual(["a0", "a1", "a2"]);
    await expect
      .poll(() => runs.map((one) => one.items))
      .toEqual([
        [0, 1, 2],
        [3, 4],
      ]);
    runs[1]?.finish();
    expect(await Promise.all(rest)).toEqual(["a3", "a4"]);
    expect(asked).toEqual([1, 2]);
  });

  test("the batch window of a group knows how long ago its last batch ended", async () => {
    const idle: number[] = [];
    const batchWindow = (_size: number, idleMs: number) => {
      idle.push(idleMs);
      return 0;
    };
    const add = inGroups(async (_key, items: number[]) => items, { isDataError: never, batchWindow });
    for (const key of ["a", "b", "a"]) await add(key, 0);
    await sleep(30);
    await add("a", 0);
    expect(idle).toEqual([Infinity, Infinity, expect.any(Number), expect.any(Number)]);
    expect([(idle[2] ?? NaN) < Infinity, (idle[3] ?? NaN) >= 25]).toEqual([true, true]);
  });

  test("groups of different keys do not wait for each other", async () => {
    const { runs, run } = gated();
    const add = inGroups(run, { isDataError: never });
    const results = [add("a", 1), add("b", 2), add("a", 3)];
    await tick();
    expect(runs.map((one) => [one.key, one.items])).toEqual([
      ["a", [1, 3]],
      ["b", [2]],
    ]);
    runs[1]?.finish();
    expect(await results[1]).toBe("b2");
    runs[0]?.finish();
    expect(await Promise.all(results)).toEqual(["a1", "b2", "a3"]);
  });

  test("a group is never larger than the limit, and every caller is served", async () => {
    const sizes: number[] = [];
    const add = inGroups<number, number>(
      async (_key, items) => {
        sizes.push(items.length);
        await tick();
        return items.map((n) => n * 2);
      },
      { isDataError: never, maxItems: 10 },
    );
    const results = await Promise.all(Array.from({ length: 34 }, (_, n) => add("a", n)));
    expect(results).toEqual(Array.from({ length: 34 }, (_, n) => n * 2));
    expect(sizes).toEqual([10, 10, 10, 4]);
  });

  test("a group has at most 256 items by default", async () => {
    const sizes: number[] = [];
    const add = inGroups<number, number>(
      async (_key, items) => {
        sizes.push(items.length);
        return items;
      },
      { isDataError: never },
    );
    await Promise.all(Array.from({ length: 600 }, (_, n) => add("a", n)));
    expect(sizes).toEqual([256, 256, 88]);
  });

  test("of more items than a group takes, sites have theirs in turn, and those of a site keep their order", async () => {
    const groups: string[][] = [];
    const add = inGroups<string, string>(
      async (_key, items) => {
        groups.push(items);
        await tick();
        return items;
      },
      { isDataError: never, maxItems: 4, siteOf: (item) => item.split(" ")[0] ?? "" },
    );
    const items = [...Array.from({ length: 9 }, (_, n) => `busy ${n}`), "quiet 0", "other 0", "other 1"];
    expect(await Promise.all(items.map((item) => add("a", item)))).toEqual(items);
    expect(groups).toEqual([
      ["busy 0", "busy 1", "quiet 0", "other 0"],
      ["busy 2", "busy 3", "busy 4", "other 1"],
      ["busy 5", "busy 6", "busy 7", "busy 8"],
    ]);
  });

  test("items that are bound to each other share a group, however many they are", async () => {
    const groups: number[][] = [];
    const add = inGroups<number, number>(
      async (_key, items) => {
        groups.push(items);
        return items;
      },
      // Numbers of the same hundred are bound.
      {
        isDataError: never,
        maxItems: 10,
        isBound: (n, before) => Math.floor(n / 100) === Math.floor(before / 100),
      },
    );
    const items = [...Array.from({ length: 8 }, (_, n) => n), ...Array.from({ length: 30 }, (_, n) => 100 + n), 200, 300];
    await Promise.all(items.map((n) => add("a", n)));
    expect(groups).toEqual([items.slice(0, 38), [200, 300]]);
  });

  test("under concurrent load every caller gets its own result, and runs of a key never overlap", async () => {
    const busy = new Set<string>();
    const overlaps: string[] = [];
    const add = inGroups<number, string>(
      async (key, items) => {
        if (busy.has(key)) overlaps.push(key);
        busy.add(key);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 2));
        busy.delete(key);
        return items.map((n) => `${key}${n}`);
      },
      { isDataError: never, maxItems: 16 },
    );
    const callers = Array.from({ length: 1000 }, async (_, n) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
      const key = "abc"[n % 3] ?? "";
      expect(await add(key, n)).toBe(`${key}${n}`);
    });
    await Promise.all(callers);
    expect(overlaps).toEqual([]);
  });
});

describe("failures", () => {
  const bad = new Error("bad value");
  const isBad = (error: unknown) => error === bad;

  test("one item that the database refuses does not fail the others of its group", async () => {
    const groups: number[][] = [];
    const add = inGroups<number, number>(
      async (_key, items) => {
        groups.push(items);
        if (items.includes(13)) throw bad;
        return items.map((n) => n * 2);
      },
      { isDataError: isBad },
    );
    const results = await Promise.allSettled([11, 12, 13, 14].map((n) => add("a", n)));
    expect(results).toEqual([
      { status: "fulfilled", value: 22 },
      { status: "fulfilled", value: 24 },
      { status: "rejected", reason: bad },
      { status: "fulfilled", value: 28 },
    ]);
    expect(groups).toEqual([[11, 12, 13, 14], [11], [12], [13], [14]]);
  });

  test("a database that is down fails the whole group once, and its items are not tried one by one", async () => {
    let runs = 0;
    const down = new Error("connection lost");
    const add = inGroups<number, number>(
      async () => {
        runs += 1;
        throw down;
      },
      { isDataError: isBad },
    );
    const results = await Promise.allSettled([1, 2, 3].map((n) => add("a", n)));
    expect(results).toEqual([1, 2, 3].map(() => ({ status: "rejected", reason: down })));
    expect(runs).toBe(1);
  });

  test("a run that throws before its first await rejects its callers", async () => {
    const add = inGroups<number, number>(
      () => {
        throw bad;
      },
      { isDataError: never },
    );
    await expect(add("a", 1)).rejects.toBe(bad);
  });

  test("after a failure the next callers are served", async () => {
    let broken = true;
    const add = inGroups<number, number>(
      async (_key, items) => {
        if (broken) throw new Error("down");
        return items;
      },
      { isDataError: never },
    );
    await expect(add("a", 1)).rejects.toThrow("down");
    broken = false;
    expect(await add("a", 2)).toBe(2);
  });

  test("callers that waited behind a failed run are served", async () => {
    const { runs, run } = gated();
    const add = inGroups(run, { isDataError: never });
    const first = add("a", 1).catch((error: unknown) => error);
    await tick();
    const second = add("a", 2);
    runs[0]?.finish(bad);
    expect(await first).toBe(bad);
    await tick();
    runs[1]?.finish();
    expect(await second).toBe("a2");
  });
});

test("an item whose caller has given up is left out, and the others of its group are not", async () => {
  const runs: number[][] = [];
  let release: () => void = () => {};
  let now = 0;
  const run = inGroups<{ n: number; answerBy: number }, number>(
    async (_key, items) => {
      runs.push(items.map(({ n }) => n));
      if (runs.length === 1) await new Promise<void>((resolve) => (release = resolve));
      return items.map(({ n }) => n);
    },
    { isDataError: () => false, isLate: ({ answerBy }) => answerBy < now },
  );
  const first = run("site", { n: 1, answerBy: 10 });
  await new Promise((resolve) => setImmediate(resolve));
  const second = run("site", { n: 2, answerBy: 10 });
  const third = run("site", { n: 3, answerBy: 30 });
  now = 20;
  release();
  await expect(second).rejects.toThrow("its commit would come too late");
  expect(await Promise.all([first, third])).toEqual([1, 3]);
  expect(runs).toEqual([[1], [3]]);
});
