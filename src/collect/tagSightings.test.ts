import { expect, test } from "vitest";
import { dayMs } from "../kernel/time.ts";
import { createTagSightings } from "./tagSightings.ts";

test("the pages on which the tag was seen are counted once each, without their query", () => {
  const sightings = createTagSightings();
  expect(sightings.read("a", 0)).toBeNull();
  sightings.add("a", "https://shop.example/?gclid=1", 1000);
  sightings.add("a", "https://shop.example/?gclid=2", 2000);
  sightings.add("a", "https://shop.example/cart", 1500);
  expect(sightings.read("a", 3000)).toEqual({ at: 2000, pages: 2 });
  expect(sightings.read("b", 3000)).toBeNull();
  expect(sightings.read("a", 1600 + dayMs)).toEqual({ at: 2000, pages: 1 });
});

test("memory is bounded: of many pages the newest are known", () => {
  const sightings = createTagSightings();
  for (let i = 0; i < 500; i++) sightings.add("a", `https://shop.example/${i}`, i);
  expect(sightings.read("a", 500)).toEqual({ at: 499, pages: 100 });
});
