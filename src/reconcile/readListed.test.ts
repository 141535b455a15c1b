import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { readListed } from "./readListed.ts";

test("thousands are read a hundred at a time, and those that fail are reported once", async () => {
  const keys = Array.from({ length: 1050 }, (_, i) => i);
  const failed: [unknown, number][] = [];
  let reads = 0;
  let maxConcurrentReads = 0;
  const found = await readListed(
    keys,
    async (key) => {
      maxConcurrentReads = Math.max(maxConcurrentReads, (reads += 1));
      await turn();
      reads -= 1;
      if (key % 10 === 3) throw new Error(`${key} cannot be read`);
      return key % 10 === 4 ? null : key;
    },
    (error, count) => failed.push([error, count]),
  );
  expect(found).toEqual(keys.filter((key) => key % 10 !== 3 && key % 10 !== 4));
  expect(failed).toEqual([[new Error("3 cannot be read"), 105]]);
  expect(maxConcurrentReads).toBe(100);
});
