import { describe, expect, test } from "vitest";
import { createBreaker } from "./breaker.ts";

const now = 1_000_000;
const key = "site connection";

function broken(failures = 5) {
  const breaker = createBreaker();
  for (let i = 0; i < failures; i++) breaker.recordFailure(key, now);
  return breaker;
}

describe("the breaker", () => {
  test("the breaker allows calls while fewer than five in a row have failed", () => {
    expect(createBreaker().blockedMs(key, now)).toBe(0);
    expect(broken(4).blockedMs(key, now)).toBe(0);
    const breaker = broken(4);
    breaker.recordSuccess(key);
    breaker.recordFailure(key, now);
    expect(breaker.blockedMs(key, now)).toBe(0);
  });

  test("the breaker blocks a connection after five failures, and no other", () => {
    const breaker = broken();
    expect(breaker.blockedMs(key, now)).toBe(5_000);
    expect(breaker.blockedMs("site another", now)).toBe(0);
    expect(breaker.blockedMs(key, now + 5_000)).toBe(0);
  });

  test("a half-open breaker allows one probe and blocks the other calls", () => {
    const breaker = broken();
    breaker.recordCall(key, now + 5_000);
    expect(breaker.blockedMs(key, now + 5_000)).toBe(2_000);
    breaker.recordSuccess(key);
    expect(breaker.blockedMs(key, now + 5_001)).toBe(0);
  });

  test("each failed probe doubles the pause, up to five minutes", () => {
    const breaker = broken();
    let at = now + 5_000;
    const pauses = Array.from({ length: 9 }, () => {
      breaker.recordCall(key, at);
      breaker.recordFailure(key, at);
      const pause = breaker.blockedMs(key, at);
      at += pause;
      return pause / 1000;
    });
    expect(pauses).toEqual([10, 20, 40, 80, 160, 300, 300, 300, 300]);
  });

  test("calls that were in flight when the breaker opened do not make the pause longer", () => {
    const breaker = broken(40);
    expect(breaker.blockedMs(key, now)).toBe(5_000);
  });

  test("Retry-After blocks the connection for that time, up to five minutes", () => {
    const breaker = createBreaker();
    breaker.recordRetryAfter(key, now, 30);
    expect(breaker.blockedMs(key, now)).toBe(30_000);
    expect(breaker.blockedMs(key, now + 30_000)).toBe(0);
    breaker.recordRetryAfter(key, now, 86_400);
    expect(breaker.blockedMs(key, now)).toBe(300_000);
  });
});
