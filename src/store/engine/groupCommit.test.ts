import { describe, expect, test } from "vitest";
import { grouped } from "./groupCommit.ts";

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));
const never = () => false;

/** A run that waits until the test lets it go. */
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
  test("a lone caller is served at once, on the next turn of the event loop", async () => {
    const { runs, run } = gated();
    const result = grouped(run, { blamesData: never })("a", 1);
    expect(runs).toHaveLength(0);
    await tick();
    expect(runs.map((one) => one.items)).toEqual([[1]]);
    runs[0]?.finish();
    expect(await result).toBe("a1");
  });

  test("callers of the same turn share a run, in their order, and each gets its own result", async () => {
    const { runs, run } = gated();
    const add = grouped(run, { blamesData: never });
    const results = [3, 1, 2].map((n) => add("a", n));
    await tick();
    expect(runs.map((one) => one.items)).toEqual([[3, 1, 2]]);
    runs[0]?.finish();
    expect(await Promise.all(results)).toEqual(["a3", "a1", "a2"]);
  });

  test("those that come while a run is under way wait and leave together", async () => {
    const { runs, run } = gated();
    const add = grouped(run, { blamesData: never });
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

  test("those that should wait for company leave together with whoever comes meanwhile", async () => {
    const { runs, run } = gated();
    const asked: number[] = [];
    const gather = (size: number) => {
      asked.push(size);
      return size < 2 ? 20 : 0;
    };
    const add = grouped(run, { blamesData: never, gather });
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

  test("keys do not wait for each other", async () => {
    const { runs, run } = gated();
    const add = grouped(run, { blamesData: never });
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

  test("a group is never larger than the limit, and nobody is left behind", async () => {
    const sizes: number[] = [];
    const add = grouped<number, number>(
      async (_key, items) => {
        sizes.push(items.length);
        await tick();
        return items.map((n) => n * 2);
      },
      { blamesData: never, largest: 10 },
    );
    const results = await Promise.all(Array.from({ length: 34 }, (_, n) => add("a", n)));
    expect(results).toEqual(Array.from({ length: 34 }, (_, n) => n * 2));
    expect(sizes).toEqual([10, 10, 10, 4]);
  });

  test("without a word about it, 256 are the most", async () => {
    const sizes: number[] = [];
    const add = grouped<number, number>(
      async (_key, items) => {
        sizes.push(items.length);
        return items;
      },
      { blamesData: never },
    );
    await Promise.all(Array.from({ length: 600 }, (_, n) => add("a", n)));
    expect(sizes).toEqual([256, 256, 88]);
  });

  test("under load from all sides every caller gets its own result, and runs of a key never overlap", async () => {
    const busy = new Set<string>();
    const overlaps: string[] = [];
    const add = grouped<number, string>(
      async (key, items) => {
        if (busy.has(key)) overlaps.push(key);
        busy.add(key);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 2));
        busy.delete(key);
        return items.map((n) => `${key}${n}`);
      },
      { blamesData: never, largest: 16 },
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

  test("one item that the database refuses does not take its neighbours with it", async () => {
    const groups: number[][] = [];
    const add = grouped<number, number>(
      async (_key, items) => {
        groups.push(items);
        if (items.includes(13)) throw bad;
        return items.map((n) => n * 2);
      },
      { blamesData: isBad },
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

  test("a database that is down fails the whole group once, without trying each of them", async () => {
    let runs = 0;
    const down = new Error("connection lost");
    const add = grouped<number, number>(
      async () => {
        runs += 1;
        throw down;
      },
      { blamesData: isBad },
    );
    const results = await Promise.allSettled([1, 2, 3].map((n) => add("a", n)));
    expect(results).toEqual([1, 2, 3].map(() => ({ status: "rejected", reason: down })));
    expect(runs).toBe(1);
  });

  test("a run that throws before it begins is a failure like any other", async () => {
    const add = grouped<number, number>(
      () => {
        throw bad;
      },
      { blamesData: never },
    );
    await expect(add("a", 1)).rejects.toBe(bad);
  });

  test("after a failure the next callers are served", async () => {
    let broken = true;
    const add = grouped<number, number>(
      async (_key, items) => {
        if (broken) throw new Error("down");
        return items;
      },
      { blamesData: never },
    );
    await expect(add("a", 1)).rejects.toThrow("down");
    broken = false;
    expect(await add("a", 2)).toBe(2);
  });

  test("those that waited behind a failed run still get their turn", async () => {
    const { runs, run } = gated();
    const add = grouped(run, { blamesData: never });
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

test("what nobody waits for any more is left out, and the others of its group are not", async () => {
  const runs: number[][] = [];
  let release: () => void = () => {};
  let now = 0;
  const run = grouped<{ n: number; answerBy: number }, number>(
    async (_key, items) => {
      runs.push(items.map(({ n }) => n));
      if (runs.length === 1) await new Promise<void>((resolve) => (release = resolve));
      return items.map(({ n }) => n);
    },
    { blamesData: () => false, isLate: ({ answerBy }) => answerBy < now },
  );
  const first = run("site", { n: 1, answerBy: 10 });
  await new Promise((resolve) => setImmediate(resolve));
  const second = run("site", { n: 2, answerBy: 10 });
  const third = run("site", { n: 3, answerBy: 30 });
  now = 20;
  release();
  await expect(second).rejects.toThrow("its turn came too late");
  expect(await Promise.all([first, third])).toEqual([1, 3]);
  expect(runs).toEqual([[1], [3]]);
});
