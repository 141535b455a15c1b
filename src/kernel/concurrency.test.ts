import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { inSlices } from "./concurrency.ts";

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
