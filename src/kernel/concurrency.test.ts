import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createTurns, inSlices } from "./concurrency.ts";

test("a long list is worked on in slices, between which others run, and a short one at once", async () => {
  let turns = 0;
  let isOver = false;
  const others = (async () => {
    for (; !isOver; turns += 1) await nextTurn();
  })();
  const seen: number[] = [];
  const results = await inSlices(
    Array.from({ length: 500 }, (_, i) => i),
    (item, i) => {
      seen.push(turns);
      return item + i;
    },
  );
  isOver = true;
  await others;
  expect(results).toEqual(Array.from({ length: 500 }, (_, i) => 2 * i));
  expect(new Set(seen).size).toBeGreaterThan(20);
});

test("one at a time works, and a site with many waiting does not keep another from its turn", async () => {
  const turns = createTurns();
  const order: string[] = [];
  let working = 0;
  const work = (name: string) => async () => {
    working += 1;
    expect(working).toBe(1);
    order.push(name);
    await nextTurn();
    working -= 1;
    if (name === "busy 1") throw new Error("a defect");
  };
  const all = await Promise.allSettled([
    ...[0, 1, 2, 3].map((n) => turns.take("busy", work(`busy ${n}`))),
    turns.take("quiet", work("quiet")),
  ]);
  expect(order).toEqual(["busy 0", "busy 1", "quiet", "busy 2", "busy 3"]);
  expect(all.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled", "fulfilled"]);
  await turns.take("busy", work("later"));
  expect(order.at(-1)).toBe("later");
});
