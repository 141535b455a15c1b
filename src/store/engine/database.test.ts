import { expect, test } from "vitest";
import { chunks, chunkSizes, isOneChunk, padded } from "./database.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

test("rows are cut into few chunks of few sizes, in their order", () => {
  for (const count of numbers(300)) {
    const cut = [...chunks(numbers(count))];
    expect(cut.flat()).toEqual(numbers(count));
    expect(cut.every(({ length }) => chunkSizes.includes(length))).toBe(true);
    expect(isOneChunk(count)).toBe(cut.length === 1);
    // Every chunk of a batch is a statement, which costs as much as several of its rows.
    if (count <= 64) expect(cut.length).toBeLessThanOrEqual(count <= 8 ? 1 : 3);
  }
  // Each is a text that every connection prepares.
  expect(chunkSizes).toHaveLength(14);
});

test("keys of a read are filled up to a power of two, so that up to 64 need one statement", () => {
  for (const count of numbers(65).slice(1)) {
    const [some = [], ...others] = padded<number | null>(numbers(count), null);
    expect(others).toEqual([]);
    expect(some.filter((key) => key !== null)).toEqual(numbers(count));
    expect(Math.log2(some.length) % 1).toBe(0);
  }
});
