import { describe, expect, test } from "vitest";
import type { Reading } from "../kernel/event.ts";
import { decide } from "./decide.ts";
import { expiryOf } from "./expiry.ts";
import { say } from "../kernel/messages/message.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const now = Date.UTC(2026, 10, 14, 12);

// The default of CLEANCAST_RETRY_SECONDS, which the test of the configuration holds to the same numbers.
const defaultSchedule = [10, 60, 300, 1800, 7200, 18_000, 36_000, 86_400].map((seconds) => seconds * second);
const later: Reading = { kind: "retry", error: "HTTP 503" };
const far = { expiresAt: now + 365 * day };

const rules = (random: number, scheduleMs: readonly number[] = defaultSchedule) => ({
  scheduleMs,
  random: () => random,
});
/** The wait after the given number of attempts. */
const wait = (attemptsMade: number, random = 0.5, reading: Reading = later) =>
  decide(reading, { attemptsMade, ...far }, rules(random), now).dueAt - now;

/** The wait when the platform asks for one. */
const asked = (retryAfterSeconds: number, attemptsMade = 1) =>
  wait(attemptsMade, 0.5, { kind: "retry", error: "HTTP 429", retryAfterSeconds });
/** The decision after a transient failure, with the age limit at `expiresAt`. */
const at = (expiresAt: number, reading: Reading = later) => decide(reading, { attemptsMade: 1, expiresAt }, rules(0.5), now);
const decided = (reading: Reading) => decide(reading, { attemptsMade: 1, ...far }, rules(0.5), now);

describe("the schedule", () => {
  test("by default a delivery is retried after 10 s, 1 m, 5 m, 30 m, 2 h, 5 h, 10 h and 24 h", () => {
    const promised = [10 * second, minute, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 24 * hour];
    expect(promised.map((_, i) => wait(i + 1))).toEqual(promised);
  });

  test("the last delay of the schedule repeats until the event is too old", () => {
    expect([9, 10, 50, 1000].map((attemptsMade) => wait(attemptsMade))).toEqual(Array(4).fill(24 * hour));
  });

  test("every delay has a jitter of at most a fifth, both ways", () => {
    defaultSchedule.forEach((delay, i) => {
      expect(wait(i + 1, 0)).toBe(delay * 0.8);
      expect(wait(i + 1, 1)).toBe(delay * 1.2);
      expect(wait(i + 1, 0.25)).toBeCloseTo(delay * 0.9, 6);
    });
  });

  test("with real randomness the delays stay within the jitter and are spread over it", () => {
    const waits = Array.from({ length: 2000 }, () => wait(2, Math.random()));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(48 * second);
    expect(Math.max(...waits)).toBeLessThanOrEqual(72 * second);
    const early = waits.filter((one) => one < 54 * second).length;
    const late = waits.filter((one) => one > 66 * second).length;
    expect(early).toBeGreaterThan(300);
    expect(late).toBeGreaterThan(300);
  });

  test("a schedule of one delay repeats it", () => {
    const decision = decide(later, { attemptsMade: 7, ...far }, rules(0.5, [50]), now);
    expect(decision.dueAt).toBe(now + 50);
  });

  test("due times are whole milliseconds, as the store keeps them", () => {
    for (const random of [0.1234567, 0.987654321, 1 / 3]) expect(Number.isInteger(wait(1, random))).toBe(true);
  });
});

describe("Retry-After", () => {
  test("Retry-After is honoured when it is longer than the schedule", () => {
    expect(asked(3600)).toBe(hour);
  });

  test("Retry-After does not shorten the schedule", () => {
    expect(asked(1)).toBe(10 * second);
    expect(asked(60, 8)).toBe(24 * hour);
  });

  test("the jitter never undercuts Retry-After", () => {
    const reading: Reading = { kind: "retry", error: "HTTP 429", retryAfterSeconds: 10 };
    expect(wait(1, 0, reading)).toBe(10 * second);
    expect(wait(1, 1, reading)).toBe(12 * second);
  });
});

describe("the age limit", () => {
  test("a retry before the age limit is queued with the platform's error as reason", () => {
    expect(at(now + 10 * second + 1)).toEqual({
      state: "queued",
      reason: "HTTP 503",
      dueAt: now + 10 * second,
    });
  });

  test("a delivery whose retry would be at or past the age limit expires with the last reason", () => {
    for (const expiresAt of [now + 10 * second, now + 1, now, now - day]) {
      const decision = at(expiresAt);
      expect(decision.state).toBe("expired");
      expect(decision.reason).toContain("HTTP 503");
    }
  });

  test("Retry-After does not lift the age limit", () => {
    const reading: Reading = { kind: "retry", error: "HTTP 429", retryAfterSeconds: 7200 };
    expect(at(now + hour, reading).state).toBe("expired");
  });

  test("an accepted delivery is sent even when the age limit has passed meanwhile", () => {
    expect(at(now - 1, { kind: "accepted" }).state).toBe("sent");
  });

  test("the age limit counts from the time of the conversion", () => {
    const event = { time: now - 2 * day, receivedAt: now };
    expect(expiryOf(event, 7)).toBe(now + 5 * day);
    expect(expiryOf(event, 1)).toBe(now - day);
  });

  test("without an age limit a delivery is retried for a week after receipt", () => {
    expect(expiryOf({ time: now - 80 * day, receivedAt: now }, undefined)).toBe(now + 7 * day);
  });

  test("the whole default schedule fits into a week", () => {
    const total = defaultSchedule.reduce((sum, delay) => sum + delay * 1.2, 0);
    expect(total).toBeLessThan(7 * day);
  });
});

describe("the state that follows from a platform's answer", () => {
  test("an accepted delivery is sent, without a reason", () => {
    expect(decided({ kind: "accepted" })).toEqual({ state: "sent", reason: null, dueAt: 0 });
  });

  test("a refused delivery is rejected with the platform's reason", () => {
    expect(decided({ kind: "rejected", error: "HTTP 400" })).toEqual({
      state: "rejected",
      reason: "HTTP 400",
      dueAt: 0,
    });
  });

  test("an unauthorised delivery is parked until the connection is reconnected", () => {
    expect(decided({ kind: "unauthorized", error: "HTTP 401" })).toEqual({
      state: "parked",
      reason: say("needs_reconnection", { reason: "HTTP 401" }),
      dueAt: 0,
    });
  });
});
