import { describe, expect, test } from "vitest";
import { createBucketCounts, createLabelCounter, createCounts } from "./counts.ts";

test("a counter counts by two labels", () => {
  const counter = createLabelCounter();
  counter.add("meta", "sent");
  counter.add("meta", "sent", 2);
  counter.add("meta", "queued");
  counter.add("x");
  expect([...counter.entries()]).toEqual([
    ["meta", "sent", 3],
    ["meta", "queued", 1],
    ["x", "", 1],
  ]);
});

test("a histogram counts a value at a bound in that bucket, and one above all bounds in the last", () => {
  const buckets = createBucketCounts([1, 10]);
  for (const value of [0, 1, 1.5, 10, 11]) buckets.add(value);
  expect(buckets.counts).toEqual([2, 2, 1]);
  expect(buckets.sum).toBe(23.5);
});

describe("counts", () => {
  test("every answer is counted once: by its exit, or by the reason of its rejection", () => {
    const counts = createCounts({ bySite: true });
    counts.countAnswer({ site: "a", status: 200, exit: "dispatched", ms: 3 });
    counts.countAnswer({ site: "a", status: 200, exit: "filtered", reasons: ["blocked domain"], ms: 3 });
    counts.countRejected(401, "invalid key");
    counts.countAnswer({ status: 401, ms: 1 });
    counts.countAnswer({ ms: 1 });
    expect([...counts.answers.entries()]).toEqual([
      ["200", "dispatched", 1],
      ["200", "filtered", 1],
      ["401", "invalid key", 1],
      ["500", "defect", 1],
    ]);
    expect([...counts.filtered.entries()]).toEqual([["blocked domain", "", 1]]);
    expect([...counts.siteEvents.entries()]).toEqual([
      ["a", "dispatched", 1],
      ["a", "filtered", 1],
    ]);
    expect(counts.answerSeconds.counts.reduce((sum, n) => sum + n)).toBe(4);
  });

  test("events are counted by site only when that is switched on", () => {
    const counts = createCounts({ bySite: false });
    counts.countAnswer({ site: "a", status: 200, exit: "dispatched", ms: 3 });
    expect([...counts.siteEvents.entries()]).toEqual([]);
  });

  test("skipped and attempted deliveries count as outcomes; those given back without an attempt do not", () => {
    const counts = createCounts({ bySite: false });
    counts.countPlanned([
      { platform: "meta", state: "queued" },
      { platform: "x", state: "skipped" },
    ]);
    counts.countSettled("meta", "queued", null);
    counts.countSettled("meta", "queued", { httpStatus: 503, durationMs: 20 });
    counts.countSettled("meta", "queued", { httpStatus: null, durationMs: 20 });
    counts.countSettled("meta", "sent", { httpStatus: 200, durationMs: 20 });
    counts.countSettled("meta", "parked", null);
    expect([...counts.deliveries.entries()]).toEqual([
      ["x", "skipped", 1],
      ["meta", "queued", 2],
      ["meta", "sent", 1],
      ["meta", "parked", 1],
    ]);
    expect([...counts.attempts.entries()]).toEqual([
      ["meta", "5xx", 1],
      ["meta", "none", 1],
      ["meta", "2xx", 1],
    ]);
  });

  test("failed commits are counted", () => {
    const counts = createCounts({ bySite: false });
    counts.countCommit(1, true);
    counts.countCommit(1, true);
    counts.countCommit(1, false);
    expect(counts.totals).toMatchObject({ commitFailures: 2 });
  });
});
