import { describe, expect, test } from "vitest";
import { createRateLimit } from "./rate.ts";

const minute = 60_000;
const start = Date.UTC(2026, 10, 14, 12);

describe("the rate limit", () => {
  test("the rate limit admits the set number per minute, then says how long to wait", () => {
    const wait = createRateLimit();
    for (let i = 0; i < 5; i++) expect(wait("key", 5, start + i * 1000)).toBe(0);
    expect(wait("key", 5, start + 10_000)).toBe(50);
    expect(wait("key", 5, start + 59_000)).toBe(1);
  });

  test("the rate limit starts over with the next minute", () => {
    const wait = createRateLimit();
    for (let i = 0; i < 3; i++) wait("key", 2, start);
    expect(wait("key", 2, start + minute - 1)).toBeGreaterThan(0);
    expect(wait("key", 2, start + minute)).toBe(0);
    expect(wait("key", 2, start + minute)).toBe(0);
    expect(wait("key", 2, start + minute)).toBe(60);
  });

  test("a refused request must wait more than 0 and at most 60 seconds", () => {
    const wait = createRateLimit();
    for (let at = start; at < start + minute; at += 617) {
      const seconds = wait("key", 1, at);
      if (at === start) continue;
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(60);
    }
  });

  test("each key has its own count", () => {
    const wait = createRateLimit();
    expect(wait("a", 1, start)).toBe(0);
    expect(wait("a", 1, start)).toBeGreaterThan(0);
    expect(wait("b", 1, start)).toBe(0);
  });

  test("a limit of 0 admits everything and counts nothing", () => {
    const wait = createRateLimit();
    for (let i = 0; i < 10_000; i++) expect(wait("key", 0, start)).toBe(0);
    expect(wait("key", 1, start)).toBe(0);
  });

  test("a raised limit applies within the same minute", () => {
    const wait = createRateLimit();
    expect(wait("key", 1, start)).toBe(0);
    expect(wait("key", 1, start)).toBeGreaterThan(0);
    expect(wait("key", 10, start)).toBe(0);
  });

  test("keys named like object properties are counted too", () => {
    const wait = createRateLimit();
    for (const key of ["__proto__", "constructor", ""]) {
      expect(wait(key, 1, start)).toBe(0);
      expect(wait(key, 1, start)).toBeGreaterThan(0);
    }
  });

  test("a flood of keys at one site delays no new key, neither there nor at another site", () => {
    const wait = createRateLimit();
    let refused = 0;
    for (let i = 0; i < 150_000; i++) if (wait(`flooding ${i}`, 2, start, "flooded") > 0) refused += 1;
    for (const siteId of ["flooded", "quiet", undefined])
      for (let i = 0; i < 700; i++) if (wait(`new ${i}`, 2, start, siteId) > 0) refused += 1;
    expect(refused).toBe(0);
  });

  test("a key that waits goes on waiting during a flood of keys at another site", () => {
    const wait = createRateLimit();
    const busy = () => wait("busy", 2, start, "quiet");
    for (let i = 0; i < 3; i++) busy();
    for (let i = 0; i < 150_000; i++) wait(`flooding ${i}`, 2, start, "flooded");
    expect(busy()).toBe(60);
  });

  test("a key that waits and still comes goes on waiting during a flood of keys at its own site", () => {
    const wait = createRateLimit();
    const busy = () => wait("busy", 2, start, "flooded");
    for (let i = 0; i < 3; i++) busy();
    for (let i = 0; i < 150_000; i++) {
      wait(`flooding ${i}`, 2, start, "flooded");
      if (i % 1000 === 0) expect(busy()).toBe(60);
    }
  });

  test("two rate limits do not share their counts", () => {
    const [one, two] = [createRateLimit(), createRateLimit()];
    expect(one("key", 1, start)).toBe(0);
    expect(two("key", 1, start)).toBe(0);
  });
});
