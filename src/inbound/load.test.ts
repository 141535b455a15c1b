import { expect, test } from "vitest";
import { maxBodyBytes } from "./body.ts";
import { createLoad } from "./load.ts";

/** Takes as much as the site gets. */
function fill(load: ReturnType<typeof createLoad>, siteId: string): number {
  let taken = 0;
  while (load.take(siteId, 1)) taken += 1;
  return taken;
}

test("a busy site gets half, a second one a third of the rest, and there is always room for another", () => {
  const load = createLoad(4096);
  expect(fill(load, "a")).toBe(2048);
  expect(fill(load, "b")).toBe(1024);
  expect(load.hasRoom("a")).toBe(false);
  for (let i = 0; i < 100; i += 1) expect(load.hasRoom(`quiet ${i}`)).toBe(true);
  load.give("a", 2048);
  expect(fill(load, "b")).toBe(1024);
});

test("everything that is given back can be taken again, also after fractions", () => {
  const load = createLoad(8);
  for (let round = 0; round < 1000; round += 1) {
    const bodies = Array.from({ length: 3 }, () => load.ofBody("a"));
    for (const [i, body] of bodies.entries()) expect(body.add((i + 1) * 1001)).toBe(true);
    for (const body of bodies) body.give();
  }
  expect(fill(load, "a")).toBe(4);
});

test("a body counts what has arrived of it, and one for which there is no room is refused", () => {
  const load = createLoad(8);
  const bodies = Array.from({ length: 3000 }, () => load.ofBody("a"));
  for (const body of bodies) expect(body.add(11)).toBe(true);
  expect(load.take("a", 1)).toBe(true);
  const large = load.ofBody("a");
  let parts = 0;
  while (large.add(maxBodyBytes / 4)) parts += 1;
  // Half of eight, less what the others hold.
  expect(parts).toBe(10);
  expect(load.hasRoom("b")).toBe(true);
  large.give();
  expect(load.hasRoom("a")).toBe(true);
});

test("with room for one event there is one at a time", () => {
  const load = createLoad(1);
  expect(load.take("a", 1)).toBe(true);
  expect([load.hasRoom("a"), load.hasRoom("b")]).toEqual([false, false]);
  load.give("a", 1);
  expect(load.take("b", 1)).toBe(true);
});
