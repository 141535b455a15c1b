// What the pages of a reconciliation point to first.

import { expect, test } from "vitest";
import { findLargestLoss, largestGapAt, type FunnelStep } from "../../dashboard/scenes/reconciliation/report.ts";

test("the key figure is the platform where most orders are missing, not the one with the lowest share", () => {
  const few = { name: "few", accepted: 5, deliverable: 15, failed: 0 };
  const many = { name: "many", accepted: 293, deliverable: 306, failed: 3 };
  const left = { name: "left out", accepted: 0, deliverable: 0, failed: 0 };
  expect(largestGapAt([few, left, many])?.name).toBe("many");
  // Where the same number is missing, the platform's own failures count more than what was never received.
  expect(
    largestGapAt([
      { ...few, accepted: 2 },
      { ...many, accepted: 293, failed: 13 },
    ])?.name,
  ).toBe("many");
  expect(largestGapAt([left])).toBeUndefined();
});

test("what cannot apply to a platform is its largest loss only where nothing else was lost", () => {
  const step = (name: FunnelStep["step"], count: number): FunnelStep => ({
    step: name,
    count: 0,
    losses: count ? [{ reason: name, count, rows: {} }] : [],
    narrows: true,
  });
  expect(findLargestLoss([step("received", 50), step("due", 20), step("accepted", 3)])?.loss.count).toBe(3);
  expect(findLargestLoss([step("received", 50), step("due", 20), step("accepted", 0)])?.loss.count).toBe(20);
  expect(findLargestLoss([step("received", 50)])).toBeUndefined();
});
