import { expect, test } from "vitest";
import { openQuota } from "./quota.ts";

const now = 1_000_000;
const allowed = { requests: 300, seconds: 60 };

test("as many as are allowed go at once, then one whenever there is room for it again", () => {
  const quota = openQuota();
  for (let i = 0; i < 300; i++) expect(quota.take("k", allowed, now)).toBe(0);
  expect(quota.take("k", allowed, now)).toBe(200);
  expect(quota.take("k", allowed, now + 200)).toBe(0);
  expect(quota.take("k", allowed, now + 200)).toBe(200);
  expect(quota.take("other", allowed, now)).toBe(0);
});

test("in any minute after the first no more than allowed go, however often is asked", () => {
  const quota = openQuota();
  for (let i = 0; i < 300; i++) quota.take("k", allowed, now);
  let taken = 0;
  for (let ms = 0; ms < 60_000; ms += 7) if (quota.take("k", allowed, now + ms) === 0) taken += 1;
  expect(taken).toBeGreaterThan(295);
  expect(taken).toBeLessThanOrEqual(300);
});

test("a rest fills it up and no further; a clock that goes back takes nothing", () => {
  const quota = openQuota();
  quota.take("k", allowed, now);
  expect(quota.take("k", allowed, now - 60_000)).toBe(0);
  for (let i = 0; i < 300; i++) quota.take("k", allowed, now + 3_600_000);
  expect(quota.take("k", allowed, now + 3_600_000)).toBeGreaterThan(0);
});
