import { describe, expect, test } from "vitest";
import { maxBodyBytes } from "./body.ts";
import { createLoad, type Load } from "./load.ts";

const max = 4096;

/** Takes as much as the site gets, in requests of so many units. */
function fill(load: Load, siteId: string, units = 1): number {
  let held = 0;
  for (let taken = load.take(siteId, units); taken > 0; taken = load.take(siteId, units)) held += taken;
  return held;
}

test("a busy site gets half, and what it gives back goes first to sites that hold less", () => {
  const load = createLoad(max);
  expect(fill(load, "a")).toBe(max / 2);
  expect(fill(load, "b")).toBe(782);
  load.give("a", 100);
  expect(load.hasRoom("a")).toBe(false);
  expect(fill(load, "b")).toBeGreaterThan(0);
});

describe.each([2, 4, 8, 16, 50])("%i sites that take all they get", (sites) => {
  test.each([1, 100, 500])("one after another, in requests of %i, leave room for one more", (units) => {
    const load = createLoad(max);
    let taken = 0;
    for (let i = 0; i < sites; i += 1) taken += fill(load, `busy ${i}`, units);
    expect(max - taken).toBeGreaterThan(max / (2 * sites + 1));
    expect(load.hasRoom("quiet")).toBe(true);
    expect(fill(load, "quiet")).toBeGreaterThan((2 * max) / (2 * sites + 3) ** 2);
  });

  test.each([1, 100, 500])("in requests of %i, hold the same when the first ones have given back", (units) => {
    const load = createLoad(max);
    const held = Array.from({ length: sites }, (_, site) => ({ site: String(site), units: 0 }));
    const inHand: typeof held = [];
    const takeOne = (one: (typeof held)[number]) => {
      if (load.take(one.site, units) === 0) return false;
      one.units += units;
      inHand.push(one);
      return true;
    };
    for (const one of held) while (takeOne(one));
    const endings = 2 * inHand.length;
    for (const [i, oldest] of inHand.entries()) {
      if (i === endings) break;
      oldest.units -= units;
      load.give(oldest.site, units);
      while (held.some(takeOne));
      expect(load.hasRoom("quiet")).toBe(true);
    }
    const all = held.map((one) => one.units);
    expect(Math.max(...all) - Math.min(...all)).toBeLessThanOrEqual(2 * units);
  });
});

test.each([64, 512, max])("of %i events, as many sites as the root of twice that leave room for one more", (events) => {
  const load = createLoad(events);
  for (let i = 1; i <= Math.sqrt(2 * events); i += 1) fill(load, `busy ${i}`);
  expect(load.hasRoom("quiet")).toBe(true);
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
  const load = createLoad(64);
  const bodies = Array.from({ length: 3000 }, () => load.ofBody("a"));
  for (const body of bodies) expect(body.add(11)).toBe(true);
  expect(load.take("a", 1)).toBe(1);
  const large = Array.from({ length: 5 }, () => load.ofBody("a"));
  let parts = 0;
  for (const body of large) for (let i = 0; i < 32 && body.add(maxBodyBytes / 4); i += 1) parts += 1;
  // Half of 64, less what the others hold.
  expect(parts).toBe(121);
  expect(load.hasRoom("b")).toBe(true);
  for (const body of large) body.give();
  expect(load.hasRoom("a")).toBe(true);
});

test.each([1, 2, 3, 8, 64, 512])("with room for %i events, the largest body and the largest batch are taken", (events) => {
  const load = createLoad(events);
  const body = load.ofBody("a");
  for (let i = 0; i < 32 * 7; i += 1) expect(body.add(maxBodyBytes / 7)).toBe(true);
  body.give();
  const taken = load.take("a", 500);
  expect(taken).toBe(Math.max(1, events / 8));
  expect(load.hasRoom("b")).toBe(events > 1);
  load.give("a", taken);
  expect(fill(load, "b")).toBe(Math.max(1, Math.floor(events / 2)));
});

test("with room for one event there is one at a time", () => {
  const load = createLoad(1);
  expect(load.take("a", 1)).toBe(1);
  expect([load.hasRoom("a"), load.hasRoom("b")]).toEqual([false, false]);
  load.give("a", 1);
  expect(load.take("b", 1)).toBe(1);
});
