import { describe, expect, test } from "vitest";
import { openCounts } from "./counts.ts";
import { openSpread, openTally } from "./tally.ts";

test("a tally counts by two names", () => {
  const tally = openTally();
  tally.add("meta", "sent");
  tally.add("meta", "sent", 2);
  tally.add("meta", "queued");
  tally.add("x");
  expect([...tally.entries()]).toEqual([
    ["meta", "sent", 3],
    ["meta", "queued", 1],
    ["x", "", 1],
  ]);
});

test("a value at a bound is within it, and one above all bounds is counted too", () => {
  const spread = openSpread([1, 10]);
  for (const value of [0, 1, 1.5, 10, 11]) spread.add(value);
  expect(spread.counts).toEqual([2, 2, 1]);
  expect(spread.sum).toBe(23.5);
});

describe("counts", () => {
  test("every answer is counted once: by its exit, or by the refusal that made it", () => {
    const counts = openCounts({ bySite: true });
    counts.answered({ site: "a", status: 200, exit: "dispatched", ms: 3 });
    counts.answered({ site: "a", status: 200, exit: "filtered", reasons: ["blocked domain"], ms: 3 });
    counts.refused(401, "invalid key");
    counts.answered({ status: 401, ms: 1 });
    counts.answered({ ms: 1 });
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

  test("a site is no label unless that is wanted", () => {
    const counts = openCounts({ bySite: false });
    counts.answered({ site: "a", status: 200, exit: "dispatched", ms: 3 });
    expect([...counts.siteEvents.entries()]).toEqual([]);
  });

  test("what was planned and what was attempted are outcomes; what was given back untried is none", () => {
    const counts = openCounts({ bySite: false });
    counts.planned([
      { platform: "meta", state: "queued" },
      { platform: "x", state: "skipped" },
    ]);
    counts.settled("meta", "queued", null);
    counts.settled("meta", "queued", { httpStatus: 503, durationMs: 20 });
    counts.settled("meta", "queued", { httpStatus: null, durationMs: 20 });
    counts.settled("meta", "sent", { httpStatus: 200, durationMs: 20 });
    counts.settled("meta", "parked", null);
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

  test("commits that failed are counted", () => {
    const counts = openCounts({ bySite: false });
    counts.committed(1, true);
    counts.committed(1, true);
    counts.committed(1, false);
    expect(counts.plain).toMatchObject({ commitFailures: 2 });
  });
});
