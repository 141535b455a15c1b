import { expect, test } from "vitest";
import { createBoundedMemory } from "./boundedMemory.ts";

function setUp(max: number) {
  const memory = createBoundedMemory<number, string>(max);
  const displaced: (string | undefined)[] = [];
  /** Sets so many entries of a site. */
  const fill = (siteId: string, from: number, to: number) => {
    for (let key = from; key < to; key += 1) displaced.push(memory.set(siteId, key, `${siteId} ${key}`));
  };
  const countOf = (siteId: string) => [...memory.values()].filter((value) => value.startsWith(`${siteId} `)).length;
  return { memory, fill, countOf, displaced };
}

test("beyond the bound the oldest entry is displaced and returned, and one that is set again is the newest", () => {
  const { memory, fill, displaced } = setUp(3);
  fill("a", 0, 3);
  expect(memory.set("a", 0, "again")).toBeUndefined();
  fill("a", 3, 5);
  expect(displaced.filter((value) => value !== undefined)).toEqual(["a 1", "a 2"]);
  expect([0, 1, 2, 3, 4].map((key) => memory.get("a", key))).toEqual(["again", undefined, undefined, "a 3", "a 4"]);
});

test("a deleted entry makes room, and deleting it again changes nothing", () => {
  const { memory, fill, displaced } = setUp(2);
  fill("a", 0, 2);
  expect(memory.delete("a", 0)).toBe("a 0");
  expect([memory.delete("a", 0), memory.delete("b", 0)]).toEqual([undefined, undefined]);
  fill("b", 0, 1);
  expect(displaced).toEqual([undefined, undefined, undefined]);
  expect([...memory.values()]).toEqual(["a 1", "b 0"]);
});

test("a site that floods the memory displaces only its own entries", () => {
  const { memory, fill, countOf } = setUp(100);
  fill("quiet", 0, 10);
  fill("busy", 0, 10_000);
  expect([countOf("quiet"), countOf("busy")]).toEqual([10, 90]);
  expect(memory.get("busy", 9999)).toBe("busy 9999");
});

test("a site finds room for its share, however full the memory is and while others go on flooding it", () => {
  const { fill, countOf } = setUp(100);
  fill("busy", 0, 1000);
  fill("other", 0, 1000);
  for (let key = 0; key < 40; key += 1) {
    fill("quiet", key, key + 1);
    fill("busy", 1000 * (key + 1), 1000 * (key + 2));
  }
  expect([countOf("busy"), countOf("other"), countOf("quiet")]).toEqual([33, 34, 33]);
});

test("of thousands of sites each has its share, and no more than the bound is kept", () => {
  const { memory, fill, countOf } = setUp(5000);
  for (let round = 0; round < 4; round += 1)
    for (let site = 0; site < 1000; site += 1) fill(String(site), 10 * round, 10 * round + (site % 2 === 0 ? 10 : 1));
  expect([...memory.values()]).toHaveLength(5000);
  expect([countOf("1"), countOf("999")]).toEqual([4, 4]);
  expect(Math.min(countOf("0"), countOf("998"))).toBeGreaterThanOrEqual(5);
});
